//! The end of a merge: linked lists of nodes become adjacent ranges.

use std::sync::Arc;

use hashbrown::HashMap;

use super::copies;
use super::entries::Entries;
use super::merge::{Merge, Merger};
use super::tree::{Record, Rootfs};
use super::value::{Inode, Live, NONE, NodeId, NodeKind};
use crate::base::convert::index32;
use crate::jobs::both;
use crate::layer::{EntryId, LayerIndex};

impl<W> Merger<'_, W> {
    /// Lays out the live nodes with adjacent siblings, and sums sizes.
    pub(super) fn finish(self) -> Merge {
        let Self { layers, mut nodes, by_name, shared, again, mut hidden, waste, put_at, warnings, .. } =
            self;
        drop(by_name);
        let layout = lay_out(&mut nodes, again);
        let shared = names(&shared, &layout.new_of);
        hidden.sort_unstable_by_key(|hidden| (hidden.layer, hidden.entry));
        let ((copied, entries), records) = both(
            || {
                let copied = copies::find(layers, &hidden, &put_at, nodes.len());
                (copied, Entries::new(put_at, &nodes, &layout.new_of, &shared))
            },
            || records(layers, &nodes, &layout, &shared),
        );
        let (merged_bytes, merged_files) = (records[0].bytes, u64::from(records[0].files));
        let rootfs = Rootfs { layers: layers.to_vec(), nodes: records, shared, hidden, copied, entries };
        Merge { rootfs, merged_bytes, merged_files, waste, warnings: warnings.finish("merged view") }
    }
}

/// Positions of nodes in the view.
struct Layout {
    living: usize,
    /// By node: its position; `NONE` if removed.
    new_of: Vec<u32>,
    /// By node: the place of the first child, and how many there are.
    first: Vec<u32>,
    count: Vec<u32>,
}

/// Assigns positions to the live nodes: by folder, and in a folder newest first, as they are linked. The links are not
/// followed, because in a large folder each step would wait for memory. `again` has the restored nodes, which are as
/// new as their restoration. Afterwards only folders are linked.
fn lay_out(nodes: &mut [Live], mut again: Vec<(u32, u32)>) -> Layout {
    let mut new_of = vec![NONE; nodes.len()];
    let mut first = vec![0; nodes.len()];
    let mut count: Vec<u32> = vec![0; nodes.len()];
    let mut folders = Vec::new();
    let mut living = 1;
    let mut number = |id: u32| {
        let live = &nodes[id as usize];
        if live.alive && new_of[id as usize] == NONE {
            let beside = &mut count[live.parent as usize];
            new_of[id as usize] = *beside;
            *beside += 1;
            living += 1;
            if live.kind == NodeKind::Directory {
                folders.push(id);
            }
        }
    };
    for id in (1..index32(nodes.len())).rev() {
        while let Some((_, back)) = again.pop_if(|(time, _)| *time > id) {
            number(back);
        }
        number(id);
    }
    nodes[0].first_child = NONE;
    for id in &folders {
        nodes[*id as usize].first_child = NONE;
    }
    for id in folders.into_iter().rev() {
        let parent = nodes[id as usize].parent as usize;
        nodes[id as usize].next = std::mem::replace(&mut nodes[parent].first_child, id);
    }
    new_of[0] = 0;
    let mut open = vec![0];
    let (mut at, mut next) = (0, 1);
    while let Some(folder) = open.get(at).copied() {
        let start = next;
        first[folder as usize] = start;
        next += count[folder as usize];
        let mut child = nodes[folder as usize].first_child;
        while child != NONE {
            new_of[child as usize] += start;
            open.push(child);
            child = nodes[child as usize].next;
        }
        at += 1;
    }
    for (old, live) in nodes.iter().enumerate() {
        if live.alive && live.kind != NodeKind::Directory {
            new_of[old] += first[live.parent as usize];
        }
    }
    Layout { living, new_of, first, count }
}

/// A name of a file with several, and the file.
pub(super) type Name = (NodeId, u16, EntryId);

/// All names of files with several, by node.
fn names(shared: &HashMap<u32, Inode>, new_of: &[u32]) -> Vec<Name> {
    let mut names: Vec<Name> = shared
        .iter()
        .map(|(old, inode)| (NodeId(new_of[*old as usize]), inode.0, inode.1))
        .filter(|(node, ..)| node.0 != NONE)
        .collect();
    names.sort_unstable_by_key(|(node, ..)| *node);
    names
}

/// The nodes of the view, with the sums of what is at and below them.
fn records(layers: &[Arc<LayerIndex>], nodes: &[Live], layout: &Layout, shared: &[Name]) -> Vec<Record> {
    let new_of = &layout.new_of;
    let root = Record::new(NodeId::ROOT, nodes[0].place, NodeKind::Directory, (0, 0));
    let mut records = vec![root; layout.living];
    for (old, live) in nodes.iter().enumerate().filter(|(_, live)| live.alive) {
        let parent = NodeId(new_of[live.parent as usize]);
        let children = (layout.first[old], layout.count[old]);
        let record = &mut records[new_of[old] as usize];
        *record = Record::new(parent, live.place, live.kind, children);
        if live.kind == NodeKind::File {
            record.bytes = layers[usize::from(live.place.layer)].size(EntryId(live.place.id));
        }
    }
    share(layers, &mut records, shared);
    sum_up(&mut records);
    records
}

/// Adds what is in each folder to it. Folders are before their contents.
pub(super) fn sum_up(records: &mut [Record]) {
    for id in (1..records.len()).rev() {
        let (bytes, files) = (records[id].bytes, records[id].files);
        let parent = records[id].parent.0 as usize;
        let parent = &mut records[parent];
        parent.bytes += bytes;
        parent.files += files;
    }
}

/// Marks files with several names.
pub(super) fn mark_shared(records: &mut [Record], names: &[Name]) {
    for (node, ..) in names {
        records[node.0 as usize].share();
    }
}

/// Assigns bytes to files with several names: to the name written first, or, if that is removed, to the link made
/// first; the others add nothing.
fn share(layers: &[Arc<LayerIndex>], records: &mut [Record], names: &[Name]) {
    mark_shared(records, names);
    let mut holders: HashMap<Inode, (u16, EntryId, NodeId)> = HashMap::new();
    for (node, layer, entry) in names {
        let record = &mut records[node.0 as usize];
        record.bytes = 0;
        let place = record.place();
        let made = (place.layer, EntryId(place.id), *node);
        // A link comes after its target, so the file itself has the smallest number.
        holders.entry((*layer, *entry)).and_modify(|holder| *holder = made.min(*holder)).or_insert(made);
    }
    #[allow(clippy::iter_over_hash_type, reason = "each sets the bytes of its own record")]
    for ((layer, entry), (.., node)) in holders {
        records[node.0 as usize].bytes = layers[usize::from(layer)].size(entry);
    }
}
