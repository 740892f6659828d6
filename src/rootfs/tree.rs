//! The merged view as an arena: siblings are adjacent, sizes are summed once.

use std::sync::Arc;

use super::entries::Entries;
use super::value::{Copied, Hidden, NodeId, NodeKind, Origin, Place};
use crate::base::convert::{index32, layer16};
use crate::layer::{EntryId, LayerIndex};

/// Marks a file in [`Rootfs::shared`]: it has no children.
const SHARED: u32 = u32::MAX;

/// A node in 32 bytes. With [`Place`] as a field, padding would make them 40.
#[derive(Clone, Debug)]
pub(super) struct Record {
    pub(super) parent: NodeId,
    /// The first child of a folder.
    children: u32,
    child_count: u32,
    id: u32,
    /// Regular files at or below, hard links included.
    pub(super) files: u32,
    layer: u16,
    implied: bool,
    pub(super) kind: NodeKind,
    /// Bytes of files at or below, each inode once, at its first name.
    pub(super) bytes: u64,
}

impl Record {
    /// A node without bytes; a file counts itself.
    pub(super) fn new(parent: NodeId, place: Place, kind: NodeKind, children: (u32, u32)) -> Self {
        let Place { layer, implied, id } = place;
        let (children, child_count) = children;
        let files = u32::from(kind == NodeKind::File);
        Self { parent, children, child_count, id, files, layer, implied, kind, bytes: 0 }
    }

    #[inline]
    pub(super) fn place(&self) -> Place {
        Place { layer: self.layer, implied: self.implied, id: self.id }
    }

    /// Adds the next node to a folder; `false` if it is none, or its last child is another one.
    pub(super) fn adopt(&mut self, node: u32) -> bool {
        if self.child_count == 0 {
            self.children = node;
        }
        self.child_count += 1;
        self.kind == NodeKind::Directory && self.children + self.child_count == node + 1
    }

    /// Marks a file with several names.
    pub(super) fn share(&mut self) {
        self.children = SHARED;
    }

    #[inline]
    fn is_shared(&self) -> bool {
        self.kind == NodeKind::File && self.children == SHARED
    }
}

/// The merged view.
#[derive(Debug)]
pub struct Rootfs {
    pub(super) layers: Vec<Arc<LayerIndex>>,
    pub(super) nodes: Vec<Record>,
    /// Files with several paths: node, and the entry with the bytes.
    pub(super) shared: Vec<(NodeId, u16, EntryId)>,
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

    /// Bytes of a node without what is below it.
    pub(super) fn own_bytes(&self, node: usize) -> u64 {
        let record = &self.nodes[node];
        if record.kind == NodeKind::File { record.bytes } else { 0 }
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
        for (id, record) in self.nodes.iter().enumerate() {
            // A second name of an inode has no bytes of its own.
            if record.kind == NodeKind::File && record.bytes > 0 {
                let file = Reverse((record.bytes, Reverse(index32(id))));
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
            let shared = &self.rootfs.shared;
            let found = shared.binary_search_by_key(&self.id, |(node, _, _)| *node).ok()?;
            return Some((shared[found].1, shared[found].2));
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
        self.record().bytes
    }

    /// Regular files at or below, hard links included.
    #[inline]
    pub fn files(self) -> u32 {
        self.record().files
    }

    /// The folder it is in; the root is in itself.
    #[inline]
    pub fn parent(self) -> Self {
        self.rootfs.node(self.record().parent)
    }

    /// Children of a folder, unordered.
    #[inline]
    pub fn children(self) -> impl ExactSizeIterator<Item = Self> + use<'a> {
        let record = self.record();
        let rootfs = self.rootfs;
        (record.children..record.children + record.child_count).map(move |id| rootfs.node(NodeId(id)))
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

    #[inline]
    fn record(self) -> &'a Record {
        &self.rootfs.nodes[self.id.0 as usize]
    }
}
