//! Sizes of the new image, and the files it lacks.

use std::cmp::Reverse;

use hashbrown::HashSet;

use super::super::select::Selection;
use super::super::value::Removed;
use super::image_pair::{FileDisposition, ImagePair};
use crate::base::convert::layer16;
use crate::base::text::escape;
use crate::cuda::Inode;
use crate::layer::EntryKind;
use crate::rootfs::Rootfs;

/// Content bytes of all layers, and of the kept entries.
pub(super) fn content(rootfs: &Rootfs, layers: usize, selection: &Selection) -> (u64, u64) {
    let (mut all, mut kept) = (0_u64, 0_u64);
    for layer in 0..layer16(layers) {
        let index = rootfs.layer(layer);
        all = all.saturating_add(index.counts().content_bytes);
        for entry in index.entries().filter(|entry| index.kind(*entry) == EntryKind::File) {
            if selection.has(layer, entry) {
                kept = kept.saturating_add(index.size(entry));
            }
        }
    }
    (all, kept)
}

/// Files visible in a container today and not in the new image, largest first, each inode once.
pub(super) fn removed(pair: &ImagePair<'_>) -> Vec<Removed> {
    let mut seen: HashSet<Inode> = HashSet::new();
    let mut removed = Vec::new();
    for node in pair.old.rootfs.nodes() {
        let Some(inode) = node.content() else { continue };
        // Another layer may have the same content at the same path.
        if pair.has(inode)
            || (node.has_other_names() && !seen.insert(inode))
            || pair.fate(node.id()) == FileDisposition::Stays
        {
            continue;
        }
        // The original name, if it is missing.
        let written = pair.old.rootfs.node_showing(inode.0, inode.1);
        let first = written.unwrap_or(node.id());
        removed.push(Removed {
            path: escape(&pair.old.node(first).path()),
            bytes: pair.size(inode),
            category: pair.finding(inode).map(|finding| finding.category),
        });
    }
    removed.sort_by(|a, b| (Reverse(a.bytes), &a.path).cmp(&(Reverse(b.bytes), &b.path)));
    removed
}
