//! The findings in the report for people.

use std::fmt::{self, Write as _};

use super::findings::FindingLine;
use super::model::Report;
use super::text::{WIDTH, more};
use crate::base::labels::SEVERITIES;
use crate::base::size::{grouped, human};
use crate::base::text::{elide_end, printable};
use crate::findings::Verdict;

/// What a report for people lists under each verdict; JSON has all of it.
const MOST: usize = 12;

pub(super) fn write(out: &mut String, report: &Report) -> fmt::Result {
    let (Some(findings), Some(sums)) = (&report.findings, &report.reclaimable) else { return Ok(()) };
    writeln!(out, "\nFindings")?;
    if findings.is_empty() {
        return writeln!(out, "  No findings.");
    }
    writeln!(
        out,
        "{} removable, {} to review (layer bytes)",
        human(sums.safe_bytes),
        human(sums.unsure_bytes)
    )?;
    if let Some(plan) = &report.plan {
        let pull = plan
            .compressed_bytes_after
            .map_or_else(String::new, |bytes| format!(", about {} to pull", human(bytes)));
        let after = human(plan.merged_bytes_after);
        writeln!(out, "after removal: {after} merged{pull}")?;
    }
    for verdict in Verdict::ALL {
        let of_verdict: Vec<&FindingLine> =
            findings.iter().filter(|finding| finding.verdict == verdict.as_str()).collect();
        if of_verdict.is_empty() {
            continue;
        }
        writeln!(out, "\n{:>10} {:<8} {}", "bytes", "severity", verdict.label())?;
        for finding in of_verdict.iter().take(MOST) {
            line(out, finding)?;
        }
        more(out, of_verdict.len(), MOST, "findings")?;
    }
    writeln!(out, "\nDetails: cutaway explain RULE. Files, proof and layers: --format json.")
}

fn line(out: &mut String, finding: &FindingLine) -> fmt::Result {
    let bytes = if finding.bytes > 0 { human(finding.bytes) } else { "-".to_owned() };
    let title = elide_end(&printable(&finding.title), WIDTH - 20);
    writeln!(out, "{bytes:>10} {:<8} {title}", SEVERITIES.shown(&finding.severity))?;
    let text = match &finding.question {
        Some(question) => question.clone(),
        None if finding.verdict == "safe" => place(finding),
        None => finding.reason.clone(),
    };
    let text = elide_end(&printable(&text), WIDTH - 22);
    writeln!(out, "{:>19} {:<2}{text}", "", "")?;
    Ok(())
}

/// Layers and owners of a finding's files: the reasons of safe findings are much alike.
fn place(finding: &FindingLine) -> String {
    if finding.files == 0 {
        return finding.reason.clone();
    }
    let layers: Vec<String> = finding.layers.iter().map(ToString::to_string).collect();
    let noun = if layers.len() == 1 { "layer" } else { "layers" };
    let files = if finding.files == 1 { "file" } else { "files" };
    let owners = match &finding.packages[..] {
        [] => String::new(),
        [one] => format!("; {one}"),
        [one, rest @ ..] => format!("; {one} and {} more packages", rest.len()),
    };
    format!("{} {files} in {noun} {}{owners}", grouped(finding.files), layers.join(", "))
}
