//! The pages that are tables of lines.

use egui::{Color32, Ui};

use super::state::CompareState;
use super::{Action, CompareContext, CompareEvent, ComparePage};
use crate::compare::{Change, Judgement, Polarity};
use crate::gui::design::Tokens;
use crate::gui::models::compare::{
    CompareCell, CompareLine, CompareModel, CompareSort, ImageColumns, LineRow, LineSubject,
};
use crate::gui::widgets::cell::Cut;
use crate::gui::widgets::list::{ListEvent, ListOutput};
use crate::gui::widgets::matrix::{MatrixCell, MatrixHead, MatrixRow, MatrixShape, matrix};
use crate::gui::widgets::pane::{card, empty};

/// The least width of a column with numbers, and of one with words.
const NUMBERS: f32 = 148.0;
const WORDS: f32 = 150.0;

pub(super) fn show(
    ui: &mut Ui,
    state: &mut CompareState,
    model: &CompareModel,
    around: &CompareContext,
    events: &mut Vec<CompareEvent>,
) -> ListOutput {
    let lines = model.lines(state.page);
    if state.rows.rows.is_empty() {
        card(ui, |ui| nothing(ui, state, lines));
        return ListOutput::default();
    }
    let tokens = Tokens::of(ui);
    let heads = heads(model, &state.columns, around);
    let selected = state.row(model);
    let shape = MatrixShape {
        name: state.page.title(),
        title: match state.page {
            ComparePage::Summary => "Figure",
            ComparePage::Layers => "Layer",
            ComparePage::Files => "Name",
            ComparePage::Packages => "Package",
            ComparePage::Settings => "Setting",
        },
        about: "sort by name",
        heads: &heads,
        least: if matches!(state.page, ComparePage::Summary) { NUMBERS } else { WORDS },
        rows: state.rows.rows.len(),
        sort: sorted(state.sort(), model.baseline),
        selected,
        reveal: std::mem::take(&mut state.reveal),
    };
    let letters: Vec<String> = heads.iter().map(|head| head.letter.clone()).collect();
    let rows = &state.rows.rows;
    let make = |index: usize| match rows.get(index).copied() {
        Some(LineRow::Head(at)) => head_row(tokens, at, lines.get(at)),
        Some(LineRow::Line(at)) => line_row(tokens, at, lines.get(at)),
        None => head_row(tokens, index, None),
    };
    let spoken = |index: usize| match rows.get(index) {
        Some(LineRow::Head(at)) => lines.get(*at).map_or_else(String::new, |line| line.section.to_owned()),
        Some(LineRow::Line(at)) => lines.get(*at).map_or_else(String::new, |line| line.spoken(&letters)),
        None => String::new(),
    };
    let salt = format!("compared {}", state.page.title());
    let output = card(ui, |ui| matrix(ui, &salt, &shape, make, spoken));
    take(ui, state, model, &output, events);
    output
}

/// The heads of all columns.
pub(super) fn heads(
    model: &CompareModel,
    columns: &ImageColumns,
    around: &CompareContext,
) -> Vec<MatrixHead> {
    let title = |place: usize, id: u64| {
        let open = around.image(id).map(|image| image.title.clone());
        open.or_else(|| model.compared.titles.get(place).cloned()).unwrap_or_default()
    };
    let ids = model.compared.ids.iter().enumerate();
    ids.map(|(place, id)| MatrixHead {
        letter: columns.letter(*id),
        title: title(place, *id),
        marked: place == model.baseline,
        about: if place == model.baseline { "sort by size" } else { "sort by difference" }.to_owned(),
    })
    .collect()
}

/// The column head of an order.
pub(super) fn sorted(sort: CompareSort, baseline: usize) -> Option<usize> {
    match sort {
        CompareSort::Name => Some(0),
        CompareSort::Size => Some(baseline + 1),
        CompareSort::Difference | CompareSort::Order => None,
    }
}

/// The order that a click on a head asks for.
pub(super) fn clicked(head: usize, baseline: usize) -> CompareSort {
    match head.checked_sub(1) {
        None => CompareSort::Name,
        Some(column) if column == baseline => CompareSort::Size,
        Some(_) => CompareSort::Difference,
    }
}

/// The colour of a change; always shown with its sign or word. A figure is judged by its polarity; colours of added
/// and removed are for files only.
pub(super) fn color(tokens: &Tokens, polarity: Option<Polarity>, change: Option<Change>) -> Color32 {
    if let (Some(polarity), Some(change @ (Change::Added | Change::Removed))) = (polarity, change) {
        return match polarity.judge(change) {
            Some(Judgement::Better) => tokens.success,
            Some(Judgement::Worse) => tokens.error,
            None => tokens.text,
        };
    }
    match change {
        Some(Change::Added) => tokens.added,
        Some(Change::Removed) => tokens.removed,
        Some(Change::Changed) => tokens.changed,
        Some(Change::Unknown) => tokens.hidden,
        Some(Change::Same | Change::Absent) | None => tokens.text_weak,
    }
}

fn nothing(ui: &mut Ui, state: &CompareState, lines: &[CompareLine]) {
    if lines.is_empty() {
        let note = match state.page {
            ComparePage::Packages => "No package database in any image.",
            ComparePage::Settings => "No image has a config.",
            _ => "",
        };
        empty(ui, "Nothing to compare", note);
    } else if state.rows.found == 0 {
        empty(ui, "No matches", "Filter by name or glob (lib*). All terms must match.");
    } else {
        empty(ui, "No differences", "All images are identical here. Clear “Only differences” to show all.");
    }
}

fn head_row(tokens: &Tokens, at: usize, line: Option<&CompareLine>) -> MatrixRow {
    MatrixRow {
        key: 1 << 40 | at as u64,
        depth: 0,
        fold: None,
        strong: true,
        sign: None,
        name: line.map_or_else(String::new, |line| line.section.to_owned()),
        color: tokens.text,
        cut: Cut::End,
        note: String::new(),
        cells: Vec::new(),
    }
}

fn line_row(tokens: &Tokens, at: usize, line: Option<&CompareLine>) -> MatrixRow {
    let Some(line) = line else { return head_row(tokens, at, None) };
    let path = matches!(line.about, LineSubject::Path(_));
    let cell = |cell: &CompareCell| {
        let missing = matches!(cell.text.as_str(), "–" | "unknown" | "absent");
        MatrixCell {
            text: cell.text.clone(),
            color: if missing { tokens.text_weak } else { tokens.text },
            sign: if cell.number { "" } else { cell.change.map_or("", Change::sign) },
            note: cell.note.clone(),
            note_color: color(tokens, line.polarity, cell.change),
            number: cell.number,
            share: 0.0,
        }
    };
    MatrixRow {
        key: at as u64,
        depth: u16::from(!line.section.is_empty()),
        fold: None,
        strong: false,
        sign: None,
        name: line.name.clone(),
        color: tokens.text,
        cut: if path { Cut::Middle } else { Cut::End },
        note: line.note.clone(),
        cells: line.cells.iter().map(cell).collect(),
    }
}

fn take(
    ui: &Ui,
    state: &mut CompareState,
    model: &CompareModel,
    output: &ListOutput,
    events: &mut Vec<CompareEvent>,
) {
    for event in &output.events {
        match *event {
            ListEvent::Select(row) => state.select(model, row),
            ListEvent::Sort(head) => state.set_sort(clicked(head, model.baseline)),
            ListEvent::Clear => events.push(CompareEvent::Clear),
            ListEvent::Activate(row) => {
                if let Some(LineRow::Line(at)) = state.rows.rows.get(row)
                    && let Some(line) = model.lines(state.page).get(*at)
                {
                    events.extend(activate(model, line));
                }
            }
            _ => {}
        }
    }
    if !output.events.is_empty() {
        ui.ctx().request_repaint();
    }
}

/// What Enter does: a file is shown in the tree, a layer in the first image that has it.
fn activate(model: &CompareModel, line: &CompareLine) -> Option<CompareEvent> {
    match &line.about {
        LineSubject::Path(path) => Some(CompareEvent::Path(path.clone())),
        LineSubject::Layer(place) => {
            let row = model.compared.comparison.layers.get(*place)?;
            let image = row.shared_by().next()?;
            let layer = row.places.get(image)?.first().copied()?;
            let id = model.compared.ids.get(image).copied()?;
            Some(CompareEvent::Window(Action::ShowLayerIn(id, layer)))
        }
        _ => None,
    }
}
