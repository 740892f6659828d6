//! One tree over all images.

use std::sync::Arc;

use egui::Ui;

use super::lines::{clicked, color, heads, sorted};
use super::state::CompareState;
use super::{Action, CompareContext, CompareEvent, ComparePage};
use crate::base::size::human;
use crate::base::text::escape;
use crate::compare::{Change, Row};
use crate::gui::design::Tokens;
use crate::gui::models::compare::{CompareModel, FileRow, FilesShown, file_delta};
use crate::gui::models::inspector::PathTarget;
use crate::gui::widgets::cell::Cut;
use crate::gui::widgets::list::{ListEvent, ListOutput};
use crate::gui::widgets::matrix::{MatrixCell, MatrixHead, MatrixRow, MatrixShape, matrix};
use crate::gui::widgets::pane::{card, empty};
use crate::jobs::Waker;

/// The least width of a column.
const COLUMN: f32 = 150.0;

pub(super) fn show(
    ui: &mut Ui,
    state: &mut CompareState,
    model: &Arc<CompareModel>,
    around: &CompareContext,
    waker: &Waker,
    events: &mut Vec<CompareEvent>,
) -> ListOutput {
    let reveal = state.files.take_reveal();
    let sort = state.sort();
    let Some(shown) = state.files.shown() else {
        let words = state.files.error().unwrap_or_default().to_owned();
        card(ui, |ui| match words.as_str() {
            "" => empty(ui, "Sorting files…", ""),
            error => empty(ui, "Cannot show files", error),
        });
        return ListOutput::default();
    };
    if shown.rows.as_slice().is_empty() {
        let (found, hidden) = (shown.filtered.found, shown.filtered.hidden);
        card(ui, |ui| match (found, hidden) {
            (0, _) => empty(
                ui,
                "No matching path",
                "Filter by name, glob (*.so), path (with a /), size:>10M or is:added. All terms must match.",
            ),
            _ => empty(
                ui,
                "No file differences",
                "All images have the same files. Clear “Only differences” to show all.",
            ),
        });
        return ListOutput::default();
    }
    let tokens = Tokens::of(ui);
    let heads = heads(model, &state.columns, around);
    let rows = shown.rows.as_slice();
    let selected = state.files.row();
    let shape = MatrixShape {
        name: ComparePage::Files.title(),
        title: "Name",
        about: "sort by name",
        heads: &heads,
        least: COLUMN,
        rows: rows.len(),
        sort: sorted(sort, model.baseline),
        selected,
        reveal,
    };
    // Rows of the comparison before, until those of the newer one are made.
    let of = &shown.model;
    let make = |index: usize| rows.get(index).map_or_else(nothing, |row| row_at(tokens, of, shown, *row));
    let spoken = |index: usize| rows.get(index).map_or_else(String::new, |row| speak(of, &heads, *row));
    let output = card(ui, |ui| matrix(ui, "compared files", &shape, make, spoken));
    for event in &output.events {
        match *event {
            ListEvent::Select(row) => state.files.select_row(row),
            ListEvent::Open(row) => state.files.open_row(row, waker),
            ListEvent::Close(row) => state.files.close_row(row),
            ListEvent::Parent(row) => state.files.select_parent(row),
            ListEvent::Sort(head) => state.set_sort(clicked(head, model.baseline)),
            ListEvent::Activate(_) => events.extend(lead(state, model)),
            ListEvent::Clear => events.push(CompareEvent::Clear),
            _ => {}
        }
    }
    if let Some((row, response)) = &output.hovered
        && response.secondary_clicked()
    {
        state.files.select_row(*row);
        let target = state.files.selected().map(|path| PathTarget::of(path.to_vec()));
        let id = target.as_ref().and_then(|target| first_with(model, &target.raw));
        events
            .extend(id.zip(target).map(|(id, target)| CompareEvent::Window(Action::PathMenuIn(id, target))));
    }
    if !output.events.is_empty() {
        ui.ctx().request_repaint();
    }
    let copies = output.focused && ui.input(|input| input.events.contains(&egui::Event::Copy));
    if let Some(path) = state.files.selected().filter(|_| copies) {
        events.push(CompareEvent::Window(Action::CopyText(escape(path))));
    }
    output
}

/// To the layers of the first image that has the chosen path.
fn lead(state: &CompareState, model: &CompareModel) -> Option<CompareEvent> {
    let path = state.files.selected()?;
    Some(CompareEvent::Window(Action::ShowPathIn(first_with(model, path)?, path.to_vec())))
}

/// The first image that has a path.
fn first_with(model: &CompareModel, path: &[u8]) -> Option<u64> {
    let tree = &model.compared.comparison.tree;
    let row = tree.row(tree.find(path)?);
    let image = (0..model.images()).find(|image| row.node(*image).is_some())?;
    model.compared.ids.get(image).copied()
}

fn change_of(model: &CompareModel, row: Row<'_>, image: usize) -> Option<Change> {
    model.changes.get(image)?.get(row.id().0 as usize).copied()
}

/// The change of a path over all images, for the sign before its name.
fn whole(model: &CompareModel, row: Row<'_>) -> Option<Change> {
    let all = (0..model.images()).filter_map(|image| change_of(model, row, image));
    let mut all: Vec<Change> =
        all.filter(|change| !matches!(change, Change::Same | Change::Absent)).collect();
    all.sort_unstable();
    all.dedup();
    match all.as_slice() {
        [] => None,
        [one] => Some(*one),
        _ => Some(Change::Changed),
    }
}

fn row_at(tokens: &Tokens, model: &CompareModel, shown: &FilesShown, file: FileRow) -> MatrixRow {
    let row = model.compared.comparison.tree.row(file.path);
    let folder = row.children().len() > 0;
    let mut name = escape(row.name());
    if folder {
        name.push('/');
    }
    let base = row.bytes(model.baseline);
    let cells = (0..model.images()).map(|image| {
        let bytes = row.bytes(image);
        let change = change_of(model, row, image);
        MatrixCell {
            text: bytes.map_or_else(|| "–".to_owned(), human),
            color: if bytes.is_none() { tokens.text_weak } else { tokens.text },
            sign: "",
            note: change.map_or_else(String::new, |change| file_delta(change, bytes, base)),
            note_color: color(tokens, None, change),
            number: true,
            share: 0.0,
        }
    });
    let cells = cells.collect();
    let change = whole(model, row);
    let fits = shown.filtered.fits(file.path);
    MatrixRow {
        key: u64::from(file.path.0),
        depth: file.depth,
        fold: folder.then(|| shown.rows.open().contains(&file.path)),
        strong: fits == Some(true),
        sign: Some(
            change.map_or(("", tokens.text), |change| (change.sign(), color(tokens, None, Some(change)))),
        ),
        name,
        color: if fits == Some(false) { tokens.text_weak } else { tokens.text },
        cut: Cut::Middle,
        note: String::new(),
        cells,
    }
}

fn nothing() -> MatrixRow {
    MatrixRow {
        key: 0,
        depth: 0,
        fold: None,
        strong: false,
        sign: None,
        name: String::new(),
        color: egui::Color32::PLACEHOLDER,
        cut: Cut::End,
        note: String::new(),
        cells: Vec::new(),
    }
}

/// Screen reader text of a row.
fn speak(model: &CompareModel, heads: &[MatrixHead], file: FileRow) -> String {
    let row = model.compared.comparison.tree.row(file.path);
    let mut text = escape(row.name());
    for (image, head) in (0..model.images()).zip(heads) {
        let size = row.bytes(image).map_or_else(|| "nothing".to_owned(), human);
        text = format!("{text}; {} {size}", head.letter);
        if let Some(change) = change_of(model, row, image).filter(|change| *change != Change::Absent) {
            text = format!("{text} {}", change.label());
        }
    }
    text
}
