//! Which machines are listed.

use std::collections::BTreeSet;

use super::target::TargetItem;
use crate::base::labels::TARGET_VERDICTS;
use crate::cuda::compat::RunVerdict;
use crate::gui::models::filter::{Field, Filter, FilterError, FilterView, Word};

/// The machines that an image is judged on.
pub struct Targets;

impl FilterView for Targets {
    type Row<'a> = &'a TargetItem;

    const FIELDS: &'static [Field<Self>] =
        &[Field::label(TARGET_VERDICTS, |target, value| target.judgement.verdict.as_str() == value)];
    const GLOBS: bool = false;

    fn has_word(target: &&TargetItem, word: &Word) -> bool {
        word.is_within(&target.words)
    }
}

/// What was typed, and the verdicts that were chosen; none means all.
#[derive(Debug, Default)]
pub struct TargetQuery {
    typed: Filter<Targets>,
    /// Why what was typed is invalid.
    pub error: Option<FilterError>,
    verdicts: BTreeSet<RunVerdict>,
}

impl TargetQuery {
    /// Reads what was typed.
    pub fn new(typed: &str, verdicts: &BTreeSet<RunVerdict>) -> Self {
        let (typed, error) = Filter::typed(typed);
        Self { typed, error, verdicts: verdicts.clone() }
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.typed.is_empty() && self.verdicts.is_empty()
    }

    /// Whether what was typed fits, whatever the verdict.
    pub fn fits_words(&self, target: &TargetItem) -> bool {
        self.typed.fits(&target)
    }

    /// Whether a machine is what it asks for.
    pub fn fits(&self, target: &TargetItem) -> bool {
        let verdict = target.judgement.verdict;
        (self.verdicts.is_empty() || self.verdicts.contains(&verdict)) && self.fits_words(target)
    }
}

#[cfg(test)]
mod tests {
    use super::Targets;
    use crate::base::labels::TARGET_VERDICTS;
    use crate::gui::models::filter::tests::understands;

    #[test]
    fn labels_and_values_are_filters() {
        understands::<Targets>(&[TARGET_VERDICTS]);
    }
}
