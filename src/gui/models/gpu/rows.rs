//! Rows of the table of machines: groups, and what belongs to them.

use std::collections::BTreeSet;

use super::query::TargetQuery;
use super::target::{TargetKind, works};
use super::verdict_job::TargetVerdicts;
use super::words::VERDICTS;
use crate::base::labels::inline;
use crate::cuda::compat::RunVerdict;
use crate::gui::models::grouped::{GroupedRows, RowGroup};

/// Machines of one kind that the filter keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetGroup {
    /// What they have in common.
    pub kind: TargetKind,
    /// Which they are.
    pub targets: Vec<usize>,
    /// On how many of them the image runs, in whatever way.
    pub runs: usize,
}

impl RowGroup for TargetGroup {
    type Key = TargetKind;

    fn key(&self) -> TargetKind {
        self.kind
    }
}

/// What the table shows.
#[derive(Clone, Debug, Default)]
pub struct TargetRows {
    /// The rows: machines by their place in the model.
    pub list: GroupedRows<TargetGroup>,
    /// How many machines that fit the words have each verdict.
    counts: [usize; VERDICTS.len()],
}

impl TargetRows {
    /// The rows of what the filter keeps.
    pub fn new(judged: &TargetVerdicts, query: &TargetQuery, folded: &BTreeSet<TargetKind>) -> Self {
        let mut made = Self::default();
        (made.list.filtered, made.list.error) = (!query.is_empty(), query.error.clone());
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
            if targets.is_empty() && (kind != TargetKind::Host || made.list.filtered) {
                continue;
            }
            let runs =
                targets.iter().filter(|place| works(judged.targets[**place].judgement.verdict)).count();
            made.list.found += targets.len();
            made.list.push(TargetGroup { kind, targets: targets.clone(), runs }, folded, targets);
        }
        made
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
