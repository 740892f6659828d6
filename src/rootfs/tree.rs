//! The merged view as an arena: siblings are adjacent, sizes are summed once.

use std::sync::Arc;

use super::entries::Entries;
use super::finish::Name;
use super::value::{Copied, Hidden, NodeId, NodeKind, Origin, Place};
use crate::base::convert::{index32, layer16};
use crate::layer::{EntryId, LayerIndex};

/// What a record has of a file with one name.
const ALONE: u32 = u32::MAX;
/// Of the name of several with which the bytes of the file count.
const FIRST: u32 = 0;
/// Of another name.
const FURTHER: u32 = 1;

/// A node in 16 bytes. With [`Place`] as a field, padding would make them 20.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) parent: NodeId,
    id: u32,
    /// Of a folder, its place in [`Rootfs::folders`]; of a file, which of its names it is.
    which: u32,
    layer: u16,
    implied: bool,
    pub(super) kind: NodeKind,
}

/// What is in a folder of the view.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Folder {
    /// The first node in it; the others follow.
    pub(super) children: u32,
    pub(super) child_count: u32,
    /// Regular files below, hard links included.
    pub(super) files: u32,
    /// Bytes of files below, each inode once, at its first name.
    pub(super) bytes: u64,
}

impl Folder {
    /// Adds the next node; `false` if the last one is not beside it.
    pub(super) fn adopt(&mut self, node: u32) -> bool {
        if self.child_count == 0 {
            self.children = node;
        }
        self.child_count += 1;
        self.children + self.child_count == node + 1
    }
}

impl Record {
    /// A node; a file has one name. `folder` is only of a folder.
    pub(super) fn new(parent: NodeId, place: Place, kind: NodeKind, folder: u32) -> Self {
        let Place { layer, implied, id } = place;
        let which = if kind == NodeKind::Directory { folder } else { ALONE };
        Self { parent, id, which, layer, implied, kind }
    }

    #[inline]
    pub(super) fn place(&self) -> Place {
        Place { layer: self.layer, implied: self.implied, id: self.id }
    }

    /// Place among the folders; `None` if it is none.
    #[inline]
    pub(super) fn folder(&self) -> Option<usize> {
        (self.kind == NodeKind::Directory).then_some(self.which as usize)
    }

    /// Marks a file with several names, and the one with which its bytes count.
    pub(super) fn share(&mut self, first: bool) {
        self.which = if first { FIRST } else { FURTHER };
    }

    #[inline]
    fn is_shared(&self) -> bool {
        self.kind == NodeKind::File && self.which != ALONE
    }

    /// Bytes of the node `own` without what is below it, each inode once.
    #[inline]
    pub(super) fn bytes(&self, own: NodeId, layers: &[Arc<LayerIndex>], shared: &[Name]) -> u64 {
        let (layer, entry) = match (self.kind, self.which) {
            (NodeKind::File, ALONE) => (self.layer, EntryId(self.id)),
            (NodeKind::File, FIRST) => match file_of(shared, own) {
                Some(inode) => inode,
                None => return 0,
            },
            _ => return 0,
        };
        layers[usize::from(layer)].size(entry)
    }
}

/// The file of one of several names.
#[inline]
fn file_of(shared: &[Name], node: NodeId) -> Option<(u16, EntryId)> {
    let found = shared.binary_search_by_key(&node, |(node, ..)| *node).ok()?;
    Some((shared[found].1, shared[found].2))
}

/// The merged view.
#[derive(Debug)]
pub struct Rootfs {
    pub(super) layers: Vec<Arc<LayerIndex>>,
    pub(super) nodes: Vec<Record>,
    pub(super) folders: Vec<Folder>,
    /// Files with several paths: node, and the entry with the bytes.
    pub(super) shared: Vec<Name>,
    pub(super) hidden: Vec<Hidden>,
    pub(super) copied: Vec<Copied>,
    pub(super) entries: Entries,
}

impl Rootfs {
    /// How many paths there are, the root included.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is nothing but the root.
    pub fn is_empty(&self) -> bool {
        self.nodes.len() <= 1
    }

    /// The index of a layer.
    #[inline]
    pub fn layer(&self, layer: u16) -> &LayerIndex {
        &self.layers[usize::from(layer)]
    }

    /// Number of lower layers that together contain about half of all entries: for passes over both parts in parallel.
    pub fn middle(&self) -> u16 {
        let half = self.layers.iter().map(|layer| layer.len()).sum::<usize>() / 2;
        let mut below = 0;
        let is_below = |layer: &&Arc<LayerIndex>| {
            below += layer.len();
            below <= half
        };
        layer16(self.layers.iter().take_while(is_below).count())
    }

    /// A path of the view.
    #[inline]
    pub fn node(&self, id: NodeId) -> Node<'_> {
        Node { rootfs: self, id }
    }

    /// The root folder.
    pub fn root(&self) -> Node<'_> {
        self.node(NodeId::ROOT)
    }

    /// All paths, folders before their contents.
    pub fn nodes(&self) -> impl Iterator<Item = Node<'_>> {
        (0..index32(self.nodes.len())).map(|id| self.node(NodeId(id)))
    }

    /// Every file in a layer that is no longer reachable, by layer and entry.
    pub fn hidden(&self) -> &[Hidden] {
        &self.hidden
    }

    /// The node at the path of an entry, whatever entry it has. `None` for whiteouts, and if the path does not exist.
    #[inline]
    pub fn node_at(&self, layer: u16, entry: EntryId) -> Option<NodeId> {
        self.entries.at(layer, entry).map(|(node, _)| node)
    }

    /// The node that has this entry. A file without one may have another name.
    #[inline]
    pub fn node_showing(&self, layer: u16, entry: EntryId) -> Option<NodeId> {
        self.entries.at(layer, entry).filter(|(_, shows)| *shows).map(|(node, _)| node)
    }

    /// The first path with the bytes of a regular-file entry; `None` if no path is left.
    #[inline]
    pub fn first_name(&self, layer: u16, entry: EntryId) -> Option<NodeId> {
        self.names(layer, entry).first().copied().or_else(|| self.node_showing(layer, entry))
    }

    /// All paths with the bytes of an entry, if there are or were several while layers were applied; otherwise empty.
    #[inline]
    pub fn names(&self, layer: u16, entry: EntryId) -> &[NodeId] {
        self.entries.names(layer, entry)
    }

    /// All paths with the bytes of a regular-file entry.
    #[inline]
    pub fn all_names(&self, layer: u16, entry: EntryId) -> impl Iterator<Item = NodeId> + '_ {
        let names = self.names(layer, entry);
        let own = if names.is_empty() { self.node_showing(layer, entry) } else { None };
        names.iter().copied().chain(own)
    }

    /// Files with several paths, by node: the path, and the layer and entry with the bytes.
    pub fn shared_files(&self) -> impl Iterator<Item = (NodeId, (u16, EntryId))> + '_ {
        self.shared.iter().map(|(node, layer, entry)| (*node, (*layer, *entry)))
    }

    /// The `count` largest files of the view, largest first, each inode once; ties by place.
    pub fn largest_files(&self, count: usize) -> Vec<NodeId> {
        use std::cmp::Reverse;
        let mut heap = std::collections::BinaryHeap::with_capacity(count + 1);
        for (id, record) in (0..).zip(&self.nodes) {
            // A second name of an inode has no bytes of its own.
            let bytes = record.bytes(NodeId(id), &self.layers, &self.shared);
            if bytes > 0 {
                let file = Reverse((bytes, Reverse(id)));
                if heap.len() < count {
                    heap.push(file);
                } else if let Some(mut least) = heap.peek_mut().filter(|least| file < **least) {
                    *least = file;
                }
            }
        }
        heap.into_sorted_vec().into_iter().map(|Reverse((_, Reverse(id)))| NodeId(id)).collect()
    }
}

/// A path of the merged view with its facts.
#[derive(Clone, Copy)]
pub struct Node<'a> {
    rootfs: &'a Rootfs,
    id: NodeId,
}

impl<'a> Node<'a> {
    /// Its place in the arena.
    #[inline]
    pub fn id(self) -> NodeId {
        self.id
    }

    /// Kind of node.
    #[inline]
    pub fn kind(self) -> NodeKind {
        self.record().kind
    }

    /// The last part of its path; empty for the root.
    #[inline]
    pub fn name(self) -> &'a [u8] {
        // An image without layers has a root too.
        if self.id == NodeId::ROOT {
            return b"";
        }
        self.record().place().name(&self.rootfs.layers)
    }

    /// The layer of the visible entry.
    #[inline]
    pub fn layer(self) -> u16 {
        self.record().place().layer
    }

    /// The visible entry; `None` for a folder that exists only through paths below it.
    #[inline]
    pub fn entry(self) -> Option<EntryId> {
        match self.record().place().origin() {
            Origin::Entry(entry) => Some(entry),
            Origin::Implied(_) => None,
        }
    }

    /// The visible entry with the index that it is in; `None` for a folder that exists only through paths below it.
    #[inline]
    pub fn index_entry(self) -> Option<(&'a LayerIndex, EntryId)> {
        let index: &'a LayerIndex = self.rootfs.layers.get(usize::from(self.layer()))?;
        Some((index, self.entry()?))
    }

    /// Logical bytes of a file of the same view.
    pub fn size_of(self, (layer, entry): (u16, EntryId)) -> u64 {
        self.rootfs.layer(layer).size(entry)
    }

    /// Layer and entry of a file's bytes: its own, or for a hard link those of its target. `None` if it is not a file.
    #[inline]
    pub fn content(self) -> Option<(u16, EntryId)> {
        if self.record().is_shared() {
            return file_of(&self.rootfs.shared, self.id);
        }
        match self.entry() {
            Some(entry) if self.kind() == NodeKind::File => Some((self.layer(), entry)),
            _ => None,
        }
    }

    /// Whether it is a file that has, or had while layers were applied, another name.
    pub fn has_other_names(self) -> bool {
        self.record().is_shared()
    }

    /// Bytes of the files at or below, each inode once: a second name of a file adds nothing.
    #[inline]
    pub fn bytes(self) -> u64 {
        match self.folder() {
            Some(folder) => folder.bytes,
            None => self.record().bytes(self.id, &self.rootfs.layers, &self.rootfs.shared),
        }
    }

    /// Regular files at or below, hard links included.
    #[inline]
    pub fn files(self) -> u32 {
        self.folder().map_or_else(|| u32::from(self.kind() == NodeKind::File), |folder| folder.files)
    }

    /// The folder it is in; the root is in itself.
    #[inline]
    pub fn parent(self) -> Self {
        self.rootfs.node(self.record().parent)
    }

    /// Children of a folder, unordered.
    #[inline]
    pub fn children(self) -> impl ExactSizeIterator<Item = Self> + use<'a> {
        let rootfs = self.rootfs;
        let range =
            self.folder().map_or(0..0, |folder| folder.children..folder.children + folder.child_count);
        range.map(move |id| rootfs.node(NodeId(id)))
    }

    /// The absolute path, any bytes; `/` for the root.
    pub fn path(self) -> Vec<u8> {
        if self.id == NodeId::ROOT {
            return b"/".to_vec();
        }
        // Two walks to the root are cheaper than a list of parts, and memory is allocated once.
        let above = || std::iter::successors(Some(self), |node| Some(node.parent()));
        let parts = || above().take_while(|node| node.id != NodeId::ROOT).map(Self::name);
        let mut end = parts().map(|name| name.len() + 1).sum();
        let mut path = vec![b'/'; end];
        for name in parts() {
            path[end - name.len()..end].copy_from_slice(name);
            end -= name.len() + 1;
        }
        path
    }

    /// What is in it, if it is a folder.
    #[inline]
    fn folder(self) -> Option<&'a Folder> {
        Some(&self.rootfs.folders[self.record().folder()?])
    }

    #[inline]
    fn record(self) -> &'a Record {
        &self.rootfs.nodes[self.id.0 as usize]
    }
}
