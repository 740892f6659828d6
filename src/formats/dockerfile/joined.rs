//! Continuation lines joined into one text, with the source location of each part.

use super::value::Span;

/// White space between a keyword, flags and words.
pub(super) const fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\x0b' | '\x0c')
}

/// The line that starts at `at`: the end of its content, and the start of the next line. Only `\n` ends a line;
/// carriage returns before it belong to the line end.
pub(super) fn line_at(text: &str, at: usize) -> (usize, usize) {
    let rest = text.get(at..).unwrap_or_default();
    let next = memchr::memchr(b'\n', rest.as_bytes()).map_or(rest.len(), |found| found + 1);
    let content = rest.get(..next).unwrap_or_default().trim_end_matches(['\r', '\n']);
    (at + content.len(), at + next)
}

/// Length of a line before its escape character if the next line continues it. Two escape characters are not a
/// continuation.
fn continued(line: &str, escape: char) -> Option<usize> {
    let cut = line.trim_end_matches([' ', '\t']).strip_suffix(escape)?;
    (!cut.ends_with(escape)).then_some(cut.len())
}

/// A text joined from parts of the source.
#[derive(Debug, Default)]
pub(super) struct Joined {
    text: String,
    parts: Vec<Part>,
}

#[derive(Debug)]
struct Part {
    /// Offset in the joined text.
    at: usize,
    /// Span in the source. As long as the part, or longer for an escape.
    source: Span,
}

impl Joined {
    /// The lines from `span.start` to the first without continuation, or to `span.end`; comments and empty lines
    /// between them are left out. Also returns the end of the last line read, its line end included.
    pub(super) fn lines(text: &str, span: Span, escape: char) -> (Self, usize) {
        let mut joined = Self::default();
        let text = text.get(..span.end).unwrap_or(text);
        let mut at = span.start;
        loop {
            let (end, next) = line_at(text, at);
            let line = text.get(at..end).unwrap_or_default();
            let start = line.trim_start();
            if at == span.start || !(start.is_empty() || start.starts_with('#')) {
                let cut = continued(line, escape);
                joined.push(line.get(..cut.unwrap_or(line.len())).unwrap_or_default(), at);
                if cut.is_none() {
                    return (joined, next);
                }
            }
            if next >= text.len() {
                return (joined, text.len());
            }
            at = next;
        }
    }

    /// A part of a text, unchanged.
    pub(super) fn plain(text: &str, span: &Span) -> Self {
        let mut joined = Self::default();
        joined.push(text.get(span.clone()).unwrap_or_default(), span.start);
        joined
    }

    /// Adds a part that equals its source.
    pub(super) fn push(&mut self, text: &str, source: usize) {
        let span = source..source + text.len();
        match self.parts.last_mut() {
            Some(last) if last.source.end == source && last.source.len() == self.text.len() - last.at => {
                last.source.end = span.end;
                self.text.push_str(text);
            }
            _ if text.is_empty() => {}
            _ => self.push_escaped(text, span),
        }
    }

    /// Adds a part that differs from its source.
    pub(super) fn push_escaped(&mut self, text: &str, source: Span) {
        self.parts.push(Part { at: self.text.len(), source });
        self.text.push_str(text);
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn slice(&self, span: &Span) -> &str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Source offset of a character of the joined text.
    pub(super) fn source(&self, at: usize) -> usize {
        let Some(part) = self.part(at) else { return 0 };
        (part.source.start + (at - part.at)).min(part.source.end)
    }

    /// Source span of a part of the joined text.
    pub(super) fn span(&self, span: &Span) -> Span {
        let start = self.source(span.start);
        let Some(last) = span.end.checked_sub(1).filter(|last| *last >= span.start) else {
            return start..start;
        };
        let number = self.parts.partition_point(|part| part.at <= last);
        let Some(part) = number.checked_sub(1).and_then(|number| self.parts.get(number)) else {
            return start..start;
        };
        let part_end = self.parts.get(number).map_or(self.text.len(), |next| next.at);
        let end =
            if span.end == part_end { part.source.end } else { part.source.start + (span.end - part.at) };
        start..end.max(start)
    }

    fn part(&self, at: usize) -> Option<&Part> {
        self.parts
            .partition_point(|part| part.at <= at)
            .checked_sub(1)
            .and_then(|number| self.parts.get(number))
    }
}
