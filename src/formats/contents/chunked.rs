//! Where zstd:chunked keeps its table: in a frame that decoders skip, at the place that an annotation names.

use std::io::Read as _;

use zstd::stream::read::Decoder;

use super::{Refused, buffer};
use crate::base::Limits;

/// The annotation with the place of the table.
pub const POSITION: &str = "io.github.containers.zstd-chunked.manifest-position";
/// The annotation with the digest of the table as it is stored.
pub const DIGEST: &str = "io.github.containers.zstd-chunked.manifest-checksum";
/// Bytes of the head of the frame that is skipped.
const FRAME_HEAD: u64 = 8;
/// The only sort of table there is.
const CRFS: u64 = 1;

/// Location of a table in the blob.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Where it begins.
    pub offset: u64,
    /// Bytes as stored.
    pub length: u64,
    /// Bytes once inflated.
    pub inflated: u64,
}

impl Position {
    /// Reads the annotation; `None` when it is none, or of another sort of table.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split(':').map(|number| {
            number.bytes().all(|byte| byte.is_ascii_digit()).then(|| number.parse::<u64>().ok())?
        });
        let mut next = || numbers.next().flatten();
        let position = Self { offset: next()?, length: next()?, inflated: next()? };
        (next()? == CRFS && numbers.next().is_none()).then_some(position)
    }

    /// Where the data of files ends.
    pub fn data_end(self) -> u64 {
        self.offset.saturating_sub(FRAME_HEAD)
    }
}

/// Inflates the table.
///
/// # Errors
/// When it is not as long as was claimed, or longer than `limits` allow.
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
