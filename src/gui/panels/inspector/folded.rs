//! JSON and TOML as a tree.

use egui::Ui;

use crate::gui::models::contents::{OutlineRows, TextSearch};
use crate::gui::widgets::list::{ListEvent, ListOutput};
use crate::gui::widgets::outline::{OutlineLine, OutlineShape, outline};
use crate::gui::widgets::pane::empty;

/// Shows the tree, with the match of a search in sight. The line of the text to go to, if a value was activated.
pub(super) fn show(ui: &mut Ui, rows: &mut OutlineRows, search: &mut TextSearch) -> Option<usize> {
    if rows.is_empty() {
        empty(ui, "No values", "The file has no members.");
        return None;
    }
    if std::mem::take(&mut search.reveal)
        && let Some(node) = search.place()
    {
        rows.reveal(node);
    }
    let shape = OutlineShape {
        name: "File values",
        rows: rows.len(),
        selected: rows.selected(),
        reveal: std::mem::take(&mut rows.reveal),
    };
    let line = |row: usize| {
        let row = rows.row(row);
        OutlineLine {
            key: row.node as u64,
            name: row.key,
            named: row.named,
            value: row.value,
            scalar: row.scalar,
            depth: row.depth,
            open: row.open,
        }
    };
    let output = outline(ui, "file values", &shape, line, |row| rows.row(row).spoken());
    tooltip(rows, &output);
    let copies = output.focused && ui.input(|input| input.events.contains(&egui::Event::Copy));
    if copies && let Some(node) = rows.selected().and_then(|row| rows.node(row)) {
        ui.ctx().copy_text(rows.outline().copied(node));
    }
    let mut line = None;
    for event in &output.events {
        match *event {
            ListEvent::Select(row) => rows.select(row),
            ListEvent::Open(row) => rows.open(row),
            ListEvent::Close(row) => rows.close(row),
            ListEvent::Parent(row) => rows.select_parent(row),
            ListEvent::Activate(row) => line = rows.node(row).map(|node| rows.outline().line(node)),
            _ => {}
        }
    }
    if !output.events.is_empty() {
        ui.ctx().request_repaint();
    }
    line
}

/// The whole of a value that may be cut.
fn tooltip(rows: &OutlineRows, output: &ListOutput) {
    if let Some((row, response)) = &output.hovered {
        let row = rows.row(*row);
        if row.scalar {
            response.clone().on_hover_ui(|ui| {
                ui.set_max_width(480.0);
                ui.label(row.spoken());
            });
        }
    }
}
