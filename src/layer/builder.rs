//! Fills a [`LayerIndex`] entry by entry.

use std::hash::{BuildHasher as _, RandomState};

use hashbrown::HashTable;

use super::index::{Dir, DirId, EntryId, EntryKind, LayerIndex, Link, Name, parts};
use crate::base::Limits;
use crate::base::convert::index32;

const WHITEOUT_PREFIX: &[u8] = b".wh.";
/// Sparse files may claim any size: with this bound per layer no sum over an image overflows.
pub(super) const MAX_CONTENT_BYTES: u64 = 1 << 52;
/// Base budget for names and folders of a layer; each entry adds to it. Real layers stay below 200 bytes per entry.
const NAME_BYTES: usize = 4 << 20;
const NAME_BYTES_PER_ENTRY: usize = 512;
const OPAQUE: &[u8] = b".wh..wh..opq";

/// The reason why a path is kept in another way than it says, as the end of a sentence.
pub(super) fn escape_reason(path: &[u8]) -> &'static str {
    let mut parts = path.rsplit(|byte| *byte == b'/');
    match parts.find(|part| !part.is_empty()).unwrap_or_default().strip_prefix(WHITEOUT_PREFIX) {
        Some(b"" | b"." | b"..") => "is a whiteout without the name of a file; kept as an ordinary entry",
        _ => "leaves the root; kept inside",
    }
}

/// An entry to add.
#[derive(Clone, Copy, Debug)]
pub struct NewEntry<'a> {
    /// Kind in the tar; whiteouts are recognised by their name.
    pub kind: EntryKind,
    /// Logical bytes, counted for regular files only.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Modification time, seconds since 1970.
    pub mtime: i64,
    /// Link target of symbolic and hard links.
    pub link: &'a [u8],
    /// Offset of the body in the tar stream; `None` if it is not stored contiguously.
    pub body_at: Option<u64>,
}

/// The layer has more entries, or more bytes of names, than the index supports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {0} {1}")]
pub struct IndexFull(u64, &'static str);

/// Builds the index of one layer.
pub struct IndexBuilder {
    index: LayerIndex,
    /// Folders by (parent, name).
    by_name: HashTable<u32>,
    hasher: RandomState,
    /// Entries come folder by folder: the last folder's path as written, and its id.
    last_dir: (Vec<u8>, DirId),
    max_entries: usize,
    /// Whether the last path went above the root by `..`.
    escaped: bool,
}

impl IndexBuilder {
    /// An empty layer with its root.
    pub fn new(limits: &Limits) -> Self {
        let root = Dir { parent: DirId::ROOT, name: Name::default() };
        Self {
            index: LayerIndex { dirs: vec![root], ..LayerIndex::default() },
            by_name: HashTable::new(),
            hasher: RandomState::new(),
            last_dir: (Vec::new(), DirId::ROOT),
            max_entries: limits.layer_entries.min(u32::MAX as usize),
            escaped: false,
        }
    }

    /// How many entries were added.
    pub fn len(&self) -> usize {
        self.index.len()
    }

    /// Whether nothing was added yet.
    pub fn is_empty(&self) -> bool {
        self.index.is_empty()
    }

    /// The last added entry.
    pub fn last(&self) -> Option<EntryId> {
        self.index.len().checked_sub(1).map(|place| EntryId(index32(place)))
    }

    /// The entries so far.
    pub(super) fn so_far(&self) -> &LayerIndex {
        &self.index
    }

    /// The absolute path of a folder, any bytes; empty for the root.
    pub fn dir_path(&self, dir: DirId) -> Vec<u8> {
        self.index.dir_path(dir)
    }

    /// Adds the entry of a tar member by its path as written. Returns whether the path tried to leave the root by `..`,
    /// or a whiteout its folder: it was kept inside.
    ///
    /// # Errors
    /// When the index is full.
    pub fn add_path(&mut self, path: &[u8], entry: NewEntry<'_>) -> Result<bool, IndexFull> {
        self.escaped = false;
        let trimmed = path.iter().rposition(|byte| *byte != b'/').map_or(&b""[..], |end| &path[..=end]);
        let split = trimmed.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
        let (dir_path, name) = trimmed.split_at(split);
        if matches!(name, b"" | b"." | b"..") {
            // The path ends in the folder itself: name it by its own last part.
            let dir = self.dir_of_path(trimmed)?;
            let (parent, name) = {
                let dir = &self.index.dirs[dir.0 as usize];
                (dir.parent, dir.name)
            };
            self.push(parent, name, entry.kind, entry)?;
            return Ok(self.escaped);
        }
        let dir = if dir_path == self.last_dir.0 { self.last_dir.1 } else { self.enter(dir_path)? };
        self.add(dir, name, entry, true)?;
        Ok(self.escaped)
    }

    /// Adds an entry `name` of the folder `dir`. With `whiteouts`, names that begin with `.wh.` are whiteouts of the
    /// layer format; a root filesystem has none.
    ///
    /// # Errors
    /// The index is full.
    pub fn add(
        &mut self,
        dir: DirId,
        name: &[u8],
        entry: NewEntry<'_>,
        whiteouts: bool,
    ) -> Result<EntryId, IndexFull> {
        let (kind, name) = match name.strip_prefix(WHITEOUT_PREFIX) {
            _ if !whiteouts => (entry.kind, name),
            None => (entry.kind, name),
            Some(_) if name == OPAQUE => (EntryKind::Opaque, &b""[..]),
            // It would remove its own folder or the one above: docker does that, containerd refuses the layer.
            Some(b"" | b"." | b"..") => {
                self.escaped = true;
                (entry.kind, name)
            }
            Some(hidden) => (EntryKind::Whiteout, hidden),
        };
        let name = self.store(name)?;
        self.push(dir, name, kind, entry)
    }

    /// The folder `name` in `parent`, added if missing.
    ///
    /// # Errors
    /// The index is full.
    pub fn dir(&mut self, parent: DirId, name: &[u8]) -> Result<DirId, IndexFull> {
        let hash = self.hasher.hash_one((parent.0, name));
        let index = &self.index;
        let same = |id: &u32| {
            let dir = &index.dirs[*id as usize];
            dir.parent == parent && index.dir_name(DirId(*id)) == name
        };
        if let Some(id) = self.by_name.find(hash, same) {
            return Ok(DirId(*id));
        }
        if self.index.dirs.len() >= self.max_entries {
            return Err(IndexFull(self.max_entries as u64, "folders"));
        }
        let id = index32(self.index.dirs.len());
        let name = self.store(name)?;
        self.index.dirs.push(Dir { parent, name });
        let (index, hasher) = (&self.index, &self.hasher);
        self.by_name.insert_unique(hash, id, |id| {
            hasher.hash_one((index.dirs[*id as usize].parent.0, index.dir_name(DirId(*id))))
        });
        Ok(DirId(id))
    }

    /// Removes the last entry: its body is missing.
    pub fn drop_last(&mut self) {
        let index = &mut self.index;
        let Some(kind) = index.kind.pop() else { return };
        let size = index.size.pop().unwrap_or_default();
        index.dir.pop();
        index.name_at.pop();
        index.name_len.pop();
        index.mode.pop();
        index.uid.pop();
        index.gid.pop();
        index.mtime.pop();
        index.body_after.pop();
        index.links.pop_if(|link| link.entry.0 as usize == index.kind.len());
        let counts = &mut index.counts;
        counts.entries -= 1;
        counts.content_bytes -= size;
        *counts.of(kind) -= 1;
    }

    /// The finished index, cut to size.
    pub fn finish(self) -> LayerIndex {
        let mut index = self.index;
        index.names.shrink_to_fit();
        index.dirs.shrink_to_fit();
        index.dir.shrink_to_fit();
        index.name_at.shrink_to_fit();
        index.name_len.shrink_to_fit();
        index.kind.shrink_to_fit();
        index.size.shrink_to_fit();
        index.mode.shrink_to_fit();
        index.uid.shrink_to_fit();
        index.gid.shrink_to_fit();
        index.mtime.shrink_to_fit();
        index.body_after.shrink_to_fit();
        index.links.shrink_to_fit();
        index
    }

    fn enter(&mut self, dir_path: &[u8]) -> Result<DirId, IndexFull> {
        let dir = self.dir_of_path(dir_path)?;
        if !self.escaped {
            self.last_dir.0.clear();
            self.last_dir.0.extend_from_slice(dir_path);
            self.last_dir.1 = dir;
        }
        Ok(dir)
    }

    fn dir_of_path(&mut self, path: &[u8]) -> Result<DirId, IndexFull> {
        let mut dir = DirId::ROOT;
        for part in parts(path) {
            if part == b".." {
                self.escaped |= dir == DirId::ROOT;
                dir = self.index.dir_parent(dir);
            } else {
                dir = self.dir(dir, part)?;
            }
        }
        Ok(dir)
    }

    fn push(
        &mut self,
        dir: DirId,
        name: Name,
        kind: EntryKind,
        entry: NewEntry<'_>,
    ) -> Result<EntryId, IndexFull> {
        if self.index.len() >= self.max_entries {
            return Err(IndexFull(self.max_entries as u64, "entries"));
        }
        let id = EntryId(index32(self.index.len()));
        let size = if kind == EntryKind::File { entry.size } else { 0 };
        if matches!(kind, EntryKind::HardLink | EntryKind::Symlink) {
            let target = self.store(entry.link)?;
            self.index.links.push(Link { entry: id, target });
        }
        let counts = &mut self.index.counts;
        let content_bytes = counts.content_bytes.saturating_add(size);
        if content_bytes > MAX_CONTENT_BYTES {
            return Err(IndexFull(MAX_CONTENT_BYTES, "bytes of files claimed"));
        }
        counts.entries += 1;
        *counts.of(kind) += 1;
        counts.content_bytes = content_bytes;
        let index = &mut self.index;
        index.dir.push(dir.0);
        index.name_at.push(name.at);
        index.name_len.push(name.len);
        index.kind.push(kind);
        index.size.push(size);
        index.mode.push((entry.mode & 0o7777) as u16);
        index.uid.push(entry.uid);
        index.gid.push(entry.gid);
        index.mtime.push(entry.mtime);
        index.body_after.push(entry.body_at.map_or(0, |at| at.saturating_add(1)));
        Ok(id)
    }

    fn store(&mut self, name: &[u8]) -> Result<Name, IndexFull> {
        let full = IndexFull(u64::from(u32::MAX), "bytes of names");
        // A few headers can name very deep paths: memory for names and folders grows with entries only.
        let budget = NAME_BYTES + NAME_BYTES_PER_ENTRY * self.index.len();
        if self.index.names.len() + self.index.dirs.len() * size_of::<Dir>() > budget {
            return Err(IndexFull(budget as u64, "bytes of names and folders for so few entries"));
        }
        let at = u32::try_from(self.index.names.len()).map_err(|_| full)?;
        let len = u16::try_from(name.len()).map_err(|_| full)?;
        self.index.names.extend_from_slice(name);
        u32::try_from(self.index.names.len()).map_err(|_| full)?;
        Ok(Name { at, len })
    }
}
