//! The end of a merge: nodes that were linked lists come to lie side by side.

use std::collections::HashMap;

use super::copies;
use super::entries::Entries;
use super::merge::{Inode, Live, Merge, Merger, NONE};
use super::tree::{NodeId, NodeKind, Record, Rootfs};
use crate::base::convert::index32;
use crate::layer::EntryId;

impl<W> Merger<'_, W> {
    /// Lays the living nodes out with children side by side and sums sizes.
    pub(super) fn finish(self) -> Merge {
        let Self { layers, nodes, by_name, shared, mut hidden, waste, put_at, warnings, .. } = self;
        drop(by_name);
        let living = nodes.iter().filter(|live| live.alive).count();
        let mut records: Vec<Record> = Vec::with_capacity(living);
        let mut old_of = Vec::with_capacity(living);
        let record = |parent: u32, live: &Live| Record {
            parent: NodeId(parent),
            children: 0,
            child_count: 0,
            place: live.place,
            kind: live.kind,
            shared: false,
            bytes: 0,
            files: u32::from(live.kind == NodeKind::File),
        };
        records.push(record(0, &nodes[0]));
        old_of.push(0u32);
        let mut at = 0;
        while at < records.len() {
            records[at].children = index32(records.len());
            let mut child = nodes[old_of[at] as usize].first_child;
            while child != NONE {
                let live = &nodes[child as usize];
                records.push(record(index32(at), live));
                old_of.push(child);
                child = live.next;
            }
            records[at].child_count = index32(records.len()) - records[at].children;
            at += 1;
        }
        let mut shared_nodes = Vec::with_capacity(shared.len());
        // Of several names of a file, the bytes stand at the one it was written under, or, when that is
        // gone, at the link that was made first; the others add nothing.
        let mut holders: HashMap<Inode, (u16, EntryId, usize)> = HashMap::new();
        for (id, old) in old_of.iter().enumerate() {
            let Record { place, kind: NodeKind::File, .. } = records[id] else { continue };
            let made = (place.layer, EntryId(place.id));
            let Some(inode) = shared.get(old) else {
                records[id].bytes = layers[usize::from(made.0)].size(made.1);
                continue;
            };
            records[id].shared = true;
            shared_nodes.push((NodeId(index32(id)), inode.0, inode.1));
            let holder = holders.entry(*inode).or_insert((made.0, made.1, id));
            // A link comes after the file it links to, so the file itself is the least.
            if made < (holder.0, holder.1) {
                *holder = (made.0, made.1, id);
            }
        }
        let layers_of = |inode: &Inode| layers[usize::from(inode.0)].size(inode.1);
        let bytes_at: Vec<(usize, u64)> =
            holders.iter().map(|(inode, (_, _, id))| (*id, layers_of(inode))).collect();
        for (id, bytes) in bytes_at {
            records[id].bytes = bytes;
        }
        for id in (1..records.len()).rev() {
            let (bytes, files) = (records[id].bytes, records[id].files);
            let parent = records[id].parent.0 as usize;
            let parent = &mut records[parent];
            parent.bytes += bytes;
            parent.files += files;
        }
        hidden.sort_unstable_by_key(|hidden| (hidden.layer, hidden.entry));
        let (merged_bytes, merged_files) = (records[0].bytes, u64::from(records[0].files));
        let copied = copies::find(layers, &hidden, &put_at, nodes.len());
        let entries = Entries::new(put_at, &nodes, &old_of, &shared_nodes);
        let rootfs =
            Rootfs { layers: layers.to_vec(), nodes: records, shared: shared_nodes, hidden, copied, entries };
        Merge { rootfs, merged_bytes, merged_files, waste, warnings: warnings.finish("merged view") }
    }
}
