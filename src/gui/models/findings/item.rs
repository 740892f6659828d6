//! Findings as they are listed.

use super::words;
use crate::base::size::human;
use crate::base::text::printable;
use crate::findings::{Category, Finding, Severity, Verdict};

/// A finding as a line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FindingItem {
    /// Its unique ID.
    pub id: String,
    /// The stable name of its rule.
    pub rule: &'static str,
    /// Whether it can go.
    pub verdict: Verdict,
    /// How much it matters.
    pub severity: Severity,
    /// What kind of thing it is.
    pub category: Category,
    /// What and where, in a line, safe to show.
    pub title: String,
    /// What the layers lose without it.
    pub bytes: u64,
    /// What the unpacked image loses without it.
    pub merged_bytes: u64,
    /// Bytes of GPU code that `slim` removes for the targets.
    pub potential_bytes: u64,
    /// By so much compressed layers shrink without them.
    pub potential_compressed_bytes: Option<u64>,
    /// How many files it has.
    pub files: usize,
    /// The layers that contain them, bottom first.
    pub layers: Vec<u16>,
}

impl FindingItem {
    pub(super) fn new(finding: &Finding) -> Self {
        Self {
            id: finding.id.clone(),
            rule: finding.rule.id,
            verdict: finding.verdict,
            severity: finding.severity,
            category: finding.category,
            title: printable(&finding.title),
            bytes: finding.bytes,
            merged_bytes: finding.merged_bytes,
            potential_bytes: finding.potential_bytes,
            potential_compressed_bytes: finding.potential_compressed_bytes,
            files: finding.items.len(),
            layers: finding.layers.iter().map(|share| share.layer).collect(),
        }
    }

    /// Whether it can be put into a plan: something would be gained, and nothing needs it.
    pub fn can_be_chosen(&self) -> bool {
        can_be_chosen(self.verdict, self.bytes)
    }

    /// What can be saved, and whether only a slim image is without these bytes.
    pub fn saving(&self) -> (u64, bool) {
        (self.bytes.max(self.potential_bytes), self.potential_bytes > self.bytes)
    }

    /// Screen reader text.
    pub fn spoken(&self) -> String {
        let severity = self.severity.label().to_lowercase();
        let category = self.category.label();
        let mut text = format!("{}, {}, {severity}, {category}", self.title, self.verdict.label());
        if self.bytes > 0 {
            text = format!("{text}, {}, {}", human(self.bytes), words::layers(&self.layers));
        }
        if let (bytes, true) = self.saving() {
            text = format!("{text}, {} by slim", human(bytes));
        }
        text
    }
}

/// Whether a finding can be put into a plan.
pub(super) fn can_be_chosen(verdict: Verdict, bytes: u64) -> bool {
    verdict != Verdict::Needed && bytes > 0
}
