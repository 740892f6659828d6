//! Result of a check as text in 80 columns. The last line is the verdict.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::base::Warning;
use crate::base::size::human;
use crate::base::text::{counted, elide_end, elide_middle, printable};
use crate::base::wrap::wrap;
use crate::cuda::compat::RunVerdict;
use crate::deploy::{MachineVerdict, PlatformVerdict};
use crate::findings::policy::{Amount, Check, Outcome};
use crate::findings::{Finding, Findings, Verdict};

/// Result of a check, with further data for the outputs.
pub(super) struct CheckSummary<'a> {
    /// The image reference, as given.
    pub(super) image: &'a str,
    /// The policy file; `None` without one.
    pub(super) policy: Option<&'a str>,
    pub(super) outcome: &'a Outcome,
    /// Verdicts on the machines of the platform; `None` without one.
    pub(super) platform: Option<&'a PlatformVerdict>,
    pub(super) findings: Option<&'a Findings>,
    /// Why the image is incomplete; empty when it is complete.
    pub(super) warnings: &'a [Warning],
}

const WIDTH: usize = 80;
/// Lines per section; the rest is counted.
const MOST: usize = 40;

/// Result of a check as text, without control characters.
pub(super) fn text(told: &CheckSummary<'_>) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    write_all(&mut out, told).ok();
    out
}

fn write_all(out: &mut String, told: &CheckSummary<'_>) -> std::fmt::Result {
    writeln!(out, "{}", elide_middle(&printable(told.image), WIDTH))?;
    match told.policy {
        Some(file) => writeln!(out, "policy: {}", elide_middle(&printable(file), WIDTH - 8))?,
        None => writeln!(out, "no cutaway.toml: the check fails only if the image is incomplete")?,
    }
    section(out, "Incomplete", told.warnings, |out, warning| {
        line(out, 2, &format!("{}: {}: {}", warning.code, warning.subject, warning.message))
    })?;
    section(out, "Budgets", &told.outcome.checks, budget)?;
    if let Some(platform) = told.platform {
        let title = format!("Runs on {}", platform.name);
        match &platform.machines {
            Some(machines) => section(out, &title, machines, machine)?,
            None => writeln!(out, "\n{title}\n  unknown: the image was not analysed completely")?,
        }
    }
    section(out, "Denied findings", &told.outcome.failing, |out, one| {
        let head = format!("{}: {}", one.rule.id, one.title);
        finding(out, one.bytes, one.verdict, &head)?;
        one.examples
            .iter()
            .try_for_each(|name| writeln!(out, "{:26}{}", "", elide_middle(name, WIDTH - 26)))?;
        match one.files.saturating_sub(one.examples.len()) {
            0 => Ok(()),
            more => writeln!(out, "{:26}and {}", "", counted(more, "more file")),
        }
    })?;
    section(out, "Ignored", &told.outcome.ignored, |out, ignored| {
        let path = ignored.path.as_deref().map_or_else(String::new, |path| format!(" at {path}"));
        let expires = ignored.expires.map_or_else(String::new, |day| format!(" (until {day})"));
        let what = format!("{}{path}: {}{expires}", ignored.rule, ignored.reason);
        writeln!(out, "  {:>8}  {}", human(ignored.bytes), elide_end(&printable(&what), WIDTH - 12))
    })?;
    section(out, "Notes", &told.outcome.notes, |out, note: &String| line(out, 2, note))?;
    others(out, told)?;
    writeln!(out, "\n{}", told.outcome.verdict())
}

fn section<T>(
    out: &mut String,
    title: &str,
    list: &[T],
    mut write: impl FnMut(&mut String, &T) -> std::fmt::Result,
) -> std::fmt::Result {
    if list.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{title}")?;
    list.iter().take(MOST).try_for_each(|one| write(out, one))?;
    match list.len().checked_sub(MOST) {
        Some(more) if more > 0 => writeln!(out, "  {more} more: see cutaway report"),
        _ => Ok(()),
    }
}

/// Lines of at most the width, those after the first moved in.
fn line(out: &mut String, indent: usize, text: &str) -> std::fmt::Result {
    for (number, line) in wrap(&printable(text), WIDTH - indent - 2).iter().enumerate() {
        let indent = if number == 0 { indent } else { indent + 2 };
        writeln!(out, "{:indent$}{}", "", elide_end(line, WIDTH - indent))?;
    }
    Ok(())
}

fn machine(out: &mut String, one: &MachineVerdict) -> std::fmt::Result {
    line(out, 2, &format!("{}: {}: {}", one.target, one.verdict.label(), one.why))?;
    match &one.hint {
        Some(hint) if one.verdict != RunVerdict::Runs => line(out, 6, &format!("hint: {hint}")),
        _ => Ok(()),
    }
}

fn budget(out: &mut String, check: &Check) -> std::fmt::Result {
    let word = if check.ok { "ok" } else { "fail" };
    let actual = check.actual.map_or_else(|| "unknown".to_owned(), amount);
    let bound = if matches!(check.limit, Amount::Bytes(_)) { "limit" } else { "minimum" };
    writeln!(out, "  {word:<4}  {:<20} {actual:>9}, {bound} {}", check.name, amount(check.limit))?;
    if check.detail.is_empty() { Ok(()) } else { line(out, 8, &check.detail) }
}

/// A limit with its direction.
pub(super) fn limit(check: &Check) -> String {
    let direction = if matches!(check.limit, Amount::Bytes(_)) { "at most" } else { "at least" };
    format!("{direction} {}", amount(check.limit))
}

/// A figure. Ratios are rounded down, so that the shown ratio is met.
pub(super) fn amount(amount: Amount) -> String {
    match amount {
        Amount::Bytes(bytes) => human(bytes),
        Amount::Ratio(ratio) => format!("{:.2} %", (ratio * 10_000.0).floor() / 100.0),
    }
}

fn finding(out: &mut String, bytes: u64, verdict: Verdict, head: &str) -> std::fmt::Result {
    let bytes = if bytes > 0 { human(bytes) } else { String::new() };
    let line = format!("{:<12}  {}", verdict.label(), printable(head));
    writeln!(out, "  {bytes:>8}  {}", elide_end(&line, WIDTH - 12))
}

/// Findings that do not fail the check; those required at run time are only counted.
fn others(out: &mut String, told: &CheckSummary<'_>) -> std::fmt::Result {
    let Some(findings) = told.findings else {
        return writeln!(out, "\nFindings unknown: the rules did not run.");
    };
    let list = shown(findings, told);
    let none = told.outcome.failing.is_empty() && told.outcome.ignored.is_empty();
    let title = if none { "Findings" } else { "Other findings" };
    section(out, title, &list, |out, one| {
        finding(out, one.bytes, one.verdict, &format!("{}: {}", one.rule.id, one.title))
    })?;
    let needed = findings.list.iter().filter(|one| one.verdict == Verdict::Needed).count();
    match needed {
        0 => Ok(()),
        _ => writeln!(out, "\n{} required at run time not listed.", counted(needed, "finding")),
    }
}

/// Findings that neither fail the check nor are ignored completely.
fn shown<'f>(findings: &'f Findings, told: &CheckSummary<'_>) -> Vec<&'f Finding> {
    let failing = told.outcome.failing.iter().map(|failing| &failing.id);
    let elsewhere: BTreeSet<&String> = failing.chain(&told.outcome.accepted).collect();
    let open = findings.list.iter().filter(|one| one.verdict != Verdict::Needed);
    open.filter(|one| !elsewhere.contains(&one.id)).collect()
}
