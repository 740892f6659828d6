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

/// The window in bytes required by the first zstd frame in `start`; `None` if the frame header is incomplete. Skippable
/// frames before it are skipped. RFC 8878, section 3.1.1.1.
pub fn zstd_window(start: &[u8]) -> Option<u64> {
    let mut rest = start;
    loop {
        let magic = u32::from_le_bytes(rest.get(..4)?.try_into().ok()?);
        if magic & 0xffff_fff0 != 0x184d_2a50 {
            break;
        }
        let length = u32::from_le_bytes(rest.get(4..8)?.try_into().ok()?);
        rest = rest.get(8usize.checked_add(usize::try_from(length).ok()?)?..)?;
    }
    let descriptor = *rest.get(4)?;
    let single_segment = descriptor & 0x20 != 0;
    if !single_segment {
        let byte = u64::from(*rest.get(5)?);
        let base = 1u64 << (10 + (byte >> 3));
        return Some(base + base / 8 * (byte & 7));
    }
    // A single-segment frame has no window descriptor: its window is the content size, which follows the dictionary id.
    let dictionary_bytes = [0usize, 1, 2, 4][usize::from(descriptor & 3)];
    let field = rest.get(5 + dictionary_bytes..)?;
    match descriptor >> 6 {
        0 => Some(u64::from(*field.first()?)),
        1 => Some(u64::from(u16::from_le_bytes(field.get(..2)?.try_into().ok()?)) + 256),
        2 => Some(u64::from(u32::from_le_bytes(field.get(..4)?.try_into().ok()?))),
        _ => Some(u64::from_le_bytes(field.get(..8)?.try_into().ok()?)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Compression, SniffError, sniff, zstd_window};

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

    #[test]
    fn zstd_windows_are_read_from_real_frames() {
        let mut encoder = zstd::stream::Encoder::new(Vec::new(), 1).unwrap();
        encoder.long_distance_matching(true).unwrap();
        encoder.window_log(27).unwrap();
        std::io::Write::write_all(&mut encoder, &vec![7; 100_000]).unwrap();
        assert_eq!(zstd_window(&encoder.finish().unwrap()), Some(1 << 27));
        let bulk = zstd::bulk::compress(&[1; 5000], 3).unwrap();
        assert_eq!(zstd_window(&bulk), Some(5000));
        let mut skippable = vec![0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        skippable.extend_from_slice(&bulk);
        assert_eq!(zstd_window(&skippable), Some(5000));
        assert_eq!(zstd_window(&bulk[..5]), None);
    }
}
