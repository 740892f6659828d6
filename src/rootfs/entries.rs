//! From an entry of a layer to the paths of the merged view.

use hashbrown::HashMap;

use super::merge::{Inode, Live, NONE};
use super::tree::NodeId;
use crate::base::convert::{index32, layer16};
use crate::layer::EntryId;

/// Set where the path of an entry shows another one.
const OTHER: u32 = 1 << 31;

/// By layer and entry: the node of its path, and all names of files that have several.
#[derive(Debug)]
pub(super) struct Entries {
    /// `NONE` where the view has nothing at the path.
    nodes: Vec<Vec<u32>>,
    /// Asked for every file.
    names: HashMap<Inode, Vec<NodeId>>,
}

impl Entries {
    /// `put_at` has the nodes of the merge, and `old_of` those by the nodes of the view.
    pub(super) fn new(
        mut put_at: Vec<Vec<u32>>,
        live: &[Live],
        old_of: &[u32],
        shared: &[(NodeId, u16, EntryId)],
    ) -> Self {
        let mut new_of = vec![NONE; live.len()];
        for (id, old) in old_of.iter().enumerate() {
            new_of[*old as usize] = index32(id);
        }
        for (layer, nodes) in put_at.iter_mut().enumerate() {
            for (entry, node) in nodes.iter_mut().enumerate() {
                let Some(old) = live.get(*node as usize) else { continue };
                let new = new_of[*node as usize];
                let place = old.place;
                let shows = !place.implied && place.layer == layer16(layer) && place.id as usize == entry;
                // Without a node both bits of a mark would be the same.
                *node = if new >= OTHER {
                    NONE
                } else if shows {
                    new
                } else {
                    new | OTHER
                };
            }
        }
        let mut names: HashMap<Inode, Vec<NodeId>> = HashMap::new();
        for (node, layer, entry) in shared {
            names.entry((*layer, *entry)).or_default().push(*node);
        }
        Self { nodes: put_at, names }
    }

    /// The node of the path of an entry, and whether the entry shows there.
    pub(super) fn at(&self, layer: u16, entry: EntryId) -> Option<(NodeId, bool)> {
        let node = *self.nodes.get(usize::from(layer))?.get(entry.0 as usize)?;
        (node != NONE).then_some((NodeId(node & !OTHER), node & OTHER == 0))
    }

    pub(super) fn names(&self, layer: u16, entry: EntryId) -> &[NodeId] {
        if self.names.is_empty() {
            return &[];
        }
        self.names.get(&(layer, entry)).map(Vec::as_slice).unwrap_or_default()
    }
}
