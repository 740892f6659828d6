//! What an extraction wrote, and which paths it is about.

use std::collections::BTreeSet;

use crate::base::text::escape;
use crate::rootfs::{NodeId, NodeKind, Rootfs};

/// A path that was not extracted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The path in the image, escaped.
    pub path: String,
    /// Reason.
    pub reason: String,
    /// Whether it is expected: devices are never extracted. All else makes the result incomplete.
    pub expected: bool,
}

/// What was extracted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Extracted {
    /// Regular files, hard links included.
    pub files: u64,
    /// Their bytes, each inode once.
    pub bytes: u64,
    /// Folders.
    pub folders: u64,
    /// Symbolic links.
    pub links: u64,
    /// Devices, pipes and sockets; only in an archive.
    pub others: u64,
    /// What was not.
    pub left_out: Vec<LeftOut>,
}

impl Extracted {
    /// Whether all of it was extracted, apart from what never is.
    pub fn is_complete(&self) -> bool {
        self.left_out.iter().all(|left| left.expected)
    }

    pub(super) fn leave_out(&mut self, rootfs: &Rootfs, node: NodeId, reason: &dyn std::fmt::Display) {
        let path = escape(&rootfs.node(node).path());
        self.left_out.push(LeftOut { path, reason: reason.to_string(), expected: false });
    }

    pub(super) fn leave_out_device(&mut self, rootfs: &Rootfs, node: NodeId) {
        let path = escape(&rootfs.node(node).path());
        let reason = "a device, pipe or socket".to_owned();
        self.left_out.push(LeftOut { path, reason, expected: true });
    }
}

/// The nodes and all below them, folders before their contents.
pub(super) fn with_contents(rootfs: &Rootfs, nodes: &BTreeSet<NodeId>) -> BTreeSet<NodeId> {
    let mut all = BTreeSet::new();
    let mut open: Vec<NodeId> = nodes.iter().copied().collect();
    while let Some(id) = open.pop() {
        if all.insert(id) && rootfs.node(id).kind() == NodeKind::Directory {
            open.extend(rootfs.node(id).children().map(crate::rootfs::Node::id));
        }
    }
    all
}
