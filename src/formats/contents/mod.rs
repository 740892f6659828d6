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

/// Who wrote a table of contents, and how the layer is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Members of gzip, the table in the last one but one.
    Estargz,
    /// Frames of zstd, the table in a frame that decoders skip.
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
    /// A reason; may contain untrusted text.
    pub fn new(why: impl AsRef<str>) -> Self {
        Self(crate::base::text::printable(why.as_ref()))
    }
}

/// SHA-256 of the bytes of a file or of a part of it.
pub type Sum = [u8; 32];

/// The entries that a table lists, in its order, which is that of the tar stream.
#[derive(Debug, Default)]
pub struct Contents {
    entries: Vec<Listed>,
    names: Vec<u8>,
    /// Locations of the bodies of entries, by the same numbers.
    pub bodies: Bodies,
}

/// An entry as the table lists it. Names are as they are written there.
#[derive(Clone, Copy, Debug)]
pub struct Listed {
    name: (u32, u32),
    link: (u32, u32),
    /// What it is.
    pub kind: MemberKind,
    /// Bytes of a regular file; 0 for all else.
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

    /// The path of an entry as it is written.
    pub fn path(&self, entry: &Listed) -> &[u8] {
        self.text(entry.name)
    }

    /// Where a link leads, as it is written; empty for what is no link.
    pub fn link(&self, entry: &Listed) -> &[u8] {
        self.text(entry.link)
    }

    fn text(&self, (at, length): (u32, u32)) -> &[u8] {
        let at = at as usize;
        self.names.get(at..at.saturating_add(length as usize)).unwrap_or_default()
    }
}

/// A piece of a file that is compressed on its own, or begins a known number of bytes behind such a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Where it begins in the file.
    pub at: u64,
    /// Its bytes, inflated.
    pub size: u64,
    /// Where its compressed stream begins in the blob.
    pub offset: u64,
    /// Where the next stream begins, or the data ends: nothing behind it is needed.
    pub end: u64,
    /// Decompressed bytes of the stream before it.
    pub inner: u64,
    /// All bytes are zero; nothing need be fetched.
    pub zeros: bool,
    /// What its bytes are proven by.
    pub sum: Option<Sum>,
}

/// Locations of the bodies of files in the blob.
#[derive(Debug, Default)]
pub struct Bodies {
    parts: Vec<Part>,
    /// For each entry, where its parts end.
    ends: Vec<u32>,
    sums: Vec<Option<Sum>>,
}

impl Bodies {
    /// The parts of an entry, without gaps from its start to its end. None for what has no bytes.
    pub fn parts(&self, entry: usize) -> &[Part] {
        let end = |entry: Option<usize>| entry.and_then(|entry| self.ends.get(entry)).map_or(0, |end| *end);
        let (from, to) = (end(entry.checked_sub(1)), end(Some(entry)));
        self.parts.get(from as usize..to as usize).unwrap_or_default()
    }

    /// The sum of all bytes of a file, as the table claims.
    pub fn sum(&self, entry: usize) -> Option<Sum> {
        self.sums.get(entry).copied().flatten()
    }

    /// Bytes of a file.
    pub fn size(&self, entry: usize) -> u64 {
        self.parts(entry).last().map_or(0, |part| part.at.saturating_add(part.size))
    }

    /// About how many bytes of memory they take.
    pub fn kept_bytes(&self) -> u64 {
        let parts = self.parts.len() * size_of::<Part>();
        let entries = self.ends.len() * (size_of::<u32>() + size_of::<Option<Sum>>());
        parts as u64 + entries as u64
    }
}

/// A buffer for `claimed` bytes, initially small, in case the claim is false.
fn buffer(claimed: u64) -> Vec<u8> {
    Vec::with_capacity(in_memory(claimed.min(1 << 20)))
}
