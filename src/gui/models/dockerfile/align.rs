//! Aligns two texts: equal and slightly changed lines share a row.

use std::collections::VecDeque;
use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use super::line::{self, DockerfileLine, LineChange};
use super::pair::pairs;
use crate::rewrite::Reason;

/// Limit of reasons per row.
const ROW_REASONS: usize = 8;
/// Lines of a text that are shown: a Dockerfile may be a million empty lines, and a row takes 200 bytes.
const LINES: usize = 50_000;

/// A row: a line of the original, one of the proposal, or both.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlignedRow {
    /// The line of the original.
    pub left: Option<DockerfileLine>,
    /// The line of the proposal.
    pub right: Option<DockerfileLine>,
    /// Why it is changed: places in the list of reasons, in order.
    pub reasons: Vec<usize>,
}

impl AlignedRow {
    /// Whether anything is changed in it.
    pub fn is_changed(&self) -> bool {
        [&self.left, &self.right].into_iter().flatten().any(|line| line.change != LineChange::Same)
    }

    /// Screen reader text, without the reasons.
    pub fn spoken(&self) -> String {
        let words = |line: &DockerfileLine| {
            if line.text.trim().is_empty() { "empty".to_owned() } else { line.text.clone() }
        };
        match (&self.left, &self.right) {
            (Some(same), None) | (Some(_), Some(same)) if same.change == LineChange::Same => {
                format!("line {}: {}", same.number, words(same))
            }
            (Some(left), Some(right)) if left.change == LineChange::Changed => {
                format!(
                    "line {} changed: {}; was line {}: {}",
                    right.number,
                    words(right),
                    left.number,
                    words(left)
                )
            }
            (left, right) => {
                let rows_before_removed =
                    left.as_ref().map(|line| format!("line {} removed: {}", line.number, words(line)));
                let new = right.as_ref().map(|line| format!("line {} added: {}", line.number, words(line)));
                [rows_before_removed, new].into_iter().flatten().collect::<Vec<_>>().join("; ")
            }
        }
    }
}

/// Two texts side by side.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aligned {
    /// The rows from top to bottom.
    pub rows: Vec<AlignedRow>,
    /// The first row of each run of rows that are changed.
    pub changes: Vec<usize>,
    /// Lines that only the proposal has.
    pub added: usize,
    /// Lines that only the original has.
    pub removed: usize,
    /// Lines that are changed.
    pub changed: usize,
    /// Characters of the longest line that is shown.
    pub widest: usize,
    /// The row that each reason is shown at.
    pub reason_rows: Vec<usize>,
    /// Whether lines at the end are left out, because there are too many.
    pub cut: bool,
}

impl Aligned {
    /// A text alone, all of it the same.
    pub fn whole(text: &str) -> Self {
        let mut aligned = Self { cut: text.lines().count() > LINES, ..Self::default() };
        for (place, line) in text.lines().take(LINES).enumerate() {
            let left = DockerfileLine::new(number(place), line, LineChange::Same);
            aligned.rows.push(AlignedRow { left: Some(left), ..AlignedRow::default() });
        }
        aligned.finish(&[]);
        aligned
    }

    /// The original and the proposal, with the reasons of the proposal.
    pub fn new(before: &str, after: &str, reasons: &[Reason]) -> Self {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.lines().take(LINES).collect(), after.lines().take(LINES).collect());
        let cut = [before, after].iter().any(|text| text.lines().count() > LINES);
        let mut aligned = Self { cut, ..Self::default() };
        // Its heuristics bound the work on texts that have nothing in common.
        for operation in capture_diff_slices(Algorithm::Myers, &old, &new) {
            aligned.push(&old, &new, operation);
        }
        aligned.finish(reasons);
        aligned
    }

    fn push(&mut self, old: &[&str], new: &[&str], operation: DiffOp) {
        let (from, to) = (operation.old_range(), operation.new_range());
        if operation.tag() == DiffTag::Equal {
            for (left, right) in from.zip(to) {
                self.rows.push(AlignedRow {
                    left: Some(DockerfileLine::new(number(left), old[left], LineChange::Same)),
                    right: Some(DockerfileLine::new(number(right), new[right], LineChange::Same)),
                    ..AlignedRow::default()
                });
            }
            return;
        }
        let (mut left, mut right) = (from.start, to.start);
        for (one, other) in pairs(&old[from.clone()], &new[to.clone()]) {
            self.apart(old, left..from.start + one, new, right..to.start + other);
            (left, right) = (from.start + one, to.start + other);
            let mut pair = (
                DockerfileLine::new(number(left), old[left], LineChange::Changed),
                DockerfileLine::new(number(right), new[right], LineChange::Changed),
            );
            line::compare(&mut pair.0, &mut pair.1);
            self.rows.push(AlignedRow { left: Some(pair.0), right: Some(pair.1), ..AlignedRow::default() });
            self.changed += 1;
            (left, right) = (left + 1, right + 1);
        }
        self.apart(old, left..from.end, new, right..to.end);
    }

    /// Lines that have no partner: those of both sides share rows, as far as there are some of both.
    fn apart(&mut self, old: &[&str], from: Range<usize>, new: &[&str], to: Range<usize>) {
        self.removed += from.len();
        self.added += to.len();
        let mut left: VecDeque<usize> = from.collect();
        let mut right: VecDeque<usize> = to.collect();
        while !(left.is_empty() && right.is_empty()) {
            let line = |place: Option<usize>, lines: &[&str], change| {
                place.map(|place| DockerfileLine::new(number(place), lines[place], change))
            };
            self.rows.push(AlignedRow {
                left: line(left.pop_front(), old, LineChange::Removed),
                right: line(right.pop_front(), new, LineChange::Added),
                ..AlignedRow::default()
            });
        }
    }

    fn finish(&mut self, reasons: &[Reason]) {
        let lines = self.rows.iter().flat_map(|row| [&row.left, &row.right]).flatten();
        self.widest = lines.map(|line| line.text.chars().count()).max().unwrap_or(0);
        let changed: Vec<bool> = self.rows.iter().map(AlignedRow::is_changed).collect();
        self.changes =
            (0..changed.len()).filter(|at| changed[*at] && (*at == 0 || !changed[*at - 1])).collect();
        self.attach_reasons(reasons, &changed);
    }

    /// Puts each reason to the rows that it is about.
    fn attach_reasons(&mut self, reasons: &[Reason], changed: &[bool]) {
        // By line of the new text, counted from 1.
        let mut places = vec![0];
        places.extend((0..self.rows.len()).filter(|at| self.rows[*at].right.is_some()));
        let place = |line: u32| places.get(line as usize).copied();
        for (index, reason) in reasons.iter().enumerate() {
            let mut about: Vec<usize> = if reason.lines == 0 {
                let from = place(reason.line).unwrap_or(0);
                rows_before_removed(&self.rows, from, reason.line == 0)
            } else {
                let last = reason.line.saturating_add(reason.lines);
                let lines = places.get(reason.line as usize..last as usize);
                lines.unwrap_or_else(|| places.get(reason.line as usize..).unwrap_or_default()).to_vec()
            };
            about.retain(|row| changed.get(*row).copied().unwrap_or(false));
            if about.is_empty() {
                // Told beside what is the same rather than not at all.
                about.extend(place(reason.line).filter(|row| *row < self.rows.len()));
            }
            self.reason_rows.push(about.first().copied().unwrap_or(0));
            for row in about {
                let row_reasons = &mut self.rows[row].reasons;
                if row_reasons.len() < ROW_REASONS {
                    row_reasons.push(index);
                }
            }
        }
        self.spread_reasons(changed);
    }

    /// A changed row that no reason names has those of the row before it in its run, else of the next one.
    fn spread_reasons(&mut self, changed: &[bool]) {
        for at in 1..self.rows.len() {
            if changed[at] && changed[at - 1] && self.rows[at].reasons.is_empty() {
                self.rows[at].reasons = self.rows[at - 1].reasons.clone();
            }
        }
        for at in (1..self.rows.len()).rev() {
            if changed[at] && changed[at - 1] && self.rows[at - 1].reasons.is_empty() {
                self.rows[at - 1].reasons = self.rows[at].reasons.clone();
            }
        }
    }
}

/// The rows of lines that are gone at a place: those after row `from`, or with it where it is the first (`start`);
/// when there are none, those right before it.
fn rows_before_removed(rows: &[AlignedRow], from: usize, start: bool) -> Vec<usize> {
    let is_gone = |at: &usize| {
        rows.get(*at).and_then(|row| row.left.as_ref()).is_some_and(|line| line.change == LineChange::Removed)
    };
    let first = if start { from } else { from + 1 };
    let after: Vec<usize> = (first..rows.len()).take_while(is_gone).collect();
    if !after.is_empty() {
        return after;
    }
    let mut before: Vec<usize> = (0..from).rev().take_while(is_gone).collect();
    before.reverse();
    before
}

/// A line's number, counted from 1.
fn number(place: usize) -> u32 {
    u32::try_from(place + 1).unwrap_or(u32::MAX)
}
