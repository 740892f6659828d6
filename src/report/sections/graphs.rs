//! CUDA Graphs: who captures them, what turns them off, what single features require.

use super::Content;
use super::make::{cell, cell_or_dash, code, fact, headed, number, paragraph, prose, row, table, text, weak};
use crate::base::text::counted;
use crate::deploy::graphs::CaptureState;
use crate::report::graphs::{CaptureLine, CudaGraphsPart, GraphFeatureLine, GraphSwitchLine, StepGainLine};
use crate::report::page::{Block, Line, Row, Tone};

/// Frameworks of an image; servers contain some.
const CAPTURES: usize = 40;
/// Switches: environment and command have few.
const SWITCHES: usize = 40;

/// The section of a report; without content if no framework of the image is concerned.
pub(in crate::report) fn content(part: Option<&CudaGraphsPart>) -> Content {
    let Some(part) = part.filter(|part| !part.captures.is_empty() || !part.unknown_frameworks.is_empty())
    else {
        return (String::new(), Vec::new());
    };
    let mut blocks = Vec::new();
    if !part.captures.is_empty() {
        let columns = [text("Framework"), text("Capture"), text("State"), text("Why")];
        blocks.push(table(columns, "captures", (&part.captures, CAPTURES), capture));
    }
    if !part.unknown_frameworks.is_empty() {
        blocks.push(weak(format!("Captures unknown: {}.", part.unknown_frameworks.join(", "))));
    }
    if !part.switches.is_empty() {
        let columns = [text("Setting"), text("Where"), text("Effect")];
        blocks.extend(headed(
            "Settings that affect captures",
            columns,
            "settings",
            (&part.switches, SWITCHES),
            switch,
        ));
    }
    if part.files_searched.is_none() {
        blocks.push(weak(
            "Configuration files were not searched; cutaway deploy searches those that the command names.",
        ));
    }
    let columns = [text("Feature"), text("CUDA"), text("Driver"), text("Image")];
    blocks.extend(headed("Requirements", columns, "features", (&part.features, CAPTURES), feature));
    if let Some(gains) = &part.gains {
        let columns =
            [number("Launches"), number("One by one (µs)"), number("As a graph (µs)"), number("Saved (µs)")];
        blocks.extend(headed("Gain of a step on this machine", columns, "steps", (gains, CAPTURES), gain));
        blocks.push(weak(
            "Launch costs only: a step whose kernels take longer than their launches gains less.",
        ));
    }
    (note(part), blocks)
}

fn note(part: &CudaGraphsPart) -> String {
    let off = part.captures.iter().filter(|one| one.state == CaptureState::Off.as_str()).count();
    match off {
        0 => String::new(),
        off => format!("{} turned off", counted(off, "capture")),
    }
}

fn state(value: &str) -> Line {
    let known = CaptureState::ALL.iter().find(|one| one.as_str() == value);
    let tone = match known {
        Some(CaptureState::Automatic | CaptureState::Available) => Tone::Good,
        Some(CaptureState::Off) => Tone::Bad,
        Some(CaptureState::TooOld) => Tone::Unsure,
        Some(CaptureState::Unknown) | None => Tone::Weak,
    };
    cell(known.map_or(value, |one| one.label())).tone(tone)
}

fn capture(one: &CaptureLine) -> Row {
    let version = one.version.as_ref().map_or_else(String::new, |version| format!(" {version}"));
    let facts = vec![fact("How", prose(&one.how)), fact("Source", prose(&one.source))];
    let cells = vec![
        cell(&format!("{}{version}", one.framework)),
        cell(&one.name),
        state(&one.state),
        Line::plain(prose(&one.why)),
    ];
    Row { cells, details: vec![Block::Facts(facts)] }
}

fn switch(one: &GraphSwitchLine) -> Row {
    row([code(&one.setting), cell(&one.origin), Line::plain(prose(&one.text))])
}

fn feature(one: &GraphFeatureLine) -> Row {
    let image = match one.in_image {
        Some(true) => Line::plain("yes").tone(Tone::Good),
        Some(false) => Line::plain("no"),
        None => Line::plain("unknown").tone(Tone::Weak),
    };
    let driver = one.driver.map(|branch| format!("{branch} or later"));
    row([cell(&one.name), cell_or_dash(one.cuda.as_deref()), cell_or_dash(driver.as_deref()), image])
}

fn gain(one: &StepGainLine) -> Row {
    let us = |us: f64| Line::plain(format!("{us:.1}"));
    row([Line::plain(one.launches.to_string()), us(one.stream_us), us(one.graph_us), us(one.saved_us)])
}

/// The section of a page about deployment: it says so if no framework is concerned.
pub(in crate::report) fn deployment(part: Option<&CudaGraphsPart>) -> Content {
    match part {
        None => (String::new(), Vec::new()),
        Some(part) if part.captures.is_empty() && part.unknown_frameworks.is_empty() => {
            (String::new(), vec![paragraph("No framework with CUDA Graphs in the image.")])
        }
        Some(_) => content(part),
    }
}
