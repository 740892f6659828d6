//! Tables of contents of layers, appended by eStargz and zstd:chunked, so that single files can be fetched.
//!
//! Sources: documents and code of containerd/stargz-snapshotter (`estargz/types.go`) and containers/storage
//! (`pkg/chunked`). Both write the same JSON, at different locations.

pub mod chunked;
pub mod estargz;
mod parse;
mod time;

use std::fmt;

use super::tar::MemberKind;
use crate::base::convert::in_memory;
use crate::base::words::words;

/// Starts of the annotations that describe a table of contents: they do not apply to other bytes.
pub const TOC_ANNOTATIONS: [&str; 3] =
    ["containerd.io/snapshot/stargz/", "io.containers.estargz.", "io.github.containers.zstd-chunked."];

/// Format of a table of contents, and so the compression of the layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Gzip members, the table in the last but one.
    Estargz,
    /// Zstd frames, the table in a skippable frame.
    ZstdChunked,
}

words!(Format {
    Estargz = "estargz",
    ZstdChunked = "zstd:chunked",
});

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Estargz => "eStargz",
            Self::ZstdChunked => "zstd:chunked",
        })
    }
}

/// Why a table of contents is not used. Safe to show.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(String);

impl Refused {
    /// A reason; it may contain untrusted text, which is escaped.
    pub fn new(why: impl AsRef<str>) -> Self {
        Self(crate::base::text::printable(why.as_ref()))
    }
}

/// SHA-256 of a file or of a chunk of it.
pub type Sum = [u8; 32];

/// The entries of a table in its order, which is that of the tar stream.
#[derive(Debug, Default)]
pub struct Contents {
    entries: Vec<Listed>,
    names: Vec<u8>,
    /// Locations of file contents, by entry index.
    pub bodies: ChunkMap,
}

/// An entry of the table, with names as written there.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    name: (u32, u32),
    link: (u32, u32),
    /// What it is.
    pub kind: MemberKind,
    /// Size of a regular file in bytes; 0 for other entries.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Modification time, seconds since 1970.
    pub mtime: i64,
}

impl Contents {
    /// All entries.
    pub fn entries(&self) -> &[Listed] {
        &self.entries
    }

    /// The path of an entry as written.
    pub fn path(&self, entry: &Listed) -> &[u8] {
        self.text(entry.name)
    }

    /// The link target of an entry as written; empty if it is not a link.
    pub fn link(&self, entry: &Listed) -> &[u8] {
        self.text(entry.link)
    }

    fn text(&self, (at, length): (u32, u32)) -> &[u8] {
        let at = at as usize;
        self.names.get(at..at.saturating_add(length as usize)).unwrap_or_default()
    }
}

/// A chunk of a file: compressed separately, or at a known decompressed offset of such a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Offset in the file.
    pub at: u64,
    /// Decompressed size in bytes.
    pub size: u64,
    /// Offset of its compressed stream in the blob.
    pub offset: u64,
    /// Offset of the next stream, or of the end of the data: no byte from there on is needed.
    pub end: u64,
    /// Decompressed bytes of the stream before the chunk.
    pub inner: u64,
    /// Whether all bytes are zero; then nothing is fetched.
    pub zeros: bool,
    /// Digest of its bytes, if the table has one.
    pub sum: Option<Sum>,
}

/// Locations of file contents in the blob.
#[derive(Debug, Default)]
pub struct ChunkMap {
    parts: Vec<Chunk>,
    /// By entry, the end of its chunks in the list of all chunks.
    ends: Vec<u32>,
    sums: Vec<Option<Sum>>,
}

impl ChunkMap {
    /// The chunks of an entry, contiguous from its start to its end. Empty for an entry without content.
    pub fn parts(&self, entry: usize) -> &[Chunk] {
        let end = |entry: Option<usize>| entry.and_then(|entry| self.ends.get(entry)).map_or(0, |end| *end);
        let (from, to) = (end(entry.checked_sub(1)), end(Some(entry)));
        self.parts.get(from as usize..to as usize).unwrap_or_default()
    }

    /// Digest of a file, as the table declares it.
    pub fn sum(&self, entry: usize) -> Option<Sum> {
        self.sums.get(entry).copied().flatten()
    }

    /// Size of a file in bytes.
    pub fn size(&self, entry: usize) -> u64 {
        self.parts(entry).last().map_or(0, |part| part.at.saturating_add(part.size))
    }

    /// Approximate size in memory, in bytes.
    pub fn kept_bytes(&self) -> u64 {
        let parts = self.parts.len() * size_of::<Chunk>();
        let entries = self.ends.len() * (size_of::<u32>() + size_of::<Option<Sum>>());
        parts as u64 + entries as u64
    }
}

/// A buffer for `claimed` bytes, initially small, in case the declared size is false.
fn buffer(claimed: u64) -> Vec<u8> {
    Vec::with_capacity(in_memory(claimed.min(1 << 20)))
}
