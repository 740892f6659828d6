//! Files that the new image does not have.

use egui::{Frame, Margin, RichText, Ui};

use super::state::DockerfileState;
use super::{Action, DockerfileEvent, ViewContext};
use crate::base::convert::fraction;
use crate::base::size::human;
use crate::base::text::counted;
use crate::findings::Category;
use crate::gui::design::{Tokens, space};
use crate::gui::models::dockerfile::ProposalItem;
use crate::gui::views::View;
use crate::gui::widgets::list::ListEvent;
use crate::gui::widgets::table::{TableCell, TableColumn, TableRow, TableShape, table};
use crate::rewrite::Removed;

/// A file, and the size for which a bar is full.
type Line<'a> = (Option<&'a Removed>, u64);
type Column<'a> = TableColumn<Line<'a>>;

fn columns<'a>() -> [Column<'a>; 3] {
    [
        Column::text("File", 160.0, |(file, _), tokens| {
            TableCell::of(*file, |file| TableCell::new(&*file.path, tokens.text))
        }),
        Column::text("Category", 108.0, |(file, _), tokens| {
            TableCell::of(*file, |file| TableCell::new(kind(file.category), tokens.text_weak))
        })
        .rank(1),
        Column::number("Size", 72.0, |(file, most), tokens| {
            TableCell::of(*file, |file| {
                TableCell::new(human(file.bytes), tokens.text).share(fraction(file.bytes, *most))
            })
        }),
    ]
}

fn kind(category: Option<Category>) -> &'static str {
    category.map_or(BASE, Category::label)
}

/// Label of files without a finding.
const BASE: &str = "Base image";

pub(super) fn show(
    ui: &mut Ui,
    state: &mut DockerfileState,
    proposal: &ProposalItem,
    context: &ViewContext<'_>,
    events: &mut Vec<DockerfileEvent>,
) {
    let tokens = Tokens::of(ui);
    let files = &proposal.removed;
    let category = state.file.and_then(|row| files.get(row)).and_then(|file| file.category);
    Frame::new().inner_margin(Margin { left: 12, right: 12, top: 0, bottom: 6 }).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            let words = format!("{}, {} merged", counted(files.len(), "file"), human(proposal.removed_bytes));
            let about = "Files that the proposal adds are not subtracted";
            ui.label(RichText::new(words).color(tokens.text)).on_hover_text(about);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let about = "Show the finding of the selected file, or all findings";
                if ui.button("Show in Findings").on_hover_text(about).clicked() {
                    events.push(DockerfileEvent::Window(open_finding(context, category)));
                }
            });
        });
    });
    let shape = TableShape {
        name: "Removed files",
        rows: files.len(),
        columns: &columns(),
        sorting: None,
        selected: state.file,
        reveal: false,
    };
    let largest = files.first().map_or(0, |file| file.bytes);
    let make = |index: usize| TableRow::new(index as u64, (files.get(index), largest));
    let spoken = |(file, _): &Line<'_>| {
        file.map_or_else(String::new, |file| {
            format!("{}, {}, {}", file.path, human(file.bytes), kind(file.category))
        })
    };
    let output = table(ui, &format!("removed by {}", proposal.id), shape, make, spoken);
    for event in &output.events {
        match *event {
            ListEvent::Select(row) => state.file = Some(row),
            ListEvent::Activate(row) => {
                let category = files.get(row).and_then(|file| file.category);
                events.push(DockerfileEvent::Window(open_finding(context, category)));
            }
            ListEvent::Clear => events.push(DockerfileEvent::Texts),
            _ => {}
        }
    }
    if !output.events.is_empty() {
        ui.ctx().request_repaint();
    }
}

/// To the finding of a category that the plan has, else to all findings.
fn open_finding(context: &ViewContext<'_>, category: Option<Category>) -> Action {
    let findings = context.analysis.findings.as_deref();
    let mut list = findings.iter().flat_map(|findings| &findings.list);
    let found = list.find(|one| Some(one.category) == category && context.plan.contains(&one.id));
    found.map_or(Action::ShowView(View::Findings), |one| Action::SelectFinding(one.id.clone()))
}
