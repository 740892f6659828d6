//! A comparison that was made, for any baseline.

use super::verdicts::Verdicts;
use crate::compare::Comparison;

/// A comparison that was made.
pub struct ComparisonResult {
    /// The ids of the images, in the order of its columns.
    pub ids: Vec<u64>,
    /// What the images are called.
    pub titles: Vec<String>,
    /// It.
    pub comparison: Comparison,
    pub(super) verdicts: Verdicts,
}

impl ComparisonResult {
    pub(super) fn new(ids: Vec<u64>, titles: Vec<String>, comparison: Comparison) -> Self {
        let verdicts = Verdicts::new(&comparison.images);
        Self { ids, titles, comparison, verdicts }
    }
}
