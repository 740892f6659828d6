//! Which machines are listed.

use std::collections::BTreeSet;

use super::target::TargetItem;
use crate::cuda::compat::RunVerdict;

/// A filter: every word must occur in the machine's text, and its verdict must be selected.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetQuery {
    words: Vec<String>,
    verdicts: BTreeSet<RunVerdict>,
}

impl TargetQuery {
    /// What was typed, and the verdicts that were chosen; none means all.
    pub fn new(typed: &str, verdicts: &BTreeSet<RunVerdict>) -> Self {
        let words = typed.split_whitespace().map(str::to_lowercase).collect();
        Self { words, verdicts: verdicts.clone() }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.verdicts.is_empty()
    }

    /// Whether the words fit, whatever the verdict.
    pub fn fits_words(&self, target: &TargetItem) -> bool {
        self.words.iter().all(|word| target.words.contains(word))
    }

    /// Whether a machine is what it asks for.
    pub fn fits(&self, target: &TargetItem) -> bool {
        let verdict = target.judgement.verdict;
        (self.verdicts.is_empty() || self.verdicts.contains(&verdict)) && self.fits_words(target)
    }
}
