//! The largest savings, for the overview.

use super::plan::ChosenPlan;
use crate::analysis::Analysis;
use crate::base::size::human;
use crate::base::text::printable;
use crate::findings::Verdict;

/// How many are named.
const NAMED: usize = 5;

/// One saving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavingItem {
    /// The finding.
    pub id: String,
    /// What and where, safe to show.
    pub title: String,
    /// What the layers lose.
    pub bytes: u64,
    /// Whether these are bytes inside files, which only writing a slim image removes.
    pub by_slim: bool,
    /// Whether it can go.
    pub verdict: Verdict,
    /// Whether the plan has it.
    pub chosen: bool,
}

/// What could be saved.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Savings {
    /// The largest, first.
    pub items: Vec<SavingItem>,
    /// How many findings there are in all.
    pub findings: usize,
    /// How many of them can be in a plan: the others have no files, or are required at run time.
    pub choosable: usize,
    /// What the plan makes of the sizes, in a sentence.
    pub outcome: Option<String>,
}

impl Savings {
    /// The savings of an analysis; `None` until its findings are there.
    pub fn new(analysis: &Analysis, plan: &ChosenPlan) -> Option<Self> {
        let findings = analysis.findings.as_deref()?;
        let can_be_chosen =
            |one: &crate::findings::Finding| super::item::can_be_chosen(one.verdict, one.bytes);
        let choosable = findings.list.iter().filter(|one| can_be_chosen(one)).count();
        let mut list: Vec<_> =
            findings.list.iter().filter(|one| can_be_chosen(one) || one.potential_bytes > 0).collect();
        // The order of the analysis decides between equals.
        list.sort_by_key(|one| std::cmp::Reverse(one.bytes.max(one.potential_bytes)));
        let item = |one: &&crate::findings::Finding| SavingItem {
            id: one.id.clone(),
            title: printable(&one.title),
            bytes: one.bytes.max(one.potential_bytes),
            by_slim: one.potential_bytes > one.bytes,
            verdict: one.verdict,
            chosen: plan.contains(&one.id),
        };
        Some(Self {
            items: list.iter().take(NAMED).map(item).collect(),
            findings: findings.list.len(),
            choosable,
            outcome: plan.prediction().and_then(super::Prediction::outcome),
        })
    }
}

impl SavingItem {
    /// Screen reader text.
    pub fn spoken(&self) -> String {
        let plan = if self.chosen { ", in the plan" } else { "" };
        format!("{}, {}, {}{plan}", self.title, human(self.bytes), self.label())
    }

    /// What decides on it: the verdict, or that only a slim image is without these bytes.
    pub fn label(&self) -> &'static str {
        if self.by_slim { "By slim" } else { self.verdict.label() }
    }
}
