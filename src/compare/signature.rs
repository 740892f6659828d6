//! Whether two layers have the same content, in any order and with any times.

use std::hash::BuildHasher as _;

use hashbrown::DefaultHashBuilder;

use crate::base::convert::index32;
use crate::jobs::{CancelToken, Cancelled};
use crate::layer::{ContentHash, DirId, EntryId, EntryKind, LayerRead, parts};

/// Entries between two checks for cancellation.
const STRETCH: usize = 4096;

/// Fast fingerprint that distinguishes most layers. Equality is proven by [`is_same`].
pub(super) struct Signature {
    /// Order-independent sum over all entries.
    sum: u64,
    /// Hashes of the paths, by entry.
    paths: Vec<u64>,
}

/// Signature of a layer; `None` if the content of a file is unknown, or it has entries that the index does not
/// describe.
pub(super) fn signature(
    read: &LayerRead,
    hasher: &DefaultHashBuilder,
    cancel: &CancelToken,
) -> Result<Option<Signature>, Cancelled> {
    let index = &read.index;
    // The numbers of devices are not in an index.
    if index.counts().others > 0 {
        return Ok(None);
    }
    let mut folders: Vec<u64> = Vec::with_capacity(index.dir_count());
    for dir in (0..index32(index.dir_count())).map(DirId) {
        // A folder follows its parent; the root is its own parent.
        let parent = folders.get(index.dir_parent(dir).0 as usize).copied().unwrap_or(0);
        folders.push(hasher.hash_one((parent, index.dir_name(dir))));
    }
    let mut contents = read.facts.hashes().iter().peekable();
    let mut found = Signature { sum: 0, paths: Vec::with_capacity(index.len()) };
    for entry in index.entries() {
        if (entry.0 as usize).is_multiple_of(STRETCH) {
            cancel.check()?;
        }
        while contents.next_if(|(known, _)| *known < entry).is_some() {}
        let hash = contents.peek().filter(|(known, _)| *known == entry).map(|(_, hash)| hash);
        if index.kind(entry) == EntryKind::File && index.size(entry) > 0 && hash.is_none() {
            return Ok(None);
        }
        let path = hasher.hash_one((folders[index.dir(entry).0 as usize], index.name(entry)));
        found.paths.push(path);
        found.sum = found.sum.wrapping_add(hasher.hash_one((path, said(read, entry), hash)));
    }
    Ok(Some(found))
}

/// Properties of an entry, without path, time and link target.
fn said(read: &LayerRead, entry: EntryId) -> (u8, u64, u16, (u32, u32)) {
    let index = &read.index;
    let kind = index.kind(entry);
    // No runtime uses the mode of a link or whiteout.
    let has_mode = matches!(kind, EntryKind::File | EntryKind::Directory);
    let mode = if has_mode { index.mode(entry) } else { 0 };
    (kind as u8, index.size(entry), mode, index.owner(entry))
}

/// Whether two layers have the same paths, kinds, sizes, modes, owners, links and contents.
pub(super) fn is_same(
    one: (&LayerRead, &Signature),
    other: (&LayerRead, &Signature),
    cancel: &CancelToken,
) -> Result<bool, Cancelled> {
    if one.1.sum != other.1.sum || one.1.paths.len() != other.1.paths.len() {
        return Ok(false);
    }
    let mut pairs = Pairs { one: one.0, other: other.0, folders: vec![None; one.0.index.dir_count()] };
    if one.1.paths == other.1.paths {
        return pairs.all_same(one.0.index.entries().map(|entry| (entry, entry)), cancel);
    }
    let order = |signature: &Signature| {
        // Of several entries of one path the last one counts: they stay in their order.
        let paths = signature.paths.iter().enumerate();
        let mut order: Vec<(u64, u32)> = paths.map(|(at, path)| (*path, index32(at))).collect();
        order.sort_unstable();
        order
    };
    let entries = order(one.1).into_iter().zip(order(other.1));
    pairs.all_same(entries.map(|((_, one), (_, other))| (EntryId(one), EntryId(other))), cancel)
}

struct Pairs<'a> {
    one: &'a LayerRead,
    other: &'a LayerRead,
    /// Folders of one that are known to have the path of a folder of the other.
    folders: Vec<Option<DirId>>,
}

impl Pairs<'_> {
    fn all_same(
        &mut self,
        entries: impl Iterator<Item = (EntryId, EntryId)>,
        cancel: &CancelToken,
    ) -> Result<bool, Cancelled> {
        for (at, (one, other)) in entries.enumerate() {
            if at.is_multiple_of(STRETCH) {
                cancel.check()?;
            }
            if !self.is_same(one, other) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_same(&mut self, one: EntryId, other: EntryId) -> bool {
        let (ours, theirs) = (&self.one.index, &self.other.index);
        let link = |read: &LayerRead, entry: EntryId| -> Option<Vec<u8>> {
            let target = read.index.link(entry)?;
            // However the target of a hard link is written, it is a path from the root.
            let is_path = read.index.kind(entry) == EntryKind::HardLink;
            Some(if is_path { parts(target).collect::<Vec<_>>().join(&b'/') } else { target.to_vec() })
        };
        let hash = |read: &LayerRead, entry: EntryId| -> Option<ContentHash> {
            read.facts.hash(entry).filter(|_| read.index.size(entry) > 0).copied()
        };
        ours.name(one) == theirs.name(other)
            && said(self.one, one) == said(self.other, other)
            && hash(self.one, one) == hash(self.other, other)
            && link(self.one, one) == link(self.other, other)
            && self.is_same_folder(ours.dir(one), theirs.dir(other))
    }

    fn is_same_folder(&mut self, mut one: DirId, mut other: DirId) -> bool {
        let (ours, theirs) = (&self.one.index, &self.other.index);
        while one != DirId::ROOT && other != DirId::ROOT {
            match self.folders[one.0 as usize] {
                Some(known) => return known == other,
                None if ours.dir_name(one) != theirs.dir_name(other) => return false,
                // The parent is checked next; a difference there ends the comparison.
                None => self.folders[one.0 as usize] = Some(other),
            }
            (one, other) = (ours.dir_parent(one), theirs.dir_parent(other));
        }
        one == other
    }
}
