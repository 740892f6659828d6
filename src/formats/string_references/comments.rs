//! Finds comments in texts: tools that are named there are not run.

use std::ops::Range;

use super::sort::Sort;

/// The comments of a text.
pub(super) struct Comments {
    sort: Sort,
    /// Comments between `/*` and `*/`, in order. Code may follow in the line of the end.
    blocks: Vec<Range<usize>>,
    /// Whether C code may precede `import "C"` of Go.
    is_cgo: bool,
}

impl Comments {
    pub(super) fn of(text: &[u8], sort: Sort) -> Self {
        if !matches!(sort, Sort::Source | Sort::JavaScript) {
            return Self { sort, blocks: Vec::new(), is_cgo: false };
        }
        // A comment before `import "C"` in Go is C code. Some languages end a line at `\r` alone.
        let is_cgo = memchr::memmem::find(text, b"import \"C\"").is_some();
        let is_unclear =
            || memchr::memchr_iter(b'\r', text).any(|at| text.get(at + 1).is_some_and(|next| *next != b'\n'));
        if is_cgo || is_unclear() {
            return Self { sort: Sort::Text, blocks: Vec::new(), is_cgo };
        }
        Self { sort, blocks: blocks(text), is_cgo }
    }

    /// Whether the line that begins at `start` is a comment as a whole.
    pub(super) fn is_line(&self, text: &[u8], start: usize) -> bool {
        let line = &text[start..];
        match self.sort {
            Sort::Script | Sort::Python | Sort::Plain => is_remark(line),
            // The end of a block may follow in the line.
            Sort::Source | Sort::JavaScript => is_slashed(line) && !self.contains(start),
            Sort::Code | Sort::Text | Sort::Binary => self.is_cgo && is_directive(line),
        }
    }

    /// Whether a position is in a comment between `/*` and `*/`.
    pub(super) fn contains(&self, at: usize) -> bool {
        let after = self.blocks.partition_point(|block| block.end <= at);
        self.blocks.get(after).is_some_and(|block| block.start <= at)
    }
}

/// Quotes of strings of several lines.
const QUOTES: [&[u8]; 3] = [b"`", b"\"\"\"", b"'''"];
/// Maximum blocks that are no comments in one text; what follows is searched.
const REFUSED: usize = 64;

/// The blocks that begin a line. Elsewhere `/*` may be a part of a string, such as a pattern of paths.
fn blocks(text: &[u8]) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let (mut at, mut refused) = (0, 0);
    let strings = QUOTES.iter().filter_map(|quote| memchr::memmem::find(text, quote)).min();
    while let Some(start) = memchr::memmem::find(&text[at..], b"/*").map(|found| at + found) {
        at = start + 2;
        let before = text[..start].iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
        if before.is_some_and(|byte| *byte != b'\n') {
            continue;
        }
        let Some(length) = memchr::memmem::find(&text[at..], b"*/") else { break };
        let end = at + length + 2;
        if strings.is_none_or(|first| start < first) || is_comment(&text[start..end]) {
            blocks.push(start..end);
            at = end;
        } else if refused == REFUSED {
            break;
        } else {
            refused += 1;
        }
    }
    blocks
}

/// Whether a block is a comment, and does not begin in a string of several lines: after the end of the string there may be
/// code, and in the string there may be expressions.
fn is_comment(block: &[u8]) -> bool {
    const EXPRESSIONS: [&[u8]; 2] = [b"${", b"\\("];
    let has = |part: &&[u8]| memchr::memmem::find(block, part).is_some();
    let mut lines = block.split(|byte| *byte == b'\n').skip(1);
    let is_starred = lines.all(|line| line.trim_ascii_start().starts_with(b"*"));
    !EXPRESSIONS.iter().any(has) && (is_starred || !QUOTES.iter().any(has))
}

/// Whether a line is a comment: it begins with `#`, but not with `#!` or with the `#include` of C code in a script.
fn is_remark(line: &[u8]) -> bool {
    let Some([b'#', rest @ ..]) = line.get(blanks(line)..) else { return false };
    !rest.starts_with(b"!") && !rest.trim_ascii_start().starts_with(b"include")
}

/// Whether a line is a comment: it begins with `//`, but not with the path of an interpreter, as the first line of a script
/// in Go does: `//usr/bin/env go run "$0" "$@"; exit`.
fn is_slashed(line: &[u8]) -> bool {
    let line = &line[blanks(line)..];
    let rest = &line[line.iter().take_while(|byte| **byte == b'/').count()..];
    line.starts_with(b"//") && !rest.starts_with(b"usr/") && !rest.starts_with(b"bin/")
}

/// Whether a line tells cgo how to build: `#cgo pkg-config: sqlite3`.
fn is_directive(line: &[u8]) -> bool {
    let line = &line[blanks(line)..];
    let line = line.strip_prefix(b"//").unwrap_or(line);
    line[blanks(line)..].starts_with(b"#cgo ")
}

fn blanks(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count()
}
