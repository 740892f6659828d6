//! Words, globs and sizes of filters.

use std::ops::RangeInclusive;

use regex::bytes::{Regex, RegexBuilder};

use super::FilterError;

/// A term without a key: a part of a name, a glob over all of it, or, with a `/`, the same over the whole path. Case
/// matters only where the term has capital letters.
#[derive(Clone, Debug)]
pub struct Word {
    regex: Regex,
    /// In lower case; `None` for a glob.
    part: Option<String>,
    path: bool,
}

impl Word {
    pub(super) fn new(term: &str, globs: bool) -> Result<Self, FilterError> {
        let path = globs && term.contains('/');
        let glob = globs && term.contains(['*', '?', '[']);
        let pattern = if glob { glob_pattern(term, path) } else { regex::escape(term) };
        Ok(Self { regex: build(&pattern, term)?, part: (!glob).then(|| term.to_lowercase()), path })
    }

    /// A regular expression over the whole path.
    pub(super) fn regex(text: &str) -> Result<Self, FilterError> {
        Ok(Self { regex: build(text, text)?, part: None, path: true })
    }

    /// Whether it is about the whole path.
    pub fn is_path(&self) -> bool {
        self.path
    }

    /// Whether a file matches, by its name or by its path.
    pub fn is_match(&self, name: &[u8], path: &[u8]) -> bool {
        self.regex.is_match(if self.path { path } else { name })
    }

    /// Whether it is a part of a text, in whatever case. No glob is.
    pub fn is_within(&self, text: &str) -> bool {
        self.part.as_ref().is_some_and(|part| text.to_lowercase().contains(part))
    }
}

/// The term that finds all that is in a folder; what a term cannot contain stands for any character. `None` for a path
/// that is not UTF-8.
pub fn folder_term(folder: &[u8]) -> Option<String> {
    let path = std::str::from_utf8(folder).ok()?.trim_end_matches('/');
    let special = |letter: char| letter.is_whitespace() || matches!(letter, '*' | '[' | ':' | '!');
    let path: String = path.chars().map(|letter| if special(letter) { '?' } else { letter }).collect();
    Some(format!("{path}/**"))
}

/// What follows `size:`.
pub(super) fn sizes(text: &str) -> Option<RangeInclusive<u64>> {
    let split = text.find(|c: char| !matches!(c, '<' | '>' | '=')).unwrap_or(text.len());
    let bytes = parse_size(&text[split..])?;
    match &text[..split] {
        ">" => Some(bytes.saturating_add(1)..=u64::MAX),
        ">=" | "" => Some(bytes..=u64::MAX),
        "<" => Some(0..=bytes.saturating_sub(1)),
        "<=" => Some(0..=bytes),
        "=" => Some(bytes..=bytes),
        _ => None,
    }
}

/// A number of bytes: digits, perhaps a fraction, perhaps a binary unit (`k`, `MiB`, `G`).
fn parse_size(text: &str) -> Option<u64> {
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: f64 = number.parse().ok()?;
    let unit = unit.to_ascii_lowercase();
    let power = match unit.trim_end_matches('b').trim_end_matches('i') {
        "" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return None,
    };
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "only digits and a point were read; what is too large becomes the largest number"
    )]
    Some((number * 1024_f64.powi(power)) as u64)
}

/// A glob as a regular expression.
fn glob_pattern(term: &str, path: bool) -> String {
    let mut pattern = String::from(if path && !term.starts_with('/') { "(?:^|/)" } else { "^" });
    let mut rest = term.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '*' if rest.peek() == Some(&'*') => {
                rest.next();
                pattern.push_str("(?s-u:.)*");
            }
            '*' => pattern.push_str("(?-u:[^/])*"),
            '?' => pattern.push_str("[^/]"),
            '[' => match class(&mut rest) {
                Some(class) => pattern.push_str(&class),
                None => pattern.push_str("\\["),
            },
            c => pattern.push_str(&regex::escape(c.encode_utf8(&mut [0; 4]))),
        }
    }
    pattern.push('$');
    pattern
}

/// The inside of `[…]`; `None`, with nothing taken, when it does not end.
fn class(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<String> {
    let inner: String = rest.clone().take_while(|c| *c != ']').collect();
    if inner.is_empty() || !rest.clone().any(|c| c == ']') {
        return None;
    }
    for _ in 0..=inner.chars().count() {
        rest.next();
    }
    let (not, inner) = match inner.strip_prefix(['!', '^']) {
        Some(inner) => ("^", inner),
        None => ("", inner.as_str()),
    };
    let escaped = inner.replace('\\', "\\\\").replace('[', "\\[").replace("&&", "&\\&").replace("~~", "~\\~");
    Some(format!("[{not}{escaped}]"))
}

fn build(pattern: &str, term: &str) -> Result<Regex, FilterError> {
    RegexBuilder::new(pattern)
        .case_insensitive(!term.chars().any(char::is_uppercase))
        .size_limit(1 << 20)
        .build()
        .map_err(|error| {
            // The last line is the reason; those before it mark the position.
            let text = error.to_string();
            let line = text.lines().last().unwrap_or_default();
            FilterError::Regex(line.trim_start_matches("error: ").to_owned())
        })
}
