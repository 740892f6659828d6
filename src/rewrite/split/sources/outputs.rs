//! What build systems keep in their output folder for the next build, beside what they built.

use super::super::context::SplitContext;
use super::is_elf;
use crate::formats::string_references::CARGO_BUILDS;
use crate::rootfs::{Node, NodeId, NodeKind};

/// Maximum folders between a file and the output folder.
const DEPTH: usize = 64;

/// Whether a file is in the output folder of cargo or Maven, or a source that Maven packages, and only builds read it.
pub(super) fn is_for_builds(context: &SplitContext<'_>, node: Node<'_>) -> bool {
    let mut parts = vec![node.name().to_vec()];
    let mut folder = node.parent();
    for _ in 0..DEPTH {
        let has = |name: &[u8]| context.paths.child(folder.id(), name).is_some();
        let below: Vec<&[u8]> = parts.iter().rev().map(Vec::as_slice).collect();
        if has(b".rustc_info.json") {
            return is_of_cargo(context, folder.id(), node, &below);
        }
        if has(b"pom.xml") {
            return is_of_maven(context, folder.id(), &below);
        }
        if folder.id() == NodeId::ROOT {
            return false;
        }
        parts.push(folder.name().to_vec());
        folder = folder.parent();
    }
    false
}

/// Cargo puts programs and libraries into the folder of a profile, `release` or `TRIPLE/release`, and the rest below it.
/// What build scripts write may be read when a program runs: its path is in the program then.
fn is_of_cargo(context: &SplitContext<'_>, target: NodeId, node: Node<'_>, below: &[&[u8]]) -> bool {
    const FOR_BUILDS: [&[u8]; 4] = [b".d", b".rlib", b".rmeta", b".a"];
    let is_named = || {
        let mut words = context.input.inventory.mentions.iter().flat_map(|mention| &mention.words);
        words.any(|word| CARGO_BUILDS.contains(word))
    };
    if below.contains(&b"out".as_slice()) && is_named() {
        return false;
    }
    let (Some((name, folders)), 2..=3) = (below.split_last(), below.len()) else { return true };
    let profile = [&folders.join(&b"/"[..])[..], b"/deps"].concat();
    let is_profile = context.paths.lookup_from(target, &profile).is_some();
    let is_kept =
        is_elf(context, node) || !name.starts_with(b".") && !FOR_BUILDS.iter().any(|end| name.ends_with(end));
    !(is_profile && is_kept)
}

/// Maven puts what it packages into `target`: compiled classes and resources, which are in the archive beside them.
fn is_of_maven(context: &SplitContext<'_>, top: NodeId, below: &[&[u8]]) -> bool {
    const FOLDERS: [&[u8]; 9] = [
        b"antrun",
        b"classes",
        b"failsafe-reports",
        b"generated-sources",
        b"generated-test-sources",
        b"maven-archiver",
        b"maven-status",
        b"surefire-reports",
        b"test-classes",
    ];
    const ARCHIVES: [&[u8]; 4] = [b"-javadoc.jar", b"-sources.jar", b"-tests.jar", b".jar.original"];
    let is_archive = |name: &[u8]| [&b".jar"[..], b".war", b".ear"].iter().any(|end| name.ends_with(end));
    let is_aside =
        |name: &[u8]| name.starts_with(b"original-") || ARCHIVES.iter().any(|end| name.ends_with(end));
    let target = context.paths.child(top, b"target");
    let children = target.into_iter().flat_map(|target| context.rootfs.node(target).children());
    let mut files = children.filter(|child| child.kind() == NodeKind::File);
    if !files.any(|child| is_archive(child.name()) && !is_aside(child.name())) {
        return false;
    }
    match below {
        [b"target", name] => is_aside(name),
        [b"target", folder, ..] => FOLDERS.contains(folder),
        [b"src", b"main", b"java" | b"kotlin" | b"scala" | b"groovy", ..] | [b"src", b"test", ..] => true,
        // A copy is in the archive.
        [b"src", b"main", b"resources", resource @ ..] => {
            let copy = [&b"target/classes/"[..], &resource.join(&b"/"[..])].concat();
            context.paths.lookup_from(top, &copy).is_some()
        }
        _ => false,
    }
}
