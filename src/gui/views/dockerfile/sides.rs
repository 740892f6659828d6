//! The original beside the proposal.

use egui::{Align, Layout, Rangef, Rect, RichText, Stroke, Ui, UiBuilder, pos2};

use super::DockerfileEvent;
use super::head::sign;
use super::state::DockerfileState;
use crate::base::text::printable;
use crate::gui::design::{Tokens, text};
use crate::gui::models::dockerfile::{
    Aligned, AlignedRow, DockerfileLine, DockerfileModel, LineChange, ProposalItem,
};
use crate::gui::views::commands::{Command, command_button};
use crate::gui::widgets::list::{ListEvent, ListOutput};
use crate::gui::widgets::sides::{SideLine, SidesRow, SidesShape, halves, sides};
use crate::rewrite::Applicability;

/// The height of the heads.
const HEAD: f32 = 34.0;
/// The same where the buttons have a line of their own.
const TWO_LINES: f32 = 60.0;
/// Narrower than this, the head of a side leaves out what is changed.
const NARROW: f32 = 400.0;
/// Narrower than this, there is no room for a heading beside the buttons.
const BUTTONS: f32 = 330.0;

/// Shows both texts, or the original alone where nothing is proposed.
pub(super) fn show(
    ui: &mut Ui,
    state: &mut DockerfileState,
    model: &DockerfileModel,
    events: &mut Vec<DockerfileEvent>,
) -> ListOutput {
    let proposal = state.proposal(model);
    let aligned = proposal.map_or(&model.original, |proposal| &proposal.aligned);
    heads(ui, state, model, proposal, events);
    let number = |line: &Option<DockerfileLine>| line.as_ref().map_or(0, |line| line.number);
    let last = aligned.rows.iter().rev().take(2_000).map(|row| number(&row.left).max(number(&row.right)));
    let shape = SidesShape {
        name: if proposal.is_some() { "Dockerfile and proposal" } else { "Dockerfile" },
        rows: aligned.rows.len(),
        widest: aligned.widest,
        last: last.max().unwrap_or(1),
        selected: state.row,
        reveal: std::mem::take(&mut state.reveal),
        middle: std::mem::take(&mut state.middle),
        alone: proposal.is_none(),
    };
    let tokens = Tokens::of(ui);
    let output = sides(
        ui,
        "dockerfile texts",
        &shape,
        |index| aligned.rows.get(index).map_or(NOTHING, |row| painted(tokens, row, proposal)),
        |index| spoken(aligned, proposal, index),
        |index| reasons(aligned, proposal, index).join("\n"),
    );
    for event in &output.events {
        events.push(match *event {
            ListEvent::Select(row) => DockerfileEvent::Row(row),
            ListEvent::Activate(_) => DockerfileEvent::Details,
            ListEvent::Step(forward) => DockerfileEvent::Step(forward),
            ListEvent::Clear => DockerfileEvent::Clear,
            _ => continue,
        });
    }
    output
}

const NOTHING: SidesRow<'static> = SidesRow { left: None, right: None, mark: None };

/// Why a row is changed.
fn reasons(aligned: &Aligned, proposal: Option<&ProposalItem>, row: usize) -> Vec<String> {
    let (Some(row), Some(proposal)) = (aligned.rows.get(row), proposal) else { return Vec::new() };
    row.reasons.iter().filter_map(|at| proposal.reasons.get(*at)).map(|reason| reason.text.clone()).collect()
}

fn spoken(aligned: &Aligned, proposal: Option<&ProposalItem>, row: usize) -> String {
    let words = aligned.rows.get(row).map(AlignedRow::spoken).unwrap_or_default();
    match reasons(aligned, proposal, row).as_slice() {
        [] => words,
        reasons => format!("{words}. Why: {}", reasons.join("; ")),
    }
}

fn painted<'a>(tokens: &Tokens, row: &'a AlignedRow, proposal: Option<&ProposalItem>) -> SidesRow<'a> {
    let color = |change: LineChange| match change {
        LineChange::Same => None,
        LineChange::Changed => Some((change.sign(), tokens.changed)),
        LineChange::Removed => Some((change.sign(), tokens.removed)),
        LineChange::Added => Some((change.sign(), tokens.added)),
    };
    let side = |line: &'a DockerfileLine| SideLine {
        number: line.number,
        text: &line.text,
        sign: color(line.change),
        strong: &line.differs,
    };
    // The one that needs the most care.
    let worst: Option<Applicability> = proposal.and_then(|proposal| {
        row.reasons.iter().filter_map(|at| proposal.reasons.get(*at)).map(|reason| reason.applicability).max()
    });
    SidesRow {
        left: row.left.as_ref().map(side),
        right: row.right.as_ref().map(side),
        mark: worst.map(|worst| sign(tokens, worst)),
    }
}

/// What each side is, and what can be done with it.
fn heads(
    ui: &mut Ui,
    state: &DockerfileState,
    model: &DockerfileModel,
    proposal: Option<&ProposalItem>,
    events: &mut Vec<DockerfileEvent>,
) {
    let tokens = Tokens::of(ui);
    let whole = ui.available_rect_before_wrap();
    let two_lines = proposal.is_some() && halves(whole.x_range()).1.span() < BUTTONS;
    let height = if two_lines { TWO_LINES } else { HEAD };
    let whole = Rect::from_min_size(whole.min, egui::vec2(whole.width(), height));
    ui.painter().rect_filled(whole, 0.0, tokens.raised);
    let line = Stroke::new(1.0, tokens.border);
    ui.painter().hline(whole.x_range(), whole.bottom() - 0.5, line);
    let (left, right) = halves(whole.x_range());
    let left = if proposal.is_some() { left } else { whole.x_range() };
    let buttons = |ui: &mut Ui| {
        if !model.rebuilt {
            events.extend(command_button(ui, Command::CloseDockerfile, "Close").map(DockerfileEvent::Window));
        }
        if model.rebuilt || two_lines || left.span() >= NARROW {
            let label = if model.rebuilt { "Open Dockerfile…" } else { "Open…" };
            events.extend(command_button(ui, Command::OpenDockerfile, label).map(DockerfileEvent::Window));
        }
    };
    head(ui, whole, left, buttons, |ui| {
        let words = RichText::new(&model.heading).font(text::heading()).color(tokens.text);
        let about = match state.drafts.given() {
            Some(path) if !model.rebuilt => printable(&path.display().to_string()),
            _ => {
                "Images contain no Dockerfile; this one is reconstructed from the history. Open your own for \
                  proposals that apply unchanged."
                    .to_owned()
            }
        };
        ui.add(egui::Label::new(words).truncate()).on_hover_text(about);
    });
    let Some(proposal) = proposal else {
        ui.advance_cursor_after_rect(whole);
        return;
    };
    ui.painter().vline(right.min, whole.y_range(), line);
    let buttons = |ui: &mut Ui| {
        events.extend(command_button(ui, Command::SavePatch, "Save patch…").map(DockerfileEvent::Window));
        events.extend(command_button(ui, Command::SaveDockerfile, "Save as…").map(DockerfileEvent::Window));
        events.extend(command_button(ui, Command::CopyDockerfile, "Copy").map(DockerfileEvent::Window));
    };
    head(ui, whole, right, buttons, |ui| {
        ui.spacing_mut().item_spacing.x = 10.0;
        let words = RichText::new("Proposal").font(text::heading()).color(tokens.text);
        ui.add(egui::Label::new(words).truncate());
        if two_lines || right.span() >= NARROW {
            let words = RichText::new(proposal.counts()).color(tokens.text_weak);
            ui.add(egui::Label::new(words).truncate()).on_hover_text(proposal.spoken_counts());
        }
    });
    ui.advance_cursor_after_rect(whole);
}

/// The head of one side: words, and buttons at the right of them, or below where the head has two lines.
fn head(ui: &mut Ui, whole: Rect, side: Rangef, buttons: impl FnOnce(&mut Ui), words: impl FnOnce(&mut Ui)) {
    let room = Rect::from_min_max(
        pos2(side.min + 10.0, whole.top()),
        pos2((side.max - 6.0).max(side.min + 10.0), whole.bottom()),
    );
    let (above, below) =
        if whole.height() > HEAD { room.split_top_bottom_at_fraction(0.5) } else { (room, room) };
    let mut line = child(ui, below, Layout::right_to_left(Align::Center));
    buttons(&mut line);
    let from_left = Layout::left_to_right(Align::Center);
    if above == below {
        line.with_layout(from_left, words);
    } else {
        words(&mut child(ui, above, from_left));
    }
}

/// A line of a head.
fn child(ui: &mut Ui, room: Rect, layout: Layout) -> Ui {
    let mut child = ui.new_child(UiBuilder::new().max_rect(room).layout(layout));
    child.set_clip_rect(room.intersect(ui.clip_rect()));
    child.spacing_mut().item_spacing.x = 4.0;
    child
}
