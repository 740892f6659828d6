//! Whether an image holds to a policy.

use std::collections::BTreeSet;

use super::date::Date;
use super::{Ignore, Policy};
use crate::base::size::human;
use crate::base::text::{escape, printable};
use crate::findings::rule::Rule;
use crate::findings::value::{Category, Finding, Findings, Item, Verdict};
use crate::rootfs::Rootfs;

/// How many files or names of a failing finding are told.
const SHOWN: usize = 3;

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
        if self.passes() {
            "verdict: pass".to_owned()
        } else {
            format!("verdict: fail reason={}", self.reasons.join(","))
        }
    }
}

/// What is left of a finding after the ignores.
struct Left<'a> {
    finding: &'a Finding,
    bytes: u64,
    potential_bytes: u64,
    files: usize,
    examples: Vec<String>,
    something: bool,
}

impl Policy {
    /// Judges an image. An ignore counts up to and on the day on which it expires.
    pub fn judge(&self, measured: &Measured<'_>, today: Date) -> Outcome {
        // Rules that broke off found less than there is.
        let findings = measured.findings.filter(|findings| findings.warnings.is_empty());
        let mut sieve = Sieve::new(&self.ignores, measured.rootfs, today);
        let counted = findings.map(|findings| {
            let counted = findings.list.iter().filter(|finding| finding.verdict != Verdict::Needed);
            counted.map(|finding| sieve.left(finding)).collect::<Vec<_>>()
        });
        let checks = self.checks(measured, counted.as_deref());
        let failing: Vec<Failing> = counted
            .iter()
            .flatten()
            .filter(|left| left.something && self.denies(left.finding.rule.id))
            .map(Left::failing)
            .collect();
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
        let (ignored, notes) = sieve.told(counted.is_some());
        Outcome { checks, failing, ignored, notes, reasons }
    }

    fn checks(&self, measured: &Measured<'_>, counted: Option<&[Left<'_>]>) -> Vec<Check> {
        let budget = &self.budget;
        let of = |fits: fn(Category) -> bool, bytes: fn(&Left<'_>) -> u64| {
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
            let detail = parts.as_deref().map_or_else(|| NOT_LOOKED.to_owned(), made_of);
            let actual = parts.map(|parts| parts.iter().map(|(_, bytes)| bytes).sum());
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

const NOT_KNOWN: &str = "the image does not say it";
const NOT_LOOKED: &str = "the rules could not look at the image";

fn at_most(name: &'static str, limit: u64, actual: Option<u64>, detail: String) -> Check {
    let ok = actual.is_some_and(|actual| actual <= limit);
    Check { name, ok, actual: actual.map(Amount::Bytes), limit: Amount::Bytes(limit), detail }
}

/// Sums by category, largest first; empty when there is but one.
fn made_of(parts: &[(&'static str, u64)]) -> String {
    let mut sums: std::collections::BTreeMap<&str, u64> = std::collections::BTreeMap::new();
    for (name, bytes) in parts {
        *sums.entry(name).or_default() += bytes;
    }
    if sums.len() < 2 {
        return String::new();
    }
    let mut sums: Vec<(&str, u64)> = sums.into_iter().collect();
    sums.sort_by_key(|(name, bytes)| (std::cmp::Reverse(*bytes), *name));
    sums.iter().map(|(name, bytes)| format!("{name} {}", human(*bytes))).collect::<Vec<_>>().join(", ")
}

impl Left<'_> {
    fn failing(&self) -> Failing {
        let finding = self.finding;
        Failing {
            rule: finding.rule,
            id: finding.id.clone(),
            verdict: finding.verdict,
            title: printable(&finding.title),
            bytes: self.bytes,
            files: self.files,
            examples: self.examples.clone(),
            fix: printable(&finding.fix),
        }
    }
}

/// All ignores, and what each took out.
struct Sieve<'a> {
    ignores: Vec<Taken<'a>>,
    rootfs: &'a Rootfs,
}

struct Taken<'a> {
    ignore: &'a Ignore,
    expired: bool,
    fits: bool,
    bytes: u64,
    things: usize,
}

impl<'a> Sieve<'a> {
    fn new(ignores: &'a [Ignore], rootfs: &'a Rootfs, today: Date) -> Self {
        let taken = |ignore: &'a Ignore| {
            let expired = ignore.expires.is_some_and(|last| today > last);
            Taken { ignore, expired, fits: false, bytes: 0, things: 0 }
        };
        Self { ignores: ignores.iter().map(taken).collect(), rootfs }
    }

    /// Takes out of a finding what is ignored.
    fn left<'f>(&mut self, finding: &'f Finding) -> Left<'f> {
        let mut left = Left {
            finding,
            bytes: 0,
            potential_bytes: finding.potential_bytes,
            files: 0,
            examples: Vec::new(),
            something: false,
        };
        let rule = finding.rule.id;
        let by_path = self.ignores.iter().any(|taken| taken.ignore.path.is_some() && taken.counts_for(rule));
        for item in &finding.items {
            // Paths are made only where somebody asks for them, or they are shown.
            let wanted = by_path || left.examples.len() < SHOWN;
            let path = if wanted { shown_path(self.rootfs, *item) } else { String::new() };
            // Files of rules without bytes of their own are counted by others.
            let bytes = if finding.category.has_bytes() { item.bytes } else { 0 };
            if !self.take(rule, Some(&path), bytes) {
                left.bytes += bytes;
                left.keep(path);
                left.files += 1;
            }
        }
        // Names of a finding that has files say more about the files, and stand or fall with them.
        if finding.items.is_empty() {
            for subject in &finding.subjects {
                let name = printable(subject);
                if !self.take(rule, Some(&name), 0) {
                    left.keep(name);
                }
            }
            if finding.subjects.is_empty() && !self.take(rule, None, 0) {
                left.something = true;
            }
        }
        if !left.something {
            left.potential_bytes = 0;
        }
        left
    }

    /// Whether an ignore takes this out; the first one that fits has its bytes.
    fn take(&mut self, rule: &str, name: Option<&str>, bytes: u64) -> bool {
        let mut took = false;
        for taken in self.ignores.iter_mut().filter(|taken| taken.counts_for(rule)) {
            let fits = match (&taken.ignore.path, name) {
                (None, _) => true,
                (Some(pattern), Some(name)) => pattern.is_match(name),
                (Some(_), None) => false,
            };
            taken.fits |= fits;
            if fits && !took {
                taken.bytes += bytes;
                taken.things += 1;
                took = true;
            }
        }
        took
    }

    fn told(self, rules_looked: bool) -> (Vec<Ignored>, Vec<String>) {
        let (mut ignored, mut notes) = (Vec::new(), Vec::new());
        for (number, taken) in (1..).zip(&self.ignores) {
            let ignore = taken.ignore;
            let path = ignore.path.as_ref().map(|pattern| pattern.text.clone());
            let what = path.as_deref().map_or_else(String::new, |path| format!(" on {path}"));
            let name = format!("ignore {number} ({}{what})", ignore.rule);
            if let Some(last) = ignore.expires.filter(|_| taken.expired) {
                notes.push(format!("{name} expired on {last} and does not count any more"));
            } else if !taken.fits && rules_looked {
                notes.push(format!("{name} fits no finding that is safe or unsure"));
            } else if taken.things > 0 {
                ignored.push(Ignored {
                    rule: ignore.rule.clone(),
                    path,
                    reason: ignore.reason.clone(),
                    expires: ignore.expires,
                    bytes: taken.bytes,
                    things: taken.things,
                });
            }
        }
        (ignored, notes)
    }
}

impl Taken<'_> {
    fn counts_for(&self, rule: &str) -> bool {
        !self.expired && self.ignore.rules.contains(rule)
    }
}

impl Left<'_> {
    fn keep(&mut self, name: String) {
        self.something = true;
        if self.examples.len() < SHOWN {
            self.examples.push(name);
        }
    }
}

/// The path of a file, escaped: as a container sees it, or in its layer when it is hidden.
fn shown_path(rootfs: &Rootfs, item: Item) -> String {
    match item.node {
        Some(node) => escape(&rootfs.node(node).path()),
        None => escape(&rootfs.layer(item.layer).path(item.entry)),
    }
}
