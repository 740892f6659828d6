//! What the merged view is made of: nodes, inodes, and what happened to them.

use std::sync::Arc;

use crate::layer::{DirId, EntryId, LayerIndex};

/// A path of the merged view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The root folder.
    pub const ROOT: Self = Self(0);
}

/// Kind of a path of the merged view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum NodeKind {
    /// A regular file, or a second name of one.
    File,
    /// A folder.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A device, pipe, or a type that is not unpacked.
    Other,
}

/// The entry of a node, or a folder that exists only through paths below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Entry(EntryId),
    Implied(DirId),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) layer: u16,
    pub(super) implied: bool,
    pub(super) id: u32,
}

impl Place {
    #[inline]
    pub(super) fn origin(self) -> Origin {
        if self.implied { Origin::Implied(DirId(self.id)) } else { Origin::Entry(EntryId(self.id)) }
    }

    /// The last part of its path.
    #[inline]
    pub(super) fn name(self, layers: &[Arc<LayerIndex>]) -> &[u8] {
        let index = &layers[usize::from(self.layer)];
        match self.origin() {
            Origin::Entry(entry) => index.name(entry),
            Origin::Implied(dir) => index.dir_name(dir),
        }
    }
}

/// Bytes in a layer that no path of the merged view reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hidden {
    /// The layer with the bytes.
    pub layer: u16,
    /// The entry in that layer.
    pub entry: EntryId,
    /// The layer that removed or replaced the last path to them; the same layer if it contains two entries of one path.
    pub by: u16,
}

/// A shadowed file, and the file of the upper layer that replaced it.
pub type Copied = ((u16, EntryId), (u16, EntryId));

pub(super) const NONE: u32 = u32::MAX;
/// An inode: layer and entry of its bytes.
pub(super) type Inode = (u16, EntryId);

/// A path while layers are merged, in 12 bytes. With [`Place`] as a field, padding would make them 16.
#[derive(Clone, Copy)]
pub(super) struct Live {
    pub(super) parent: u32,
    id: u32,
    layer: u16,
    implied: bool,
    /// `None` for a removed path, which keeps its node in case it returns.
    pub(super) kind: Option<NodeKind>,
}

impl Live {
    pub(super) fn new(parent: u32, place: Place, kind: NodeKind) -> Self {
        let Place { layer, implied, id } = place;
        Self { parent, id, layer, implied, kind: Some(kind) }
    }

    #[inline]
    pub(super) fn place(self) -> Place {
        Place { layer: self.layer, implied: self.implied, id: self.id }
    }

    /// Shows another entry, of any kind.
    pub(super) fn set(&mut self, place: Place, kind: NodeKind) {
        *self = Self::new(self.parent, place, kind);
    }

    #[inline]
    pub(super) fn is_alive(self) -> bool {
        self.kind.is_some()
    }

    #[inline]
    pub(super) fn is_folder(self) -> bool {
        self.kind == Some(NodeKind::Directory)
    }
}

/// While merging, the paths of a folder are a linked list, so that a subtree can be removed.
#[derive(Clone, Copy)]
pub(super) struct Links {
    pub(super) first_child: u32,
    pub(super) next: u32,
    pub(super) previous: u32,
}

impl Links {
    /// Without children and siblings.
    pub(super) const NONE: Self = Self { first_child: NONE, next: NONE, previous: NONE };
}
