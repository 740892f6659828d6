//! One path of the tree.

use std::ops::Range;

use super::contents::{NONE, UNPROVEN};
use super::tree::Tree;
use crate::base::labels::labelled;
use crate::base::words::words;
use crate::rootfs::{Node, NodeId, NodeKind};

/// A path that at least one image has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId(pub u32);

impl RowId {
    /// The root folder.
    pub const ROOT: Self = Self(0);
}

/// What became of a path in an image against another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Change {
    /// Both have it, with the same content.
    Same,
    /// Only the image has it.
    Added,
    /// Only the baseline has it.
    Removed,
    /// Both have it; kind, size, content or target of a link differ. A folder: something below it differs.
    Changed,
    /// Both have a file of one size, and the contents could not be compared; or a device or pipe. A folder: nothing
    /// below it is known to differ, and something is unknown.
    Unknown,
    /// Neither has it.
    Absent,
}

words!(Change {
    Added = "added",
    Removed = "removed",
    Changed = "changed",
    Unknown = "unknown",
    Same = "same",
    Absent = "absent",
});

labelled!(Change: CHANGES);

impl Change {
    /// Marker, so that the meaning does not depend on colour.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Same | Self::Absent => "",
            Self::Added => "+",
            Self::Removed => "−",
            Self::Changed => "~",
            Self::Unknown => "?",
        }
    }
}

/// A path of the tree.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    pub(super) tree: &'a Tree,
    pub(super) id: RowId,
}

impl<'a> Row<'a> {
    /// Its id.
    pub fn id(self) -> RowId {
        self.id
    }

    /// The last part of its path, any bytes; empty for the root.
    pub fn name(self) -> &'a [u8] {
        if self.id == RowId::ROOT {
            return b"";
        }
        self.nodes().next().map_or(b"", Node::name)
    }

    /// The absolute path, any bytes; `/` for the root.
    pub fn path(self) -> Vec<u8> {
        self.nodes().next().map_or_else(|| b"/".to_vec(), Node::path)
    }

    /// The folder it is in; the root is in itself.
    pub fn parent(self) -> Self {
        self.tree.row(RowId(self.tree.arena.parents[self.id.0 as usize]))
    }

    /// What any image has in it, by the bytes of the names.
    pub fn children(self) -> impl ExactSizeIterator<Item = Self> + use<'a> {
        let tree = self.tree;
        self.bounds().map(move |id| tree.row(RowId(id)))
    }

    /// Rows of its children.
    pub(super) fn bounds(self) -> Range<u32> {
        let children = &self.tree.arena.children;
        children[self.id.0 as usize]..children[self.id.0 as usize + 1]
    }

    /// The node of the merged view of an image; `None` where it does not have the path.
    pub fn node(self, image: usize) -> Option<NodeId> {
        let node = *self.tree.arena.nodes(self.id.0).get(image)?;
        (node != NONE).then_some(NodeId(node))
    }

    /// What the path is in an image.
    pub fn kind(self, image: usize) -> Option<NodeKind> {
        self.at(image).map(Node::kind)
    }

    /// Bytes in an image: the logical size of a file; of a folder, the files at or below, each inode once. `None`
    /// where the image does not have the path.
    pub fn bytes(self, image: usize) -> Option<u64> {
        let node = self.at(image)?;
        // A second name of a file has no bytes of its own in the merged view.
        Some(match node.content() {
            Some((layer, entry)) => self.tree.rootfs(image)?.layer(layer).size(entry),
            None => node.bytes(),
        })
    }

    /// Change in `image` against `baseline`. For a folder, without its contents: [`Tree::changes`] includes them.
    pub fn change(self, image: usize, baseline: usize) -> Change {
        match (self.node(image), self.node(baseline)) {
            (None, None) => return Change::Absent,
            (Some(_), None) => return Change::Added,
            (None, Some(_)) => return Change::Removed,
            (Some(_), Some(_)) => {}
        }
        let numbers = self.tree.arena.numbers(self.id.0);
        let (one, other) = (numbers[image], numbers[baseline]);
        if one == other {
            return Change::Same;
        }
        let shape = |image| (self.kind(image), self.bytes(image));
        if (one | other) & UNPROVEN != 0 && shape(image) == shape(baseline) {
            return Change::Unknown;
        }
        Change::Changed
    }

    /// Bytes of the regular file that the path is in an image; `None` where it is none.
    pub fn file_bytes(self, image: usize) -> Option<u64> {
        self.kind(image).filter(|kind| *kind == NodeKind::File).and_then(|_| self.bytes(image))
    }

    fn at(self, image: usize) -> Option<Node<'a>> {
        Some(self.tree.rootfs(image)?.node(self.node(image)?))
    }

    /// State in each image that has it.
    fn nodes(self) -> impl Iterator<Item = Node<'a>> {
        (0..self.tree.arena.images).filter_map(move |image| self.at(image))
    }
}
