//! Why lines are changed: all reasons of the chosen line, and the list of all.

use egui::{Align, Frame, Label, Layout, Margin, RichText, ScrollArea, Stroke, Ui, UiBuilder};

use super::DockerfileEvent;
use super::head::sign;
use super::state::DockerfileState;
use crate::base::size::{human, human_or_dash};
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::dockerfile::{ProposalItem, ReasonItem};
use crate::gui::widgets::alert::marked;
use crate::gui::widgets::cell::Cut;
use crate::gui::widgets::controls;
use crate::gui::widgets::list::ListEvent;
use crate::gui::widgets::table::{TableCell, TableColumn, TableRow, TableShape, table};

type Column<'a> = TableColumn<Option<&'a ReasonItem>>;

fn columns<'a>() -> [Column<'a>; 3] {
    [
        Column::text("Why", 250.0, |reason, tokens| {
            TableCell::of(*reason, |reason| {
                TableCell::new(&*reason.text, tokens.text).mark(sign(tokens, reason.applicability))
            })
        }),
        Column::number("Line", 56.0, |reason, tokens| {
            TableCell::of(*reason, |reason| TableCell::new(&*reason.place, tokens.text_weak))
        }),
        Column::number("Saves, content", 96.0, |reason, tokens| {
            TableCell::of(*reason, |reason| TableCell::new(human_or_dash(reason.bytes), tokens.text_weak))
        })
        .rank(1),
    ]
}

/// From this width on, the reasons of the line are beside the list.
const WIDE: f32 = 560.0;

pub(super) fn show(
    ui: &mut Ui,
    state: &mut DockerfileState,
    proposal: &ProposalItem,
    events: &mut Vec<DockerfileEvent>,
) {
    if ui.available_width() < WIDE {
        // Of one height, so that the list below stays where it is.
        let height = (ui.available_height() * 0.4).clamp(44.0, 140.0);
        of_line(ui, state, proposal, height);
        list(ui, state, proposal, events);
        return;
    }
    let whole = ui.available_rect_before_wrap();
    let (left, right) = whole.split_left_right_at_fraction(0.42);
    let builder = |rect| UiBuilder::new().max_rect(rect).layout(Layout::top_down(Align::Min));
    ui.scope_builder(builder(left), |ui| of_line(ui, state, proposal, left.height()));
    ui.painter().vline(right.left(), whole.y_range(), Stroke::new(1.0, Tokens::of(ui).border));
    ui.scope_builder(builder(right.with_min_x(right.left() + 1.0)), |ui| list(ui, state, proposal, events));
}

/// All reasons of the chosen line.
fn of_line(ui: &mut Ui, state: &DockerfileState, proposal: &ProposalItem, height: f32) {
    let row = state.row.and_then(|row| proposal.aligned.rows.get(row));
    let area = ScrollArea::vertical().id_salt("reasons of the line").auto_shrink(false);
    area.min_scrolled_height(height).max_height(height).show(ui, |ui| {
        Frame::new().inner_margin(Margin { left: 12, right: 12, top: 2, bottom: 0 }).show(ui, |ui| {
            ui.set_width(ui.available_width());
            let Some(row) = row else {
                controls::weak(ui, "Select a line to see why it changes.");
                return;
            };
            if row.reasons.is_empty() {
                let known =
                    if row.is_changed() { "No reason recorded for this line." } else { "Line unchanged." };
                controls::weak(ui, known);
            }
            for reason in row.reasons.iter().filter_map(|at| proposal.reasons.get(*at)) {
                whole(ui, reason);
            }
        });
    });
}

/// All reasons there are.
fn list(ui: &mut Ui, state: &DockerfileState, proposal: &ProposalItem, events: &mut Vec<DockerfileEvent>) {
    let row = state.row.and_then(|row| proposal.aligned.rows.get(row));
    let shape = TableShape {
        name: "Reasons",
        rows: proposal.reasons.len(),
        columns: &columns(),
        sorting: None,
        selected: state.reason.or_else(|| row.and_then(|row| row.reasons.first().copied())),
        reveal: state.reveal,
    };
    let make =
        |index: usize| TableRow { cut: Cut::End, ..TableRow::new(index as u64, proposal.reasons.get(index)) };
    let spoken = |reason: &_| Option::map(*reason, ReasonItem::spoken).unwrap_or_default();
    let output = table(ui, &format!("reasons of {}", proposal.id), shape, make, spoken);
    for event in &output.events {
        match *event {
            ListEvent::Select(index) => events.push(DockerfileEvent::Reason(index)),
            ListEvent::Activate(_) | ListEvent::Clear => events.push(DockerfileEvent::Texts),
            _ => {}
        }
    }
}

/// A reason in full.
fn whole(ui: &mut Ui, reason: &ReasonItem) {
    let tokens = Tokens::of(ui);
    let (mark, color) = sign(tokens, reason.applicability);
    marked(ui, mark, color, |ui| {
        ui.spacing_mut().item_spacing.y = 1.0;
        ui.add(Label::new(RichText::new(&reason.text).color(tokens.text)).wrap().selectable(true));
        let saves =
            reason.bytes.map_or_else(String::new, |bytes| format!(", saves {} of content", human(bytes)));
        let word = reason.applicability.label();
        let about = RichText::new(format!("{word}{saves}")).font(text::small()).color(tokens.text_weak);
        ui.label(about).on_hover_text(reason.applicability.about());
    });
    ui.add_space(space::XS);
}
