//! The entries of one layer in parallel columns over one name arena: about 50 bytes an entry.

use serde::{Deserialize, Serialize};

use super::column::Column;

/// An entry of one layer, in the order of the tar stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EntryId(pub u32);

/// A folder in some path of the layer, with or without an entry of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DirId(pub u32);

impl DirId {
    /// The root of the layer.
    pub const ROOT: Self = Self(0);
}

/// Kind of an entry under the layer rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum EntryKind {
    /// Regular file.
    File,
    /// Second name of a file.
    HardLink,
    /// Symbolic link.
    Symlink,
    /// Folder.
    Directory,
    /// Device or pipe, or a type that is not unpacked.
    Other,
    /// Removes the name after `.wh.` from the layers below.
    Whiteout,
    /// Removes everything in its folder from the layers below.
    Opaque,
}

/// How many entries of each kind, and the bytes of regular files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All entries: the sum of the counts below.
    pub entries: u64,
    /// Regular files.
    pub files: u64,
    /// Folders.
    pub directories: u64,
    /// Symbolic links.
    pub symlinks: u64,
    /// Hard links.
    pub hardlinks: u64,
    /// Whiteouts, opaque ones included.
    pub whiteouts: u64,
    /// Devices, pipes and entries that are not extracted.
    pub others: u64,
    /// Logical bytes of the regular files.
    pub content_bytes: u64,
}

impl Counts {
    /// The count of a kind.
    pub(super) fn of(&mut self, kind: EntryKind) -> &mut u64 {
        match kind {
            EntryKind::File => &mut self.files,
            EntryKind::Directory => &mut self.directories,
            EntryKind::Symlink => &mut self.symlinks,
            EntryKind::HardLink => &mut self.hardlinks,
            EntryKind::Whiteout | EntryKind::Opaque => &mut self.whiteouts,
            EntryKind::Other => &mut self.others,
        }
    }
}

/// A range of the name arena.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    pub(super) at: u32,
    pub(super) len: u16,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Dir {
    pub(super) parent: DirId,
    pub(super) name: Name,
}

/// A link target; only links have one, so it is stored separately, ordered by entry.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) entry: EntryId,
    pub(super) target: Name,
}

/// Everything known about the entries of one layer.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LayerIndex {
    pub(super) names: Vec<u8>,
    pub(super) dirs: Vec<Dir>,
    pub(super) dir: Column<u32>,
    pub(super) name_at: Column<u32>,
    pub(super) name_len: Column<u16>,
    pub(super) kind: Vec<EntryKind>,
    pub(super) size: Column<u64>,
    pub(super) mode: Column<u16>,
    pub(super) uid: Column<u32>,
    pub(super) gid: Column<u32>,
    pub(super) mtime: Column<i64>,
    /// One more than the offset of the body; 0 for a missing one, so that the numbers stay close together.
    pub(super) body_after: Column<u64>,
    pub(super) links: Vec<Link>,
    pub(super) counts: Counts,
}

impl LayerIndex {
    /// Counts and content bytes.
    #[inline]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// How many entries there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.kind.len()
    }

    /// Whether the layer has no entry.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.kind.is_empty()
    }

    /// All entries in the order of the tar stream.
    #[inline]
    pub fn entries(&self) -> impl ExactSizeIterator<Item = EntryId> + use<> {
        // The builder limits entries to u32::MAX.
        (0..crate::base::convert::index32(self.kind.len())).map(EntryId)
    }

    /// How many folders there are, the root included.
    #[inline]
    pub fn dir_count(&self) -> usize {
        self.dirs.len()
    }

    /// Parent of `dir`; the root is its own parent.
    #[inline]
    pub fn dir_parent(&self, dir: DirId) -> DirId {
        self.dirs[dir.0 as usize].parent
    }

    /// The last part of a folder's path; empty for the root.
    #[inline]
    pub fn dir_name(&self, dir: DirId) -> &[u8] {
        self.bytes(self.dirs[dir.0 as usize].name)
    }

    /// Folder of an entry.
    #[inline]
    pub fn dir(&self, entry: EntryId) -> DirId {
        DirId(self.dir.get(entry.0 as usize))
    }

    /// The last part of an entry's path; empty when the entry is the root itself. For a whiteout,
    /// the name that it removes; empty for an opaque one.
    #[inline]
    pub fn name(&self, entry: EntryId) -> &[u8] {
        let place = entry.0 as usize;
        self.bytes(Name { at: self.name_at.get(place), len: self.name_len.get(place) })
    }

    /// What an entry is.
    #[inline]
    pub fn kind(&self, entry: EntryId) -> EntryKind {
        self.kind[entry.0 as usize]
    }

    /// Logical bytes of a regular file; 0 for all else.
    #[inline]
    pub fn size(&self, entry: EntryId) -> u64 {
        self.size.get(entry.0 as usize)
    }

    /// Permission bits with set-user-id, set-group-id and sticky.
    #[inline]
    pub fn mode(&self, entry: EntryId) -> u16 {
        self.mode.get(entry.0 as usize)
    }

    /// Owner and group.
    pub fn owner(&self, entry: EntryId) -> (u32, u32) {
        (self.uid.get(entry.0 as usize), self.gid.get(entry.0 as usize))
    }

    /// Modification time in seconds since 1970.
    pub fn mtime(&self, entry: EntryId) -> i64 {
        self.mtime.get(entry.0 as usize)
    }

    /// Offset of a file's body in the uncompressed tar stream. `None` if there is no body, or it differs from the
    /// content: entries of a folder, sparse files.
    #[inline]
    pub fn body_at(&self, entry: EntryId) -> Option<u64> {
        self.body_after.get(entry.0 as usize).checked_sub(1)
    }

    /// Target of a link as stored; for a hard link the path within the layer's root.
    pub fn link(&self, entry: EntryId) -> Option<&[u8]> {
        let place = self.links.binary_search_by_key(&entry, |link| link.entry).ok()?;
        Some(self.bytes(self.links[place].target))
    }

    /// The path of a folder: absolute, any bytes.
    pub fn dir_path(&self, dir: DirId) -> Vec<u8> {
        let mut parts = Vec::new();
        let mut at = dir;
        while at != DirId::ROOT {
            parts.push(self.dir_name(at));
            at = self.dir_parent(at);
        }
        let mut path = Vec::new();
        for part in parts.iter().rev() {
            path.push(b'/');
            path.extend_from_slice(part);
        }
        path
    }

    /// The absolute path of an entry, any bytes; `/` for the root.
    pub fn path(&self, entry: EntryId) -> Vec<u8> {
        let mut path = self.dir_path(self.dir(entry));
        path.push(b'/');
        path.extend_from_slice(self.name(entry));
        path
    }

    #[inline]
    fn bytes(&self, name: Name) -> &[u8] {
        let at = name.at as usize;
        &self.names[at..at + usize::from(name.len)]
    }
}

/// The effective parts of a path: no empty ones, no `.`; the caller handles `..`.
pub(crate) fn parts(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/').filter(|part| !part.is_empty() && *part != b".")
}
