//! Compression detection, by content, never by name or media type.

use std::fmt;

use crate::base::words::words;

/// How a stream is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Compression {
    /// Not at all.
    None,
    /// RFC 1952, any number of members.
    Gzip,
    /// RFC 8878, any number of frames, skippable ones included.
    Zstd,
}

words!(Compression {
    None = "none",
    Gzip = "gzip",
    Zstd = "zstd",
});

impl fmt::Display for Compression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Bytes that [`sniff`] needs: one tar header.
pub const SNIFF_BYTES: usize = 512;

/// Why a stream cannot be read as a layer or archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SniffError {
    /// A compression that container tools do not use for layers.
    #[error("unsupported compression {0}: layers are plain tar, gzip or zstd")]
    Unsupported(&'static str),
    /// Neither a known compression nor a tar header.
    #[error("not tar, gzip or zstd")]
    Unknown,
}

/// Detects the compression by the first bytes of a stream (up to [`SNIFF_BYTES`] of them). An empty stream is an empty
/// plain tar.
///
/// # Errors
/// The bytes are neither gzip, zstd, the start of a tar, nor zeros.
pub fn sniff(start: &[u8]) -> Result<Compression, SniffError> {
    match start {
        // A name may begin with the magic of a compression; a correct header checksum is no coincidence.
        _ if start.len() == SNIFF_BYTES && super::tar::is_header(start) => Ok(Compression::None),
        [0x1f, 0x8b, 0x08, ..] => Ok(Compression::Gzip),
        [0x28, 0xb5, 0x2f, 0xfd, ..] | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => Ok(Compression::Zstd),
        [b'B', b'Z', b'h', b'1'..=b'9', ..] => Err(SniffError::Unsupported("bzip2")),
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Err(SniffError::Unsupported("xz")),
        [0x04, 0x22, 0x4d, 0x18, ..] => Err(SniffError::Unsupported("lz4")),
        // A truncated header still counts as tar, so that the walk can report where it is truncated.
        _ if start.iter().all(|byte| *byte == 0) || super::tar::is_header(start) => Ok(Compression::None),
        _ => Err(SniffError::Unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::{Compression, SniffError, sniff};

    #[test]
    fn content_decides() {
        assert_eq!(sniff(&[0x1f, 0x8b, 8, 0]), Ok(Compression::Gzip));
        assert_eq!(sniff(&[0x28, 0xb5, 0x2f, 0xfd]), Ok(Compression::Zstd));
        assert_eq!(sniff(&[0x5e, 0x2a, 0x4d, 0x18]), Ok(Compression::Zstd));
        assert_eq!(sniff(&[0; 512]), Ok(Compression::None));
        assert_eq!(sniff(b""), Ok(Compression::None));
        assert_eq!(sniff(b"\x89PNG\r\n"), Err(SniffError::Unknown));
        assert_eq!(sniff(b"BZh91AY"), Err(SniffError::Unsupported("bzip2")));
    }
}
