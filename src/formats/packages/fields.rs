//! Fields in the format of mail headers: `Name: value`, folded by lines that begin with white space. Used by dpkg and
//! Python packages.

/// The lines of `bytes` with their offsets, without line ends (`\n` or `\r\n`).
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut next = 0;
    std::iter::from_fn(move || {
        let at = next;
        let rest = bytes.get(at..).filter(|rest| !rest.is_empty())?;
        let line = memchr::memchr(b'\n', rest).and_then(|end| rest.get(..=end)).unwrap_or(rest);
        next += line.len();
        Some((at, without_end(line)))
    })
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// A part of such text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// A field; continuation lines are still folded in its value.
    Field {
        /// Offset of its line.
        at: usize,
        /// Text before the colon.
        name: &'a [u8],
        /// Text after the colon.
        value: &'a [u8],
    },
    /// An empty line.
    Blank,
    /// Any other line, by its offset.
    Odd(usize),
}

/// The parts of a text, in order.
#[derive(Clone, Debug)]
pub(super) struct Parts<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Parts<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Offset of the line after the one at `at`.
    fn after(&self, at: usize) -> usize {
        let rest = self.bytes.get(at..).unwrap_or_default();
        memchr::memchr(b'\n', rest).map_or(self.bytes.len(), |end| at + end + 1)
    }
}

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let at = self.at;
        if at >= self.bytes.len() {
            return None;
        }
        let mut end = self.after(at);
        let line = without_end(self.bytes.get(at..end)?);
        self.at = end;
        if line.is_empty() {
            return Some(Part::Blank);
        }
        // White space at the start continues a field, but here there is none.
        let colon = memchr::memchr(b':', line).filter(|_| !matches!(line.first(), Some(b' ' | b'\t')));
        let Some(colon) = colon else { return Some(Part::Odd(at)) };
        while matches!(self.bytes.get(end), Some(b' ' | b'\t')) {
            end = self.after(end);
        }
        self.at = end;
        Some(Part::Field {
            at,
            name: self.bytes.get(at..at + colon)?,
            value: self.bytes.get(at + colon + 1..end)?,
        })
    }
}
