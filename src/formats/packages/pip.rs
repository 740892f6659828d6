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
            _ => {}
        }
    }
    if !ended && bytes.len() > head.len() {
        collector.problem(head.len(), "header longer than 1 MiB; the rest is omitted");
    }
    package.depends = collector.names(0, requires.into_iter());
    package.maker = package.maker.or(author).filter(|maker| maker != "UNKNOWN");
    if package.name.is_empty() {
        collector.problem(0, "package without a name");
    } else {
        collector.package(0, package);
    }
    collector.finish()
}

/// Parses a `RECORD`: lines of path, digest and size, separated by commas, quoted where needed. Passes the paths as
/// written, relative to `site-packages`, to `take`, and returns the unreadable parts, limited as in [`Read`].
pub fn record_paths(bytes: &[u8], mut take: impl FnMut(&[u8])) -> Vec<Problem> {
    let mut collector = Collector::new(Bounds::USUAL);
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        let start = at;
        let (path, columns, next) = record_row(bytes, at);
        at = next;
        if path.is_empty() {
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
        take(&path);
    }
    collector.finish().problems
}

/// The path of the line at `at`, its number of columns, and the offset of the next line.
fn record_row(bytes: &[u8], at: usize) -> (Cow<'_, [u8]>, usize, usize) {
    let rest = bytes.get(at..).unwrap_or_default();
    let end = memchr::memchr(b'\n', rest);
    let line = end.and_then(|end| rest.get(..end)).unwrap_or(rest);
    if memchr::memchr(b'"', line).is_none() {
        // Fast path: nearly all lines have no quotes. A line ends with `\n` or `\r\n`.
        let line = if end.is_some() { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
        let path = line.split(|byte| *byte == b',').next().unwrap_or_default();
        let columns = memchr::memchr_iter(b',', line).count() + 1;
        return (Cow::Borrowed(path), columns, end.map_or(bytes.len(), |end| at + end + 1));
    }
    let (path, mut at, mut more) = record_field(bytes, at);
    let mut columns = 1;
    while more {
        (_, at, more) = record_field(bytes, at);
        columns += 1;
    }
    (Cow::Owned(path), columns, at)
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

/// Maximum bytes read of `version.py`; it has some hundred.
const VERSION_BYTES: usize = 64 << 10;

/// Parses `torch/version.py`: its version with the local part, such as `2.9.1+cu128`, from an assignment to
/// `__version__` with or without a type annotation.
pub fn torch_version(bytes: &[u8]) -> Option<String> {
    let values = lines(bytes.get(..VERSION_BYTES).unwrap_or(bytes)).filter_map(|(_, line)| {
        let equals = memchr::memchr(b'=', line)?;
        let name = line.get(..equals)?.split(|byte| *byte == b':').next()?.trim_ascii_end();
        (name == b"__version__").then(|| python_string(line.get(equals + 1..)?.trim_ascii()))
    });
    values.last()?
}

/// A plain string between single or double quotes.
fn python_string(literal: &[u8]) -> Option<String> {
    let quote = *literal.first().filter(|byte| matches!(byte, b'\'' | b'"'))?;
    let rest = literal.get(1..)?;
    let end = memchr::memchr(quote, rest)?;
    some_text(rest.get(..end)?)
}
