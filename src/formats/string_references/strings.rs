//! Strings of sources in Python and JavaScript: words that are also English or operators name a program only in one.

use std::ops::Range;

/// A language whose strings are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Python,
    JavaScript,
}

/// The strings of a source.
#[derive(Debug, Default)]
pub(super) struct Strings {
    /// Between the quotes, in order. Of templates, the parts without expressions.
    strings: Vec<Range<usize>>,
    /// Strings of Python that are statements: documentation.
    documentation: Vec<Range<usize>>,
}

/// Maximum bytes that are looked at ahead in one source.
const LOOKED: usize = 64 << 20;

/// Maximum nested brackets and templates: real sources have some dozen.
const DEPTH: usize = 1_000;

/// Maximum strings of a source: that of TypeScript's compiler has some 100,000. Each takes 16 bytes.
const STRINGS: usize = 1 << 20;

impl Strings {
    /// `None` if the strings are not certain: the text may be in another language, or is damaged.
    pub(super) fn of(text: &[u8], language: Language) -> Option<Self> {
        let mut reader = Reader { text, at: 0, looked: 0, found: Self::default() };
        match language {
            Language::Python => reader.python()?,
            Language::JavaScript => reader.java_script()?,
        }
        Some(reader.found)
    }

    /// Whether a position is in a string.
    pub(super) fn contains(&self, at: usize) -> bool {
        is_in(&self.strings, at)
    }

    /// The string around a position.
    pub(super) fn around(&self, at: usize) -> Option<Range<usize>> {
        let after = self.strings.partition_point(|range| range.end <= at);
        self.strings.get(after).filter(|range| range.start <= at).cloned()
    }

    /// Whether a position is in documentation.
    pub(super) fn is_documentation(&self, at: usize) -> bool {
        is_in(&self.documentation, at)
    }
}

fn is_in(ranges: &[Range<usize>], at: usize) -> bool {
    let after = ranges.partition_point(|range| range.end <= at);
    ranges.get(after).is_some_and(|range| range.start <= at)
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    /// Bytes that were looked at ahead.
    looked: usize,
    found: Strings,
}

impl Reader<'_> {
    fn rest(&self) -> &[u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn add(&mut self, string: Range<usize>) -> Option<()> {
        self.found.strings.push(string);
        (self.found.strings.len() <= STRINGS).then_some(())
    }

    /// The end of a string of one line that begins at `self.at`, after its quote.
    fn line_string(&self, quote: u8) -> Option<usize> {
        let mut at = self.at;
        loop {
            match *self.text.get(at)? {
                b'\\' if self.text.get(at + 1) == Some(&b'\r') && self.text.get(at + 2) == Some(&b'\n') => {
                    at += 3;
                }
                b'\\' => at += 2,
                b'\n' | b'\r' => return None,
                byte if byte == quote => return Some(at),
                _ => at += 1,
            }
        }
    }

    fn skip_line(&mut self) {
        let length = memchr::memchr2(b'\n', b'\r', self.rest()).unwrap_or(self.rest().len());
        self.at += length;
    }

    fn python(&mut self) -> Option<()> {
        let (mut depth, mut is_line_start, mut is_continued) = (0_usize, true, false);
        while let Some(byte) = self.text.get(self.at).copied() {
            self.at += 1;
            match byte {
                b'\n' => {
                    is_line_start = !is_continued;
                    is_continued = false;
                    continue;
                }
                b' ' | b'\t' | b'\r' | b'\x0c' => continue,
                b'\\' => {
                    is_continued = true;
                    continue;
                }
                b'#' => {
                    self.skip_line();
                    continue;
                }
                b'(' | b'[' | b'{' => depth += 1,
                b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
                b'\'' | b'"' => {
                    let begin = self.at - 1;
                    let end = match self.rest() {
                        [one, two, ..] if *one == byte && *two == byte => {
                            self.at += 2;
                            let start = self.at;
                            let end = self.long_string(byte)?;
                            self.add(start..end)?;
                            end + 3
                        }
                        _ => {
                            let end = self.line_string(byte)?;
                            self.add(self.at..end)?;
                            end + 1
                        }
                    };
                    // An expression in it may have strings with the same quotes, and those end it here.
                    let before = self.text[..begin].last().copied().unwrap_or_default();
                    if matches!(before, b'f' | b'F' | b't' | b'T' | b'r' | b'R')
                        && is_open(&self.text[begin..end])
                    {
                        return None;
                    }
                    self.at = end;
                    if is_line_start && depth == 0 && self.is_line_end() {
                        self.found.documentation.push(begin..end);
                    }
                }
                // Prefixes of a string do not change what its line is.
                b'r' | b'R' | b'u' | b'U' if matches!(self.rest(), [b'\'' | b'"', ..]) => continue,
                _ => {}
            }
            is_line_start = false;
        }
        (depth == 0).then_some(())
    }

    /// Whether nothing follows in the line.
    fn is_line_end(&self) -> bool {
        let mut rest = self.rest().iter().skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
        rest.next().is_none_or(|byte| *byte == b'\n')
    }

    /// The end of a string in three quotes that begins at `self.at`, after them.
    fn long_string(&self, quote: u8) -> Option<usize> {
        let mut at = self.at;
        loop {
            at += memchr::memchr2(quote, b'\\', self.text.get(at..)?)?;
            if self.text[at] == b'\\' {
                at += 2;
            } else if self.text[at..].starts_with(&[quote; 3]) {
                return Some(at);
            } else {
                at += 1;
            }
        }
    }

    fn java_script(&mut self) -> Option<()> {
        // Open brackets; `$` is that of an expression in a template.
        let mut open: Vec<u8> = Vec::new();
        let mut before = Before::Operator;
        if self.text.starts_with(b"#!") {
            self.skip_line();
        }
        let mut read = self.at;
        while let Some(length) = self.rest().iter().position(|byte| IS_MARK[usize::from(*byte)]) {
            let mark = self.at + length;
            self.at = mark + 1;
            let byte = self.text[mark];
            before = match byte {
                b'/' => {
                    // What is between marks is looked at only where a slash needs it.
                    let before = self.after(before, read..mark);
                    match self.text.get(self.at) {
                        Some(b'/') => {
                            self.skip_line();
                            before
                        }
                        Some(b'*') => {
                            self.at += 3 + memchr::memmem::find(self.text.get(self.at + 1..)?, b"*/")?;
                            before
                        }
                        // A tag of JSX, in whose text quotes are letters.
                        _ if self.text[..mark].ends_with(b"<") => return None,
                        _ if before == Before::Operator => {
                            self.at = self.pattern()?;
                            Before::Value
                        }
                        // After a closing bracket it may be either. Quotes or escapes in a pattern matter.
                        _ if before == Before::Closed && self.may_be_pattern() => return None,
                        _ => Before::Operator,
                    }
                }
                b'(' | b'[' | b'{' => {
                    if open.len() >= DEPTH {
                        return None;
                    }
                    open.push(byte);
                    Before::Operator
                }
                b')' | b']' => {
                    open.pop().filter(|begun| matches!((begun, byte), (b'(', b')') | (b'[', b']')))?;
                    if byte == b')' { Before::Closed } else { Before::Value }
                }
                b'}' => match open.pop()? {
                    b'$' => self.template(&mut open)?,
                    b'{' => Before::Closed,
                    _ => return None,
                },
                b'`' => self.template(&mut open)?,
                quote => {
                    let end = self.line_string(quote)?;
                    self.add(self.at..end)?;
                    self.at = end + 1;
                    Before::Value
                }
            };
            read = self.at;
        }
        open.is_empty().then_some(())
    }

    /// What precedes the end of a range without marks, before which `before` is.
    fn after(&self, mut before: Before, range: Range<usize>) -> Before {
        let mut at = range.start;
        while at < range.end {
            let byte = self.text[at];
            let start = at;
            at += 1;
            before = match byte {
                _ if byte.is_ascii_whitespace() => continue,
                _ if is_word(byte) => {
                    at += self.text[at..range.end].iter().take_while(|byte| is_word(**byte)).count();
                    let is_member = self.text[..start].ends_with(b".");
                    let is_operator = !is_member && OPERATORS.contains(&&self.text[start..at]);
                    if is_operator { Before::Operator } else { Before::Value }
                }
                b'+' | b'-' if self.text.get(at) == Some(&byte) => {
                    at += 1;
                    // `a++ / b`, and `++/x/.lastIndex`, which nobody writes.
                    Before::Value
                }
                // `1./2`; but `[.../a/.exec(b)]`.
                b'.' if !self.text[..at].ends_with(b"...") => Before::Value,
                // `a!/2` in TypeScript asserts that there is a value.
                b'!' if before != Before::Operator
                    && self.text.get(at) != Some(&b'=')
                    && !self.text[..start].last().is_some_and(u8::is_ascii_whitespace) =>
                {
                    before
                }
                _ => Before::Operator,
            };
        }
        before
    }

    /// Reads a template up to its end or to the next expression in it.
    fn template(&mut self, open: &mut Vec<u8>) -> Option<Before> {
        let start = self.at;
        loop {
            self.at += memchr::memchr3(b'`', b'\\', b'$', self.rest())?;
            match self.text[self.at] {
                b'\\' => self.at += 2,
                b'`' => {
                    self.add(start..self.at)?;
                    self.at += 1;
                    return Some(Before::Value);
                }
                _ if self.rest().starts_with(b"${") => {
                    self.add(start..self.at)?;
                    self.at += 2;
                    if open.len() >= DEPTH {
                        return None;
                    }
                    open.push(b'$');
                    return Some(Before::Operator);
                }
                _ => self.at += 1,
            }
        }
    }

    /// The end of a regular expression that begins at `self.at`, after its slash.
    fn pattern(&self) -> Option<usize> {
        /// Longer ones are rare, and a hostile text has many beginnings.
        const LONGEST: usize = 4_096;
        let (mut at, mut is_class) = (self.at, false);
        loop {
            if at > self.at + LONGEST {
                return None;
            }
            match *self.text.get(at)? {
                b'\\' => at += 1,
                b'\n' | b'\r' => return None,
                b'[' => is_class = true,
                b']' => is_class = false,
                b'/' if !is_class => return Some(at + 1),
                _ => {}
            }
            at += 1;
        }
    }

    /// Whether what follows would be a regular expression that is read in another way as a division.
    fn may_be_pattern(&mut self) -> bool {
        let Some(end) = self.pattern() else { return false };
        let pattern = self.text.get(self.at..end).unwrap_or_default();
        // Each look ahead counts: a hostile text consists of beginnings.
        self.looked += pattern.len();
        self.looked > LOOKED || pattern.iter().any(|byte| matches!(byte, b'\'' | b'"' | b'`' | b'\\' | b'['))
    }
}

/// Whether replacement fields are open at the end of a formatted string.
fn is_open(string: &[u8]) -> bool {
    let count = |byte| memchr::memchr_iter(byte, string).count();
    count(b'{') != count(b'}')
}

/// What precedes a slash in JavaScript: whether it divides or begins a regular expression.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Operator,
    Value,
    /// A bracket that ends a value or a statement.
    Closed,
}

/// Bytes that decide where strings of JavaScript are.
const IS_MARK: [bool; 256] = {
    let mut marks = [false; 256];
    let mut bytes: &[u8] = b"/'\"`()[]{}";
    while let [byte, rest @ ..] = bytes {
        marks[*byte as usize] = true;
        bytes = rest;
    }
    marks
};

/// Words that a value follows.
const OPERATORS: [&[u8]; 16] = [
    b"await",
    b"case",
    b"delete",
    b"do",
    b"else",
    b"extends",
    b"in",
    b"instanceof",
    b"new",
    b"of",
    b"return",
    b"throw",
    b"typeof",
    b"void",
    b"yield",
    b"default",
];

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'#' | 0x80..)
}

#[cfg(test)]
mod tests;
