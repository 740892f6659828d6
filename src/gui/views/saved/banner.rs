//! What the tab shows, and the way to the image.

use egui::{Align, Button, Frame, Label, Layout, Margin, RichText, Ui, vec2};

use crate::base::text::printable;
use crate::gui::design::{Tokens, text};
use crate::gui::models::report::SavedReport;
use crate::gui::views::Action;
use crate::gui::widgets::alert::mark_in;
use crate::gui::widgets::controls::{Mark, mark_button};

pub(super) fn show(ui: &mut Ui, saved: &SavedReport, explained: &mut bool, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    let generator = &saved.report.generator;
    let made = format!("created by {} {}", printable(&generator.name), printable(&generator.version));
    let of = saved.changed.as_ref().map(|changed| format!("saved {changed}"));
    let facts: Vec<String> = [made].into_iter().chain(of).collect();
    let needs = "Open the image for the file tree and to edit the plan.";
    let words = format!("{}. {needs}", facts.join(", "));
    let edge = |ui: &mut Ui, add: &mut dyn FnMut(&mut Ui)| {
        Frame::new().fill(tokens.panel).inner_margin(Margin::symmetric(16, 6)).show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.set_width(ui.available_width());
                add(ui);
            });
        });
    };
    edge(ui, &mut |ui| {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let tooltip = match &saved.image {
                Ok(image) => format!("Open {} in a new tab", printable(image)),
                Err(why) => why.clone(),
            };
            if ui.add(Button::new("Open source image…")).on_hover_text(tooltip).clicked() {
                match &saved.image {
                    Ok(image) => actions.push(Action::OpenImage(image.clone())),
                    Err(_) => *explained = true,
                }
            }
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                ui.label(RichText::new("Saved report").font(text::strong()));
                ui.add(Label::new(RichText::new(&words).color(tokens.text_weak)).truncate())
                    .on_hover_text(&words);
            });
        });
    });
    if let Some(why) = saved.image.as_ref().err().filter(|_| *explained) {
        edge(ui, &mut |ui| {
            mark_in(ui, vec2(16.0, 20.0), Mark::Warning, 14.0, tokens.warning);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                *explained = !mark_button(ui, Mark::Close, "Dismiss message").clicked();
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(Label::new(why).wrap().selectable(true));
                });
            });
        });
    }
}
