//! One line as it is shown.

use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use crate::base::text::printable;

/// How a line of one side relates to the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineChange {
    /// In both texts.
    Same,
    /// In both texts, changed.
    Changed,
    /// Only the original has it.
    Removed,
    /// Only the proposal has it.
    Added,
}

impl LineChange {
    /// Its sign, so that colour is not needed.
    pub const fn sign(self) -> &'static str {
        match self {
            Self::Same => "",
            Self::Changed => "~",
            Self::Removed => "−",
            Self::Added => "+",
        }
    }
}

/// Shown characters of a line: text layout runs on the painting thread.
const SHOWN: usize = 2_000;
/// Where a tab ends: at the next multiple.
const TAB: usize = 4;
/// Lines with more words than this are not compared word by word: the comparison is for reading.
const WORDS: usize = 600;

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DockerfileLine {
    /// Its number in its text, counted from 1.
    pub number: u32,
    /// Its text, safe to show, tabs as spaces, cut where it is very long.
    pub text: String,
    /// How it relates to the other side.
    pub change: LineChange,
    /// Where it differs from the other side: byte ranges of `text`; only of a changed line.
    pub differs: Vec<Range<usize>>,
}

impl DockerfileLine {
    /// A line of a text.
    pub fn new(number: u32, text: &str, change: LineChange) -> Self {
        Self { number, text: shown(text), change, differs: Vec::new() }
    }
}

/// A line as it is shown.
pub(super) fn shown(text: &str) -> String {
    let text = text.trim_end_matches('\r').trim_start_matches('\u{feff}');
    let mut line = String::with_capacity(text.len().min(4 * SHOWN));
    let mut rest = text.chars();
    for character in rest.by_ref().take(SHOWN) {
        if character == '\t' {
            let at = line.chars().count() % TAB;
            line.extend(std::iter::repeat_n(' ', TAB - at));
        } else {
            line.push(character);
        }
    }
    let more = rest.count();
    let line = printable(&line);
    if more == 0 { line } else { format!("{line} … and {more} more characters") }
}

/// Marks what differs between two lines: words between white space, and where one word became another, its parts.
pub(super) fn compare(one: &mut DockerfileLine, other: &mut DockerfileLine) {
    let (left, right) = (spaced(&one.text), spaced(&other.text));
    if left.len() > WORDS || right.len() > WORDS {
        return;
    }
    for operation in changes(&one.text, &left, &other.text, &right) {
        let (from, to) = (&left[operation.old_range()], &right[operation.new_range()]);
        let both = from.len().min(to.len());
        for (from, to) in from.iter().zip(to) {
            let ranges = inside(&one.text, from, &other.text, to);
            one.differs.extend(ranges.0);
            other.differs.extend(ranges.1);
        }
        push(&mut one.differs, &from[both..]);
        push(&mut other.differs, &to[both..]);
    }
}

/// What differs between two words; all of both when they have no part in common.
fn inside(
    one: &str,
    from: &Range<usize>,
    other: &str,
    to: &Range<usize>,
) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let parts = |text: &str, word: &Range<usize>| -> Vec<Range<usize>> {
        words(&text[word.clone()])
            .into_iter()
            .map(|part| word.start + part.start..word.start + part.end)
            .collect()
    };
    let (left, right) = (parts(one, from), parts(other, to));
    let operations = changes(one, &left, other, &right);
    let changed: usize = operations.iter().map(|operation| operation.old_range().len()).sum();
    if changed * 2 > left.len() || left.len() + right.len() > WORDS {
        return (vec![from.clone()], vec![to.clone()]);
    }
    let (mut ranges, mut others) = (Vec::new(), Vec::new());
    for operation in operations {
        push(&mut ranges, &left[operation.old_range()]);
        push(&mut others, &right[operation.new_range()]);
    }
    (ranges, others)
}

/// Where two lists of words differ.
fn changes(one: &str, left: &[Range<usize>], other: &str, right: &[Range<usize>]) -> Vec<DiffOp> {
    let old: Vec<&str> = left.iter().map(|word| &one[word.clone()]).collect();
    let new: Vec<&str> = right.iter().map(|word| &other[word.clone()]).collect();
    let mut operations = capture_diff_slices(Algorithm::Myers, &old, &new);
    operations.retain(|operation| operation.tag() != DiffTag::Equal);
    operations
}

/// Adds the range from the first of some words to the last.
fn push(ranges: &mut Vec<Range<usize>>, words: &[Range<usize>]) {
    if let (Some(first), Some(last)) = (words.first(), words.last()) {
        ranges.push(first.start..last.end);
    }
}

/// The words between white space.
fn spaced(text: &str) -> Vec<Range<usize>> {
    let mut all: Vec<Range<usize>> = Vec::new();
    for part in text.split_whitespace() {
        // A part of the text: the difference of two places in it.
        let start = part.as_ptr() as usize - text.as_ptr() as usize;
        all.push(start..start + part.len());
    }
    all
}

/// The words of a line: runs of letters and digits, runs of white space, and every other character alone.
pub(super) fn words(text: &str) -> Vec<Range<usize>> {
    #[derive(PartialEq, Clone, Copy)]
    enum Kind {
        Word,
        Space,
        Sign,
    }
    let kind = |character: char| match character {
        character if character.is_alphanumeric() || character == '_' => Kind::Word,
        character if character.is_whitespace() => Kind::Space,
        _ => Kind::Sign,
    };
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut last = Kind::Sign;
    for (at, character) in text.char_indices() {
        let (now, end) = (kind(character), at + character.len_utf8());
        match words.last_mut() {
            Some(word) if now == last && now != Kind::Sign => word.end = end,
            _ => words.push(at..end),
        }
        last = now;
    }
    words
}
