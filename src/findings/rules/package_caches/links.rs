//! Symbolic links from outside into caches.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashSet;

use crate::cuda::Inode;
use crate::cuda::catalog::Walker;
use crate::cuda::links::folder_of;
use crate::findings::facts::Facts;
use crate::rootfs::{NodeId, NodeKind};

/// Maximum path parts of all links together: an image with a million links has some ten million.
const STEPS: u64 = 1 << 26;

/// Cache files used by links from outside.
#[derive(Debug, Default)]
pub(super) struct Links {
    /// Target files of links, or files in target folders, each with the first such link.
    pub(super) files: BTreeMap<Inode, NodeId>,
    /// Rules of caches that links pass through.
    pub(super) through: BTreeSet<String>,
    /// Whether all links could be followed.
    pub(super) complete: bool,
}

impl Links {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let mut links = Self { complete: true, ..Self::default() };
        let mut walker = facts.catalog.walker();
        let mut folders = HashSet::new();
        let mut budget = STEPS;
        for node in facts.rootfs.nodes().filter(|node| node.kind() == NodeKind::Symlink) {
            let path = node.path();
            if cache(&mut walker, &path).is_some() {
                continue;
            }
            let target = facts.paths.link(node.id()).unwrap_or_default();
            let to = facts.paths.walk(node.parent().id(), target, &mut budget);
            links.complete &= budget > 0;
            let written = lexical(folder_of(&path), target);
            let through = cache(&mut walker, &written).or_else(|| cache(&mut walker, &below(&written)));
            let found = to.is_some_and(|to| links.take(facts, &mut walker, &mut folders, to, node.id()));
            if let (Some(rule), false, Some(_)) = (through, found, to) {
                links.through.insert(rule);
            }
        }
        links
    }

    /// Records the target of a link; returns whether it is in a cache.
    fn take(
        &mut self,
        facts: &Facts<'_>,
        walker: &mut Walker<'_>,
        folders: &mut HashSet<NodeId>,
        to: NodeId,
        link: NodeId,
    ) -> bool {
        let path = facts.path(to);
        let probe = if facts.node(to).kind() == NodeKind::Directory { below(&path) } else { path };
        if cache(walker, &probe).is_none() {
            return false;
        }
        let mut open = vec![to];
        while let Some(at) = open.pop() {
            let node = facts.node(at);
            if let Some(inode) = node.content() {
                self.files.entry(inode).or_insert(link);
            } else if node.kind() == NodeKind::Directory && folders.insert(at) {
                open.extend(node.children().map(crate::rootfs::Node::id));
            }
        }
        true
    }
}

/// The rule of the cache that contains a path.
fn cache(walker: &mut Walker<'_>, path: &[u8]) -> Option<String> {
    let rule = walker.path(path).devel.filter(|rule| rule.category == "package-caches")?;
    Some(rule.id.clone())
}

/// The path of a file in a folder.
fn below(folder: &[u8]) -> Vec<u8> {
    [folder, b"/x"].concat()
}

/// The target of a link as written, without following other links.
fn lexical(folder: &[u8], target: &[u8]) -> Vec<u8> {
    let whole = if target.starts_with(b"/") { target.to_vec() } else { [folder, b"/", target].concat() };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in whole.split(|byte| *byte == b'/') {
        match part {
            b"" | b"." => {}
            b".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.iter().flat_map(|part| [&b"/"[..], part]).flatten().copied().collect()
}
