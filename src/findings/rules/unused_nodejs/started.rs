//! What starts programs of Node.js.

use std::collections::BTreeSet;

use super::super::reached::Reached;
use super::installed::Installed;
use crate::base::convert::layer16;
use crate::cuda::NODEJS;
use crate::cuda::links::file_name;
use crate::findings::facts::Facts;
use crate::rootfs::{NodeId, NodeKind};

/// Maximum path parts and links followed for the programs in `PATH`; real images have some thousand.
const STEPS: u64 = 1 << 20;
/// Maximum folders of `PATH`.
const FOLDERS: usize = 64;

/// Whether the command or the health check may start a program of Node.js, itself or by a script.
pub(super) fn is_started(facts: &Facts<'_>, installed: &Installed, modules: &[NodeId]) -> bool {
    let Some(reached) = Reached::of(facts) else { return true };
    let named = NODEJS.iter().any(|program| reached.contains(program));
    named || scripts(facts, installed, modules).iter().any(|script| reached.contains(script))
}

/// Names of programs and scripts that Node.js runs, by their first lines: those in `PATH`, and those outside of packages.
fn scripts(facts: &Facts<'_>, installed: &Installed, modules: &[NodeId]) -> BTreeSet<String> {
    let is_of_nodejs = |line: &[u8]| {
        let words = line.split(u8::is_ascii_whitespace);
        words.map(file_name).any(|word| matches!(word, b"node" | b"nodejs"))
    };
    let runs = |node: NodeId| {
        let inode = facts.node(node).content();
        let line = inode.and_then(|(layer, entry)| facts.layer(layer)?.facts.script(entry));
        line.is_some_and(is_of_nodejs) || installed.files.contains(&node)
    };
    let mut names = BTreeSet::new();
    let mut steps = STEPS;
    for folder in facts.input.image.search_path().split(':').take(FOLDERS) {
        let Some(folder) = facts.paths.walk(NodeId::ROOT, folder.as_bytes(), &mut steps) else { continue };
        for child in facts.node(folder).children() {
            let file = match child.kind() {
                NodeKind::File => Some(child.id()),
                NodeKind::Symlink => {
                    let target = facts.paths.link(child.id()).unwrap_or_default();
                    facts.paths.walk(folder, target, &mut steps)
                }
                NodeKind::Directory | NodeKind::Other => None,
            };
            if file.is_some_and(runs) {
                names.insert(String::from_utf8_lossy(child.name()).into_owned());
            }
        }
    }
    // Links of packages of a project, which the command names by their paths.
    for folder in modules {
        let bin = facts.paths.child(*folder, b".bin").into_iter();
        let links = bin.flat_map(|bin| facts.node(bin).children());
        names.extend(links.map(|link| String::from_utf8_lossy(link.name()).into_owned()));
    }
    for layer in 0..layer16(facts.input.layers.len()) {
        let Some(read) = facts.layer(layer) else { continue };
        for (entry, _) in read.facts.scripts().filter(|(_, line)| is_of_nodejs(line)) {
            let Some(node) = facts.rootfs.node_showing(layer, entry) else { continue };
            if memchr::memmem::find(&facts.path(node), b"/node_modules/").is_none() {
                names.insert(String::from_utf8_lossy(facts.node(node).name()).into_owned());
            }
        }
    }
    names
}
