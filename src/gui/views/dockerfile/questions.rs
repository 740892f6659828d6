//! Questions whose answers change the proposals.

use egui::{RichText, Ui};

use super::{Action, DockerfileEvent};
use crate::base::size::human;
use crate::base::text::counted;
use crate::gui::design::{Tokens, space};
use crate::gui::models::findings::{ChosenPlan, QuestionItem};
use crate::gui::views::question;
use crate::gui::widgets::controls;

/// The questions, whatever their answer; those without files change nothing here, those of selected findings no more.
pub(super) fn of(plan: &ChosenPlan) -> impl Iterator<Item = &QuestionItem> {
    plan.questions().iter().filter(|question| question.has_bytes() && !question.is_selected)
}

/// How many are open, those that are answered with another not counted, and the bytes of all their findings.
pub(super) fn open(plan: &ChosenPlan) -> (usize, u64) {
    let open = of(plan).filter(|question| question.answer.is_none());
    open.fold((0, 0), |(count, bytes), one| {
        (count + usize::from(!one.follows), bytes.saturating_add(one.bytes))
    })
}

/// The open questions in a few words; `None` without any.
pub(super) fn sentence(plan: &ChosenPlan) -> Option<String> {
    match open(plan) {
        (0, _) => None,
        (open, bytes) => Some(format!("{}, {}", counted(open, "open question"), human(bytes))),
    }
}

/// All questions with their answers, without those that are answered with another.
pub(super) fn show(ui: &mut Ui, plan: &ChosenPlan, events: &mut Vec<DockerfileEvent>) {
    controls::weak(ui, "Answers change the plan and the proposals.");
    let mut items: Vec<&QuestionItem> = of(plan).filter(|question| !question.follows).collect();
    items.sort_by_key(|item| std::cmp::Reverse(item.all_bytes));
    for item in items {
        ui.add_space(space::S);
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = space::S;
            if ui.link(&item.title).on_hover_text("Show finding").clicked() {
                events.push(DockerfileEvent::Window(Action::SelectFinding(item.id.clone())));
            }
            // A no to this one answers others.
            let of = match item.also.len() {
                0 => human(item.all_bytes),
                more => format!("{} in {}", human(item.all_bytes), counted(more + 1, "finding")),
            };
            ui.label(RichText::new(of).color(Tokens::of(ui).text_weak));
        });
        events.extend(question::show(ui, item).map(DockerfileEvent::Window));
    }
}
