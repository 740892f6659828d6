use regex::bytes::{Regex, RegexBuilder};

use super::tree::{FileTree, PathChange};
use crate::base::convert::index32;
use crate::base::labels::{self, SHADOWED};
use crate::jobs::{CancelToken, Cancelled, run_all, workers};
use crate::rootfs::PathId;

/// Above this many matches, folders are not opened by themselves.
const OPEN_AT_MOST: usize = 2_000;
const STRIDE: usize = 1 << 14;

/// A filter: all terms must match.
#[derive(Clone, Debug)]
pub struct FileQuery {
    names: Vec<Regex>,
    paths: Vec<Regex>,
    least: u64,
    most: u64,
    sized: bool,
    mark: Option<PathChange>,
    hidden: bool,
}

/// Why a filter is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileQueryError {
    /// Not a size.
    #[error("invalid filter {0}; expected a size, such as size:>10M, size:<4k or size:>=1.5G")]
    Size(String),
    /// Not a state.
    #[error("invalid filter {0}; expected {1}")]
    State(String, String),
    /// Not a regular expression.
    #[error("invalid regular expression: {0}")]
    Regex(String),
}

impl FileQuery {
    /// Reads a filter; `None` when it asks for nothing.
    ///
    /// Terms are separated by spaces. `size:>10M` and `is:added` are about the file, all others about its
    /// name: with `*`, `?` or `[…]` a glob over the whole name, without them a part of the name; with a
    /// `/`, over the whole path. With `regex` the rest is one regular expression over the path. Capital
    /// letters count only where the term has some.
    ///
    /// # Errors
    /// When a term is invalid.
    pub fn parse(text: &str, regex: bool) -> Result<Option<Self>, FileQueryError> {
        let mut query = Self {
            names: Vec::new(),
            paths: Vec::new(),
            least: 0,
            most: u64::MAX,
            sized: false,
            mark: None,
            hidden: false,
        };
        let mut rest = Vec::new();
        let mut empty = true;
        for term in text.split_whitespace() {
            if let Some(size) = term.strip_prefix("size:") {
                query.add_size(size)?;
            } else if let Some(state) = term.strip_prefix("is:") {
                query.add_state(state)?;
            } else if regex {
                rest.push(term);
            } else if term.contains('/') {
                query.paths.push(glob(term, true)?);
            } else {
                query.names.push(glob(term, false)?);
            }
            empty = false;
        }
        if !rest.is_empty() {
            let text = rest.join(" ");
            query.paths.push(build(&text, &text)?);
        }
        Ok((!empty).then_some(query))
    }

    fn add_size(&mut self, text: &str) -> Result<(), FileQueryError> {
        self.sized = true;
        let (least, most) = size_range(text)?;
        self.least = self.least.max(least);
        self.most = self.most.min(most);
        Ok(())
    }

    fn add_state(&mut self, text: &str) -> Result<(), FileQueryError> {
        if text.eq_ignore_ascii_case(SHADOWED) {
            self.hidden = true;
            return Ok(());
        }
        let marks = [PathChange::Added, PathChange::Changed, PathChange::Removed];
        let expected = || {
            let words = marks.iter().map(|mark| mark.word()).chain([SHADOWED]);
            labels::expected(words.map(|word| format!("is:{word}")))
        };
        let mark = marks.into_iter().find(|mark| text.eq_ignore_ascii_case(mark.word()));
        let mark = mark.ok_or_else(|| FileQueryError::State(format!("is:{text}"), expected()))?;
        self.mark = Some(mark);
        Ok(())
    }

    fn fits(&self, tree: &FileTree, path: PathId) -> bool {
        if self.sized {
            // Folders have no size of their own.
            let bytes = tree.bytes(path);
            if tree.is_folder(path) || bytes < self.least || bytes > self.most {
                return false;
            }
        }
        if self.mark.is_some_and(|mark| tree.mark(path) != mark) || self.hidden && !tree.is_hidden(path) {
            return false;
        }
        // A state alone means files: every folder above them would fit as well.
        let plain = self.names.is_empty() && self.paths.is_empty();
        if plain && tree.is_folder(path) {
            return false;
        }
        let name = tree.timeline().name(path);
        self.names.iter().all(|regex| regex.is_match(name))
    }
}

const MATCH: u8 = 1;
const ABOVE: u8 = 2;
const BELOW: u8 = 4;

/// What a filter found in a tree.
#[derive(Debug)]
pub struct FileMatches {
    state: Vec<u8>,
    count: usize,
    bytes: u64,
}

impl FileMatches {
    /// Looks for `query` in `tree`.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(tree: &FileTree, query: &FileQuery, cancel: &CancelToken) -> Result<Self, Cancelled> {
        let mut found = Self { state: vec![0; tree.timeline().len()], count: 0, bytes: 0 };
        if query.paths.is_empty() {
            let parts: Vec<_> = found.state.chunks_mut(STRIDE).enumerate().collect();
            run_all(parts, workers(), |(part, states)| {
                for (place, state) in states.iter_mut().enumerate() {
                    let path = PathId(index32(part * STRIDE + place));
                    if path != PathId::ROOT && tree.shows(path) && query.fits(tree, path) {
                        *state |= MATCH;
                    }
                    if place == 0 && cancel.is_cancelled() {
                        return;
                    }
                }
            });
            cancel.check()?;
        } else {
            found.by_path(tree, query, cancel)?;
        }
        found.spread(tree);
        Ok(found)
    }

    /// Goes down folder by folder, so that no path is put together twice.
    fn by_path(&mut self, tree: &FileTree, query: &FileQuery, cancel: &CancelToken) -> Result<(), Cancelled> {
        let mut text = Vec::new();
        let mut folders = vec![(PathId::ROOT, 0, false)];
        while let Some((folder, length, leave)) = folders.pop() {
            text.truncate(length);
            if leave {
                continue;
            }
            cancel.check()?;
            if folder != PathId::ROOT {
                text.push(b'/');
                text.extend_from_slice(tree.timeline().name(folder));
            }
            let here = text.len();
            folders.push((folder, length, true));
            for child in tree.children(folder) {
                text.truncate(here);
                text.push(b'/');
                text.extend_from_slice(tree.timeline().name(child));
                if query.fits(tree, child) && query.paths.iter().all(|regex| regex.is_match(&text)) {
                    self.add(child);
                }
                if tree.is_folder(child) {
                    folders.push((child, here, false));
                }
            }
            text.truncate(here);
        }
        Ok(())
    }

    fn add(&mut self, path: PathId) {
        self.state[path.0 as usize] |= MATCH;
    }

    /// Marks what is above and below matches, and counts.
    fn spread(&mut self, tree: &FileTree) {
        let timeline = tree.timeline();
        for at in (1..self.state.len()).rev() {
            if self.state[at] & (MATCH | ABOVE) != 0 {
                self.state[timeline.parent(PathId(index32(at))).0 as usize] |= ABOVE;
            }
        }
        for at in 1..self.state.len() {
            let path = PathId(index32(at));
            let above = self.state[timeline.parent(path).0 as usize];
            let below = above & (MATCH | BELOW) != 0;
            if self.state[at] & MATCH != 0 {
                self.count += 1;
                // The content of a matching folder counts with the folder.
                if !below {
                    self.bytes += tree.bytes(path);
                }
            }
            if below {
                self.state[at] |= BELOW;
            }
        }
    }

    /// How many paths match.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Bytes of what matches, folders with all that is in them.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether the path itself matches.
    pub fn matches(&self, path: PathId) -> bool {
        self.state[path.0 as usize] & MATCH != 0
    }

    /// Whether something below the path matches.
    pub fn leads(&self, path: PathId) -> bool {
        self.state[path.0 as usize] & ABOVE != 0
    }

    /// Whether the path matches, leads to a match, or is in a matching folder.
    pub fn keeps(&self, path: PathId) -> bool {
        self.state[path.0 as usize] != 0
    }

    /// Whether matches are few enough to open every folder that leads to one.
    pub fn opens(&self) -> bool {
        self.count <= OPEN_AT_MOST
    }
}

/// What follows `size:`, as the smallest and the largest size that fits.
///
/// # Errors
/// When it is no size.
pub(in crate::gui::models) fn size_range(text: &str) -> Result<(u64, u64), FileQueryError> {
    let wrong = || FileQueryError::Size(format!("size:{text}"));
    let split = text.find(|c: char| !matches!(c, '<' | '>' | '=')).unwrap_or(text.len());
    let bytes = parse_size(&text[split..]).ok_or_else(wrong)?;
    match &text[..split] {
        ">" => Ok((bytes.saturating_add(1), u64::MAX)),
        ">=" | "" => Ok((bytes, u64::MAX)),
        "<" => Ok((0, bytes.saturating_sub(1))),
        "<=" => Ok((0, bytes)),
        "=" => Ok((bytes, bytes)),
        _ => Err(wrong()),
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

/// A glob, or a part of a name where the term has no sign of one.
///
/// # Errors
/// When it would be too large.
pub(in crate::gui::models) fn glob(term: &str, path: bool) -> Result<Regex, FileQueryError> {
    let is_glob = term.contains(['*', '?', '[']);
    if !is_glob {
        return build(&regex::escape(term), term);
    }
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
    build(&pattern, term)
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

fn build(pattern: &str, term: &str) -> Result<Regex, FileQueryError> {
    RegexBuilder::new(pattern)
        .case_insensitive(!term.chars().any(char::is_uppercase))
        .size_limit(1 << 20)
        .build()
        .map_err(|error| {
            // The last line is the reason; those before it mark the position.
            let text = error.to_string();
            let line = text.lines().last().unwrap_or_default();
            FileQueryError::Regex(line.trim_start_matches("error: ").to_owned())
        })
}
