//! Rows of the table of machines: groups, and what belongs to them.

use std::collections::BTreeSet;

use super::query::TargetQuery;
use super::target::{TargetKind, works};
use super::verdict_job::TargetVerdicts;
use super::words::VERDICTS;
use crate::base::labels::inline;
use crate::cuda::compat::RunVerdict;
use crate::gui::models::filter::FilterError;

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TargetRow {
    /// A group, by its place.
    Group(usize),
    /// A machine, by its place in the model.
    Target(usize),
}

/// Machines of one kind that the filter keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetGroup {
    /// What they have in common.
    pub kind: TargetKind,
    /// Which they are.
    pub targets: Vec<usize>,
    /// Whether they are shown.
    pub open: bool,
    /// On how many of them the image runs, in whatever way.
    pub runs: usize,
}

/// What the table shows.
#[derive(Clone, Debug, Default)]
pub struct TargetRows {
    /// The groups.
    pub groups: Vec<TargetGroup>,
    /// Groups, each with its machines behind it.
    pub rows: Vec<TargetRow>,
    /// Why the filter is invalid.
    pub error: Option<FilterError>,
    /// Whether anything is left out.
    pub filtered: bool,
    /// How many machines are left.
    pub found: usize,
    /// How many machines that fit the words have each verdict.
    pub counts: [usize; VERDICTS.len()],
}

impl TargetRows {
    /// The rows of what the filter keeps.
    pub fn new(judged: &TargetVerdicts, query: &TargetQuery, folded: &BTreeSet<TargetKind>) -> Self {
        let mut made = Self { filtered: !query.is_empty(), error: query.error.clone(), ..Self::default() };
        for target in judged.targets.iter().filter(|target| query.fits_words(target)) {
            let place = VERDICTS.iter().position(|verdict| *verdict == target.judgement.verdict);
            if let Some(count) = place.and_then(|place| made.counts.get_mut(place)) {
                *count += 1;
            }
        }
        for kind in TargetKind::ALL {
            let of_kind = judged.targets.iter().enumerate().filter(|(_, target)| target.kind == kind);
            let targets: Vec<usize> =
                of_kind.filter(|(_, target)| query.fits(target)).map(|(place, _)| place).collect();
            // This machine is always listed: before a check, its row says how to run one.
            if targets.is_empty() && (kind != TargetKind::Host || made.filtered) {
                continue;
            }
            let open = !folded.contains(&kind);
            let runs =
                targets.iter().filter(|place| works(judged.targets[**place].judgement.verdict)).count();
            made.found += targets.len();
            made.rows.push(TargetRow::Group(made.groups.len()));
            if open {
                made.rows.extend(targets.iter().map(|place| TargetRow::Target(*place)));
            }
            made.groups.push(TargetGroup { kind, targets, open, runs });
        }
        made
    }

    /// The row of a machine.
    pub fn position(&self, target: usize) -> Option<usize> {
        self.rows.iter().position(|row| *row == TargetRow::Target(target))
    }

    /// The row of a group.
    pub fn position_of(&self, kind: TargetKind) -> Option<usize> {
        let group = self.groups.iter().position(|group| group.kind == kind)?;
        self.rows.iter().position(|row| *row == TargetRow::Group(group))
    }

    /// How many machines that fit the words have this verdict.
    pub fn count(&self, verdict: RunVerdict) -> usize {
        let place = VERDICTS.iter().position(|one| *one == verdict);
        place.and_then(|place| self.counts.get(place)).copied().unwrap_or(0)
    }
}

impl TargetGroup {
    /// On how many of them the image runs: `31 of 34 run`.
    pub fn sum(&self) -> String {
        match (self.runs, self.targets.len()) {
            (_, 0) => String::new(),
            (1, 1) => inline(RunVerdict::Runs.label()),
            (0, 1) => {
                let [fails, unknown] =
                    [RunVerdict::Fails, RunVerdict::Unknown].map(|one| inline(one.label()));
                format!("{fails} or {unknown}")
            }
            (runs, all) if runs == all => format!("all {all} run"),
            (0, all) => format!("0 of {all} run"),
            (runs, all) => format!("{runs} of {all} run"),
        }
    }
}
