//! Where the report goes: a path, the clipboard.

use std::path::PathBuf;

use egui::accesskit::Role;
use egui::{Align2, Button, Key, Label, Margin, RichText, TextEdit, Ui, WidgetInfo, vec2};

use super::{GAP, Proposing, ReportContext, ReportView};
use crate::gui::design::{Tokens, text};
use crate::gui::dialogs::Pick;
use crate::gui::models::report::{ReportOptions, default_path, with_extension};
use crate::gui::models::typed::tidy;
use crate::gui::views::Action;
use crate::gui::widgets::controls::primary_button;
use crate::jobs::Waker;

/// The field for the path.
#[derive(Default)]
pub(super) struct PathField {
    typed: String,
    /// Whether the user has typed something else than what was offered.
    own: bool,
    /// What is wrong with it.
    message: Option<String>,
    /// The file exists; it is replaced only after confirmation.
    exists: bool,
    wants_focus: bool,
    /// The image, the choice and the Dockerfile that the offer was made for.
    offered: Option<(String, String, Option<PathBuf>)>,
}

impl PathField {
    /// Offers a path, while the user has typed none.
    pub(super) fn update(&mut self, context: &ReportContext<'_>, choice: &ReportOptions) {
        let offer = || (context.image.to_owned(), choice.ending(), context.beside.clone());
        if self.own || self.offered.as_ref().is_some_and(|known| *known == offer()) {
            return;
        }
        let place = default_path(context.image, choice, context.beside.as_deref());
        self.typed = place.to_string_lossy().into_owned();
        self.offered = Some(offer());
        (self.message, self.exists) = (None, false);
    }

    /// Another format was chosen: a path of the user's ends as its files do.
    pub(super) fn follow(&mut self, before: &ReportOptions, after: &ReportOptions) {
        if let Some(typed) = with_extension(&self.typed, before, after).filter(|_| self.own) {
            self.typed = typed;
        }
        (self.message, self.exists) = (None, false);
    }

    pub(super) fn set(&mut self, path: &str) {
        (self.typed, self.own, self.exists) = (path.to_owned(), true, false);
    }

    pub(super) fn focus(&mut self) {
        self.wants_focus = true;
    }

    /// Shows an error; focus returns to the field.
    pub(super) fn show_message(&mut self, words: String) {
        (self.message, self.exists, self.wants_focus) = (Some(words), false, true);
    }

    pub(super) fn exists(&mut self, path: &str) {
        self.show_message(format!("File already exists: {path}"));
        self.exists = true;
    }

    pub(super) fn saved(&mut self) {
        (self.message, self.exists) = (None, false);
    }
}

/// What was asked for.
enum PathAction {
    Nothing,
    Browse,
    Save,
    Copy,
}

pub(super) fn show(ui: &mut Ui, view: &mut ReportView, context: &mut ReportContext<'_>, waker: &Waker) {
    let ready = view.job.current(&view.choice).is_some() && !view.saving.is_busy();
    match bar(ui, &mut view.path_field, ready) {
        PathAction::Nothing => {}
        PathAction::Browse => {
            let extension = view.choice.format().map_or("", |format| format.extension());
            context.actions.push(Action::Pick(Pick::SaveReport(extension)));
        }
        PathAction::Save => {
            let (path, replace) = (PathBuf::from(tidy(&view.path_field.typed)), view.path_field.exists);
            view.path_field.message = None;
            view.save(path, replace, waker);
            ui.ctx().request_repaint();
        }
        PathAction::Copy => {
            view.copy = true;
            view.notice = None;
            ui.ctx().request_repaint();
        }
    }
    if view.copy && context.proposing == Proposing::Busy {
        let words = "Copied when the proposed Dockerfile is ready and included.";
        ui.label(RichText::new(words).color(Tokens::of(ui).text_weak));
        ui.add_space(GAP);
    }
}

fn bar(ui: &mut Ui, place: &mut PathField, ready: bool) -> PathAction {
    let tokens = Tokens::of(ui);
    let label = "Save report as";
    let mut asked = PathAction::Nothing;
    tokens.card().inner_margin(Margin::symmetric(12, 8)).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.set_width(ui.available_width());
            ui.label(RichText::new("Save as").font(text::strong()));
            // Room of the buttons behind it.
            let behind = if place.exists { 224.0 } else { 202.0 };
            let room = (ui.available_width() - behind).max(80.0);
            let field = TextEdit::singleline(&mut place.typed)
                .hint_text("/path/to/report.html")
                .align(Align2::LEFT_CENTER)
                .min_size(vec2(0.0, 26.0))
                .desired_width(room);
            let response = ui.add(field);
            let typed = place.typed.clone();
            response.widget_info(|| {
                let mut info = WidgetInfo::labeled(Role::TextInput, true, label);
                info.current_text_value = Some(typed.clone());
                info
            });
            if response.changed() {
                (place.message, place.exists, place.own) = (None, false, true);
            }
            if std::mem::take(&mut place.wants_focus) {
                response.request_focus();
            }
            let entered = response.lost_focus() && ui.input(|input| input.key_pressed(Key::Enter));
            let choose = ui.button("Browse…").on_hover_text("Select a file and save");
            if choose.clicked() {
                asked = PathAction::Browse;
            }
            let fits = ready && !place.typed.trim().is_empty();
            let title = if place.exists { "Replace" } else { "Save" };
            let disabled_reason = if ready { "Enter a path first" } else { "The report is not ready" };
            let save = ui.add_enabled_ui(fits, |ui| primary_button(ui, title)).inner;
            let clicked = save.on_disabled_hover_text(disabled_reason).clicked();
            // Replacing a file takes more than one key too many.
            if fits && (clicked || entered && !place.exists) {
                asked = PathAction::Save;
            }
            let copy = ui.add_enabled(ready, Button::new("Copy"));
            copy.widget_info(|| WidgetInfo::labeled(Role::Button, ready, "Copy report"));
            let about = "Copy the report to the clipboard";
            if copy.on_hover_text(about).on_disabled_hover_text(disabled_reason).clicked() {
                asked = PathAction::Copy;
            }
        });
        if let Some(message) = &place.message {
            let color = if place.exists { tokens.warning } else { tokens.error };
            ui.add(Label::new(RichText::new(message).color(color)).wrap().selectable(true));
        }
    });
    ui.add_space(GAP);
    asked
}
