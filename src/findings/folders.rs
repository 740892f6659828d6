//! Folders that belong entirely to one finding.

use std::collections::BTreeMap;

use super::value::Item;
use crate::rootfs::{Node, NodeId, NodeKind, Rootfs};

/// A folder whose files all belong to one finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WholeFolder {
    /// The folder.
    pub node: NodeId,
    /// Regular files at or below it, hard links included.
    pub files: u64,
    /// Their bytes, each inode once.
    pub bytes: u64,
}

/// The topmost folders in which every entry is a file of `items`, such a folder, or an empty one, in the order of the
/// merged view. Folders with one file are left out.
pub fn whole_folders(rootfs: &Rootfs, items: &[Item]) -> Vec<WholeFolder> {
    let mut counts: BTreeMap<NodeId, usize> = BTreeMap::new();
    let visible = items.iter().filter(|item| item.node.is_some());
    for node in visible.flat_map(|item| rootfs.all_names(item.layer, item.entry)) {
        *counts.entry(rootfs.node(node).parent().id()).or_default() += 1;
    }
    // Folders come before their entries.
    let mut whole = Vec::new();
    while let Some((id, count)) = counts.pop_last() {
        let folder = rootfs.node(id);
        let entries = folder.children().filter(|child| !is_empty(*child)).count();
        if id == NodeId::ROOT || count < entries {
            continue;
        }
        whole.push(id);
        *counts.entry(folder.parent().id()).or_default() += 1;
    }
    whole.sort_unstable();
    let topmost = |id: &&NodeId| whole.binary_search(&rootfs.node(**id).parent().id()).is_err();
    let folder = |id: &NodeId| {
        let node = rootfs.node(*id);
        WholeFolder { node: *id, files: u64::from(node.files()), bytes: node.bytes() }
    };
    whole.iter().filter(topmost).map(folder).filter(|folder| folder.files > 1).collect()
}

/// Whether a folder contains only empty folders.
fn is_empty(node: Node<'_>) -> bool {
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if node.kind() != NodeKind::Directory || node.files() > 0 {
            return false;
        }
        open.extend(node.children());
    }
    true
}
