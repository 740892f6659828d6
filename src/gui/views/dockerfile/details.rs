//! Everything about a proposal that is not its text, in pages.

use egui::{Frame, Label, Margin, RichText, ScrollArea, Ui};

use super::state::DockerfileState;
use super::{DockerfileEvent, DockerfilePage, ViewContext, changes, facts, questions, removed};
use crate::base::size::grouped;
use crate::gui::design::{space, text};
use crate::gui::models::dockerfile::{DockerfileModel, ProposalItem};
use crate::gui::models::findings::ChosenPlan;
use crate::gui::widgets::controls::{self, PageTab, heading};

#[expect(clippy::too_many_arguments, reason = "each is one thing that pages show")]
pub(super) fn show(
    ui: &mut Ui,
    state: &mut DockerfileState,
    model: &DockerfileModel,
    proposal: &ProposalItem,
    page: DockerfilePage,
    focus: bool,
    context: &ViewContext<'_>,
    events: &mut Vec<DockerfileEvent>,
) {
    // A page with nothing on it is not there.
    let page = match page {
        DockerfilePage::Hints if proposal.hints.is_empty() => DockerfilePage::Changes,
        DockerfilePage::Removed if proposal.removed.is_empty() => DockerfilePage::Changes,
        DockerfilePage::Questions if questions::of(context.plan).next().is_none() => DockerfilePage::Changes,
        page => page,
    };
    Frame::new().inner_margin(Margin { left: 12, right: 12, top: 8, bottom: 6 }).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal_wrapped(|ui| tabs(ui, proposal, context.plan, page, focus, events));
    });
    match page {
        DockerfilePage::Changes => changes::show(ui, state, proposal, events),
        DockerfilePage::Questions => {
            body(ui, "questions", "", |ui| questions::show(ui, context.plan, events));
        }
        DockerfilePage::Image => body(ui, "image", &proposal.id, |ui| facts::image(ui, model, proposal)),
        DockerfilePage::Proof => {
            body(ui, "proof", &proposal.id, |ui| facts::proof(ui, model, proposal, events));
        }
        DockerfilePage::Removed => removed::show(ui, state, proposal, context, events),
        DockerfilePage::Hints => body(ui, "hints", &proposal.id, |ui| facts::hints(ui, proposal, events)),
    }
}

/// Where nothing is proposed: why, and what could not be known.
pub(super) fn nothing(
    ui: &mut Ui,
    model: &DockerfileModel,
    plan: &ChosenPlan,
    events: &mut Vec<DockerfileEvent>,
) {
    body(ui, "nothing", "", |ui| {
        ui.add_space(space::XS);
        ui.label(RichText::new("Reason").font(text::heading()));
        ui.add(Label::new(&model.reason).wrap().selectable(true));
        facts::notes(ui, model, events);
        if questions::of(plan).next().is_some() {
            ui.add_space(space::M);
            heading(ui, "Questions");
            questions::show(ui, plan, events);
        }
    });
}

pub(super) fn body(ui: &mut Ui, page: &str, id: &str, add: impl FnOnce(&mut Ui)) {
    ScrollArea::vertical().id_salt((page, id)).auto_shrink(false).show(ui, |ui| {
        Frame::new().inner_margin(Margin { left: 12, right: 12, top: 4, bottom: 12 }).show(ui, |ui| {
            ui.set_width(ui.available_width());
            // Lines of text, not of buttons.
            ui.spacing_mut().interact_size.y = 18.0;
            add(ui);
        });
    });
}

fn tabs(
    ui: &mut Ui,
    proposal: &ProposalItem,
    plan: &ChosenPlan,
    page: DockerfilePage,
    focus: bool,
    events: &mut Vec<DockerfileEvent>,
) {
    let with = |name: &str, count: usize| format!("{name}  {}", grouped(count as u64));
    let open = proposal.closure.faults.len() + proposal.closure.unproven.len();
    let mut pages = vec![
        (DockerfilePage::Changes, with("Changes", proposal.reasons.len())),
        (DockerfilePage::Image, "Image".to_owned()),
        (DockerfilePage::Proof, if open == 0 { "Proof".to_owned() } else { with("Proof", open) }),
    ];
    if questions::of(plan).next().is_some() {
        let open = match questions::open(plan).0 {
            0 => "Questions".to_owned(),
            open => with("Questions", open),
        };
        pages.insert(1, (DockerfilePage::Questions, open));
    }
    if !proposal.removed.is_empty() {
        // The page begins with their number.
        pages.push((DockerfilePage::Removed, "Removed".to_owned()));
    }
    if !proposal.hints.is_empty() {
        pages.push((DockerfilePage::Hints, with("Hints", proposal.hints.len())));
    }
    // So that all of them fit beside the texts.
    ui.spacing_mut().item_spacing.x = 2.0;
    ui.spacing_mut().button_padding.x = 5.0;
    events.extend(controls::page_tabs(ui, &pages, page, focus).map(|tab| match tab {
        PageTab::Show(page) => DockerfileEvent::Page(page),
        PageTab::Leave => DockerfileEvent::Texts,
    }));
}
