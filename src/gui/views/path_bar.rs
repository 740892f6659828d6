//! Fields for paths, and the result line: file dialogs are never the only way in or out.

use egui::accesskit::Role;
use egui::{Align2, Frame, Key, Label, Margin, RichText, Sense, TextEdit, Ui, WidgetInfo, vec2};

use super::Action;
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::widgets::controls::{Mark, mark_button, paint_mark, primary_button};

/// A field for a path.
pub(super) struct PathBar {
    /// What is in the field.
    pub(super) typed: String,
    /// What is wrong with it.
    message: Option<String>,
    /// Whether a file with this path exists, and is replaced only after confirmation.
    exists: bool,
    wants_focus: bool,
}

/// The words around a field.
#[derive(Clone, Copy)]
pub(super) struct PathWords {
    /// What the path is for; the name of the field.
    pub(super) label: &'static str,
    /// Hint of an empty field.
    pub(super) hint: &'static str,
    /// The button that takes the path.
    pub(super) button: &'static str,
}

/// What was asked for in the bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathEvent {
    /// Nothing.
    Nothing,
    /// Close the bar.
    Close,
    /// Choose a path with a file dialog.
    Browse,
    /// Take the path; whether a file with this path may be replaced.
    Take(bool),
}

/// A result line.
pub(super) struct PathNotice {
    words: String,
    /// A path that can be copied.
    path: String,
    failed: bool,
}

impl PathNotice {
    pub(super) fn done(words: &str, path: &str) -> Self {
        Self { words: words.to_owned(), path: path.to_owned(), failed: false }
    }

    pub(super) fn failed(words: String) -> Self {
        Self { words, path: String::new(), failed: true }
    }
}

impl PathBar {
    pub(super) fn new(typed: String) -> Self {
        Self { typed, message: None, exists: false, wants_focus: true }
    }

    /// Shows an error; focus returns to the field.
    pub(super) fn show_message(&mut self, words: String) {
        self.message = Some(words);
        self.wants_focus = true;
    }

    /// Says that a file with this path exists: the button replaces it.
    pub(super) fn exists(&mut self, path: &str) {
        self.show_message(format!("File already exists: {path}"));
        self.exists = true;
    }

    /// The path was taken: what was wrong with the one before is no more.
    pub(super) fn taken(&mut self) {
        self.message = None;
    }

    /// Shows the field.
    pub(super) fn show(&mut self, ui: &mut Ui, words: PathWords, busy: bool) -> PathEvent {
        let tokens = Tokens::of(ui);
        let PathWords { label, hint, .. } = words;
        let (hint, button) = if self.exists { ("", "Replace") } else { (hint, words.button) };
        let mut event = PathEvent::Nothing;
        tokens.card().inner_margin(Margin::symmetric(12, 8)).show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.set_width(ui.available_width());
                ui.label(RichText::new(label).font(text::strong()));
                let room = (ui.available_width() - 200.0).max(80.0);
                let field = TextEdit::singleline(&mut self.typed)
                    .hint_text(hint)
                    .align(Align2::LEFT_CENTER)
                    .min_size(vec2(0.0, 26.0))
                    .desired_width(room);
                let response = ui.add(field);
                let typed = self.typed.clone();
                response.widget_info(|| {
                    let mut info = WidgetInfo::labeled(Role::TextInput, true, label);
                    info.current_text_value = Some(typed.clone());
                    info
                });
                if response.changed() {
                    (self.message, self.exists) = (None, false);
                }
                if std::mem::take(&mut self.wants_focus) {
                    response.request_focus();
                }
                let key = |key| response.lost_focus() && ui.input(|input| input.key_pressed(key));
                let (entered, escaped) = (key(Key::Enter), key(Key::Escape));
                let ready = !self.typed.trim().is_empty() && !busy;
                let clicked = ui.add_enabled_ui(ready, |ui| primary_button(ui, button)).inner.clicked();
                // Replacing a file takes more than one key too many.
                if ready && (clicked || entered && !self.exists) {
                    event = PathEvent::Take(self.exists);
                }
                if ui.button("Browse…").on_hover_text("Open a file dialog").clicked() {
                    event = PathEvent::Browse;
                }
                if mark_button(ui, Mark::Close, "Close field").clicked() || escaped {
                    event = PathEvent::Close;
                }
            });
            if let Some(message) = &self.message {
                let color = if self.exists { tokens.warning } else { tokens.error };
                ui.add(Label::new(RichText::new(message).color(color)).wrap().selectable(true));
            }
        });
        ui.add_space(space::S);
        event
    }
}

/// Shows the line; whether it stays.
pub(super) fn show_notice(ui: &mut Ui, notice: &PathNotice, actions: &mut Vec<Action>) -> bool {
    let tokens = Tokens::of(ui);
    let (mark, color) =
        if notice.failed { (Mark::Error, tokens.error) } else { (Mark::Proven, tokens.success) };
    let mut stays = true;
    Frame::new()
        .fill(tokens.wash(color))
        .corner_radius(radius::M)
        .inner_margin(Margin::symmetric(12, 4))
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.set_width(ui.available_width());
                let (rect, _) = ui.allocate_exact_size(vec2(16.0, 20.0), Sense::hover());
                paint_mark(ui.painter(), mark, rect.center(), 14.0, color);
                ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                    stays = !mark_button(ui, Mark::Close, "Dismiss message").clicked();
                    if !notice.path.is_empty() && ui.button("Copy path").clicked() {
                        actions.push(Action::CopyText(notice.path.clone()));
                    }
                    ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                        ui.add(Label::new(&notice.words).truncate());
                    });
                });
            });
        });
    ui.add_space(space::S);
    stays
}
