//! Programs of system packages that repeated instructions call, such as curl: a smaller base image may lack them.

use std::collections::BTreeSet;

use hashbrown::HashSet;

use super::context::SplitContext;
use super::packages::PackageSelection;
use super::shell::{INSTALLERS, Work, package_name, package_words};
use super::sources::is_within;
use super::steps::{Kind, Steps};
use crate::formats::dockerfile::{Joiner, ShellCommand};
use crate::rewrite::tidy::Call;
use crate::rootfs::{NodeId, NodeKind};

/// What instructions of the new image call.
#[derive(Default)]
pub(super) struct Tools {
    /// System packages, by their indexes in the inventory.
    pub(super) packages: BTreeSet<usize>,
    /// Programs of the current base image that are of no package, such as Python in its own image.
    pub(super) files: BTreeSet<NodeId>,
}

/// What must be there before the instruction that calls them. With
/// `copies`, the final stage repeats only instructions that set it up, and copies the results of the others.
pub(super) fn of_instructions(
    context: &SplitContext<'_>,
    steps: &Steps<'_, '_>,
    asked: &PackageSelection,
    copies: bool,
) -> Tools {
    let mut found = Tools::default();
    let mut installed = BTreeSet::new();
    for (at, step) in steps.list.iter().enumerate() {
        let Kind::Run(works) = &step.kind else { continue };
        let Some(run) = steps.run(at) else { continue };
        let last = works.iter().rposition(|work| *work == Work::Install).unwrap_or_default();
        let repeated = if !copies || steps.is_whole(at) || !step.makes() {
            works.len()
        } else if step.installs() && sets_up_sources(context, steps, at) {
            last
        } else {
            0
        };
        if repeated == works.len() && step.layers.iter().any(|layer| context.holds_clones(*layer)) {
            let git = context.by_name.get("git").copied();
            found.packages.extend(git.filter(|package| !installed.contains(package)));
        }
        let guarded = guarded(&run.commands);
        for (place, (command, work)) in run.commands.iter().zip(works).enumerate() {
            let Some(call) = Call::of(command) else { continue };
            if *work == Work::Install {
                let asked_here = package_words(&call).into_iter().map(|word| package_name(&word.text));
                let stay = asked_here.filter(|name| !asked.dropped.contains(*name));
                let places: Vec<usize> = stay.filter_map(|name| context.by_name.get(name).copied()).collect();
                installed.extend(context.with_dependencies(places));
            } else if place < repeated && !guarded.contains(&place) || call.program == "setcap" {
                // Every base image has its installer.
                let nodes =
                    if INSTALLERS.contains(&call.program) { BTreeSet::new() } else { called(context, &call) };
                for node in nodes {
                    match context.system_owner(node) {
                        Some(package) if !installed.contains(&package) => _ = found.packages.insert(package),
                        None if !context.is_users(context.rootfs.node(node)) => _ = found.files.insert(node),
                        _ => {}
                    }
                }
            }
        }
        if steps.is_whole(at) || !copies {
            let packages = context.by_name.values();
            installed.extend(
                packages
                    .filter(|place| step.layers.contains(&context.input.inventory.packages[**place].layer)),
            );
        }
    }
    found
}

/// Commands that may fail or not run: before `|| true`, behind `||`, and behind a test.
fn guarded(commands: &[ShellCommand]) -> HashSet<usize> {
    let program = |at: usize| commands.get(at).and_then(Call::of).map(|call| call.program);
    let mut found = HashSet::new();
    for (at, command) in commands.iter().enumerate() {
        let before = at.checked_sub(1);
        if command.joiner == Joiner::Or {
            found.insert(at);
            found.extend(before.filter(|_| matches!(program(at), Some("true" | ":" | "exit"))));
        } else if before
            .and_then(program)
            .is_some_and(|one| matches!(one, "[" | "[[" | "test" | "command" | "which"))
        {
            found.insert(at);
        }
    }
    found
}

/// The programs that a command runs.
fn called(context: &SplitContext<'_>, call: &Call<'_>) -> BTreeSet<NodeId> {
    let has = |part: &str| call.words.iter().any(|word| word.text.contains(part));
    let has_option = |letter: char| {
        let mut words = call.words.iter().enumerate().map(|(at, word)| (at, word.text.as_str()));
        words.any(|(at, word)| {
            (at == 0 || word.starts_with('-'))
                && !word.starts_with("--")
                && !word.contains('/')
                && word.contains(letter)
        })
    };
    // What a program starts itself.
    let further: &[&str] = match call.program {
        "apt-key" => &["gpg"],
        "gpg" if has("--recv-key") || has("--keyserver") => &["dirmngr"],
        "pip" | "uv" if has("git+") => &["git"],
        "tar" if has(".xz") || has_option('J') => &["xz"],
        "tar" if has(".bz2") || has_option('j') => &["bzip2"],
        "tar" if has(".zst") => &["zstd"],
        _ => &[],
    };
    let programs = std::iter::once(call.path).chain(further.iter().copied());
    let paths = programs.filter_map(|program| context.program(program));
    let nodes = paths.flat_map(|path| [context.paths.entry_at(&path), context.paths.lookup(&path)]);
    nodes.flatten().collect()
}

/// Whether a step sets up a package repository: it adds files to folders for repositories and keys.
pub(super) fn sets_up_sources(context: &SplitContext<'_>, steps: &Steps<'_, '_>, at: usize) -> bool {
    const FOLDERS: [&[u8]; 5] =
        [b"/etc/apt", b"/usr/share/keyrings", b"/etc/yum.repos.d", b"/etc/pki/rpm-gpg", b"/etc/apk"];
    let mut files = context.rootfs.nodes().filter(|node| node.kind() == NodeKind::File);
    files.any(|node| {
        steps.origin(node) == Some(at)
            && context.system_owner(node.id()).is_none()
            && FOLDERS.iter().any(|folder| is_within(&node.path(), folder))
    })
}
