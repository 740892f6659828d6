//! The header above the texts: the proposals to choose from, and what the image is with the chosen one.

use egui::accesskit::Role;
use egui::{
    Align, Color32, EventFilter, Id, Key, Label, Layout, Rect, RichText, Sense, Stroke, StrokeKind, Ui,
    WidgetInfo,
};
use egui::{pos2, vec2};

use super::state::DockerfileState;
use super::{DockerfileEvent, DockerfilePage, questions};
use crate::base::size::human;
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::models::dockerfile::{DockerfileModel, ProposalItem};
use crate::gui::models::findings::ChosenPlan;
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls::{self, Mark, line_of_text, paint_focus, paint_mark, progress_bar};
use crate::rewrite::Applicability;

/// The height of a proposal in the chooser.
const HEIGHT: f32 = 46.0;
/// Below this width, a proposal shows only its saving.
const NARROW: f32 = 330.0;
/// Wider than this a proposal never is.
const MOST: f32 = 460.0;

pub(super) fn show(
    ui: &mut Ui,
    state: &DockerfileState,
    model: &DockerfileModel,
    plan: &ChosenPlan,
    events: &mut Vec<DockerfileEvent>,
) {
    if !model.proposals.is_empty() {
        chooser(ui, model, state.place(model), events);
        ui.add_space(space::S);
    }
    ui.horizontal(|ui| {
        ui.set_min_height(20.0);
        if state.drafts.is_busy() {
            working(ui);
        }
        let open = questions::sentence(plan).filter(|_| state.proposal(model).is_some());
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            if let Some(open) = open
                && ui.link(open).on_hover_text("Answer here; proposals update with the answers").clicked()
            {
                events.push(DockerfileEvent::Page(DockerfilePage::Questions));
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                summary(ui, model, state.proposal(model));
            });
        });
    });
    if model.incomplete {
        let note = "Part of the image was not read; a problem there would go unnoticed.";
        ui.label(RichText::new(note).color(Tokens::of(ui).warning));
    }
    ui.add_space(space::XS);
}

/// While newer proposals are worked out, those before are shown.
fn working(ui: &mut Ui) {
    ui.label(RichText::new("Computing proposals…").font(text::strong()));
    progress_bar(ui, "Computing proposals", None, vec2(64.0, 6.0));
    ui.ctx().request_repaint_after(std::time::Duration::from_millis(50));
}

fn summary(ui: &mut Ui, model: &DockerfileModel, proposal: Option<&ProposalItem>) {
    let tokens = Tokens::of(ui);
    let Some(proposal) = proposal else {
        ui.label(RichText::new("No proposal").font(text::strong()));
        ui.label(RichText::new(format!("merged {}", human(model.now.merged))).color(tokens.text_weak));
        return;
    };
    let (now, then) = (model.now.merged, proposal.predicted.merged_bytes);
    let sizes = RichText::new(format!("Merged {} → {}", human(now), human(then))).font(text::strong());
    ui.label(sizes)
        .on_hover_text("With the plan, another base image, and all else that the proposal changes");
    let base = match (&model.original_base, &proposal.base_image) {
        (_, None) => "base image unknown".to_owned(),
        (Some(old), Some(new)) if old == new => format!("base image {new}, unchanged"),
        (_, Some(new)) => format!("base image {new}"),
    };
    let proof = if proposal.closure.resolved { "" } else { "; some libraries do not resolve" };
    ui.add(Label::new(RichText::new(format!("{base}{proof}")).color(tokens.text_weak)).truncate());
}

/// The sign of an applicability; always shown with its words.
pub(super) fn sign(tokens: &Tokens, applicability: Applicability) -> (Mark, Color32) {
    match applicability {
        Applicability::Safe => (Mark::Proven, tokens.success),
        Applicability::Review => (Mark::Question, tokens.warning),
        Applicability::Manual => (Mark::Warning, tokens.warning),
    }
}

/// The proposals side by side, one of them chosen.
fn chooser(ui: &mut Ui, model: &DockerfileModel, chosen: usize, events: &mut Vec<DockerfileEvent>) {
    let count = model.proposals.len();
    let gap = space::S;
    let width = ((ui.available_width() + gap) / count as f32 - gap).min(MOST);
    let group = ui.make_persistent_id("proposals");
    let id = |place: usize| group.with(place);
    let (whole, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    for (place, proposal) in model.proposals.iter().enumerate() {
        let left = whole.left() + place as f32 * (width + gap);
        let rect = Rect::from_min_size(pos2(left, whole.top()), vec2(width, HEIGHT));
        let response = ui.interact(rect, id(place), Sense::click());
        let spoken = proposal.spoken();
        response.widget_info(|| {
            WidgetInfo::selected(Role::RadioButton, ui.is_enabled(), place == chosen, &spoken)
        });
        option(ui, rect, proposal, place == chosen, response.hovered());
        paint_focus(ui, &response, radius::M);
        if response.has_focus()
            && let Some(to) = arrow(ui, response.id, place, count)
        {
            events.push(DockerfileEvent::Proposal(to));
            ui.memory_mut(|memory| memory.request_focus(id(to)));
        }
        let about = proposal.applicability.about();
        let response = response.on_hover_ui(|ui| {
            ui.label(&proposal.title);
            controls::weak(ui, format!("{}: {about}", proposal.applicability.label()));
        });
        if response.clicked() {
            events.push(DockerfileEvent::Proposal(place));
        }
    }
}

/// The target of an arrow key.
fn arrow(ui: &Ui, id: Id, place: usize, count: usize) -> Option<usize> {
    let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, filter));
    let by = ui.input(|input| {
        i32::from(input.key_pressed(Key::ArrowRight)) - i32::from(input.key_pressed(Key::ArrowLeft))
    });
    match by {
        1 => Some((place + 1) % count),
        -1 => Some((place + count - 1) % count),
        _ => None,
    }
}

fn option(ui: &Ui, rect: Rect, proposal: &ProposalItem, chosen: bool, hovered: bool) {
    let tokens = Tokens::of(ui);
    let fill = match (chosen, hovered) {
        (true, _) => tokens.selection,
        (false, true) => tokens.hovered,
        (false, false) => tokens.raised,
    };
    let line = if chosen { Stroke::new(1.5, tokens.accent) } else { Stroke::new(1.0, tokens.border) };
    ui.painter().rect(rect, radius::M, fill, line, StrokeKind::Inside);
    let row = |top: f32, left: f32| {
        Rect::from_min_max(
            pos2(rect.left() + left, rect.top() + top),
            pos2(rect.right() - 10.0, rect.top() + top + 18.0),
        )
    };
    let title = row(5.0, 30.0);
    // The kind of proposal is always readable; proposals of one kind differ at their ends.
    let (strategy, detail) = proposal.title.split_at(proposal.title.find(": ").map_or(0, |at| at + 2));
    let written = cell::left(ui.painter(), title, strategy, &text::strong(), tokens.text, Cut::End);
    let behind_strategy = title.with_min_x(written.right());
    cell::left(ui.painter(), behind_strategy, detail, &text::strong(), tokens.text, Cut::Middle);
    let center = pos2(rect.left() + 16.0, title.center().y);
    ui.painter().circle_stroke(center, 6.0, Stroke::new(1.0, tokens.border_strong));
    if chosen {
        ui.painter().circle(center, 6.0, tokens.accent, Stroke::NONE);
        ui.painter().circle_filled(center, 2.5, tokens.on_accent);
    }
    let (mark, color) = sign(tokens, proposal.applicability);
    let about = row(24.0, 30.0);
    paint_mark(ui.painter(), mark, pos2(about.left() + 6.0, about.center().y), 12.0, color);
    let word = proposal.applicability.label();
    let galley = ui.painter().layout_no_wrap(word.to_owned(), text::small(), color);
    let at = pos2(about.left() + 18.0, about.center().y - galley.size().y / 2.0);
    let end = at.x + galley.size().x + space::S;
    ui.painter().galley(at, galley, color);
    let behind = Rect::from_min_max(pos2(end.min(about.right()), about.top()), about.max);
    let mut saving = proposal.saving();
    if rect.width() >= NARROW {
        saving = format!("{saving}, {} merged", human(proposal.predicted.merged_bytes));
    }
    line_of_text(ui, behind, &saving, text::small(), tokens.text_weak);
}
