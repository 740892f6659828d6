//! Layers: which the images share, and which only some have.

use super::Content;
use crate::base::labels::LAYER_MATCHES;
use crate::base::size::{grouped, human};
use crate::report::compare::model::CompareLayer;
use crate::report::compare::rows::{View, are, size};
use crate::report::instruction::short_instruction;
use crate::report::page::{Block, Line, Row, Table, Tone};
use crate::report::sections::make::{label, one_line, weak};

/// Rows of the table.
const MOST: usize = 40;
/// Characters of an instruction.
const INSTRUCTION: usize = 120;

pub(super) fn section(view: &View<'_>) -> Content {
    let layers = &view.report.layers;
    let (shared, others): (Vec<&CompareLayer>, Vec<&CompareLayer>) =
        layers.iter().partition(|layer| is_shared(view, layer));
    let mut blocks = Vec::new();
    if !others.is_empty() {
        blocks.push(Block::Table(Table {
            columns: view.columns("Layer, compressed"),
            rows: largest(&others).into_iter().map(|layer| row(view, layer)).collect(),
            more: others.len().saturating_sub(MOST) as u64,
            noun: "layers",
        }));
    }
    if !shared.is_empty() {
        // Each image stores the blob with the same bytes.
        let bytes: Option<u64> = shared.iter().map(|layer| layer.bytes.first().copied().flatten()).sum();
        let bytes = bytes.map_or_else(String::new, |bytes| format!(": {}", human(bytes)));
        let both = if view.shown.len() == 2 { "both" } else { "all" };
        let blobs = if shared.len() == 1 { "layer" } else { "layers" };
        let count = grouped(shared.len() as u64);
        blocks.push(weak(format!(
            "{count} {blobs} {} the same blob in {both} images{bytes}.",
            are(shared.len())
        )));
    }
    let note = if layers.is_empty() {
        String::new()
    } else if view.shown.len() > 2 {
        format!("{} of {} in all images", shared.len(), layers.len())
    } else {
        format!("{} of {} shared", shared.len(), layers.len())
    };
    (note, blocks)
}

/// The layers that are listed, in the order of the images: when they are too many, the largest.
fn largest<'a>(layers: &[&'a CompareLayer]) -> Vec<&'a CompareLayer> {
    let mut places: Vec<usize> = (0..layers.len()).collect();
    places.sort_by_key(|place| std::cmp::Reverse(layers[*place].bytes.iter().flatten().max().copied()));
    places.truncate(MOST);
    places.sort_unstable();
    places.into_iter().map(|place| layers[place]).collect()
}

/// Whether all images that are shown have the layer, as one blob and as often.
fn is_shared(view: &View<'_>, layer: &CompareLayer) -> bool {
    let times = |place: &usize| layer.indexes.get(*place).map_or(0, Vec::len);
    let mut often = view.shown.iter().map(times);
    let first = often.next();
    view.of(&layer.matches).all(|found| found.and_then(Option::as_deref) == Some("digest"))
        && often.all(|times| Some(times) == first)
}

fn row(view: &View<'_>, layer: &CompareLayer) -> Row {
    let cells = view.shown.iter().map(|place| {
        if layer.shared_by.contains(place) {
            let times = layer.indexes.get(*place).map_or(0, Vec::len);
            let cell = size(layer.bytes.get(*place).copied().flatten());
            if times > 1 { Line { text: format!("{} × {times}", cell.text), ..cell } } else { cell }
        } else {
            Line::default()
        }
    });
    let name = layer.created_by.as_deref().map(short_instruction);
    let name = name.or_else(|| layer.diff_id.clone()).or_else(|| layer.digest.clone()).unwrap_or_default();
    view.row(Line::code(one_line(&name, INSTRUCTION)), cells, change(view, layer))
}

fn change(view: &View<'_>, layer: &CompareLayer) -> Line {
    let last = view.titles.len().saturating_sub(1);
    let bytes = |place: usize| match layer.bytes.get(place).copied().flatten() {
        Some(bytes) => human(bytes),
        None => " unknown".to_owned(),
    };
    let matched = layer.matches.get(last).and_then(Option::as_deref);
    match (layer.shared_by.contains(&0), layer.shared_by.contains(&last)) {
        (false, true) => Line::plain(format!("+{}", bytes(last))),
        (true, false) => Line::plain(format!("−{}", bytes(0))),
        (true, true) => match matched {
            Some(matched @ ("content" | "diff-id")) => {
                Line::plain(format!("~ {}", label(&LAYER_MATCHES, matched))).tone(Tone::Changed)
            }
            _ => Line::default(),
        },
        (false, false) => Line::default(),
    }
}
