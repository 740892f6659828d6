//! Metadata of Python packages: `METADATA`, `RECORD`, and the version file of torch.

use std::borrow::Cow;

use super::fields::{Part, Parts, lines};
use super::{Bounds, Collector, Package, Problem, Read, some_text, text};

/// Maximum bytes read of the head of `METADATA`. The description follows the head.
const HEAD_BYTES: usize = 1 << 20;

/// Parses the head of `METADATA` or `PKG-INFO`: one package, or none without a name.
pub fn read_metadata(bytes: &[u8]) -> Read {
    let mut collector = Collector::new(Bounds::USUAL);
    let head = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
    let mut package = Package { installed: true, ..Package::default() };
    let mut author = None;
    let mut labelled = None;
    let mut requires = Vec::new();
    let mut ended = false;
    for part in Parts::new(head) {
        let (name, value) = match part {
            Part::Field { name, value, .. } => (name.to_ascii_lowercase(), value),
            Part::Blank => {
                ended = true;
                break;
            }
            // An unfolded multi-line licence; fields continue after it.
            Part::Odd(at) => {
                collector.problem(at, "invalid field");
                continue;
            }
        };
        match name.as_slice() {
            b"name" => package.name = text(value),
            b"version" => package.version = text(value),
            b"requires-dist" => requires.push(value.trim_ascii()),
            b"author" => package.maker = some_text(value),
            b"author-email" => author = some_text(value),
            b"home-page" => package.homepage = some_text(value),
            // The form that replaces the deprecated `Home-page`: `Homepage, https://example.org`.
            b"project-url" => labelled = labelled.or_else(|| labelled_homepage(value)),
            _ => {}
        }
    }
    if !ended && bytes.len() > head.len() {
        collector.problem(head.len(), "header longer than 1 MiB; the rest is omitted");
    }
    package.depends = collector.names(0, requires.into_iter());
    package.maker = package.maker.or(author).filter(|maker| maker != "UNKNOWN");
    package.homepage = package.homepage.filter(|page| page != "UNKNOWN").or(labelled);
    if package.name.is_empty() {
        collector.problem(0, "package without a name");
    } else {
        collector.package(0, package);
    }
    collector.finish()
}

fn labelled_homepage(value: &[u8]) -> Option<String> {
    let value = text(value);
    let (label, address) = value.split_once(',')?;
    let address = address.trim();
    (matches!(label.trim().to_ascii_lowercase().as_str(), "homepage" | "home") && !address.is_empty())
        .then(|| address.to_owned())
}

/// Contents of a `RECORD`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The files, in order.
    pub entries: Vec<RecordEntry>,
    /// Unreadable parts, limited as in [`Read`].
    pub problems: Vec<Problem>,
}

/// One file of a `RECORD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordEntry {
    /// Its path as written, relative to `site-packages`; may begin with `../`.
    pub path: Vec<u8>,
    /// Its SHA-256 in hexadecimal, if the digest is one.
    pub sha256: Option<String>,
    /// Its size in bytes.
    pub bytes: Option<u64>,
}

/// Parses a `RECORD`: lines of path, digest and size, separated by commas, quoted where needed.
pub fn read_record(bytes: &[u8]) -> Record {
    let mut entries = Vec::new();
    let problems = record_rows(bytes, |[path, sum, size]| {
        let sha256 = sum.strip_prefix(b"sha256=").and_then(hexadecimal);
        entries.push(RecordEntry { path: path.to_vec(), sha256, bytes: super::number(&size) });
    });
    Record { entries, problems }
}

/// Passes the paths of [`read_record`] as written to `take`, and returns the unreadable parts.
pub(crate) fn record_paths(bytes: &[u8], mut take: impl FnMut(&[u8])) -> Vec<Problem> {
    record_rows(bytes, |[path, ..]| take(&path))
}

/// Path, digest and size of one line.
type Row<'a> = [Cow<'a, [u8]>; 3];

fn record_rows(bytes: &[u8], mut take: impl FnMut(Row<'_>)) -> Vec<Problem> {
    let mut collector = Collector::new(Bounds::USUAL);
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        let start = at;
        let (row, columns, next) = record_row(bytes, at);
        at = next;
        if row[0].is_empty() {
            if columns > 1 {
                collector.problem(start, "line without a path");
            }
            continue;
        }
        if count >= Bounds::USUAL.paths {
            collector.problem(start, "too many file names; the rest is omitted");
            break;
        }
        count += 1;
        if columns != 3 {
            collector.problem(start, "line without three columns");
        }
        take(row);
    }
    collector.finish().problems
}

/// The line at `at`, its number of columns, and the offset of the next one.
fn record_row(bytes: &[u8], mut at: usize) -> (Row<'_>, usize, usize) {
    let mut row = Row::default();
    let mut columns = 0;
    let rest = bytes.get(at..).unwrap_or_default();
    let end = memchr::memchr(b'\n', rest);
    let line = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
    if memchr::memchr(b'"', line).is_none() {
        // Fast path: nearly all lines have no quotes. A line ends with `\n` or `\r\n`.
        let line = if end.is_some() { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
        for field in line.split(|byte| *byte == b',') {
            if let Some(place) = row.get_mut(columns) {
                *place = Cow::Borrowed(field);
            }
            columns += 1;
        }
        return (row, columns, end.map_or(bytes.len(), |end| at + end + 1));
    }
    loop {
        let (field, next, more) = record_field(bytes, at);
        at = next;
        if let Some(place) = row.get_mut(columns) {
            *place = Cow::Owned(field);
        }
        columns += 1;
        if !more {
            return (row, columns, at);
        }
    }
}

/// The field at `at`, the offset of the next one, and whether that is on the same line.
fn record_field(bytes: &[u8], mut at: usize) -> (Vec<u8>, usize, bool) {
    let mut field = Vec::new();
    let mut quoted = false;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'"' if quoted && bytes.get(at) == Some(&b'"') => {
                field.push(b'"');
                at += 1;
            }
            b'"' if quoted || field.is_empty() => quoted = !quoted,
            b',' if !quoted => return (field, at, true),
            b'\n' if !quoted => {
                if field.last() == Some(&b'\r') {
                    field.pop();
                }
                return (field, at, false);
            }
            _ => field.push(*byte),
        }
    }
    (field, at, false)
}

/// A SHA-256 in URL-safe base64 without padding, as hexadecimal. Debian writes hexadecimal, against the specification.
fn hexadecimal(sum: &[u8]) -> Option<String> {
    let sum = sum.strip_suffix(b"=").unwrap_or(sum);
    if sum.len() == 64 && sum.iter().all(u8::is_ascii_hexdigit) {
        return String::from_utf8(sum.to_ascii_lowercase()).ok();
    }
    if sum.len() != 43 {
        return None;
    }
    let mut hex = String::with_capacity(64);
    let (mut pending, mut bits) = (0_u32, 0);
    for byte in sum {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' | b'+' => 62,
            b'_' | b'/' => 63,
            _ => return None,
        };
        pending = (pending << 6 | u32::from(six)) & 0xfff;
        bits += 6;
        while bits >= 4 && hex.len() < 64 {
            bits -= 4;
            hex.push(char::from_digit(pending >> bits & 15, 16)?);
        }
    }
    Some(hex)
}

/// Fields of `torch/version.py`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TorchVersion {
    /// Version with its local part, such as `2.9.1+cu128`.
    pub version: String,
    /// CUDA version it was built with.
    pub cuda: Option<String>,
    /// HIP version it was built with.
    pub hip: Option<String>,
    /// Commit it was built from.
    pub git: Option<String>,
}

/// Maximum bytes read of `version.py`; it has some hundred.
const VERSION_BYTES: usize = 64 << 10;

/// Parses `torch/version.py`: assignments of a string or `None`, with or without a type annotation. `None` without
/// `__version__`.
pub fn torch_version(bytes: &[u8]) -> Option<TorchVersion> {
    let mut found = TorchVersion::default();
    for (_, line) in lines(bytes.get(..VERSION_BYTES).unwrap_or(bytes)) {
        let Some(equals) = memchr::memchr(b'=', line) else { continue };
        let (left, right) = (line.get(..equals)?, line.get(equals + 1..)?);
        let name = left.split(|byte| *byte == b':').next()?.trim_ascii_end();
        let value = python_string(right.trim_ascii());
        match name {
            b"__version__" => found.version = value.unwrap_or_default(),
            b"cuda" => found.cuda = value,
            b"hip" => found.hip = value,
            b"git_version" => found.git = value,
            _ => {}
        }
    }
    (!found.version.is_empty()).then_some(found)
}

/// A plain string between single or double quotes.
fn python_string(literal: &[u8]) -> Option<String> {
    let quote = *literal.first().filter(|byte| matches!(byte, b'\'' | b'"'))?;
    let rest = literal.get(1..)?;
    let end = memchr::memchr(quote, rest)?;
    some_text(rest.get(..end)?)
}
