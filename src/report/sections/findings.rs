//! What should not be there: a table for each verdict, the evidence behind each row.

use super::Content;
use super::evidence::evidence;
use super::make::{UNKNOWN, label, number, one_line, paragraph, row, some, sum, table, text, unknown};
use crate::base::labels::{CATEGORIES, SEVERITIES, VERDICTS};
use crate::base::size::{grouped, human};
use crate::base::text::counted;
use crate::findings::Verdict;
use crate::report::findings::FindingLine;
use crate::report::model::Report;
use crate::report::page::{Block, Line, Row, Tone};

/// Most findings of each verdict that are listed. There are thirty rules, and few find more than three things in an
/// image.
const MOST: [(Verdict, usize); 3] = [(Verdict::Safe, 100), (Verdict::Unsure, 60), (Verdict::Needed, 40)];
/// Characters of a title: those that the rules write are shorter, unless a path is in them.
const TITLE: usize = 200;

pub(super) fn section(report: &Report) -> Content {
    let (Some(findings), Some(sums)) = (&report.findings, &report.reclaimable) else {
        return unknown("Findings unknown: the rules did not run.");
    };
    if findings.is_empty() {
        let text =
            if report.totals.complete { "No findings." } else { "No findings in the part that was read." };
        return ("none".to_owned(), vec![paragraph(text)]);
    }
    let (safe, unsure) = (human(sums.safe_bytes), human(sums.unsure_bytes));
    let mut blocks = vec![paragraph(format!(
        "{}: {safe} removable, {unsure} to review. Bytes count in layers.",
        counted(findings.len(), "finding")
    ))];
    if sums.potential_bytes > 0 {
        let bytes = human(sums.potential_bytes);
        blocks.push(paragraph(format!(
            "In addition, cutaway slim removes {bytes} of GPU code for the targets."
        )));
    }
    if !report.totals.complete {
        blocks.push(paragraph("Incomplete: parts that were not read may use these files."));
    }
    for (verdict, most) in MOST {
        let of_verdict = |finding: &&FindingLine| finding.verdict == verdict.as_str();
        let list: Vec<&FindingLine> = findings.iter().filter(of_verdict).collect();
        if list.is_empty() {
            continue;
        }
        let heading = heading(verdict.label(), &list);
        let listed = table(columns(), "findings", (&list, most), |finding| line(finding));
        if verdict == Verdict::Needed {
            blocks.push(Block::Fold(heading, vec![listed]));
        } else {
            blocks.extend([Block::Heading(heading), listed]);
        }
    }
    (format!("{safe} removable"), blocks)
}

fn heading(title: &str, list: &[&FindingLine]) -> String {
    let findings = counted(list.len(), "finding");
    match sum(list.iter().map(|finding| finding.bytes)) {
        0 => format!("{title}: {findings}"),
        bytes => format!("{title}: {findings}, {}", human(bytes)),
    }
}

fn columns() -> [crate::report::page::Column; 4] {
    [number("Bytes"), text("Finding"), text("Severity"), text("Where")]
}

fn line(finding: &FindingLine) -> Row {
    Row { cells: cells(finding), details: evidence(finding) }
}

fn cells(finding: &FindingLine) -> Vec<Line> {
    let severity = Line::plain(label(&SEVERITIES, &finding.severity));
    vec![
        bytes(finding),
        Line::plain(one_line(&finding.title, TITLE)),
        if finding.severity == "high" { severity.tone(Tone::Bad) } else { severity },
        Line::plain(place(finding)),
    ]
}

/// Bytes of a finding; empty if it frees none.
fn bytes(finding: &FindingLine) -> Line {
    Line::plain(if finding.bytes > 0 { human(finding.bytes) } else { String::new() })
}

/// Number of files and layers, or the subject.
fn place(finding: &FindingLine) -> String {
    if finding.files == 0 {
        return some(finding.subjects.iter().map(String::as_str));
    }
    format!("{} in {}", counted(finding.files, "file"), layers(&finding.layers))
}

/// Numbers of layers in a line: `layer 3`, `layers 1, 3 and 5`, `layers 1, 2, 3 and 4 more`.
fn layers(numbers: &[u16]) -> String {
    const NAMED: usize = 4;
    let joined = |numbers: &[u16]| numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match numbers {
        [] => "no layer".to_owned(),
        [one] => format!("layer {one}"),
        [first @ .., last] if numbers.len() <= NAMED => format!("layers {} and {last}", joined(first)),
        [a, b, c, rest @ ..] => {
            format!("layers {} and {} more", joined(&[*a, *b, *c]), grouped(rest.len() as u64))
        }
        _ => UNKNOWN.to_owned(),
    }
}

/// Findings of a plan, without their evidence, which is shown above.
pub(super) fn listed(list: &[&FindingLine], most: usize) -> Block {
    let columns = [number("Bytes"), text("Finding"), text("Verdict"), text("Category")];
    table(columns, "findings", (list, most), |finding| {
        let title = Line::plain(one_line(&finding.title, TITLE));
        row([
            bytes(finding),
            title,
            Line::plain(label(&VERDICTS, &finding.verdict)),
            Line::plain(label(&CATEGORIES, &finding.category)),
        ])
    })
}
