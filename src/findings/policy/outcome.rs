//! Input and result of a check.

use super::date::Date;
use crate::findings::value::{Findings, Rule, Verdict};
use crate::rootfs::Rootfs;

/// Measured sizes and findings. `None` is unknown, and never passes.
pub struct Measured<'a> {
    /// Whether the whole image was read.
    pub complete: bool,
    /// Bytes of the blobs as stored.
    pub compressed_bytes: Option<u64>,
    /// Bytes of the merged view.
    pub merged_bytes: Option<u64>,
    /// Wasted bytes.
    pub wasted_bytes: Option<u64>,
    /// `merged_bytes / content_bytes`.
    pub efficiency: Option<f64>,
    /// The findings.
    pub findings: Option<&'a Findings>,
    /// The merged view, for the paths of files.
    pub rootfs: &'a Rootfs,
}

/// A measured figure or a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Bytes; the limit is a maximum.
    Bytes(u64),
    /// A ratio from 0 to 1; the limit is a minimum.
    Ratio(f64),
}

/// One budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its key in `[budget]`.
    pub name: &'static str,
    /// Whether it passes.
    pub ok: bool,
    /// The measured figure; `None` when unknown.
    pub actual: Option<Amount>,
    /// The limit.
    pub limit: Amount,
    /// Breakdown of the figure, or why it is unknown; may be empty.
    pub detail: String,
}

/// A finding of a denied rule that the ignores do not cover completely.
#[derive(Clone, Debug, PartialEq)]
pub struct Failing {
    /// The rule.
    pub rule: &'static Rule,
    /// The id of the finding.
    pub id: String,
    /// Safe or unsure.
    pub verdict: Verdict,
    /// One line: what and where.
    pub title: String,
    /// Bytes not ignored.
    pub bytes: u64,
    /// Files not ignored.
    pub files: usize,
    /// The first files or names not ignored, escaped.
    pub examples: Vec<String>,
    /// What to do.
    pub fix: String,
}

/// What an ignore removed from the findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The rule as written.
    pub rule: String,
    /// The path as written.
    pub path: Option<String>,
    /// Why it is accepted.
    pub reason: String,
    /// The last day on which it applies.
    pub expires: Option<Date>,
    /// Bytes that it removed; each file counts for the first ignore that matches.
    pub bytes: u64,
    /// Files, or names of findings without files.
    pub things: usize,
}

/// The result of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Budgets that are set, in the order of the manual.
    pub checks: Vec<Check>,
    /// Findings that fail the check, in the order of the findings.
    pub failing: Vec<Failing>,
    /// Ids of findings that are ignored completely.
    pub accepted: Vec<String>,
    /// Ignores that matched, in the order of the file.
    pub ignored: Vec<Ignored>,
    /// Ignores that expired or match nothing.
    pub notes: Vec<String>,
    /// Why the check fails, as stable identifiers; empty when it passes.
    pub reasons: Vec<String>,
}

impl Outcome {
    /// Whether the check passes.
    pub fn passes(&self) -> bool {
        self.reasons.is_empty()
    }

    /// The verdict line, the last line of output.
    pub fn verdict(&self) -> String {
        verdict(&self.reasons)
    }
}

/// The verdict line, the last line of output.
pub(super) fn verdict(reasons: &[String]) -> String {
    if reasons.is_empty() {
        "verdict: pass".to_owned()
    } else {
        format!("verdict: fail reason={}", reasons.join(","))
    }
}
