//! Comments of texts: what they name, nothing runs.

use std::ops::Range;

use super::sort::Sort;

/// The comments of a text.
pub(super) struct Comments {
    sort: Sort,
    /// Comments between `/*` and `*/`, in order. Code may follow in the line of the end.
    blocks: Vec<Range<usize>>,
}

impl Comments {
    pub(super) fn of(text: &[u8], sort: Sort) -> Self {
        Self { sort, blocks: if sort == Sort::Source { blocks(text) } else { Vec::new() } }
    }

    /// Whether a line is a comment as a whole. `line` is the text from its start.
    pub(super) fn is_line(&self, line: &[u8]) -> bool {
        match self.sort {
            Sort::Script => is_remark(line),
            Sort::Source => is_slashed(line),
            Sort::Text | Sort::Binary => false,
        }
    }

    /// Whether a position is in a comment of several lines.
    pub(super) fn contains(&self, at: usize) -> bool {
        let after = self.blocks.partition_point(|block| block.end <= at);
        self.blocks.get(after).is_some_and(|block| block.start <= at)
    }
}

/// The blocks that begin a line: elsewhere, and if it is not closed, `/*` may be a part of a string, such as a pattern
/// of paths.
fn blocks(text: &[u8]) -> Vec<Range<usize>> {
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(start) = memchr::memmem::find(&text[at..], b"/*").map(|found| at + found) {
        at = start + 2;
        let line = memchr::memrchr(b'\n', &text[..start]).map_or(0, |newline| newline + 1);
        if !text[line..start].iter().all(|byte| matches!(byte, b' ' | b'\t')) {
            continue;
        }
        let Some(length) = memchr::memmem::find(&text[at..], b"*/") else { break };
        at += length + 2;
        blocks.push(start..at);
    }
    blocks
}

/// Whether a line is a comment: it begins with `#`, but not with `#!` or with the `#include` of C code in a script.
fn is_remark(line: &[u8]) -> bool {
    let Some([b'#', rest @ ..]) = line.get(blanks(line)..) else { return false };
    !rest.starts_with(b"!") && !rest.trim_ascii_start().starts_with(b"include")
}

fn is_slashed(line: &[u8]) -> bool {
    line[blanks(line)..].starts_with(b"//")
}

fn blanks(line: &[u8]) -> usize {
    line.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count()
}
