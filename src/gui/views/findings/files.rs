//! All files of a finding.

use egui::{Event, Frame, Margin, Ui};

use super::{Action, FindingsEvent, ViewContext};
use crate::base::convert::fraction;
use crate::base::labels::SHADOWED;
use crate::base::size::human;
use crate::findings::Severity;
use crate::gui::design::{Tokens, space};
use crate::gui::models::findings::{FileLine, FindingFiles};
use crate::gui::models::format;
use crate::gui::views::path_menu;
use crate::gui::widgets::list::ListEvent;
use crate::gui::widgets::table::{TableCell, TableColumn, TableRow, TableShape, layer_cell, table};

/// A file, and the size for which a bar is full. Without a file, its row is empty.
type Line = (Option<FileLine>, u64);
type Column = TableColumn<Line>;

fn columns() -> [Column; 4] {
    [
        Column::text("File", 160.0, |(line, _), tokens| {
            TableCell::of(line.as_ref(), |line| TableCell::new(&*line.shown, tokens.text))
        }),
        Column::number("Size", 72.0, |(line, most), tokens| {
            TableCell::of(line.as_ref(), |line| {
                TableCell::new(human(line.bytes), tokens.text).share(fraction(line.bytes, *most))
            })
        }),
        Column::text("Severity", 56.0, |(line, _), tokens| {
            TableCell::of(line.as_ref().and_then(|line| line.all), |all| {
                let color = if all.severity == Severity::High { tokens.warning } else { tokens.text_weak };
                TableCell::new(all.severity.label(), color)
            })
        })
        .rank(2),
        Column::number("Layer", 40.0, |(line, _), tokens| {
            TableCell::of(line.as_ref(), |line| layer_cell(tokens, line.layer))
        })
        .rank(1),
    ]
}

/// Shows the files; gives how many rows were made.
pub(super) fn show(
    ui: &mut Ui,
    (id, files): (&str, &FindingFiles),
    chosen: &mut Option<usize>,
    context: &ViewContext<'_>,
    events: &mut Vec<FindingsEvent>,
) -> usize {
    let tokens = Tokens::of(ui);
    let Some(merge) = &context.analysis.merge else { return 0 };
    let line = |row: usize| files.line(merge, row);
    let picked = chosen.and_then(line);
    Frame::new().inner_margin(Margin { left: 12, right: 12, top: 4, bottom: 6 }).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::XS;
            ui.add_enabled_ui(picked.is_some(), |ui| {
                let hint = "Select a file first";
                let button = ui.button("Show in Layers").on_disabled_hover_text(hint);
                if let Some(line) = picked.as_ref().filter(|_| button.clicked()) {
                    open_in_layers(line, events);
                }
                let button = ui.button("Copy path").on_disabled_hover_text(hint);
                if let Some(line) = picked.as_ref().filter(|_| button.clicked()) {
                    copy(line, events);
                }
            });
        });
    });
    let shape = TableShape {
        name: "Files in the finding",
        rows: files.len(),
        columns: &columns(),
        sorting: None,
        selected: *chosen,
        reveal: false,
    };
    let largest = files.largest();
    let make = |index: usize| {
        let line = line(index);
        let hidden = line.as_ref().is_some_and(|line| line.hidden);
        let badges = if hidden { vec![(SHADOWED.to_owned(), tokens.hidden)] } else { Vec::new() };
        TableRow { badges, ..TableRow::new(index as u64, (line, largest)) }
    };
    let spoken = |(line, _): &Line| {
        line.as_ref().map_or_else(String::new, |line| {
            let hidden = if line.hidden { ", shadowed" } else { "" };
            // With one finding, its severity is in the head.
            let all = line.all.filter(|all| all.count > 1);
            let all = all.map_or_else(String::new, |all| format!(", {}", all.words().to_lowercase()));
            format!("{}, {}, layer {}{hidden}{all}", line.shown, human(line.bytes), line.layer)
        })
    };
    let output = table(ui, &format!("files of {id}"), shape, make, spoken);
    for event in &output.events {
        match *event {
            ListEvent::Select(row) => *chosen = Some(row),
            ListEvent::Activate(row) => {
                if let Some(line) = line(row) {
                    open_in_layers(&line, events);
                }
            }
            ListEvent::Clear => events.push(FindingsEvent::List),
            _ => {}
        }
    }
    if let Some((row, response)) = &output.hovered
        && let Some(line) = line(*row)
    {
        events.extend(path_menu(response, &line.raw).map(FindingsEvent::Window));
    }
    let copies = output.focused && ui.input(|input| input.events.contains(&Event::Copy));
    if let Some(line) = chosen.and_then(line).filter(|_| copies) {
        copy(&line, events);
    }
    if !output.events.is_empty() {
        ui.ctx().request_repaint();
    }
    output.painted
}

/// To the file in the layers view; one that a later layer hides is to be seen in its own layer only.
pub(super) fn open_in_layers(line: &FileLine, events: &mut Vec<FindingsEvent>) {
    if line.hidden {
        events.push(FindingsEvent::Window(Action::SelectLayer(usize::from(line.layer))));
    }
    events.push(FindingsEvent::Window(Action::SelectPath(line.raw.clone())));
}

fn copy(line: &FileLine, events: &mut Vec<FindingsEvent>) {
    events.push(FindingsEvent::Window(Action::CopyText(format::copy_text(&line.raw))));
}
