//! Parsing and matching of library names, package names and paths, independent of a catalogue.

use std::collections::HashMap;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

/// Maximum size of a compiled pattern or pattern set, in bytes. The largest built-in set has a few hundred
/// kilobytes. A larger user pattern is an error.
const PATTERN_BYTES: usize = 4 << 20;

/// The parts of a library's file name or soname, such as `libcudart-d0da41ae.so.11.0`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LibraryName<'a> {
    /// The part before `.so`, without the hash: `libcudart`.
    pub stem: &'a [u8],
    /// The hash that auditwheel adds to names of bundled libraries: `d0da41ae`.
    pub hash: Option<&'a [u8]>,
    /// The part after `.so.`, unchanged: `11.0`. Preserves leading zeros of driver versions.
    pub suffix: &'a [u8],
    /// The numbers of the suffix, up to the first non-numeric part: 11 and 0.
    pub version: Vec<u32>,
}

/// The parts of a library name; `None` if `name` has no `.so` at its end or before a dot.
pub fn split_library_name(name: &[u8]) -> Option<LibraryName<'_>> {
    let (full_stem, suffix) = split_suffix(name)?;
    let (stem, hash) = split_hash(full_stem);
    Some(LibraryName { stem, hash, suffix, version: numbers(suffix) })
}

/// The stem of a library name, without allocation.
pub(super) fn library_stem(name: &[u8]) -> Option<&[u8]> {
    split_suffix(name).map(|(stem, _)| split_hash(stem).0)
}

fn split_suffix(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut rest = name;
    while let Some(at) = rest.windows(3).position(|window| window == b".so") {
        let stem = name.get(..name.len() - rest.len() + at)?;
        let after = rest.get(at + 3..)?;
        match after.split_first() {
            _ if stem.is_empty() => {}
            None => return Some((stem, after)),
            Some((b'.', suffix)) => return Some((stem, suffix)),
            Some(_) => {}
        }
        rest = after;
    }
    None
}

/// Splits off auditwheel's hash: bundled libraries are named `libNAME-HASH.so`, with eight hexadecimal digits
/// of the SHA-256.
fn split_hash(stem: &[u8]) -> (&[u8], Option<&[u8]>) {
    let plain = (stem, None);
    let Some((head, hash)) = stem.len().checked_sub(9).and_then(|at| stem.split_at_checked(at)) else {
        return plain;
    };
    match hash.split_first() {
        Some((b'-', digits))
            if head.len() > 3
                && head.starts_with(b"lib")
                && digits.iter().all(|byte| is_hash_digit(*byte)) =>
        {
            (head, Some(digits))
        }
        _ => plain,
    }
}

const fn is_hash_digit(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'f')
}

/// The numbers of a dotted version, up to the first part that is not a number or exceeds `u32`.
pub fn numbers(version: &[u8]) -> Vec<u32> {
    version.split(|byte| *byte == b'.').map_while(|part| str::from_utf8(part).ok()?.parse().ok()).collect()
}

/// The name of a Python distribution, normalised as in PEP 503: lower case, runs of `-`, `_` and `.` replaced
/// by one `-`.
pub fn normalized_python_name(name: &str) -> String {
    let mut normalized = String::with_capacity(name.len());
    for character in name.chars() {
        if matches!(character, '-' | '_' | '.') {
            if !normalized.ends_with('-') {
                normalized.push('-');
            }
        } else {
            normalized.push(character.to_ascii_lowercase());
        }
    }
    normalized
}

/// Compiles an unanchored pattern over bytes.
pub(super) fn pattern(text: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text).unicode(false).size_limit(PATTERN_BYTES).build()
}

/// Compiles patterns that must each match a whole name.
pub(super) fn whole_name_set(patterns: &[String]) -> Result<RegexSet, regex::Error> {
    let anchored = patterns.iter().map(|text| whole(text));
    RegexSetBuilder::new(anchored).unicode(false).size_limit(PATTERN_BYTES).build()
}

/// The pattern, anchored at both ends.
pub(super) fn whole(text: &str) -> String {
    format!("^(?:{text})$")
}

/// The pattern of a glob: `*` matches any bytes except a slash, `**` any bytes.
pub(super) fn glob_pattern(glob: &str) -> String {
    let mut text = String::from("^");
    let mut rest = glob;
    while let Some(at) = rest.find('*') {
        text.push_str(&regex::escape(&rest[..at]));
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('*') {
            text.push_str("(?s:.*)");
            rest = after;
        } else {
            text.push_str("[^/]*");
        }
    }
    text.push_str(&regex::escape(rest));
    text.push('$');
    text
}

/// A glob with its literal prefix and suffix, which reject most paths before the regular expression runs.
#[derive(Clone, Debug)]
pub(super) struct Glob {
    prefix: Vec<u8>,
    suffix: Vec<u8>,
    /// `None` if the glob has no star or a single `**`: prefix and suffix are sufficient.
    regex: Option<Regex>,
    literal: bool,
    /// Whether the glob is `**/NAME` without a slash in `NAME`: only the file name is compared.
    name_only: bool,
}

impl Glob {
    pub(super) fn new(glob: &str) -> Result<Self, regex::Error> {
        let name = glob.strip_prefix("**/").filter(|name| !name.contains('/') && !name.contains("**"));
        if let Some(name) = name {
            return Ok(Self { name_only: true, ..Self::new(name)? });
        }
        let (prefix, rest) = glob.split_at(glob.find('*').unwrap_or(glob.len()));
        let suffix = rest.rfind('*').map_or("", |at| &rest[at + 1..]);
        let literal = rest.is_empty();
        let ends_only = literal || (rest.starts_with("**") && rest.len() - suffix.len() == 2);
        let regex = if ends_only { None } else { Some(pattern(&glob_pattern(glob))?) };
        Ok(Self { prefix: prefix.into(), suffix: suffix.into(), regex, literal, name_only: false })
    }

    pub(super) fn is_match(&self, path: &[u8]) -> bool {
        self.is_match_named(path, file_name(path))
    }

    /// As [`Self::is_match`], with the file name given.
    pub(super) fn is_match_named(&self, path: &[u8], name: &[u8]) -> bool {
        let path = if self.name_only { name } else { path };
        if self.literal {
            return path == self.prefix;
        }
        path.len() >= self.prefix.len() + self.suffix.len()
            && path.starts_with(&self.prefix)
            && path.ends_with(&self.suffix)
            && self.regex.as_ref().is_none_or(|regex| regex.is_match(path))
    }
}

/// The part after the last slash.
pub(super) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// Globs with their owners, grouped by folder, so that few globs are compared with a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Globs {
    entries: Vec<(Glob, usize)>,
    by_folder: HashMap<Vec<u8>, Vec<usize>>,
    anywhere: Vec<usize>,
}

impl Globs {
    pub(super) fn push(&mut self, glob: Glob, owner: usize) {
        let list = match folder(&glob.prefix).filter(|_| !glob.name_only) {
            Some(folder) => self.by_folder.entry(folder.to_vec()).or_default(),
            None => &mut self.anywhere,
        };
        list.push(self.entries.len());
        self.entries.push((glob, owner));
    }

    /// The owner of the first matching glob in insertion order; globs whose owner `fits` rejects are skipped.
    pub(super) fn find(&self, path: &[u8], fits: impl Fn(usize) -> bool) -> Option<usize> {
        let name = file_name(path);
        let first = |list: &[usize]| {
            list.iter().copied().find(|at| {
                self.entries
                    .get(*at)
                    .is_some_and(|(glob, owner)| glob.is_match_named(path, name) && fits(*owner))
            })
        };
        let here = folder(path).and_then(|folder| first(self.by_folder.get(folder)?));
        let at = here.into_iter().chain(first(&self.anywhere)).min()?;
        self.entries.get(at).map(|(_, owner)| *owner)
    }
}

/// The first component of a relative path, or the first two of an absolute one, if another follows.
fn folder(path: &[u8]) -> Option<&[u8]> {
    let parts = if path.starts_with(b"/") { 2 } else { 0 };
    let mut slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
    path.get(..slashes.nth(parts)?)
}
