//! The page of a deployment.

use super::{DeployReport, FileFindingLine, FilePart, MachineLine};
use crate::base::labels::{DRIVER_DELIVERIES, SEVERITIES, TARGET_VERDICTS};
use crate::base::text::{counted, printable};
use crate::report::page::{Block, Line, Page, Part, Row, Tone};
use crate::report::sections::make::{
    Content, cell, cell_or_dash, code, fact, label, paragraph, path, prose, row, sections, table, text, weak,
};
use crate::report::sections::{cold_start, graphs, lead};

/// Findings of a file that are listed.
const FINDINGS: usize = 100;
/// Reasons of a verdict: the worst are first.
const REASONS: usize = 8;
/// Machines that are listed.
const MACHINES: usize = 100;

/// The page of a report: the file, the machines, CUDA Graphs, warnings.
pub fn page(report: &DeployReport) -> Page {
    let profile = &report.profile;
    let title = match (&report.file, &report.image) {
        (Some(file), _) => file.path.clone(),
        (None, Some(image)) => lead::image_title(image),
        (None, None) => profile.name.clone(),
    };
    let mut facts = vec![format!("{} ({})", profile.name, profile.id)];
    facts.extend(report.file.as_ref().map(|file| file.kind.title().to_owned()));
    if let Some(image) = report.image.as_ref().filter(|image| image.reference != title) {
        facts.push(format!("image {}", printable(&image.reference)));
    }
    let made = [
        (Part::Findings, report.file.as_ref().map_or_else(|| (String::new(), Vec::new()), file)),
        (Part::Compatibility, machines(report)),
        (
            Part::ColdStart,
            if report.image.is_some() {
                cold_start::content(report.cold_start.as_ref())
            } else {
                (String::new(), Vec::new())
            },
        ),
        (Part::CudaGraphs, graphs::deployment(report.cuda_graphs.as_ref())),
        (Part::Settings, platform(report)),
        (Part::Warnings, warnings(report)),
    ];
    Page {
        title: printable(&title),
        generator: lead::made_by(&report.generator.name, &report.generator.version),
        facts,
        lead: lead(report),
        sections: sections(made),
    }
}

fn lead(report: &DeployReport) -> Vec<Line> {
    let mut lines = Vec::new();
    if let Some(file) = &report.file {
        let severe = file.findings.iter().filter(|one| matches!(&*one.severity, "high" | "medium")).count();
        let (text, tone) = match (file.findings.len(), severe) {
            (0, _) => ("No conflicts found.".to_owned(), Tone::Good),
            (_, 0) => ("No conflicts found; see the notes.".to_owned(), Tone::Good),
            _ => (format!("{} to fix.", counted(severe, "finding")), Tone::Bad),
        };
        lines.push(Line::plain(text).tone(tone));
        if report.image.is_none() && !file.images.is_empty() {
            let text = "Images judged by name only; pass --image IMAGE to read one.";
            lines.push(Line::plain(text).tone(Tone::Weak));
        }
    }
    if !report.machines.is_empty() {
        let targets: Vec<_> = report.machines.iter().map(|one| &one.target).collect();
        lines.push(lead::verdicts(&targets, ("The image runs", "machine")));
    }
    lines
}

fn file(file: &FilePart) -> Content {
    if file.findings.is_empty() {
        return (String::new(), vec![paragraph("No findings.")]);
    }
    let mut blocks = Vec::new();
    for one in file.findings.iter().take(FINDINGS) {
        blocks.extend(finding(one));
    }
    if file.findings.len() > FINDINGS {
        blocks.push(weak(format!("{} more: see the JSON report.", file.findings.len() - FINDINGS)));
    }
    (counted(file.findings.len(), "finding"), blocks)
}

/// A finding as a paragraph with its evidence below: sentences do not fit the cells of a terminal.
fn finding(one: &FileFindingLine) -> Vec<Block> {
    let severity = label(&SEVERITIES, &one.severity);
    let head = format!("Line {}, {}: {}", one.line, one.key, severity.to_lowercase());
    let tone = match &*one.severity {
        "high" => Tone::Bad,
        "medium" => Tone::Unsure,
        _ => Tone::Plain,
    };
    let mut facts = vec![("Rule".to_owned(), code(one.rule.as_str()))];
    facts.extend(one.evidence.iter().map(|evidence| fact("Evidence", prose(evidence))));
    facts.extend(one.fix.iter().map(|fix| fact("Fix", prose(fix))));
    vec![Block::Heading(head), Block::Line(Line::plain(prose(&one.text)).tone(tone)), Block::Facts(facts)]
}

fn machines(report: &DeployReport) -> Content {
    if report.image.is_none() {
        return (String::new(), Vec::new());
    }
    if report.machines.is_empty() {
        return (
            "unknown".to_owned(),
            vec![paragraph("Compatibility unknown: the image was not analysed completely.")],
        );
    }
    let columns = [text("Machine"), text("GPU"), text("Verdict"), text("Why")];
    (String::new(), vec![table(columns, "machines", (&report.machines, MACHINES), machine)])
}

fn machine(one: &MachineLine) -> Row {
    let target = &one.target;
    let tone = match &*target.verdict {
        "runs" => Tone::Good,
        "fails" => Tone::Bad,
        "unknown" => Tone::Weak,
        _ => Tone::Unsure,
    };
    let gpu = target.gpu.strip_prefix("NVIDIA ").unwrap_or(&target.gpu);
    let cells = vec![
        cell(one.name.as_deref().unwrap_or(&target.target)),
        cell(&format!("{gpu} ({})", target.compute_capability)),
        cell(&label(&TARGET_VERDICTS, &target.verdict)).tone(tone),
        Line::plain(prose(&target.why)),
    ];
    let reasons = target.reasons.iter().take(REASONS);
    let mut facts: Vec<(String, Line)> =
        reasons.clone().map(|one| fact("Reason", prose(&one.text))).collect();
    facts.extend(reasons.filter_map(|one| one.hint.as_ref()).map(|hint| fact("Fix", prose(hint))));
    Row { cells, details: vec![Block::Facts(facts)] }
}

fn platform(report: &DeployReport) -> Content {
    let profile = &report.profile;
    // The cold start has them too.
    if report.cold_start.is_some() {
        return (String::new(), Vec::new());
    }
    let mut facts = vec![
        fact("Driver", label(&DRIVER_DELIVERIES, &profile.driver)),
        fact("Base image", prose(&profile.base_image)),
    ];
    if let Some(folder) = &profile.driver_folder {
        facts.push(("Driver folder".to_owned(), path(folder)));
    }
    facts.push(fact("Source", prose(&profile.source)));
    (String::new(), vec![Block::Facts(facts)])
}

fn warnings(report: &DeployReport) -> Content {
    if report.warnings.is_empty() {
        return (String::new(), Vec::new());
    }
    let columns = [text("Subject"), text("Warning")];
    let line = |one: &crate::report::WarningLine| {
        row([cell_or_dash(Some(&one.subject)), Line::plain(prose(&one.message))])
    };
    (
        counted(report.warnings.len(), "warning"),
        vec![table(columns, "warnings", (&report.warnings, FINDINGS), line)],
    )
}
