//! Files that a layer replaces by a file of the same size: what `chmod`, `chown` and `touch` make.

use std::collections::{BTreeMap, HashMap};

use super::tree::Rootfs;
use crate::layer::{DirId, EntryId, EntryKind};

/// A hidden file, and the file of the layer that hid it that has taken its path.
pub type Copied = ((u16, EntryId), (u16, EntryId));

/// Pairs of a hidden file and the file that took its path in the layer that hid it, where both have the same
/// size and it is not zero. Whether they are the same is for whoever has their hashes. By hidden file.
pub fn copies(rootfs: &Rootfs) -> Vec<Copied> {
    let mut by_layer: BTreeMap<u16, Vec<(u16, EntryId)>> = BTreeMap::new();
    for hidden in rootfs.hidden() {
        if rootfs.layer(hidden.layer).size(hidden.entry) > 0 {
            by_layer.entry(hidden.by).or_default().push((hidden.layer, hidden.entry));
        }
    }
    let mut pairs = Vec::new();
    for (by, hidden) in by_layer {
        let mut wanted: HashMap<Vec<u8>, Vec<(u16, EntryId)>> = HashMap::new();
        for inode in hidden {
            wanted.entry(rootfs.layer(inode.0).path(inode.1)).or_default().push(inode);
        }
        // The last of several entries of one path is the one that counts.
        let mut taken: BTreeMap<(u16, EntryId), EntryId> = BTreeMap::new();
        let index = rootfs.layer(by);
        let mut folder: Option<(DirId, Vec<u8>)> = None;
        for entry in index.entries().filter(|entry| index.kind(*entry) == EntryKind::File) {
            let dir = index.dir(entry);
            if folder.as_ref().is_none_or(|(known, _)| *known != dir) {
                folder = Some((dir, index.dir_path(dir)));
            }
            let parent = folder.as_ref().map_or(&b""[..], |(_, path)| path);
            let path = [parent, b"/", index.name(entry)].concat();
            for inode in wanted.get(&path).into_iter().flatten() {
                if *inode != (by, entry) && (inode.0 != by || inode.1 < entry) {
                    taken.insert(*inode, entry);
                }
            }
        }
        let same_size =
            |inode: &(u16, EntryId), entry: EntryId| rootfs.layer(inode.0).size(inode.1) == index.size(entry);
        pairs.extend(
            taken
                .into_iter()
                .filter(|(inode, entry)| same_size(inode, *entry))
                .map(|(inode, entry)| (inode, (by, entry))),
        );
    }
    pairs.sort_unstable();
    pairs
}
