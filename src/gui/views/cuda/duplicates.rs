//! What is there more than once, and which copy is loaded.

use egui::Ui;

use super::libraries::supplier_color;
use super::state::CudaState;
use super::{Action, CudaEvent};
use crate::base::convert::fraction;
use crate::base::size::human;
use crate::gui::design::Tokens;
use crate::gui::models::cuda::{CopyItem, CudaModel, DuplicateItem, DuplicateRow};
use crate::gui::widgets::cell::Cut;
use crate::gui::widgets::list::{ListEvent, ListOutput};
use crate::gui::widgets::pane::{card, empty};
use crate::gui::widgets::table::{TableCell, TableColumn, TableRow, TableShape, table};

const COLUMNS: [TableColumn; 6] = [
    TableColumn { title: "Name and copies", width: 180.0, number: false, rank: 0 },
    TableColumn { title: "Supplier", width: 66.0, number: false, rank: 3 },
    TableColumn { title: "Layer", width: 40.0, number: true, rank: 4 },
    TableColumn { title: "Size", width: 76.0, number: true, rank: 0 },
    TableColumn { title: "Removable", width: 76.0, number: true, rank: 0 },
    TableColumn { title: "Loaded by", width: 150.0, number: false, rank: 1 },
];

/// Shows the list; gives how many rows were made.
pub(super) fn show(
    ui: &mut Ui,
    state: &mut CudaState,
    model: &CudaModel,
    events: &mut Vec<CudaEvent>,
) -> usize {
    let tokens = Tokens::of(ui);
    if state.copies.is_empty() {
        let (title, note) = if model.duplicates.is_empty() {
            ("No duplicates", "No libraries with the same soname and no identical large files.")
        } else {
            ("No matches", "The filter excludes all copies.")
        };
        card(ui, |ui| empty(ui, title, note));
        return 0;
    }
    let rows = &state.copies;
    let chosen = |row: &DuplicateRow| match (*row, state.copies_at) {
        (row, Some(at)) => row == at,
        (DuplicateRow::Copy(item, copy), None) => {
            state.selected() == Some(&model.duplicates[item].copies[copy].raw)
        }
        _ => false,
    };
    let shape = TableShape {
        name: "Duplicates",
        rows: rows.len(),
        columns: &COLUMNS,
        sort: None,
        selected: rows.iter().position(chosen),
        reveal: std::mem::take(&mut state.reveal),
    };
    let whole = model.duplicates.iter().map(|item| item.gain).max().unwrap_or(0);
    let make = |index: usize| match rows[index] {
        DuplicateRow::Head(words) => head_row(tokens, index, words),
        DuplicateRow::Group(item) => {
            group_row(tokens, item, &model.duplicates[item], !state.folded_copies.contains(&item), whole)
        }
        DuplicateRow::Copy(item, copy) => copy_row(tokens, item, copy, &model.duplicates[item].copies[copy]),
    };
    let spoken = |index: usize| match rows[index] {
        DuplicateRow::Head(words) => words.to_owned(),
        DuplicateRow::Group(item) => spoken_group(&model.duplicates[item]),
        DuplicateRow::Copy(item, copy) => spoken_copy(&model.duplicates[item].copies[copy]),
    };
    let output = card(ui, |ui| table(ui, "duplicates", &shape, make, spoken));
    take(ui, state, model, &output, events);
    output.painted
}

fn take(ui: &Ui, state: &mut CudaState, model: &CudaModel, output: &ListOutput, events: &mut Vec<CudaEvent>) {
    for event in &output.events {
        match *event {
            ListEvent::Select(index) => match state.copies.get(index).copied() {
                Some(DuplicateRow::Copy(item, copy)) => {
                    state.copies_at = None;
                    events.push(CudaEvent::File(model.duplicates[item].copies[copy].raw.clone()));
                }
                row => state.copies_at = row,
            },
            ListEvent::Open(index) | ListEvent::Close(index) => {
                if let Some(DuplicateRow::Group(item)) = state.copies.get(index).copied() {
                    if matches!(event, ListEvent::Close(_)) {
                        state.folded_copies.insert(item);
                    } else {
                        state.folded_copies.remove(&item);
                    }
                    state.changed();
                }
            }
            ListEvent::Parent(index) => {
                let above = state.copies.get(..index).unwrap_or_default();
                let group = above.iter().rev().find(|row| matches!(row, DuplicateRow::Group(_)));
                state.copies_at = group.copied().or(state.copies_at);
            }
            ListEvent::Activate(index) => {
                if let Some(DuplicateRow::Copy(item, copy)) = state.copies.get(index).copied() {
                    let raw = model.duplicates[item].copies[copy].raw.clone();
                    events.push(CudaEvent::Window(Action::SelectPath(raw)));
                }
            }
            ListEvent::Clear => events.push(CudaEvent::Clear),
            _ => {}
        }
    }
    if !output.events.is_empty() {
        ui.ctx().request_repaint();
    }
}

fn head_row(tokens: &Tokens, index: usize, words: &str) -> TableRow {
    TableRow {
        key: 1_u64 << 60 | index as u64,
        depth: 0,
        fold: None,
        strong: false,
        cut: Cut::End,
        badges: Vec::new(),
        cells: vec![TableCell::new(words, tokens.text_weak)],
    }
}

fn group_row(tokens: &Tokens, key: usize, item: &DuplicateItem, open: bool, whole: u64) -> TableRow {
    let (word, color) = match item.identical {
        Some(true) => (item.match_label(), tokens.text_weak),
        Some(false) => (item.match_label(), tokens.warning),
        None => (item.match_label(), tokens.text_weak),
    };
    let total: u64 = item.copies.iter().map(|copy| copy.bytes).fold(0, u64::saturating_add);
    let gain = if item.gain > 0 { human(item.gain) } else { "–".to_owned() };
    TableRow {
        key: 1_u64 << 50 | key as u64,
        depth: 0,
        fold: Some(open),
        strong: true,
        cut: Cut::Middle,
        badges: vec![(word.to_owned(), color)],
        cells: vec![
            TableCell::new(item.title.clone(), tokens.text),
            TableCell::new(copies(item), tokens.text_weak),
            TableCell::new("", tokens.text),
            TableCell::new(human(total), tokens.text_weak),
            TableCell { share: fraction(item.gain, whole), ..TableCell::new(gain, tokens.text) },
        ],
    }
}

fn copies(item: &DuplicateItem) -> String {
    if item.copies.len() == 1 { "1 copy".to_owned() } else { format!("{} copies", item.copies.len()) }
}

fn copy_row(tokens: &Tokens, item: usize, place: usize, copy: &CopyItem) -> TableRow {
    let supplier = match copy.supplier {
        Some(supplier) => TableCell {
            chip: Some(supplier_color(tokens, supplier)),
            ..TableCell::new(supplier.label(), tokens.text_weak)
        },
        None => TableCell::new("–", tokens.text_weak),
    };
    let layer = TableCell {
        chip: Some(tokens.layer(usize::from(copy.layer))),
        ..TableCell::new(copy.layer.to_string(), tokens.text_weak)
    };
    let loaded = copy.loaded_by.as_deref().unwrap_or("");
    let color = if loaded == "not loaded" { tokens.warning } else { tokens.text };
    TableRow {
        key: (item as u64) << 20 | place as u64,
        depth: 1,
        fold: None,
        strong: false,
        cut: Cut::Middle,
        badges: Vec::new(),
        cells: vec![
            TableCell::new(copy.path.clone(), tokens.text),
            supplier,
            layer,
            TableCell::new(human(copy.bytes), tokens.text),
            TableCell::new("", tokens.text),
            TableCell::new(loaded, color),
        ],
    }
}

fn spoken_group(item: &DuplicateItem) -> String {
    format!("{}, {}, {}, {} removable", item.title, copies(item), item.match_label(), human(item.gain))
}

fn spoken_copy(copy: &CopyItem) -> String {
    let supplier = copy.supplier.map_or_else(String::new, |one| format!(", {}", one.label()));
    let loaded = copy.loaded_by.as_deref().map_or_else(String::new, |by| match by {
        "not loaded" => ", not loaded".to_owned(),
        by => format!(", loaded by {by}"),
    });
    format!("{}, {}{supplier}, layer {}{loaded}", copy.path, human(copy.bytes), copy.layer)
}
