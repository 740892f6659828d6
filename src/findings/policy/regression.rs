//! Limits for the growth from one image to another.

use std::collections::{BTreeMap, BTreeSet};

use super::Policy;
use super::date::Date;
use super::ignore_filter::{IgnoreFilter, RemainingFinding};
use super::judge::{NOT_EVALUATED, NOT_KNOWN, findings_left};
use super::outcome::{Measured, verdict};
use crate::findings::value::Category;

/// Tolerance for ratios, which are quotients of whole bytes.
const SAME_RATIO: f64 = 1e-9;

/// Limits for the growth from the first to the last image of a comparison; `None` when unset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Regression {
    /// Bytes of all layer blobs as stored.
    pub compressed_bytes: Option<u64>,
    /// Bytes of the merged view.
    pub merged_bytes: Option<u64>,
    /// Bytes of build content with verdict safe or unsure.
    pub devel_bytes: Option<u64>,
    /// Wasted bytes.
    pub wasted_bytes: Option<u64>,
    /// Bytes of duplicates.
    pub duplicate_bytes: Option<u64>,
    /// Bytes of GPU code that no target uses.
    pub dead_gpu_code_bytes: Option<u64>,
    /// Maximum drop of `merged_bytes / content_bytes`.
    pub efficiency: Option<f64>,
    /// Maximum bytes to pull for the last image on a node that has the first: the total, not a difference.
    pub pull_bytes: Option<u64>,
    /// Rules that must not find more in the last image than in the first.
    pub new_findings: BTreeSet<&'static str>,
}

impl Regression {
    /// Whether no limit is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Two images of a comparison.
pub struct Compared<'a> {
    /// Whether all images of the comparison were read completely.
    pub complete: bool,
    /// The first of them.
    pub first: Measured<'a>,
    /// The last of them.
    pub last: Measured<'a>,
    /// Bytes to pull for the last image on a node that has the first.
    pub pull_bytes: Option<u64>,
}

/// A measured difference or a limit; negative for a decrease.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Difference {
    /// Bytes.
    Bytes(i64),
    /// Of two ratios.
    Ratio(f64),
    /// Number of rules that find more.
    Rules(usize),
}

/// One key of `[regression]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Growth {
    /// The key.
    pub name: &'static str,
    /// Whether it passes.
    pub ok: bool,
    /// The growth; for `efficiency`, the drop; for `pull_bytes`, the bytes to pull. `None` when unknown.
    pub actual: Option<Difference>,
    /// The limit.
    pub limit: Difference,
    /// Why the figure is unknown; empty when it is known.
    pub detail: String,
    /// For `new_findings`: the rules that find more, and how many files or names more.
    pub rules: Vec<(&'static str, usize)>,
}

impl Growth {
    fn reasons(&self) -> Vec<String> {
        if self.rules.is_empty() {
            return vec![format!("regression:{}", self.name)];
        }
        self.rules.iter().map(|(rule, _)| format!("regression:{}:{rule}", self.name)).collect()
    }
}

/// The result of checking a comparison against a policy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Regressed {
    /// The keys that are set, in the order of the manual.
    pub checks: Vec<Growth>,
    /// Why it fails, as stable identifiers; empty when it passes.
    pub reasons: Vec<String>,
}

impl Regressed {
    /// The verdict line, the last line of output.
    pub fn verdict(&self) -> String {
        verdict(&self.reasons)
    }
}

/// Sums over the findings of an image after the ignores.
struct Side {
    devel: u64,
    duplicates: u64,
    dead: u64,
    /// Files, names or whole findings, by rule.
    things: BTreeMap<&'static str, usize>,
}

impl Policy {
    /// Checks a comparison against `[regression]`. An unknown figure never passes.
    pub fn judge_growth(&self, compared: &Compared<'_>, today: Date) -> Regressed {
        let checks = self.growths(compared, today);
        let reasons = if compared.complete {
            checks.iter().filter(|check| !check.ok).flat_map(Growth::reasons).collect()
        } else {
            vec!["incomplete".to_owned()]
        };
        Regressed { checks, reasons }
    }

    fn growths(&self, compared: &Compared<'_>, today: Date) -> Vec<Growth> {
        let Compared { first, last, .. } = compared;
        let asked = &self.regression;
        let sides = self.side(first, today).zip(self.side(last, today));
        let sum = |of: fn(&Side) -> u64| sides.as_ref().map(|(first, last)| grown(of(first), of(last)));
        let total = |name, limit: Option<u64>, first: Option<u64>, last: Option<u64>| {
            let actual = first.zip(last).map(|(first, last)| grown(first, last));
            limit.map(|limit| at_most(name, limit, actual, NOT_KNOWN))
        };
        let found =
            |name, limit: Option<u64>, actual| limit.map(|limit| at_most(name, limit, actual, NOT_EVALUATED));
        [
            total("compressed_bytes", asked.compressed_bytes, first.compressed_bytes, last.compressed_bytes),
            total("merged_bytes", asked.merged_bytes, first.merged_bytes, last.merged_bytes),
            found("devel_bytes", asked.devel_bytes, sum(|side| side.devel)),
            total("wasted_bytes", asked.wasted_bytes, first.wasted_bytes, last.wasted_bytes),
            found("duplicate_bytes", asked.duplicate_bytes, sum(|side| side.duplicates)),
            found("dead_gpu_code_bytes", asked.dead_gpu_code_bytes, sum(|side| side.dead)),
            asked.efficiency.map(|limit| {
                let fell = first.efficiency.zip(last.efficiency).map(|(first, last)| first - last);
                Growth {
                    name: "efficiency",
                    ok: fell.is_some_and(|fell| fell <= limit + SAME_RATIO),
                    actual: fell.map(Difference::Ratio),
                    limit: Difference::Ratio(limit),
                    detail: why(fell.is_some(), NOT_KNOWN),
                    rules: Vec::new(),
                }
            }),
            asked.pull_bytes.map(|limit| {
                at_most(
                    "pull_bytes",
                    limit,
                    compared.pull_bytes.map(signed),
                    "the size of a layer is unknown",
                )
            }),
            (!asked.new_findings.is_empty()).then(|| {
                let more = sides.as_ref().map(|(first, last)| more_found(&asked.new_findings, first, last));
                Growth {
                    name: "new_findings",
                    ok: more.as_ref().is_some_and(Vec::is_empty),
                    actual: more.as_ref().map(|more| Difference::Rules(more.len())),
                    limit: Difference::Rules(0),
                    detail: why(more.is_some(), NOT_EVALUATED),
                    rules: more.unwrap_or_default(),
                }
            }),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn side(&self, measured: &Measured<'_>, today: Date) -> Option<Side> {
        let mut ignore_filter = IgnoreFilter::new(&self.ignores, measured.rootfs, today);
        let left = findings_left(measured, &mut ignore_filter)?;
        let sum = |fits: fn(Category) -> bool, bytes: fn(&RemainingFinding<'_>) -> u64| {
            let fitting = left.iter().filter(|left| fits(left.finding.category));
            fitting.fold(0, |sum: u64, left| sum.saturating_add(bytes(left)))
        };
        let mut things: BTreeMap<&'static str, usize> = BTreeMap::new();
        for left in &left {
            let count = things.entry(left.finding.rule.id).or_default();
            *count = count.saturating_add(left.things());
        }
        Some(Side {
            devel: sum(Category::is_devel, |left| left.bytes),
            duplicates: sum(|category| category == Category::Duplicates, |left| left.bytes),
            dead: sum(|category| category == Category::UnusedGpuCode, |left| left.potential_bytes),
            things,
        })
    }
}

/// Rules that find more in the last image, and how much more.
fn more_found(rules: &BTreeSet<&'static str>, first: &Side, last: &Side) -> Vec<(&'static str, usize)> {
    let count = |side: &Side, rule| side.things.get(rule).copied().unwrap_or_default();
    let more = rules.iter().map(|rule| (*rule, count(last, *rule).saturating_sub(count(first, *rule))));
    more.filter(|(_, more)| *more > 0).collect()
}

fn why(known: bool, unknown: &str) -> String {
    if known { String::new() } else { unknown.to_owned() }
}

/// Saturates. Real sizes are far smaller: the largest file system has 2^63 bytes.
fn signed(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}

fn grown(first: u64, last: u64) -> i64 {
    if last >= first { signed(last - first) } else { signed(first - last).saturating_neg() }
}

fn at_most(name: &'static str, limit: u64, actual: Option<i64>, unknown: &str) -> Growth {
    Growth {
        name,
        ok: actual
            .is_some_and(|actual| u64::try_from(actual).is_ok_and(|grown| grown <= limit) || actual < 0),
        actual: actual.map(Difference::Bytes),
        limit: Difference::Bytes(signed(limit)),
        detail: why(actual.is_some(), unknown),
        rules: Vec::new(),
    }
}
