//! Files that an upper layer replaces by a file of equal size, typically after `chmod`, `chown` or `touch`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::tree::Rootfs;
use super::value::{Copied, Hidden, Inode, NONE};
use crate::layer::{EntryId, EntryKind, LayerIndex};

/// Pairs of a shadowed file and its replacement, with equal nonzero size, sorted by shadowed file. Hashes determine
/// elsewhere whether they are identical.
pub fn copies(rootfs: &Rootfs) -> impl Iterator<Item = Copied> + '_ {
    replaced(rootfs).filter(|((layer, entry), _)| rootfs.layer(*layer).size(*entry) > 0)
}

/// The same with empty files.
pub fn replaced(rootfs: &Rootfs) -> impl Iterator<Item = Copied> + '_ {
    rootfs.copied.iter().copied()
}

/// Finds them. `put_at` has the node of the path of each entry, of as many as `nodes`.
pub(super) fn find(
    layers: &[Arc<LayerIndex>],
    hidden: &[Hidden],
    put_at: &[Vec<u32>],
    nodes: usize,
) -> Vec<Copied> {
    let mut by_layer: BTreeMap<u16, Vec<Inode>> = BTreeMap::new();
    for hidden in hidden {
        by_layer.entry(hidden.by).or_default().push((hidden.layer, hidden.entry));
    }
    let mut pairs = Vec::new();
    if by_layer.is_empty() {
        return pairs;
    }
    // By node: the file of a layer at that path; the last entry of a path counts.
    let mut last = vec![NONE; nodes];
    let node = |(layer, entry): Inode| put_at[usize::from(layer)][entry.0 as usize] as usize;
    for (by, hidden) in by_layer {
        let index = &layers[usize::from(by)];
        let files = || index.entries().filter(|entry| index.kind(*entry) == EntryKind::File);
        for entry in files() {
            if let Some(last) = last.get_mut(node((by, entry))) {
                *last = entry.0;
            }
        }
        for inode in hidden {
            let Some(taken) = last.get(node(inode)).filter(|taken| **taken != NONE) else { continue };
            let by = (by, EntryId(*taken));
            let is_later = inode.0 != by.0 || inode.1 < by.1;
            if is_later && layers[usize::from(inode.0)].size(inode.1) == index.size(by.1) {
                pairs.push((inode, by));
            }
        }
        for entry in files() {
            if let Some(last) = last.get_mut(node((by, entry))) {
                *last = NONE;
            }
        }
    }
    pairs.sort_unstable();
    pairs
}
