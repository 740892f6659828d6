//! What is in a layer, whatever the order and the times of its entries.

use crate::jobs::{CancelToken, Cancelled};
use crate::layer::{DirId, EntryId, EntryKind, LayerRead, parts};

/// Layers with the same one have the same paths, kinds, sizes, modes, owners, links and contents.
pub(super) type Signature = [u8; 32];

/// Enough of a hash to tell paths apart while they are sorted; all of it goes into the signature.
type PathHash = [u8; 32];

/// The signature of a layer; `None` when the content of a file is not known, or it holds what no index describes.
pub(super) fn signature(read: &LayerRead, cancel: &CancelToken) -> Result<Option<Signature>, Cancelled> {
    let index = &read.index;
    // The numbers of devices are not in an index.
    if index.counts().others > 0 {
        return Ok(None);
    }
    let mut folders: Vec<PathHash> = Vec::with_capacity(index.dir_count());
    for dir in (0..crate::base::convert::index32(index.dir_count())).map(DirId) {
        // A folder stands after the one that holds it; the root holds itself.
        let parent = folders.get(index.dir_parent(dir).0 as usize).copied().unwrap_or_default();
        folders.push(below(&parent, index.dir_name(dir)));
    }
    let mut order: Vec<(PathHash, EntryId)> = index
        .entries()
        .map(|entry| (below(&folders[index.dir(entry).0 as usize], index.name(entry)), entry))
        .collect();
    // Of several entries of one path the last one counts: they stay in their order.
    order.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for (path, entry) in order {
        if entry.0 % 4096 == 0 {
            cancel.check()?;
        }
        let (kind, size) = (index.kind(entry), index.size(entry));
        let (owner, group) = index.owner(entry);
        hasher.update(&path);
        hasher.update(&[kind as u8]);
        hasher.update(&size.to_le_bytes());
        // No runtime looks at the mode or owner of a link or whiteout.
        if matches!(kind, EntryKind::File | EntryKind::Directory) {
            hasher.update(&index.mode(entry).to_le_bytes());
        }
        hasher.update(&owner.to_le_bytes());
        hasher.update(&group.to_le_bytes());
        match kind {
            EntryKind::File if size > 0 => {
                let Some(hash) = read.facts.hash(entry) else { return Ok(None) };
                hasher.update(hash);
            }
            EntryKind::Symlink => {
                let link = index.link(entry).unwrap_or_default();
                hasher.update(&(link.len() as u64).to_le_bytes());
                hasher.update(link);
            }
            EntryKind::HardLink => {
                // However it is written, it is a path from the root.
                let target = parts(index.link(entry).unwrap_or_default());
                hasher.update(&target.fold(PathHash::default(), |parent, name| below(&parent, name)));
            }
            _ => {}
        }
    }
    Ok(Some(*hasher.finalize().as_bytes()))
}

/// The hash of a path from that of its folder.
fn below(parent: &PathHash, name: &[u8]) -> PathHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(parent);
    hasher.update(name);
    *hasher.finalize().as_bytes()
}
