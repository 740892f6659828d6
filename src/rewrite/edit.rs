//! Applies edits to a text, and creates unified diffs.

#[cfg(feature = "fuzzing")]
mod fuzz;

use std::fmt::Write as _;
use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use super::value::{Edit, Reason};
use crate::base::convert::index32;

#[cfg(feature = "fuzzing")]
pub use fuzz::fuzz_edits;

/// Lines of a unified diff around each change.
const AROUND: usize = 3;

/// Maximum lines compared one by one, of both texts together: about a second for random lines of one byte. A
/// Dockerfile of 1 MiB with lines of ordinary length has some 30 000.
const LINES: usize = 200_000;

/// Applies all edits: the new text, and the reasons at their new lines. Edits are applied in the order of their places,
/// those at one place in the order given. One that overlaps an earlier one is skipped, and its index in `edits` is
/// returned. An insertion comes before a replacement at the same place.
pub(super) fn apply(text: &str, edits: &[Edit]) -> (String, Vec<Reason>, Vec<usize>) {
    let mut order: Vec<usize> = (0..edits.len()).collect();
    order.sort_by_key(|place| edits.get(*place).map(|edit| (edit.at.start, !edit.at.is_empty())));
    let mut after = String::with_capacity(text.len());
    let mut done = Vec::new();
    let mut left_out = Vec::new();
    let mut copied = 0;
    for place in order {
        let Some(edit) = edits.get(place) else { continue };
        let between = text.get(copied..edit.at.start).filter(|_| text.get(edit.at.clone()).is_some());
        let Some(between) = between else {
            left_out.push(place);
            continue;
        };
        after.push_str(between);
        let start = after.len();
        after.push_str(&edit.with);
        done.push((edit, start..after.len()));
        copied = edit.at.end;
    }
    after.push_str(text.get(copied..).unwrap_or_default());
    left_out.sort_unstable();
    let mut lines = Lines { text: &after, at: 0, line: 1 };
    let reasons = done.into_iter().map(|(edit, at)| reason(text, edit, at, &mut lines)).collect();
    (after, reasons, left_out)
}

/// Counts the lines of a text up to ascending places.
struct Lines<'a> {
    text: &'a str,
    at: usize,
    line: u32,
}

impl Lines<'_> {
    fn of(&mut self, offset: usize) -> u32 {
        let passed = self.text.as_bytes().get(self.at..offset).unwrap_or_default();
        self.line = self.line.saturating_add(index32(memchr::memchr_iter(b'\n', passed).count()));
        self.at = self.at.max(offset);
        self.line
    }
}

fn is_line_start(text: &str, at: usize) -> bool {
    at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n')
}

fn is_line_end(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    rest.is_empty() || rest.starts_with('\n') || rest.starts_with("\r\n")
}

/// The reason of an edit; `at` is the range of its new text.
fn reason(before: &str, edit: &Edit, at: Range<usize>, lines: &mut Lines<'_>) -> Reason {
    let (start, end) = (edit.at.start, edit.at.end);
    // An edit from line to line leaves its neighbours unchanged.
    let whole_lines = is_line_start(before, start) && (is_line_start(before, end) || end == before.len());
    let first = lines.of(at.start);
    let (line, count) = if at.is_empty() {
        if whole_lines {
            // Before the first line it is line 0.
            (first.saturating_sub(1), 0)
        } else if is_line_end(before, start) && is_line_end(before, end) {
            (first, 0)
        } else {
            (first, 1)
        }
    } else {
        // A replacement that begins or ends with a line end does not change the line before or after.
        let starts_new = is_line_end(before, start) && is_line_end(&edit.with, 0);
        let ends_line = edit.with.ends_with('\n') && (is_line_start(before, end) || end == before.len());
        let first = if starts_new { first.saturating_add(1) } else { first };
        let last = lines.of(at.end);
        let last = if ends_line { last.saturating_sub(1) } else { last };
        (first, last.saturating_sub(first).saturating_add(1))
    };
    Reason {
        line,
        lines: count,
        text: edit.reason.clone(),
        applicability: edit.applicability,
        bytes: edit.bytes,
    }
}

/// A unified diff with three context lines; empty when nothing changed. Lines end at line feeds only, as for `patch`: a
/// carriage return belongs to its line.
pub(super) fn unified(name: &str, before: &str, after: &str) -> String {
    if before == after {
        return String::new();
    }
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let changes = group_diff_ops(changes(&old, &new), AROUND);
    let mut diff = format!("--- {name}\n+++ {name}\n");
    for hunk in changes {
        let (Some(first), Some(last)) = (hunk.first(), hunk.last()) else { continue };
        let header = [
            range(&(first.old_range().start..last.old_range().end)),
            range(&(first.new_range().start..last.new_range().end)),
        ];
        // Writing to a string cannot fail.
        writeln!(diff, "@@ -{} +{} @@", header[0], header[1]).ok();
        for change in &hunk {
            write_change(&mut diff, change, &old, &new);
        }
    }
    diff
}

/// The differences, in order.
fn changes(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    if old.len().saturating_add(new.len()) <= LINES {
        // Git's version of Myers' algorithm: not the shortest diff if that takes too long.
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let same = |pairs: &mut dyn Iterator<Item = (&&str, &&str)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let head = same(&mut old.iter().zip(new));
    let (old_rest, new_rest) = (old.get(head..).unwrap_or_default(), new.get(head..).unwrap_or_default());
    let tail = same(&mut old_rest.iter().rev().zip(new_rest.iter().rev()));
    let (old_len, new_len) = (old_rest.len() - tail, new_rest.len() - tail);
    vec![
        DiffOp::Equal { old_index: 0, new_index: 0, len: head },
        DiffOp::Replace { old_index: head, old_len, new_index: head, new_len },
        DiffOp::Equal { old_index: head + old_len, new_index: head + new_len, len: tail },
    ]
}

/// A line range as in the header of a hunk.
fn range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

fn write_change(diff: &mut String, change: &DiffOp, old: &[&str], new: &[&str]) {
    let mut write = |sign: char, lines: Option<&[&str]>| {
        for line in lines.unwrap_or_default() {
            diff.push(sign);
            diff.push_str(line);
            if !line.ends_with('\n') {
                diff.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    let tag = change.tag();
    if tag == DiffTag::Equal {
        write(' ', old.get(change.old_range()));
    }
    if matches!(tag, DiffTag::Delete | DiffTag::Replace) {
        write('-', old.get(change.old_range()));
    }
    if matches!(tag, DiffTag::Insert | DiffTag::Replace) {
        write('+', new.get(change.new_range()));
    }
}

#[cfg(test)]
mod tests;
