//! From an entry of a layer to the paths of the merged view.

use std::sync::Arc;

use hashbrown::HashMap;

use super::value::{Inode, Live, NONE, NodeId};
use crate::base::convert::{index32, layer16};
use crate::layer::{EntryId, LayerIndex};

/// Set where the path of an entry shows another one.
const OTHER: u32 = 1 << 31;
/// Set if the file of an entry has several names: others need no search.
const NAMED: u32 = 1 << 30;

/// By layer and entry: the node of its path, and all names of files that have several.
#[derive(Debug)]
pub(super) struct Entries {
    /// `NONE` where the view has nothing at the path.
    nodes: Vec<Vec<u32>>,
    names: HashMap<Inode, Vec<NodeId>>,
}

impl Entries {
    /// How many nodes a view may have beside the marks.
    pub(super) const MOST_NODES: usize = NAMED as usize;

    /// `put_at` has the nodes of the merge, and `new_of` those of the view by them.
    pub(super) fn new(
        mut put_at: Vec<Vec<u32>>,
        live: &[Live],
        new_of: &[u32],
        shared: &[(NodeId, u16, EntryId)],
    ) -> Self {
        for (layer, nodes) in put_at.iter_mut().enumerate() {
            for (entry, node) in nodes.iter_mut().enumerate() {
                let Some(old) = live.get(*node as usize) else { continue };
                let new = new_of[*node as usize];
                let place = old.place();
                let shows = !place.implied && place.layer == layer16(layer) && place.id as usize == entry;
                // Without a node all bits of a mark are set.
                *node = if new >= NAMED {
                    NONE
                } else if shows {
                    new
                } else {
                    new | OTHER
                };
            }
        }
        let mut entries = Self { nodes: put_at, names: HashMap::new() };
        entries.name(shared);
        entries
    }

    /// Without a path for any entry.
    pub(super) fn empty(layers: &[Arc<LayerIndex>]) -> Self {
        let nodes = layers.iter().map(|layer| vec![NONE; layer.len()]).collect();
        Self { nodes, names: HashMap::new() }
    }

    /// Notes the names of files that have several.
    pub(super) fn name(&mut self, shared: &[(NodeId, u16, EntryId)]) {
        for (node, layer, entry) in shared {
            self.names.entry((*layer, *entry)).or_default().push(*node);
            let own = &mut self.nodes[usize::from(*layer)][entry.0 as usize];
            *own |= NAMED;
        }
    }

    /// Notes the node that shows an entry, which exists; `false` if it has one.
    pub(super) fn place(&mut self, (layer, entry): Inode, node: u32) -> bool {
        let own = &mut self.nodes[usize::from(layer)][entry.0 as usize];
        std::mem::replace(own, node) == NONE
    }

    /// Notes the node of the path of an entry, which exists, where another entry shows; `false` if it has one.
    pub(super) fn place_elsewhere(&mut self, inode: Inode, node: u32) -> bool {
        self.place(inode, node | OTHER)
    }

    /// Layer, entry and node where another entry shows at the path of an entry.
    pub(super) fn elsewhere(&self) -> Vec<[u32; 3]> {
        let mut found = Vec::new();
        for (layer, nodes) in self.nodes.iter().enumerate() {
            for (entry, node) in nodes.iter().enumerate() {
                if *node != NONE && node & OTHER != 0 {
                    found.push([index32(layer), index32(entry), node & !(OTHER | NAMED)]);
                }
            }
        }
        found
    }

    /// The node of the path of an entry, and whether the entry shows there.
    #[inline]
    pub(super) fn at(&self, layer: u16, entry: EntryId) -> Option<(NodeId, bool)> {
        let node = *self.nodes.get(usize::from(layer))?.get(entry.0 as usize)?;
        (node != NONE).then_some((NodeId(node & !(OTHER | NAMED)), node & OTHER == 0))
    }

    #[inline]
    pub(super) fn names(&self, layer: u16, entry: EntryId) -> &[NodeId] {
        let nodes = self.nodes.get(usize::from(layer));
        if nodes.and_then(|nodes| nodes.get(entry.0 as usize)).is_none_or(|node| node & NAMED == 0) {
            return &[];
        }
        self.names.get(&(layer, entry)).map(Vec::as_slice).unwrap_or_default()
    }
}
