//! Why a check ended early: what it means, and what to do.

use egui::{Frame, Label, Margin, RichText, ScrollArea, Ui};

use super::machine::prose;
use crate::base::text::printable;
use crate::gpu::Check;
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::models::gpu::{error_text, stage_title};
use crate::gui::views::Action;
use crate::gui::widgets::fold::fold;

pub(super) fn show(ui: &mut Ui, check: &Check, actions: &mut Vec<Action>) {
    let Some(error) = &check.error else { return };
    let tokens = Tokens::of(ui);
    ui.add_space(space::S);
    Frame::new()
        .stroke(egui::Stroke::new(1.0, tokens.border))
        .corner_radius(radius::M)
        .inner_margin(Margin::symmetric(12, 10))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            let name = match error.code {
                Some(code) => format!("{} ({code})", printable(&error.name)),
                None => printable(&error.name),
            };
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.x = space::S;
                let code = RichText::new(name).font(text::mono()).color(tokens.error);
                ui.add(Label::new(code).selectable(true));
                let at = format!("at the step “{}”", stage_title(&error.stage));
                ui.label(RichText::new(at).color(tokens.text_weak));
            });
            ui.add_space(space::XS);
            prose(ui, &error.message, tokens.text);
            if let Some(hint) = &error.hint {
                ui.add_space(space::S);
                ui.label(RichText::new("What to do").font(text::strong()));
                prose(ui, hint, tokens.text);
            }
            if let Some(log) = error.log.as_deref().filter(|log| !log.trim().is_empty()) {
                ui.add_space(space::S);
                let note = crate::base::text::counted(log.lines().count(), "line");
                fold(ui, "Compiler log", &note, false, |ui| show_log(ui, log));
            }
            ui.add_space(space::S);
            let about = "Copy the error with all steps";
            if ui.button("Copy error").on_hover_text(about).clicked() {
                actions.extend(error_text(check).map(Action::CopyText));
            }
        });
}

fn show_log(ui: &mut Ui, log: &str) {
    ScrollArea::both().id_salt("compiler log").max_height(180.0).show(ui, |ui| {
        let lines: Vec<String> = log.lines().map(printable).collect();
        let lines = RichText::new(lines.join("\n")).font(text::mono());
        ui.add(Label::new(lines).extend().selectable(true));
    });
}
