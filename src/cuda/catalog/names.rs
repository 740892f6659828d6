//! Parsing and matching of library names, package names and paths, independent of a catalogue.

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::entry::CatalogError;

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
    // The first byte starts no suffix: a stem is not empty.
    memchr::memchr_iter(b'.', name).filter(|dot| *dot > 0).find_map(|dot| {
        let (stem, rest) = name.split_at(dot);
        match rest.strip_prefix(b".so")? {
            [] => Some((stem, &b""[..])),
            // Scripts for gdb have the name of their library: `libc.so.6-gdb.py`.
            [b'.', suffix @ ..] if !suffix.ends_with(b".py") => Some((stem, suffix)),
            _ => None,
        }
    })
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

/// Major and minor number of a dotted version; `None` with fewer numbers.
pub fn major_minor(version: &str) -> Option<(u32, u32)> {
    match numbers(version.as_bytes())[..] {
        [major, minor, ..] => Some((major, minor)),
        _ => None,
    }
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

/// The part after the last slash.
pub(super) fn file_name(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or(path)
}

/// Patterns for whole names, with the index of the entry of each.
#[derive(Clone, Debug, Default)]
pub(super) struct NamePatterns {
    set: RegexSet,
    owners: Vec<usize>,
}

impl NamePatterns {
    /// The patterns of each entry of a table.
    pub(super) fn new<'a>(
        table: &'static str,
        entries: impl IntoIterator<Item = &'a Vec<String>>,
    ) -> Result<Self, CatalogError> {
        let (mut patterns, mut owners) = (Vec::new(), Vec::new());
        for (index, more) in entries.into_iter().enumerate() {
            patterns.extend_from_slice(more);
            owners.resize(patterns.len(), index);
        }
        let set = whole_name_set(&patterns).map_err(CatalogError::patterns(table))?;
        Ok(Self { set, owners })
    }

    /// Indexes of the entries with a matching pattern, in order.
    pub(super) fn find(&self, name: &[u8]) -> impl Iterator<Item = usize> {
        self.set.matches(name).into_iter().filter_map(|at| self.owners.get(at).copied())
    }
}
