//! The table of libraries.

use std::sync::Arc;

use egui::Ui;

use super::state::CudaState;
use super::{Action, CudaEvent};
use crate::base::convert::fraction;
use crate::base::labels::{SUPPLIERS, USES};
use crate::base::size::{grouped, human};
use crate::cuda::{Supplier, Use};
use crate::gui::design::Tokens;
use crate::gui::models::cuda::{
    CudaModel, LibraryColumn, LibraryGroup, LibraryItem, LibraryRow, LibraryRows,
};
use crate::gui::models::format;
use crate::gui::widgets::cell::Cut;
use crate::gui::widgets::list::{ListEvent, ListOutput};
use crate::gui::widgets::pane::{card, empty};
use crate::gui::widgets::table::{TableCell, TableColumn, TableRow, TableShape, table};

const COLUMNS: [TableColumn; 8] = [
    TableColumn { title: "Library", width: 150.0, number: false, rank: 0 },
    TableColumn { title: "Version", width: 76.0, number: false, rank: 3 },
    TableColumn { title: "Supplier", width: 84.0, number: false, rank: 2 },
    TableColumn { title: "Layer", width: 40.0, number: true, rank: 5 },
    TableColumn { title: "Size", width: 76.0, number: true, rank: 0 },
    TableColumn { title: "GPU code", width: 76.0, number: true, rank: 4 },
    TableColumn { title: "Use", width: 122.0, number: false, rank: 1 },
    TableColumn { title: "Needed by", width: 62.0, number: true, rank: 6 },
];

/// Shows the table; gives how many rows were made.
pub(super) fn show(
    ui: &mut Ui,
    state: &mut CudaState,
    model: &CudaModel,
    events: &mut Vec<CudaEvent>,
) -> usize {
    let tokens = Tokens::of(ui);
    if model.libraries.is_empty() {
        card(ui, |ui| {
            empty(ui, "No CUDA libraries", "No known CUDA library and no file with GPU code in this image.");
        });
        return 0;
    }
    if state.rows.rows.is_empty() {
        card(ui, |ui| {
            let (supplier, usage) = (SUPPLIERS.term("wheel"), USES.term("unreferenced"));
            let note = format!(
                "Filter by name, glob (*.so.13), {supplier}, {usage}, layer:3, arch:sm_90 or size:>10M. All terms must \
                 match."
            );
            empty(ui, "No matching library", &note);
        });
        return 0;
    }
    let rows = &state.rows;
    let selected = state.library_row();
    let sort = LibraryColumn::ALL.iter().position(|column| *column == state.sorting.column).unwrap_or(0);
    let shape = TableShape {
        name: "CUDA libraries",
        rows: rows.rows.len(),
        columns: &COLUMNS,
        sort: Some((sort, state.sorting.descending)),
        selected,
        reveal: std::mem::take(&mut state.reveal),
    };
    let whole = Most::new(model, rows);
    let make = |index: usize| match rows.rows[index] {
        LibraryRow::Group(group) => group_row(tokens, group, &rows.groups[group], whole.group),
        LibraryRow::Library(library) => {
            let depth = u8::from(state.grouped);
            library_row(tokens, library, &model.libraries[library], depth, whole)
        }
    };
    let spoken = |index: usize| match rows.rows[index] {
        LibraryRow::Group(group) => spoken_group(&rows.groups[group]),
        LibraryRow::Library(library) => model.libraries[library].spoken(),
    };
    let output = card(ui, |ui| table(ui, "libraries", &shape, make, spoken));
    take(ui, state, model, &output, events);
    output.painted
}

/// The largest numbers, for which a bar is full.
#[derive(Clone, Copy, Default)]
struct Most {
    group: u64,
    library: u64,
    code: u64,
}

impl Most {
    fn new(model: &CudaModel, rows: &LibraryRows) -> Self {
        Self {
            group: rows.groups.iter().map(|group| group.bytes).max().unwrap_or(0),
            library: model.libraries.iter().map(|library| library.bytes).max().unwrap_or(0),
            code: model.libraries.iter().map(|library| library.gpu_bytes).max().unwrap_or(0),
        }
    }
}

fn take(ui: &Ui, state: &mut CudaState, model: &CudaModel, output: &ListOutput, events: &mut Vec<CudaEvent>) {
    let row = |state: &CudaState, index: usize| state.rows.rows.get(index).copied();
    for event in &output.events {
        match *event {
            ListEvent::Select(index) => match row(state, index) {
                Some(LibraryRow::Library(library)) => events.push(CudaEvent::Library(library)),
                Some(LibraryRow::Group(group)) => {
                    // A click anywhere on a group folds it; keys only pass over it.
                    let clicked = ui.input(|input| input.pointer.any_click());
                    let toggled = output
                        .events
                        .iter()
                        .any(|event| matches!(event, ListEvent::Open(_) | ListEvent::Close(_)));
                    if clicked && !toggled {
                        let open = state.rows.groups[group].open;
                        fold(state, group, open);
                    }
                    state.at_group(group);
                }
                None => {}
            },
            ListEvent::Open(index) | ListEvent::Close(index) => {
                if let Some(LibraryRow::Group(group)) = row(state, index) {
                    fold(state, group, matches!(event, ListEvent::Close(_)));
                }
            }
            ListEvent::Parent(index) => {
                if let Some(LibraryRow::Group(group)) = state.rows.parent(index).and_then(|at| row(state, at))
                {
                    state.at_group(group);
                }
            }
            ListEvent::Sort(column) => {
                if let Some(column) = LibraryColumn::ALL.get(column) {
                    state.sorting = state.sorting.clicked(*column);
                    state.changed();
                }
            }
            ListEvent::Activate(index) => {
                if let Some(LibraryRow::Library(library)) = row(state, index) {
                    let raw = model.libraries[library].raw.clone();
                    events.push(CudaEvent::Window(Action::SelectPath(raw)));
                }
            }
            ListEvent::Clear => events.push(CudaEvent::Clear),
            _ => {}
        }
    }
    let copies = output.focused && ui.input(|input| input.events.contains(&egui::Event::Copy));
    if let Some(library) = state.library().filter(|_| copies) {
        events.push(CudaEvent::Window(Action::CopyText(format::copy_text(&model.libraries[library].raw))));
    }
    if !output.events.is_empty() {
        ui.ctx().request_repaint();
    }
}

fn fold(state: &mut CudaState, group: usize, close: bool) {
    let Some(name) = state.rows.groups.get(group).map(|group| Arc::clone(&group.name)) else { return };
    if close {
        state.folded.insert(name);
    } else {
        state.folded.remove(&name);
    }
    state.changed();
}

/// The colour of a supplier; always shown with its word.
pub(super) fn supplier_color(tokens: &Tokens, supplier: Supplier) -> egui::Color32 {
    tokens.suppliers[match supplier {
        Supplier::Wheel => 0,
        Supplier::Conda => 1,
        Supplier::Toolkit => 2,
        Supplier::Distro => 3,
        Supplier::Application => 4,
    }]
}

fn group_row(tokens: &Tokens, key: usize, group: &LibraryGroup, whole: u64) -> TableRow {
    let text = tokens.text;
    let count = crate::base::text::counted(group.libraries.len(), "library");
    let supplier = match group.suppliers.as_slice() {
        [one] => TableCell {
            chip: Some(supplier_color(tokens, *one)),
            ..TableCell::new(one.label(), tokens.text_weak)
        },
        _ => TableCell::new("several", tokens.text_weak),
    };
    let share = fraction(group.bytes, whole);
    let gpu = if group.gpu_bytes > 0 { human(group.gpu_bytes) } else { String::new() };
    TableRow {
        key: 1_u64 << 40 | key as u64,
        depth: 0,
        fold: Some(group.open),
        strong: true,
        cut: Cut::End,
        badges: Vec::new(),
        cells: vec![
            TableCell::new(group.name.as_ref(), text),
            TableCell::new(count, tokens.text_weak),
            supplier,
            TableCell::new("", text),
            TableCell { share, ..TableCell::new(human(group.bytes), text) },
            TableCell::new(gpu, tokens.text_weak),
        ],
    }
}

fn spoken_group(group: &LibraryGroup) -> String {
    let suppliers: Vec<&str> = group.suppliers.iter().map(|one| one.label()).collect();
    let count = crate::base::text::counted(group.libraries.len(), "library");
    format!("{}, {}, {count}, {}", group.name, human(group.bytes), suppliers.join(" and "))
}

fn library_row(tokens: &Tokens, key: usize, item: &LibraryItem, depth: u8, whole: Most) -> TableRow {
    let weak = tokens.text_weak;
    let color = if item.words.is_empty() { tokens.text } else { weak };
    let usage = if item.usage == Use::Unreferenced { weak } else { tokens.text };
    let gpu = if item.gpu_bytes > 0 { human(item.gpu_bytes) } else { "–".to_owned() };
    TableRow {
        key: key as u64,
        depth,
        fold: None,
        strong: false,
        cut: Cut::Middle,
        badges: item.words.iter().map(|word| (word.clone(), weak)).collect(),
        cells: vec![
            TableCell::new(item.name.clone(), color),
            TableCell::new(item.version.clone(), weak),
            TableCell {
                chip: Some(supplier_color(tokens, item.supplier)),
                ..TableCell::new(item.supplier.label(), weak)
            },
            TableCell {
                chip: Some(tokens.layer(usize::from(item.layer))),
                ..TableCell::new(item.layer.to_string(), weak)
            },
            TableCell {
                share: fraction(item.bytes, whole.library),
                ..TableCell::new(human(item.bytes), tokens.text)
            },
            TableCell { share: fraction(item.gpu_bytes, whole.code), ..TableCell::new(gpu, weak) },
            TableCell::new(item.usage.label(), usage),
            TableCell::new(grouped(item.needed_by as u64), weak),
        ],
    }
}
