//! The question of a finding with its two answers, as the findings view and the Dockerfile view show it.

use egui::accesskit::Role;
use egui::{Button, Label, RichText, Ui, WidgetInfo};

use super::Action;
use crate::base::text::and_more;
use crate::findings::Answer;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::findings::{PlanChange, QuestionItem, words as labels};
use crate::gui::widgets::alert::marked;
use crate::gui::widgets::controls::{self, Mark};

/// Shows the question, its answers, and a way back to an open question. Gives the change that is asked for.
pub(super) fn show(ui: &mut Ui, question: &QuestionItem) -> Option<Action> {
    show_as(ui, question, &question.text)
}

/// The same with other words for the question, where its statements are beside it.
pub(super) fn show_as(ui: &mut Ui, question: &QuestionItem, words: &str) -> Option<Action> {
    let tokens = Tokens::of(ui);
    let mut change = None;
    let also = also(question);
    let open = question.answer.is_none();
    let color = if open { tokens.warning } else { tokens.text_weak };
    marked(ui, Mark::Question, color, |ui| {
        ui.add(Label::new(RichText::new(words).font(text::strong())).wrap());
        if let Some(also) = &also {
            controls::weak(ui, also).on_hover_text(question.also.join("\n"));
        }
        ui.horizontal_wrapped(|ui| {
            ui.spacing_mut().item_spacing.x = space::XS;
            for answer in Answer::ALL {
                if choice(ui, question, *answer) {
                    change = Some(Some(*answer));
                }
            }
            if question.is_own
                && named(ui.link("Undo"), &format!("Undo answer: {}", question.title)).clicked()
            {
                change = Some(None);
            }
        });
    });
    change.map(|answer| Action::ChangePlan(PlanChange::Answer(question.id.clone(), answer)))
}

/// The findings whose questions a no answers, too; `None` without any.
fn also(question: &QuestionItem) -> Option<String> {
    /// Titles that are named.
    const NAMED: usize = 3;
    let titles = &question.also;
    let named = titles[..titles.len().min(NAMED)].join(", ");
    let alone = if question.is_selected { "Only this finding is selected. " } else { "" };
    (!titles.is_empty())
        .then(|| format!("{alone}Answering no also answers: {named}{}.", and_more(titles.len(), NAMED)))
}

/// One of the two answers; whether it was chosen now.
fn choice(ui: &mut Ui, question: &QuestionItem, answer: Answer) -> bool {
    let chosen = question.answer == Some(answer);
    let label = labels::answer(answer, question.has_bytes());
    let response = ui.add(Button::selectable(chosen, label).frame_when_inactive(true));
    let name = format!("{label}: {}", question.title);
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, ui.is_enabled(), chosen, &name));
    response.on_hover_text(labels::about_answer(answer, question.has_bytes())).clicked() && !chosen
}

fn named(response: egui::Response, name: &str) -> egui::Response {
    response.widget_info(|| WidgetInfo::labeled(Role::Link, true, name));
    response
}
