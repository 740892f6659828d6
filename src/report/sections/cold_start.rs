//! How long the image takes to start on a node, and what makes it faster.

use super::Content;
use super::make::{
    UNKNOWN, cell, code, fact, label, name, number, one_line, paragraph, prose, row, some, table, text,
    unknown, weak,
};
use crate::base::labels::DRIVER_DELIVERIES;
use crate::base::size::{grouped, human};
use crate::deploy::span;
use crate::report::cold_start::{
    AdvicePart, AssumptionPart, ColdStartPart, PhasesPart, ScenarioPart, SecondsPart, StartupPart,
};
use crate::report::model::Report;
use crate::report::page::{Block, Column, Line, Row, Tone};

/// Ways to start: two pulls and a few lazy formats.
const SCENARIOS: usize = 12;
/// Assumptions of an estimate: fewer than twenty.
const ASSUMPTIONS: usize = 40;
/// Kinds of advice.
const ADVICE: usize = 12;
/// Characters of a source.
const SOURCE: usize = 300;

/// How a duration of unknown length is written.
fn seconds(low: Option<f64>, high: Option<f64>) -> String {
    low.zip(high).map_or_else(|| UNKNOWN.to_owned(), |(low, high)| span(low, high))
}

/// `12 to 64 s now, 8 to 40 s after the plan`: the first scenario in words; `None` if it is unknown.
pub fn sentence(part: &ColdStartPart) -> Option<String> {
    let first = part.scenarios.first()?;
    let now = span(first.total_low_seconds?, first.total_high_seconds?);
    let after = first.after_plan_low_seconds.zip(first.after_plan_high_seconds);
    // Without a plan, or one that shortens nothing, both are equal.
    let after = after.map(|(low, high)| span(low, high)).filter(|after| *after != now);
    let after = after.map_or_else(String::new, |after| format!(", {after} after the plan"));
    Some(format!("{now} now{after}"))
}

pub(super) fn section(report: &Report) -> Content {
    content(report.cold_start.as_ref())
}

/// Note and blocks of the section.
pub(in crate::report) fn content(part: Option<&ColdStartPart>) -> Content {
    let Some(part) = part else {
        return unknown("Cold start unknown: the layers were not read.");
    };
    let note = sentence(part).unwrap_or_else(|| "unknown".to_owned());
    (note, blocks(part))
}

fn blocks(part: &ColdStartPart) -> Vec<Block> {
    let mut blocks = vec![Block::Facts(facts(part))];
    let slim = part.scenarios.iter().any(|one| one.after_slim_low_seconds.is_some());
    let mut columns: Vec<Column> = vec![text("Start"), number("Now"), number("After the plan")];
    if slim {
        columns.push(number("After slim"));
    }
    blocks.push(table(columns, "ways to start", (&part.scenarios, SCENARIOS), |one| scenario(one, slim)));
    for one in &part.scenarios {
        if let Some(why) = &one.unknown {
            blocks.push(weak(format!("{}: {}", name(&one.title), prose(why))));
        }
    }
    if let Some(read) = &part.startup {
        blocks.push(Block::Heading("Read at start-up".to_owned()));
        blocks.push(Block::Facts(startup(read)));
    }
    if !part.advice.is_empty() {
        blocks.push(Block::Heading("What shortens it".to_owned()));
        let columns = [number("Saves"), text("Change")];
        blocks.push(table(columns, "changes", (&part.advice, ADVICE), advice));
    }
    blocks.push(weak(
        "Estimates, until the process runs and its libraries are read. Not included: provisioning a node, the program's \
         own work, model weights from elsewhere. The model: cutaway explain cold-start.",
    ));
    blocks
}

fn facts(part: &ColdStartPart) -> Vec<(String, Line)> {
    let mut facts = Vec::new();
    if let Some(profile) = &part.profile {
        facts.push(fact("Platform", name(&profile.name)));
        let folder = profile.driver_folder.as_deref();
        let folder = folder.map_or_else(String::new, |folder| format!(" ({})", name(folder)));
        facts.push(fact("Driver", format!("{}{folder}", label(&DRIVER_DELIVERIES, &profile.driver))));
        facts.push(fact("Base image", prose(&profile.base_image)));
    }
    let measured = if part.rates == "calibrated" { ", rates measured on this machine" } else { "" };
    facts.push(fact("Node", format!("{}{measured}", name(&part.node_name))));
    facts
}

fn scenario(one: &ScenarioPart, slim: bool) -> Row {
    let mut cells = vec![
        cell(&one.title),
        Line::plain(seconds(one.total_low_seconds, one.total_high_seconds)),
        Line::plain(seconds(one.after_plan_low_seconds, one.after_plan_high_seconds)),
    ];
    if slim {
        cells.push(Line::plain(seconds(one.after_slim_low_seconds, one.after_slim_high_seconds)));
    }
    let mut details = Vec::new();
    if let Some(phases) = &one.phases {
        details.push(Block::Facts(phase_facts(phases, one.name.starts_with("lazy-"))));
    }
    let columns = [text("Assumption"), number("From"), number("To"), text("Unit"), text("Source")];
    let list: Vec<(&String, &AssumptionPart)> = one.assumptions.iter().collect();
    if !list.is_empty() {
        details
            .push(table(columns, "assumptions", (&list, ASSUMPTIONS), |(name, one)| assumption(name, one)));
    }
    Row { cells, details }
}

fn phase_facts(phases: &PhasesPart, lazy: bool) -> Vec<(String, Line)> {
    let shown = |name: &str, of: &SecondsPart| fact(name, span(of.low, of.high));
    if lazy {
        return vec![
            shown("Fetch what is read", &phases.fetch),
            shown("Create the container", &phases.start),
        ];
    }
    vec![
        shown("Download", &phases.fetch),
        shown("Unpack, in part while downloading", &phases.unpack),
        shown("Create the container", &phases.start),
        shown("Read at start-up", &phases.read),
    ]
}

fn assumption(id: &str, one: &AssumptionPart) -> Row {
    row([
        code(id),
        Line::plain(figure(one.low)),
        Line::plain(figure(one.high)),
        cell(&one.unit),
        Line::plain(one_line(&one.source, SOURCE)),
    ])
}

/// A number with at most three significant digits after the point.
pub fn figure(number: f64) -> String {
    match number.abs() {
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 1.0 => format!("{number:.1}"),
        _ => format!("{number:.3}"),
    }
}

fn startup(read: &StartupPart) -> Vec<(String, Line)> {
    let mut facts = vec![fact(
        "ELF files",
        format!("{} files, {} without GPU code", grouped(read.libraries), human(read.library_bytes)),
    )];
    if read.gpu_code_bytes > 0 {
        let text =
            format!("up to {} for one target, when kernels are first used", human(read.gpu_code_bytes));
        facts.push(fact("GPU code", text));
    }
    if read.modules > 0 {
        let text = format!("up to {} files, {}", grouped(read.modules), human(read.module_bytes));
        facts.push(fact("Python modules", text));
    }
    if !read.frameworks.is_empty() {
        let names = some(read.frameworks.iter().map(String::as_str));
        facts.push(fact("Assumed imports", names));
    }
    facts
}

fn advice(one: &AdvicePart) -> Row {
    let saves = Line::plain(span(one.saves_seconds.low, one.saves_seconds.high));
    // A small gain is no reason; more time is a reason against.
    let slower = !one.recommended && one.saves_seconds.low < 0.0;
    let title = if slower { format!("Not advised: {}", prose(&one.title)) } else { prose(&one.title) };
    let tone = if one.recommended { Tone::Plain } else { Tone::Weak };
    Row { cells: vec![saves, Line::plain(title).tone(tone)], details: vec![paragraph(prose(&one.text))] }
}
