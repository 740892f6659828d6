//! The end of a merge: linked lists of nodes become adjacent ranges.

use std::sync::Arc;

use hashbrown::HashMap;

use super::copies;
use super::entries::Entries;
use super::merge::{Merge, Merger};
use super::tree::{Folder, Record, Rootfs};
use super::value::{Inode, Live, NONE, NodeId, NodeKind};
use crate::base::convert::index32;
use crate::jobs::both;
use crate::layer::{EntryId, LayerIndex};

impl<W> Merger<'_, W> {
    /// Lays out the live nodes with adjacent siblings, and sums sizes.
    pub(super) fn finish(self) -> Merge {
        let Self {
            layers, nodes, links, by_name, shared, again, mut hidden, waste, put_at, warnings, ..
        } = self;
        // Here an analysis needs most memory.
        drop((links, by_name));
        let layout = lay_out(&nodes, again);
        let shared = names(&shared, &layout.new_of);
        hidden.sort_unstable_by_key(|hidden| (hidden.layer, hidden.entry));
        let ((copied, entries), records) = both(
            || {
                let copied = copies::find(layers, &hidden, &put_at, nodes.len());
                (copied, Entries::new(put_at, &nodes, &layout.new_of, &shared))
            },
            || {
                let mut records = records(&nodes, &layout);
                share(&mut records, &shared);
                records
            },
        );
        drop(nodes);
        let nodes = records;
        let mut folders = layout.folders;
        sum_up(layers, &nodes, &mut folders, &shared);
        let (merged_bytes, merged_files) = (folders[0].bytes, u64::from(folders[0].files));
        let rootfs = Rootfs { layers: layers.to_vec(), nodes, folders, shared, hidden, copied, entries };
        Merge { rootfs, merged_bytes, merged_files, waste, warnings: warnings.finish("merged view") }
    }
}

/// Positions of nodes in the view.
struct Layout {
    living: usize,
    /// By node: its position; `NONE` if removed.
    new_of: Vec<u32>,
    /// By node: its number among the folders; `NONE` if it is none.
    folder_of: Vec<u32>,
    /// Without sums. The root is the first.
    folders: Vec<Folder>,
}

/// Assigns positions to the live nodes: by folder, and in a folder newest first, as they are linked. The links are not
/// followed, because in a large folder each step would wait for memory. `again` has the restored nodes, which are as
/// new as their restoration.
fn lay_out(nodes: &[Live], mut again: Vec<(u32, u32)>) -> Layout {
    let mut folder_of = vec![NONE; nodes.len()];
    let mut folders = Vec::new();
    for (own, _) in folder_of.iter_mut().zip(nodes).filter(|(_, live)| live.is_folder()) {
        *own = index32(folders.len());
        folders.push(Folder::default());
    }
    let mut new_of = vec![NONE; nodes.len()];
    let mut newest = Vec::with_capacity(folders.len());
    let mut living = 1;
    let mut number = |id: u32| {
        let live = nodes[id as usize];
        if live.is_alive() && new_of[id as usize] == NONE {
            let beside = &mut folders[folder_of[live.parent as usize] as usize].child_count;
            new_of[id as usize] = *beside;
            *beside += 1;
            living += 1;
            if live.is_folder() {
                newest.push(id);
            }
        }
    };
    for id in (1..index32(nodes.len())).rev() {
        while let Some((_, back)) = again.pop_if(|(time, _)| *time > id) {
            number(back);
        }
        number(id);
    }
    // Folders only: by number, the first in each and the next beside each.
    let mut links = vec![(NONE, NONE); folders.len()];
    for id in newest.into_iter().rev() {
        let above = folder_of[nodes[id as usize].parent as usize];
        links[folder_of[id as usize] as usize].1 = std::mem::replace(&mut links[above as usize].0, id);
    }
    new_of[0] = 0;
    let mut open = vec![0];
    let (mut at, mut next) = (0, 1);
    while let Some(id) = open.get(at).copied() {
        let number = folder_of[id as usize] as usize;
        folders[number].children = next;
        next += folders[number].child_count;
        let mut child = links[number].0;
        while child != NONE {
            new_of[child as usize] += folders[number].children;
            open.push(child);
            child = links[folder_of[child as usize] as usize].1;
        }
        at += 1;
    }
    for (own, live) in new_of.iter_mut().zip(nodes).filter(|(_, live)| live.is_alive() && !live.is_folder()) {
        *own += folders[folder_of[live.parent as usize] as usize].children;
    }
    Layout { living, new_of, folder_of, folders }
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

/// The nodes of the view.
fn records(nodes: &[Live], layout: &Layout) -> Vec<Record> {
    let Layout { living, new_of, folder_of, .. } = layout;
    let root = Record::new(NodeId::ROOT, nodes[0].place(), NodeKind::Directory, 0);
    let mut records = vec![root; *living];
    for (old, live) in nodes.iter().enumerate() {
        let Some(kind) = live.kind else { continue };
        let parent = NodeId(new_of[live.parent as usize]);
        records[new_of[old] as usize] = Record::new(parent, live.place(), kind, folder_of[old]);
    }
    records
}

/// Adds what is in each folder to it. Folders are before their contents.
pub(super) fn sum_up(
    layers: &[Arc<LayerIndex>],
    records: &[Record],
    folders: &mut [Folder],
    shared: &[Name],
) {
    for (id, record) in records.iter().enumerate().skip(1).rev() {
        let (bytes, files) = match record.folder() {
            Some(own) => (folders[own].bytes, folders[own].files),
            None if record.kind == NodeKind::File => (record.bytes(NodeId(index32(id)), layers, shared), 1),
            None => continue,
        };
        let Some(above) = records[record.parent.0 as usize].folder() else { continue };
        // Only a damaged record of the index cache, which is rejected, has more bytes than can be.
        folders[above].bytes = folders[above].bytes.saturating_add(bytes);
        folders[above].files += files;
    }
}

/// Assigns the bytes of files with several names: to the name written first, or, if that is removed, to the link made
/// first; the others add nothing.
pub(super) fn share(records: &mut [Record], names: &[Name]) {
    let mut holders: HashMap<Inode, (u16, EntryId, NodeId)> = HashMap::new();
    for (node, layer, entry) in names {
        let record = &mut records[node.0 as usize];
        record.share(false);
        let place = record.place();
        let made = (place.layer, EntryId(place.id), *node);
        // A link comes after its target, so the file itself has the smallest number.
        holders.entry((*layer, *entry)).and_modify(|holder| *holder = made.min(*holder)).or_insert(made);
    }
    #[allow(clippy::iter_over_hash_type, reason = "each marks its own record")]
    for (.., node) in holders.into_values() {
        records[node.0 as usize].share(true);
    }
}
