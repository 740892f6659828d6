//! On which machines the image would run, and why not.

use super::Content;
use super::lead::gpu;
use super::make::{
    cell, fact, label, name, one_line, paragraph, path, prose, row, some, table, text, unknown,
};
use crate::base::labels::{DRIVER_SOURCES, TARGET_VERDICTS};
use crate::base::text::counted;
use crate::report::compatibility::{CompatibilityPart, ReasonPart, RequiresPart, TargetLine, VersionLine};
use crate::report::model::Report;
use crate::report::page::{Block, Line, Row, Tone};

/// GPUs: the catalogue knows fewer, and a machine has few kinds.
const TARGETS: usize = 60;
/// Reasons of a verdict: the worst are first.
const REASONS: usize = 8;
/// Statements about CUDA versions: the highest are first.
const VERSIONS: usize = 12;
/// Characters of the sentence in a row; the evidence has all of it.
const WHY: usize = 300;

pub(super) fn section(report: &Report) -> Content {
    let Some(part) = &report.compatibility else {
        return unknown("Compatibility unknown: the image was not analysed completely.");
    };
    let mut blocks = needs(&part.requires);
    if part.targets.is_empty() {
        blocks.push(paragraph("No target GPU."));
        return (String::new(), blocks);
    }
    let columns = [text("GPU"), text("Verdict"), text("Driver"), text("Why")];
    blocks.push(table(columns, "GPUs", (&part.targets, TARGETS), target));
    if part.targets.iter().any(|target| target.why.starts_with("All deciding files")) {
        let note = "Deciding files: their kernels certainly run, see cutaway explain compatibility.";
        blocks.push(paragraph(note));
    }
    (note(part), blocks)
}

fn note(part: &CompatibilityPart) -> String {
    if part.targets.iter().all(|target| target.verdict == "unknown") {
        return "unknown".to_owned();
    }
    let runs = part.targets.iter().filter(|target| target.verdict.starts_with("runs")).count();
    format!("on {runs} of {}", counted(part.targets.len(), "GPU"))
}

fn needs(requires: &RequiresPart) -> Vec<Block> {
    let mut facts = Vec::new();
    if let Some(cuda) = &requires.cuda {
        facts.push(fact("Built for", format!("CUDA {}", name(cuda))));
    }
    let older = requires.min_driver_minor_compat.as_deref();
    match (requires.min_driver.as_deref(), older) {
        (Some(driver), Some(older)) if older != driver => {
            let text = format!("{}, or {} without JIT compilation of PTX", name(driver), name(older));
            facts.push(fact("Driver", text));
        }
        (Some(driver), _) | (None, Some(driver)) => {
            facts.push(fact("Driver", format!("{} or later", name(driver))));
        }
        (None, None) => {}
    }
    for (title, list) in [("Runs natively on", &requires.sass), ("Runs after JIT on", &requires.ptx)] {
        if !list.is_empty() {
            facts.push(fact(title, all(list)));
        }
    }
    if facts.is_empty() {
        return vec![paragraph("The image states no CUDA version, driver or GPU requirement.")];
    }
    let columns = [text("CUDA"), text("Required by"), text("Evidence"), text("Certain")];
    let version = |need: &VersionLine| {
        let certain = if need.firm { "yes" } else { "no: possibly unused" };
        row([cell(&need.version), cell(&need.who), Line::plain(one_line(&need.evidence, WHY)), cell(certain)])
    };
    let mut blocks = vec![Block::Facts(facts)];
    if !requires.versions.is_empty() {
        let listed = table(columns, "statements", (&requires.versions, VERSIONS), version);
        blocks.push(Block::Fold("CUDA version requirements".to_owned(), vec![listed]));
    }
    blocks
}

/// All architectures: there are about twenty, and which are missing matters.
fn all(list: &[String]) -> String {
    const MOST: usize = 40;
    if list.len() > MOST {
        return some(list.iter().map(String::as_str));
    }
    list.iter().map(|arch| name(arch)).collect::<Vec<_>>().join(", ")
}

fn target(target: &TargetLine) -> Row {
    let driver = match (&target.driver, target.driver_source.as_deref()) {
        (Some(driver), Some("stated")) => name(driver),
        (Some(driver), Some(from)) => format!("{} ({})", name(driver), label(&DRIVER_SOURCES, from)),
        (Some(driver), None) => name(driver),
        (None, _) => "unknown".to_owned(),
    };
    let machine = match target.target.as_str() {
        asked if asked.starts_with("gpu:") || asked.starts_with("cc=") => String::new(),
        asked => format!("{}: ", name(asked)),
    };
    let how_many = match target.gpus.as_deref() {
        None | Some("1") => String::new(),
        Some(how_many) => format!("{} x ", name(how_many)),
    };
    Row {
        cells: vec![
            Line::plain(format!("{machine}{how_many}{}", gpu(target))),
            Line::plain(label(&TARGET_VERDICTS, &target.verdict)).tone(tone(&target.verdict)),
            Line::plain(driver),
            Line::plain(one_line(&target.why, WHY)),
        ],
        details: target.reasons.iter().take(REASONS).flat_map(reason).chain(more(target)).collect(),
    }
}

fn more(target: &TargetLine) -> Option<Block> {
    let more = target.reasons.len().checked_sub(REASONS).filter(|more| *more > 0)?;
    Some(paragraph(format!("{more} more: see the JSON report.")))
}

fn tone(verdict: &str) -> Tone {
    match verdict {
        "runs" => Tone::Good,
        "fails" => Tone::Bad,
        "unknown" => Tone::Weak,
        _ => Tone::Unsure,
    }
}

fn reason(reason: &ReasonPart) -> [Block; 2] {
    let verdict = label(&TARGET_VERDICTS, &reason.verdict);
    let says = Line::plain(format!("{verdict}: {}", prose(&reason.text))).tone(tone(&reason.verdict));
    let mut facts = Vec::new();
    if let Some(subject) = &reason.subject {
        facts.push(("About".to_owned(), path(subject)));
    }
    if let Some(error) = &reason.error {
        facts.push(("CUDA error".to_owned(), Line::code(format!("{} ({})", name(&error.name), error.code))));
    }
    if let Some(hint) = &reason.hint {
        facts.push(fact("Fix", prose(hint)));
    }
    facts.push(fact("Rule", format!("{}, source: {}", name(&reason.rule), one_line(&reason.source, WHY))));
    [Block::Line(says), Block::Facts(facts)]
}
