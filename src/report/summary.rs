//! Summary of a proposed Dockerfile, as text.

use std::fmt::{self, Write as _};

use super::rewrite::{QuestionLine, RewriteReport};
use super::text::WIDTH;
use crate::base::labels::{APPLICABILITIES, Label, inline};
use crate::base::size::{grouped, human, human_or_dash};
use crate::base::text::{and_more, counted, elide_middle, printable};
use crate::base::wrap::wrap;
use crate::rewrite::{Hint, Proposal, Reason};

/// Maximum lines of each section; JSON is complete.
const MOST: usize = 30;
/// Findings that are named of those answered with another.
const MOST_ANSWERED: usize = 8;
/// Files that are named of those that the new image does not have.
const MOST_FILES: usize = 5;

/// Summary of a proposal, by its index; without one, why there is none. Contains no control characters.
pub fn to_summary(report: &RewriteReport, chosen: Option<usize>) -> String {
    let mut out = String::new();
    // Writing to a String cannot fail.
    summary(&mut out, report, chosen).ok();
    out
}

fn summary(out: &mut String, report: &RewriteReport, chosen: Option<usize>) -> fmt::Result {
    match chosen.and_then(|place| report.proposals.get(place)) {
        Some(proposal) => proposed(out, report, proposal)?,
        None => paragraph(out, 0, &nothing(report))?,
    }
    let unknown = report.recipe.unknown.iter().map(|one| format!("line {}: {}", one.line, one.text));
    section(out, "Unknown parts of the reconstructed Dockerfile", unknown)?;
    // Without a proposal, the first line has the reason.
    let is_said = |note: &&String| chosen.is_none() && report.reason.as_ref() == Some(*note);
    section(out, "Notes", report.notes.iter().filter(|note| !is_said(note)).cloned())?;
    let open = report.questions.iter().filter(|one| one.answered_with.is_none());
    let open = open.map(|one| question(report, one));
    section(out, "Open questions (--answer ID=no removes, --answer ID=yes keeps)", open)?;
    let others = report.proposals.iter().enumerate().filter(|(place, _)| Some(*place) != chosen);
    let others = others.map(|(_, one)| {
        let saved = human(one.predicted.saved_bytes);
        format!("{} ({}, {saved} less): {}", one.id, inline(one.applicability.label()), one.title)
    });
    section(out, "Other proposals (--proposal ID)", others)
}

/// An open question, and those that are answered with it.
fn question(report: &RewriteReport, one: &QuestionLine) -> String {
    let with = |other: &&QuestionLine| other.answered_with.as_ref() == Some(&one.finding);
    let with: Vec<&QuestionLine> = report.questions.iter().filter(with).collect();
    let bytes: u64 = with.iter().map(|other| other.bytes).sum();
    let mut text = format!("{} ({}): {}", one.finding, human(one.bytes), one.text);
    if !with.is_empty() {
        let ids: Vec<&str> = with.iter().take(MOST_ANSWERED).map(|other| other.finding.as_str()).collect();
        let (ids, more) = (ids.join(", "), and_more(with.len(), MOST_ANSWERED));
        // Writing to a String cannot fail.
        write!(text, " Answering no also answers: {ids}{more} ({}).", human(bytes)).ok();
    }
    text
}

/// Why nothing is proposed, in a line.
fn nothing(report: &RewriteReport) -> String {
    let reason = report.reason.as_deref().unwrap_or("reason unknown");
    format!("no proposal: {}", reason.strip_prefix("No smaller base image proposed: ").unwrap_or(reason))
}

fn proposed(out: &mut String, report: &RewriteReport, proposal: &Proposal) -> fmt::Result {
    paragraph(out, 0, &format!("{}: {}", proposal.id, proposal.title))?;
    let label = APPLICABILITIES.get(proposal.applicability.as_str());
    paragraph(out, 0, &label.map_or_else(String::new, Label::described))?;
    sizes(out, report, proposal)?;
    let closure = &proposal.closure;
    let looked = format!("{} of {}", counted(closure.links, "link"), counted(closure.objects, "ELF file"));
    let proof = if closure.resolved {
        format!("All library links still resolve ({looked}).")
    } else {
        format!("Something that is needed today is missing ({looked}).")
    };
    writeln!(out)?;
    paragraph(out, 0, &proof)?;
    section(out, "No longer resolved", closure.faults.iter().cloned())?;
    let by_name = (!closure.dlopen_known)
        .then(|| "some files are opened by a name that is not known (dlopen)".to_owned());
    section(out, "Assumptions (not proven)", closure.unproven.iter().cloned().chain(by_name))?;
    section(out, "Reasons, by line", proposal.reasons.iter().map(reason))?;
    section(out, "Kept", proposal.kept.iter().cloned())?;
    let gone = proposal.removed.iter().take(MOST_FILES);
    let gone = gone.map(|one| format!("{} {}", human(one.bytes), elide_middle(&one.path, WIDTH - 14)));
    let title = format!("Removed: {} files, the largest", grouped(proposal.removed.len() as u64));
    section(out, &title, gone)?;
    let mut files: Vec<&str> = proposal.hints.iter().map(|hint| hint.file.as_str()).collect();
    files.sort_unstable();
    files.dedup();
    for file in files {
        let hints = proposal.hints.iter().filter(|hint| hint.file == file).map(hint);
        section(out, &format!("Hints for {}", printable(file)), hints)?;
    }
    Ok(())
}

/// A hint in one line: what to add, its bytes, and why.
fn hint(hint: &Hint) -> String {
    let lines = hint.lines.join(", ");
    let head = match (lines.is_empty(), hint.bytes) {
        (false, Some(bytes)) => format!("{lines} ({}): ", human(bytes)),
        (false, None) => format!("{lines}: "),
        (true, Some(bytes)) => format!("{}: ", human(bytes)),
        (true, None) => String::new(),
    };
    format!("{head}{}", hint.reason)
}

fn sizes(out: &mut String, report: &RewriteReport, proposal: &Proposal) -> fmt::Result {
    let (image, new) = (&report.image, &proposal.predicted);
    if let Some(base) = &proposal.base_image {
        paragraph(out, 2, &format!("from    {base}"))?;
    }
    let (now, then) = (human(image.merged_bytes), human(new.merged_bytes));
    paragraph(out, 2, &format!("merged  {now} now, {then} after"))?;
    let (now, then) = (human(image.content_bytes), human(new.content_bytes));
    let saved = human(new.saved_bytes);
    paragraph(out, 2, &format!("content {now} now, {then} after: {saved} less in the layers"))?;
    // The last stage is the image itself.
    for stage in new.stages.iter().rev().skip(1).rev().take(MOST) {
        let bytes = human_or_dash(stage.merged_bytes);
        paragraph(out, 2, &format!("stage   {}: {bytes} merged, from {}", stage.name, stage.base))?;
    }
    Ok(())
}

fn reason(reason: &Reason) -> String {
    let lines = match reason.lines {
        0 => format!("after line {}", reason.line),
        1 => format!("line {}", reason.line),
        count => format!("lines {} to {}", reason.line, reason.line.saturating_add(count - 1)),
    };
    let bytes = reason.bytes.map_or_else(String::new, |bytes| format!(", {}", human(bytes)));
    format!("{lines} ({}{bytes}): {}", inline(reason.applicability.label()), reason.text)
}

fn section(out: &mut String, title: &str, lines: impl Iterator<Item = String>) -> fmt::Result {
    let mut count = 0_usize;
    for line in lines {
        if count == 0 {
            writeln!(out, "\n{title}")?;
        }
        if count < MOST {
            paragraph(out, 2, &line)?;
        }
        count = count.saturating_add(1);
    }
    match count.checked_sub(MOST) {
        Some(more) if more > 0 => writeln!(out, "  {more} more: see --format json"),
        _ => Ok(()),
    }
}

/// A text in lines of 80 characters, those after the first moved in; a word that is longer has its own.
fn paragraph(out: &mut String, indent: usize, text: &str) -> fmt::Result {
    for (number, line) in wrap(&printable(text), WIDTH - indent - 2).into_iter().enumerate() {
        let indent = if number == 0 { indent } else { indent + 2 };
        writeln!(out, "{:indent$}{line}", "")?;
    }
    Ok(())
}
