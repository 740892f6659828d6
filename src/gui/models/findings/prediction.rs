//! Sizes of the image, now and when the plan is carried out.

use super::item::can_be_chosen;
use crate::analysis::Analysis;
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::findings::{Findings, Plan};

/// Sizes now, and when the plan is carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prediction {
    /// How many findings are chosen.
    pub chosen: usize,
    /// Questions without an answer, of findings that could be chosen; those that are answered with another count once.
    pub open: usize,
    /// How many could be chosen.
    pub choosable: usize,
    /// Bytes of the merged view.
    pub merged: (u64, u64),
    /// Blobs as stored: the second one is an estimate. `None` where the size of a blob is not known.
    pub pull: Option<(u64, u64)>,
    /// Bytes that the layers lose.
    pub lost: u64,
}

impl Prediction {
    /// `None` without sizes of the image.
    pub(super) fn of(analysis: &Analysis, findings: &Findings, plan: &Plan) -> Option<Self> {
        let predicted = analysis.predict(plan)?;
        let totals = analysis.totals()?;
        let chosen = || findings.list.iter().filter(|one| plan.contains(&one.id));
        Some(Self {
            chosen: chosen().count(),
            open: plan.open_questions(findings).filter(|one| one.answered_with.is_none()).count(),
            choosable: findings.list.iter().filter(|one| can_be_chosen(one.verdict, one.bytes)).count(),
            merged: (totals.merged_bytes, predicted.merged_bytes),
            pull: totals.compressed_bytes.zip(predicted.compressed_bytes),
            lost: chosen().map(|one| one.bytes).sum(),
        })
    }

    /// What is chosen, in words.
    pub fn sentence(&self) -> String {
        if self.choosable == 0 {
            return "No removable findings".to_owned();
        }
        let selected = format!(
            "{} of {} selected",
            grouped(self.chosen as u64),
            counted(self.choosable, "selectable finding")
        );
        match self.open {
            0 => selected,
            open => format!("{selected}, {}", counted(open, "open question")),
        }
    }

    /// What the plan makes of the sizes, in a sentence for the overview; `None` when it changes nothing.
    pub fn outcome(&self) -> Option<String> {
        if self.chosen == 0 {
            return None;
        }
        let findings = counted(self.chosen, "selected finding");
        let pull =
            self.pull.map_or_else(String::new, |(_, then)| format!(", about {} compressed", human(then)));
        Some(format!("After removal of {findings}: {} merged{pull}.", human(self.merged.1)))
    }
}
