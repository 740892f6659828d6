//! Which machines are listed.

use std::collections::BTreeSet;

use super::target::TargetItem;
use crate::base::labels::TARGET_VERDICTS;
use crate::cuda::compat::RunVerdict;

/// A filter: every word must occur in the machine's text, and its verdict must be selected. `verdict:fails` selects one
/// verdict; a verdict's filter word also counts as text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TargetQuery {
    words: Vec<String>,
    /// Verdicts typed as `verdict:…`: all must be the machine's.
    typed: Vec<RunVerdict>,
    /// What is wrong with the words.
    error: Option<String>,
    verdicts: BTreeSet<RunVerdict>,
}

impl TargetQuery {
    /// What was typed, and the verdicts that were chosen; none means all.
    pub fn new(typed: &str, verdicts: &BTreeSet<RunVerdict>) -> Self {
        let mut query = Self { verdicts: verdicts.clone(), ..Self::default() };
        for word in typed.split_whitespace().map(str::to_lowercase) {
            match word.split_once(':') {
                Some((key, value)) if key == TARGET_VERDICTS.key => {
                    if let Some(verdict) = RunVerdict::from_label(value) {
                        query.typed.push(verdict);
                    } else {
                        let expected = TARGET_VERDICTS.expected();
                        query.error = Some(format!("invalid filter {word}; expected {expected}"));
                    }
                }
                _ => query.words.push(word),
            }
        }
        query
    }

    /// Why the filter is invalid. The invalid term is ignored.
    pub fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.typed.is_empty() && self.verdicts.is_empty()
    }

    /// Whether the words fit, whatever the verdict.
    pub fn fits_words(&self, target: &TargetItem) -> bool {
        self.words.iter().all(|word| target.words.contains(word))
            && self.typed.iter().all(|verdict| target.judgement.verdict == *verdict)
    }

    /// Whether a machine is what it asks for.
    pub fn fits(&self, target: &TargetItem) -> bool {
        let verdict = target.judgement.verdict;
        (self.verdicts.is_empty() || self.verdicts.contains(&verdict)) && self.fits_words(target)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::TargetQuery;
    use crate::base::labels::{TARGET_VERDICTS, slug};

    #[test]
    fn labels_and_values_are_filters() {
        for label in TARGET_VERDICTS.list {
            for word in [label.value.to_owned(), label.word(), slug(label.text)] {
                let query = TargetQuery::new(&format!("verdict:{word}"), &BTreeSet::new());
                assert_eq!((query.error(), query.typed.len()), (None, 1), "{word}");
            }
        }
        let query = TargetQuery::new("verdict:maybe", &BTreeSet::new());
        assert!(query.error().is_some_and(|error| error.ends_with(&TARGET_VERDICTS.expected())));
    }
}
