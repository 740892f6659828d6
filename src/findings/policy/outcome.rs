//! What is judged, and what came of it.

use super::date::Date;
use crate::findings::rule::Rule;
use crate::findings::value::{Findings, Verdict};
use crate::rootfs::Rootfs;

/// What is judged: sizes of the report, and what the rules found. `None` is unknown, and never passes.
pub struct Measured<'a> {
    /// Whether all of the image could be read.
    pub complete: bool,
    /// Blobs as stored.
    pub compressed_bytes: Option<u64>,
    /// What a container sees.
    pub merged_bytes: Option<u64>,
    /// What layers hold and no container sees.
    pub wasted_bytes: Option<u64>,
    /// `merged_bytes / content_bytes`.
    pub efficiency: Option<f64>,
    /// What the rules found.
    pub findings: Option<&'a Findings>,
    /// The merged view, for the paths of files.
    pub rootfs: &'a Rootfs,
}

/// A figure that a budget is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    /// Bytes, of which there may be at most so many.
    Bytes(u64),
    /// A ratio from 0 to 1, which must be reached.
    Ratio(f64),
}

/// One budget.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Its key in `[budget]`.
    pub name: &'static str,
    /// Whether it is kept.
    pub ok: bool,
    /// What the image has; `None` when that is unknown.
    pub actual: Option<Amount>,
    /// What the policy asks for.
    pub limit: Amount,
    /// What the figure is made of, or why it is unknown; may be empty.
    pub detail: String,
}

/// A finding whose rule is denied, and of which something is left after the ignores.
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
    /// Bytes that are left.
    pub bytes: u64,
    /// Files that are left.
    pub files: usize,
    /// The first files or names that are left, safe to show.
    pub examples: Vec<String>,
    /// What to do.
    pub fix: String,
}

/// What an ignore took out of the findings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ignored {
    /// The rule, as it is written.
    pub rule: String,
    /// The path, as it is written.
    pub path: Option<String>,
    /// Why it is accepted.
    pub reason: String,
    /// The last day on which it counts.
    pub expires: Option<Date>,
    /// Bytes that it took out, each file with the first ignore that fits.
    pub bytes: u64,
    /// Files, or names of findings without files.
    pub things: usize,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Budgets that are set, in the order of the manual.
    pub checks: Vec<Check>,
    /// Findings that fail the check, in the order of the findings.
    pub failing: Vec<Failing>,
    /// Ids of findings of which the ignores leave nothing.
    pub accepted: Vec<String>,
    /// Ignores that took something out, in the order of the file.
    pub ignored: Vec<Ignored>,
    /// Ignores that do not count any more, or fit nothing.
    pub notes: Vec<String>,
    /// Why the check fails, in stable words; empty when it passes.
    pub reasons: Vec<String>,
}

impl Outcome {
    /// Whether the image holds to the policy.
    pub fn passes(&self) -> bool {
        self.reasons.is_empty()
    }

    /// The verdict as the last line of output has it.
    pub fn verdict(&self) -> String {
        verdict(&self.reasons)
    }
}

/// The verdict as the last line of output has it.
pub(super) fn verdict(reasons: &[String]) -> String {
    if reasons.is_empty() {
        "verdict: pass".to_owned()
    } else {
        format!("verdict: fail reason={}", reasons.join(","))
    }
}
