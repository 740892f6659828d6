//! One proposal as it is shown.

use super::align::Aligned;
use crate::base::size::human;
use crate::base::text::counted;
use crate::base::text::printable;
use crate::rewrite::{Applicability, Closure, Hint, Predicted, Proposal, Reason, Removed};

/// A proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposalItem {
    /// Its unique ID.
    pub id: String,
    /// What it does.
    pub title: String,
    /// How much of it may be taken without thinking.
    pub applicability: Applicability,
    /// What the final stage starts from.
    pub base_image: Option<String>,
    /// The whole text, for the clipboard and for files.
    pub dockerfile: String,
    /// The same as a patch.
    pub diff: String,
    /// It beside the original.
    pub aligned: Aligned,
    /// Why lines are changed.
    pub reasons: Vec<ReasonItem>,
    /// Sizes of the image that it gives.
    pub predicted: Predicted,
    /// What is kept although it looks superfluous, and why.
    pub kept: Vec<String>,
    /// Files that the new image does not have, largest first.
    pub removed: Vec<Removed>,
    /// Bytes of them.
    pub removed_bytes: u64,
    /// What was proven of the new image, and what not.
    pub closure: Closure,
    /// What else helps.
    pub hints: Vec<Hint>,
}

/// Why lines are changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReasonItem {
    /// The sentence.
    pub text: String,
    /// Where: `3`, `3–5`, or `after 3`.
    pub place: String,
    /// How much of it may be taken without thinking.
    pub applicability: Applicability,
    /// Bytes of layers that it saves.
    pub bytes: Option<u64>,
}

impl ProposalItem {
    pub(super) fn new(proposal: Proposal, original: &str) -> Self {
        let aligned = Aligned::new(original, &proposal.dockerfile, &proposal.reasons);
        let safe = |list: Vec<String>| list.iter().map(|text| printable(text)).collect();
        Self {
            aligned,
            id: proposal.id,
            title: printable(&proposal.title),
            applicability: proposal.applicability,
            base_image: proposal.base_image.as_deref().map(printable),
            dockerfile: proposal.dockerfile,
            diff: proposal.diff,
            reasons: proposal.reasons.iter().map(ReasonItem::new).collect(),
            predicted: proposal.predicted,
            kept: safe(proposal.kept),
            removed_bytes: proposal.removed.iter().map(|file| file.bytes).sum(),
            removed: proposal.removed,
            closure: Closure {
                faults: safe(proposal.closure.faults),
                unproven: safe(proposal.closure.unproven),
                ..proposal.closure
            },
            hints: proposal.hints,
        }
    }

    /// What it saves in the layers, in words.
    pub fn saving(&self) -> String {
        match self.predicted.saved_bytes {
            0 => "saves no bytes".to_owned(),
            bytes => format!("saves {} of content", human(bytes)),
        }
    }

    /// Screen reader text in the chooser.
    pub fn spoken(&self) -> String {
        format!("{}, {}, {}", self.title, self.applicability.label(), self.saving())
    }

    /// What is changed, with signs and in words.
    pub fn counts(&self) -> String {
        let Aligned { added, removed, changed, .. } = &self.aligned;
        format!("+{added}  −{removed}  ~{changed}")
    }

    /// The same for screen readers.
    pub fn spoken_counts(&self) -> String {
        let Aligned { added, removed, changed, .. } = &self.aligned;
        let added = counted(*added, "line");
        format!("{added} added, {removed} removed, {changed} changed")
    }
}

impl ReasonItem {
    fn new(reason: &Reason) -> Self {
        let place = match (reason.line, reason.lines) {
            (0, 0) => "top".to_owned(),
            (line, 0) => format!("after {line}"),
            (line, 1) => line.to_string(),
            (line, lines) => format!("{line}–{}", line.saturating_add(lines - 1)),
        };
        let Reason { applicability, bytes, .. } = *reason;
        Self { text: printable(&reason.text), place, applicability, bytes }
    }

    /// Screen reader text.
    pub fn spoken(&self) -> String {
        let saves =
            self.bytes.map_or_else(String::new, |bytes| format!(", saves {} of content", human(bytes)));
        let place =
            if self.place == "top" { "at the top".to_owned() } else { format!("line {}", self.place) };
        format!("{place}: {} ({}{saves})", self.text, self.applicability.label())
    }
}
