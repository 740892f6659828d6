//! Text of a file: encoding, lines, search.

use std::ops::Range;

use super::search::{MOST_FOUND, Searched};
use crate::base::size::grouped;
use crate::base::text::{counted, escape, printable};

/// Bytes that decide whether it is text.
const LOOKED_AT: usize = 8 << 10;
/// Of a hundred characters, so many may be control characters in text of an unknown encoding.
const CONTROLS: usize = 2;
/// Characters of a line that are shown.
const LINE: usize = 2_000;

/// A text with its lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextDocument {
    text: String,
    /// Byte ranges of the lines, without their ends.
    lines: Vec<Range<usize>>,
    /// What encodes it.
    encoding: &'static str,
    crlf: bool,
}

impl TextDocument {
    /// The text of some bytes; `None` if they are none. `whole` is false if the file goes on.
    pub fn decode(bytes: &[u8], whole: bool) -> Option<Self> {
        if bytes.is_empty() {
            return None;
        }
        if let Some(rest) = bytes.strip_prefix(b"\xef\xbb\xbf") {
            return Some(Self::of(utf8(rest, whole).ok()?.to_owned(), "UTF-8 with byte order mark"));
        }
        for (mark, encoding, read) in [
            (b"\xff\xfe", "UTF-16, little endian", u16::from_le_bytes as fn([u8; 2]) -> u16),
            (b"\xfe\xff", "UTF-16, big endian", u16::from_be_bytes),
        ] {
            if let Some(rest) = bytes.strip_prefix(mark) {
                let units = rest.chunks_exact(2).map(|pair| read([pair[0], pair[1]]));
                let text: String =
                    char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
                return Some(Self::of(text, encoding));
            }
        }
        let start = &bytes[..bytes.len().min(LOOKED_AT)];
        if start.contains(&0) {
            return None;
        }
        let controls =
            start.iter().filter(|byte| **byte < 32 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 12 | 27));
        if controls.count() * 100 > start.len() * CONTROLS {
            return None;
        }
        match utf8(bytes, whole) {
            Ok(text) if text.is_ascii() => Some(Self::of(text.to_owned(), "ASCII")),
            Ok(text) => Some(Self::of(text.to_owned(), "UTF-8")),
            Err(()) => {
                // Mostly letters of another encoding: what is not UTF-8 is shown as bytes.
                let letters = start.iter().filter(|byte| byte.is_ascii()).count();
                (letters * 10 >= start.len() * 7)
                    .then(|| Self::of(lossy(bytes), "not UTF-8; other bytes as \\xNN"))
            }
        }
    }

    /// A text of which the encoding is known.
    fn of(text: String, encoding: &'static str) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
            lines.push(start..end);
            start = end + 1;
        }
        if start < text.len() {
            lines.push(start..text.len());
        }
        let ends = lines.iter().filter(|line| text.as_bytes()[..line.end].ends_with(b"\r")).count();
        let crlf = ends > 0 && ends * 2 > lines.len();
        Self { text, lines, encoding, crlf }
    }

    /// All of it.
    pub fn all(&self) -> &str {
        &self.text
    }

    /// Number of lines.
    pub fn lines(&self) -> usize {
        self.lines.len()
    }

    /// Characters of the longest line as shown, about.
    pub fn widest(&self) -> usize {
        self.lines.iter().map(ExactSizeIterator::len).max().unwrap_or(0).min(LINE + 32)
    }

    /// A line, safe to show; a long one is cut and says so.
    pub fn line(&self, place: usize) -> String {
        let Some(range) = self.lines.get(place) else { return String::new() };
        let line = self.text.get(range.clone()).unwrap_or_default();
        let line = line.strip_suffix('\r').filter(|_| self.crlf).unwrap_or(line);
        let cut = line.char_indices().nth(LINE).map(|(at, _)| at);
        let shown =
            printable(&line[..cut.unwrap_or(line.len())]).replace("\\x09", "    ").replace('\t', "    ");
        match cut {
            None => shown,
            Some(_) => format!("{shown} … ({} characters)", grouped(line.chars().count() as u64)),
        }
    }

    /// Encoding, line ends and number of lines.
    pub fn about(&self) -> String {
        let ends = if self.crlf { ", CRLF line ends" } else { "" };
        format!("{}{ends}, {}", self.encoding, counted(self.lines.len() as u64, "line"))
    }

    /// The line with a byte of the text.
    pub fn line_at(&self, offset: usize) -> usize {
        self.lines.partition_point(|line| line.start <= offset).saturating_sub(1)
    }
}

impl Searched for TextDocument {
    /// The lines that contain `query`, whatever the case of ASCII letters; the first ones.
    fn find(&self, query: &str) -> Vec<usize> {
        let query = query.to_ascii_lowercase();
        let has = |range: &Range<usize>| {
            self.text.get(range.clone()).is_some_and(|line| line.to_ascii_lowercase().contains(&query))
        };
        let found = self.lines.iter().enumerate().filter(|(_, range)| has(range));
        found.map(|(place, _)| place).take(MOST_FOUND).collect()
    }

    fn bytes(&self) -> usize {
        self.text.len()
    }
}

/// Bytes as UTF-8; a character that the end of a part cuts is left out.
fn utf8(bytes: &[u8], whole: bool) -> Result<&str, ()> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if !whole && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()]).map_err(drop)
        }
        Err(_) => Err(()),
    }
}

fn lossy(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.push_str(&escape(chunk.invalid()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{Searched as _, TextDocument};

    fn about(bytes: &[u8]) -> Option<String> {
        TextDocument::decode(bytes, true).map(|text| text.about())
    }

    #[test]
    fn encodings_are_told() {
        assert_eq!(about(b"a\nb\n").unwrap(), "ASCII, 2 lines");
        assert_eq!(about("ä\r\nb\r\n".as_bytes()).unwrap(), "UTF-8, CRLF line ends, 2 lines");
        assert_eq!(about(b"\xef\xbb\xbfa").unwrap(), "UTF-8 with byte order mark, 1 line");
        assert_eq!(about(b"\xff\xfea\0b\0").unwrap(), "UTF-16, little endian, 1 line");
        assert_eq!(about(b"\xfe\xff\0a\0\n").unwrap(), "UTF-16, big endian, 1 line");
        assert_eq!(about(b"caf\xe9 and tea").unwrap(), "not UTF-8; other bytes as \\xNN, 1 line");
        assert_eq!(about(b"\x7fELF\x02\0\0"), None);
        assert_eq!(about(&[0xfe; 64]), None);
    }

    #[test]
    fn a_part_may_end_within_a_character() {
        let bytes = "ab\u{e4}".as_bytes();
        assert_eq!(TextDocument::decode(&bytes[..3], false).unwrap().all(), "ab");
    }

    #[test]
    fn lines_are_safe_and_bounded() {
        let text =
            TextDocument::decode(format!("a\u{202e}b\n{}\n\tc", "x".repeat(5_000)).as_bytes(), true).unwrap();
        assert!(!text.line(0).contains('\u{202e}'));
        assert!(text.line(1).ends_with("… (5,000 characters)"));
        assert_eq!(text.line(2), "    c");
        assert_eq!(text.find("XX"), [1]);
        assert_eq!(text.line(9), "");
    }
}
