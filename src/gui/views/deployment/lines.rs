//! The lines to paste.

use egui::{Align, Frame, Label, Layout, Margin, Panel, RichText, Ui};

use super::{DeploymentView, PathBar};
use crate::gui::design::{Tokens, text};
use crate::gui::views::{Action, ViewContext};
use crate::gui::widgets::page::text::{TextShape, text_view};
use crate::gui::widgets::pane::empty;

pub(super) fn show(ui: &mut Ui, view: &mut DeploymentView, context: &mut ViewContext<'_>) {
    let tokens = Tokens::of(ui);
    let made = view.job.current(&view.profile).cloned();
    let snippet = made.as_ref().and_then(|made| made.snippet(view.format));
    Panel::top("deployment lines head")
        .frame(Frame::new().fill(tokens.raised).inner_margin(Margin::symmetric(12, 4)))
        .exact_size(34.0)
        .resizable(false)
        .show(ui, |ui| {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.add_enabled_ui(snippet.is_some(), |ui| {
                    if ui.button("Save…").on_hover_text("Save the lines to a file").clicked() {
                        view.notice = None;
                        view.bar = Some(PathBar::new(view.format.file_name().to_owned()));
                        view.opens = false;
                    }
                    if ui.button("Copy").on_hover_text("Copy the lines").clicked() {
                        context.actions.extend(snippet.map(|one| Action::CopyText(one.text.to_string())));
                    }
                });
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.label(RichText::new("Lines to paste").font(text::strong()));
                    let title = RichText::new(view.format.title()).color(tokens.text_weak);
                    ui.add(Label::new(title).truncate());
                });
            });
        });
    egui::CentralPanel::no_frame().show(ui, |ui| {
        let Some(snippet) = snippet else {
            empty(ui, "Writing lines…", "");
            return;
        };
        let name = format!("Lines for {}", view.format.title());
        let shape = TextShape {
            name: &name,
            lines: snippet.lines.count(),
            widest: snippet.lines.widest(),
            numbers: false,
            marked: None,
            reveal: false,
        };
        let salt = format!("lines {}", view.format.as_str());
        text_view(ui, &salt, &shape, |place| snippet.lines.shown(&snippet.text, place));
    });
}
