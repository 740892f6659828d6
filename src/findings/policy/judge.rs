//! Checks an image against a policy.

use std::collections::BTreeSet;

use super::Policy;
use super::date::Date;
use super::ignore_filter::{IgnoreFilter, RemainingFinding};
use super::outcome::{Amount, Check, Failing, Measured, Outcome};
use crate::base::size::human;
use crate::findings::value::{Category, Verdict};

impl Policy {
    /// Checks an image. An ignore applies up to and including its expiry date.
    pub fn judge(&self, measured: &Measured<'_>, today: Date) -> Outcome {
        let mut ignore_filter = IgnoreFilter::new(&self.ignores, measured.rootfs, today);
        let counted = findings_left(measured, &mut ignore_filter);
        let checks = self.checks(measured, counted.as_deref());
        let failing: Vec<Failing> = counted
            .iter()
            .flatten()
            .filter(|left| left.something && self.denies(left.finding.rule.id))
            .map(RemainingFinding::failing)
            .collect();
        let nothing = counted.iter().flatten().filter(|left| !left.something);
        let accepted = nothing.map(|left| left.finding.id.clone()).collect();
        let mut reasons: Vec<String> = Vec::new();
        if measured.complete {
            let broken = checks.iter().filter(|check| !check.ok);
            reasons.extend(broken.map(|check| format!("budget:{}", check.name)));
            if counted.is_none() && !self.denied.is_empty() {
                reasons.push("rules-unknown".to_owned());
            }
            let rules: BTreeSet<&str> = failing.iter().map(|failing| failing.rule.id).collect();
            reasons.extend(rules.into_iter().map(|rule| format!("rule:{rule}")));
        } else {
            reasons.push("incomplete".to_owned());
        }
        let (ignored, notes) = ignore_filter.told(counted.is_some());
        Outcome { checks, failing, accepted, ignored, notes, reasons }
    }

    fn checks(&self, measured: &Measured<'_>, counted: Option<&[RemainingFinding<'_>]>) -> Vec<Check> {
        let budget = &self.budget;
        let of = |fits: fn(Category) -> bool, bytes: fn(&RemainingFinding<'_>) -> u64| {
            let all = counted?.iter().filter(move |left| fits(left.finding.category) && bytes(left) > 0);
            let parts: Vec<(&'static str, u64)> =
                all.map(|left| (left.finding.category.as_str(), bytes(left))).collect();
            Some(parts)
        };
        let devel = of(Category::is_devel, |left| left.bytes);
        let duplicates = of(|category| category == Category::Duplicates, |left| left.bytes);
        let dead = of(|category| category == Category::UnusedGpuCode, |left| left.potential_bytes);
        let total = |name, limit: Option<u64>, actual: Option<u64>| {
            let detail = if actual.is_some() { String::new() } else { NOT_KNOWN.to_owned() };
            limit.map(|limit| at_most(name, limit, actual, detail))
        };
        let sum = |name, limit: Option<u64>, parts: Option<Vec<(&'static str, u64)>>| {
            let detail = parts.as_deref().map_or_else(|| NOT_EVALUATED.to_owned(), made_of);
            let actual =
                parts.map(|parts| parts.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes)));
            limit.map(|limit| at_most(name, limit, actual, detail))
        };
        let efficiency = budget.efficiency.map(|limit| Check {
            name: "efficiency",
            ok: measured.efficiency.is_some_and(|actual| actual >= limit),
            actual: measured.efficiency.map(Amount::Ratio),
            limit: Amount::Ratio(limit),
            detail: if measured.efficiency.is_some() { String::new() } else { NOT_KNOWN.to_owned() },
        });
        let all = [
            total("compressed_bytes", budget.compressed_bytes, measured.compressed_bytes),
            total("merged_bytes", budget.merged_bytes, measured.merged_bytes),
            sum("devel_bytes", budget.devel_bytes, devel),
            total("wasted_bytes", budget.wasted_bytes, measured.wasted_bytes),
            sum("duplicate_bytes", budget.duplicate_bytes, duplicates),
            sum("dead_gpu_code_bytes", budget.dead_gpu_code_bytes, dead),
            efficiency,
        ];
        all.into_iter().flatten().collect()
    }
}

/// Safe and unsure bytes after the ignores; `None` when the rules did not run or were cut short: then they found less
/// than there is.
pub(super) fn findings_left<'m>(
    measured: &Measured<'m>,
    ignore_filter: &mut IgnoreFilter<'_>,
) -> Option<Vec<RemainingFinding<'m>>> {
    let findings = measured.findings.filter(|findings| findings.warnings.is_empty())?;
    let counted = findings.list.iter().filter(|finding| finding.verdict != Verdict::Needed);
    Some(counted.map(|finding| ignore_filter.left(finding)).collect())
}

pub(super) const NOT_KNOWN: &str = "not available from this image";
pub(super) const NOT_EVALUATED: &str = "not evaluated: the rules did not complete";

fn at_most(name: &'static str, limit: u64, actual: Option<u64>, detail: String) -> Check {
    let ok = actual.is_some_and(|actual| actual <= limit);
    Check { name, ok, actual: actual.map(Amount::Bytes), limit: Amount::Bytes(limit), detail }
}

/// Sums by category, largest first; empty when there is only one.
fn made_of(parts: &[(&'static str, u64)]) -> String {
    let mut sums: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for (name, bytes) in parts {
        let sum = sums.entry(name).or_default();
        *sum = sum.saturating_add(*bytes);
    }
    if sums.len() < 2 {
        return String::new();
    }
    let mut sums: Vec<(&str, u64)> = sums.into_iter().collect();
    sums.sort_by_key(|(name, bytes)| (std::cmp::Reverse(*bytes), *name));
    sums.iter().map(|(name, bytes)| format!("{name} {}", human(*bytes))).collect::<Vec<_>>().join(", ")
}
