//! Location of the zstd:chunked table: a skippable frame, at the position in an annotation.

use std::io::Read as _;

use zstd::stream::read::Decoder;

use super::{Refused, buffer};
use crate::base::Limits;

/// Annotation with the location of the table.
pub const POSITION: &str = "io.github.containers.zstd-chunked.manifest-position";
/// Annotation with the digest of the stored table.
pub const DIGEST: &str = "io.github.containers.zstd-chunked.manifest-checksum";
/// Header bytes of the skippable frame.
const FRAME_HEAD: u64 = 8;
/// The only table type.
const CRFS: u64 = 1;

/// Location of a table in the blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Offset of its first byte.
    pub offset: u64,
    /// Stored length in bytes.
    pub length: u64,
    /// Decompressed length in bytes.
    pub inflated: u64,
}

impl Position {
    /// Parses the annotation; `None` if it is invalid or names another table type.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(':').map(|number| {
            number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse::<u64>().ok())?
        });
        let mut next = || numbers.next().flatten();
        let position = Self { offset: next()?, length: next()?, inflated: next()? };
        (next()? == CRFS && numbers.next().is_none()).then_some(position)
    }

    /// End of the file data in the blob.
    pub fn data_end(self) -> u64 {
        self.offset.saturating_sub(FRAME_HEAD)
    }
}

/// Decompresses the table.
///
/// # Errors
/// Its length differs from the declared one, or exceeds `limits`.
pub fn inflate(stored: &[u8], position: Position, limits: &Limits) -> Result<Vec<u8>, Refused> {
    let claimed = position.inflated;
    let most = limits.table_json_bytes;
    if claimed > most {
        return Err(Refused::new(format!(
            "the table of contents is too large: {claimed} bytes, the limit is {most}"
        )));
    }
    let mut json = buffer(claimed);
    let mut inflate = || -> std::io::Result<()> {
        let mut decoder = Decoder::with_buffer(stored)?;
        decoder.window_log_max(limits.zstd_window_log)?;
        decoder.take(claimed.saturating_add(1)).read_to_end(&mut json).map(drop)
    };
    inflate().map_err(|error| Refused::new(format!("cannot decompress the table of contents: {error}")))?;
    if json.len() as u64 != claimed {
        return Err(Refused::new(format!(
            "the table of contents does not have the declared {claimed} bytes"
        )));
    }
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::Position;

    #[test]
    fn positions_are_read_strictly() {
        let position = Position { offset: 100, length: 20, inflated: 300 };
        assert_eq!(Position::parse("100:20:300:1"), Some(position));
        for text in
            ["", "100:20:300", "100:20:300:2", "100:20:300:1:1", "+100:20:300:1", "a:20:300:1", ":20:300:1"]
        {
            assert_eq!(Position::parse(text), None, "{text}");
        }
    }
}
