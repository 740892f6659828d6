//! The plan, and the Dockerfile that implements it.

use hashbrown::HashSet;

use super::Content;
use super::findings::listed;
use super::make::{code, described, fact, label, one_line, paragraph, sum};
use crate::base::labels::{APPLICABILITIES, inline};
use crate::base::size::{human, human_or_dash};
use crate::base::text::{counted, printable_lines};
use crate::report::findings::{FindingLine, PlanPart};
use crate::report::model::Report;
use crate::report::page::{Block, Line, Tone};
use crate::report::proposal::ProposalLine;
use crate::report::shorten;

/// Maximum findings of the plan; safe ones are listed above with their evidence.
const FINDINGS: usize = 100;
/// Characters of a Dockerfile or a diff: those of real projects are far shorter, heredocs with whole programs not.
const CODE: usize = 24_000;
/// Proposals besides the best one.
const OTHERS: usize = 5;
/// Characters of a title.
const TITLE: usize = 200;

pub(super) fn section(report: &Report) -> Content {
    let mut blocks = match &report.plan {
        Some(plan) => planned(report, plan),
        None => vec![paragraph("Sizes after removal unknown: the rules did not run.")],
    };
    blocks.extend(proposed(report));
    let note = report.plan.as_ref().filter(|plan| !plan.findings.is_empty());
    (
        note.map_or_else(String::new, |plan| {
            format!("{} merged after removal", human(plan.merged_bytes_after))
        }),
        blocks,
    )
}

fn planned(report: &Report, plan: &PlanPart) -> Vec<Block> {
    if plan.findings.is_empty() {
        return vec![paragraph("The plan removes nothing.")];
    }
    let ids: HashSet<&str> = plan.findings.iter().map(String::as_str).collect();
    let all = report.findings.as_deref().unwrap_or_default();
    let chosen: Vec<&FindingLine> = all.iter().filter(|finding| ids.contains(finding.id.as_str())).collect();
    let bytes = human(sum(chosen.iter().map(|finding| finding.bytes)));
    let totals = &report.totals;
    let pull = match (totals.compressed_bytes, plan.compressed_bytes_after) {
        (Some(now), Some(then)) => format!("{} now, about {} after", human(now), human(then)),
        _ => "unknown: some layers have no known compressed size".to_owned(),
    };
    let (now, then) = (human_or_dash(totals.merged_bytes), human(plan.merged_bytes_after));
    let facts = vec![
        fact("Removed", format!("{bytes} in layers, {}", counted(plan.findings.len(), "finding"))),
        fact("Merged", format!("{now} now, {then} after")),
        fact("Compressed", pull),
    ];
    let mut blocks = vec![Block::Facts(facts)];
    let safe = |finding: &FindingLine| finding.verdict == "safe";
    if chosen.len() == plan.findings.len()
        && chosen.iter().all(|finding| safe(finding))
        && chosen.len() == all.iter().filter(|finding| safe(finding)).count()
    {
        blocks.push(paragraph("The plan removes all removable findings."));
    } else if !chosen.is_empty() {
        let title = format!("Findings removed by the plan: {}", counted(chosen.len(), "finding"));
        blocks.push(Block::Fold(title, vec![listed(&chosen, FINDINGS)]));
    }
    blocks
}

fn proposed(report: &Report) -> Vec<Block> {
    let Some(proposals) = report.proposals.as_deref() else {
        return vec![paragraph("No Dockerfile proposed yet: run `cutaway dockerfile IMAGE`.")];
    };
    let [best, others @ ..] = proposals else {
        return vec![paragraph("No Dockerfile to propose.")];
    };
    let mut blocks = vec![Block::Heading("Proposed Dockerfile".to_owned())];
    blocks.push(Block::Line(Line::plain(one_line(&best.title, TITLE)).tone(Tone::Strong)));
    let mut facts = vec![
        fact("Applicability", described(&APPLICABILITIES, &best.applicability)),
        fact("Saves", format!("{} in layers", human(best.saved_bytes))),
    ];
    if let Some(bytes) = best.merged_bytes {
        facts.push(fact(
            "Merged",
            format!("{} now, {} after", human_or_dash(report.totals.merged_bytes), human(bytes)),
        ));
    }
    facts.push((
        "Base image".to_owned(),
        best.base_image.as_deref().map_or_else(|| Line::plain("unknown: not stated in the Dockerfile"), code),
    ));
    blocks.push(Block::Facts(facts));
    blocks.extend(folded("Dockerfile", "dockerfile", best.dockerfile.as_deref()));
    blocks.extend(folded("Changes to the Dockerfile", "diff", best.diff.as_deref()));
    let other = |one: &ProposalLine| {
        let title = one_line(&one.title, TITLE);
        paragraph(format!(
            "Other proposal: “{title}” ({}), saves {}.",
            inline(&label(&APPLICABILITIES, &one.applicability)),
            human(one.saved_bytes)
        ))
    };
    blocks.extend(others.iter().take(OTHERS).map(other));
    if let Some(more @ 1..) = others.len().checked_sub(OTHERS) {
        blocks.push(paragraph(format!("{}.", counted(more, "more proposal"))));
    }
    blocks
}

fn folded(title: &str, language: &'static str, text: Option<&str>) -> Option<Block> {
    let text = shorten::code(&printable_lines(&text?.replace("\r\n", "\n")), CODE);
    (!text.is_empty()).then(|| Block::Fold(title.to_owned(), vec![Block::Code(language, text)]))
}
