//! Where the comparison is saved, as what, and the result.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::accesskit::Role;
use egui::{Align2, Frame, Key, Label, Margin, RichText, Sense, TextEdit, Ui, WidgetInfo, vec2};

use super::{Action, CompareEvent};
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::dialogs::Pick;
use crate::gui::models::compare::{CompareModel, Export, Exported, FORMATS};
use crate::gui::models::dockerfile::SaveState;
use crate::gui::models::typed::tidy;
use crate::gui::widgets::controls::{Mark, mark_button, paint_mark, primary_button};
use crate::jobs::Waker;
use crate::report::CompareFormat;

/// The field, the result line, and the work.
pub(super) struct SaveBar {
    open: bool,
    format: CompareFormat,
    typed: String,
    message: Option<String>,
    /// The file is there, and is replaced only after confirmation.
    exists: bool,
    wants_focus: bool,
    /// What was done: words, a path that can be copied, whether it failed.
    notice: Option<(String, String, bool)>,
    export: Export,
}

impl Default for SaveBar {
    fn default() -> Self {
        Self {
            open: false,
            format: CompareFormat::Html,
            typed: String::new(),
            message: None,
            exists: false,
            wants_focus: false,
            notice: None,
            export: Export::default(),
        }
    }
}

impl SaveBar {
    pub(super) fn open(&mut self) {
        if self.typed.is_empty() {
            self.typed = format!("comparison.{}", self.format.extension());
        }
        (self.open, self.wants_focus, self.message, self.exists) = (true, true, None, false);
        self.notice = None;
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    pub(super) fn is_busy(&self) -> bool {
        self.export.is_busy()
    }

    pub(super) fn show_message(&mut self, words: String) {
        self.message = Some(words);
        self.wants_focus = true;
    }

    pub(super) fn copy(&mut self, model: &Arc<CompareModel>, waker: &Waker) {
        self.export.copy(model, waker);
    }

    /// Writes to a file, in the format of its extension when known.
    pub(super) fn write(&mut self, model: &Arc<CompareModel>, path: PathBuf, replace: bool, waker: &Waker) {
        if let Some(format) = format_of(&path) {
            self.format = format;
        }
        (self.message, self.notice) = (None, None);
        self.export.save(model, self.format, path, replace, waker);
    }

    /// Polls the result.
    pub(super) fn update(&mut self, ui: &Ui, actions: &mut Vec<Action>) {
        match self.export.take() {
            None => return,
            Some(Exported::Text(text)) => {
                actions.push(Action::CopyText(text));
                self.notice = Some(("Comparison copied as Markdown".into(), String::new(), false));
            }
            Some(Exported::File(SaveState::Saved(path))) => {
                self.notice = Some((format!("Comparison saved to {path}"), path, false));
                self.open = false;
            }
            Some(Exported::File(SaveState::Exists(path))) => {
                self.show_message(format!("File already exists: {path}"));
                self.exists = true;
            }
            Some(Exported::File(SaveState::Failed(why))) => {
                actions.push(Action::Report(why.clone()));
                if self.open {
                    self.show_message(why);
                } else {
                    self.notice = Some((why, String::new(), true));
                }
            }
        }
        ui.ctx().request_repaint();
    }

    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        model: &Arc<CompareModel>,
        waker: &Waker,
        events: &mut Vec<CompareEvent>,
    ) {
        if let Some((words, path, failed)) = &self.notice
            && !notice(ui, words, path, *failed, events)
        {
            self.notice = None;
        }
        if self.open {
            let tokens = Tokens::of(ui);
            tokens.card().inner_margin(Margin::symmetric(12, 8)).show(ui, |ui| {
                self.field(ui, model, waker, events);
            });
            ui.add_space(space::S);
        }
    }

    fn field(
        &mut self,
        ui: &mut Ui,
        model: &Arc<CompareModel>,
        waker: &Waker,
        events: &mut Vec<CompareEvent>,
    ) {
        let tokens = Tokens::of(ui);
        ui.horizontal(|ui| {
            ui.set_width(ui.available_width());
            ui.label(RichText::new("Save comparison as").font(text::strong()));
            ui.spacing_mut().item_spacing.x = space::XS;
            for (format, name) in FORMATS {
                let chosen = self.format == format;
                let response = ui.selectable_label(chosen, name);
                response.widget_info(|| WidgetInfo::selected(Role::RadioButton, true, chosen, name));
                if response.clicked() {
                    self.format = format;
                    let typed = Path::new(&self.typed);
                    // A name of the user's own keeps what follows a point that is no format.
                    if format_of(typed).is_some() {
                        let renamed = typed.with_extension(format.extension());
                        self.typed = renamed.to_str().map_or_else(|| self.typed.clone(), str::to_owned);
                    }
                    (self.message, self.exists) = (None, false);
                }
            }
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                if mark_button(ui, Mark::Close, "Close field").clicked() {
                    self.open = false;
                }
            });
        });
        ui.horizontal(|ui| {
            let room = (ui.available_width() - 170.0).max(80.0);
            let field = TextEdit::singleline(&mut self.typed)
                .align(Align2::LEFT_CENTER)
                .min_size(vec2(0.0, 26.0))
                .desired_width(room);
            let response = ui.add(field);
            let typed = self.typed.clone();
            response.widget_info(|| {
                let mut info = WidgetInfo::labeled(Role::TextInput, true, "Save comparison as");
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
            let ready = !self.typed.trim().is_empty() && !self.is_busy();
            let label = if self.exists { "Replace" } else { "Save" };
            let clicked = ui.add_enabled_ui(ready, |ui| primary_button(ui, label)).inner.clicked();
            // Replacing a file takes more than one key too many.
            if ready && (clicked || entered && !self.exists) {
                self.write(model, PathBuf::from(tidy(&self.typed)), self.exists, waker);
            }
            if ui.button("Browse…").on_hover_text("Open a file dialog").clicked() {
                events
                    .push(CompareEvent::Window(Action::Pick(Pick::SaveComparison(self.format.extension()))));
            }
            if escaped {
                self.open = false;
            }
        });
        if let Some(message) = &self.message {
            let color = if self.exists { tokens.warning } else { tokens.error };
            ui.add(Label::new(RichText::new(message).color(color)).wrap().selectable(true));
        }
    }
}

/// The format that a file's name ends in.
fn format_of(path: &Path) -> Option<CompareFormat> {
    let end = path.extension()?.to_str()?;
    FORMATS.into_iter().map(|(format, _)| format).find(|format| format.extension() == end)
}

/// Whether it stays.
fn notice(ui: &mut Ui, words: &str, path: &str, failed: bool, events: &mut Vec<CompareEvent>) -> bool {
    let tokens = Tokens::of(ui);
    let (mark, color) = if failed { (Mark::Error, tokens.error) } else { (Mark::Proven, tokens.success) };
    let mut stays = true;
    let frame = Frame::new().fill(tokens.wash(color)).corner_radius(radius::M);
    frame.inner_margin(Margin::symmetric(12, 4)).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.set_width(ui.available_width());
            let (rect, _) = ui.allocate_exact_size(vec2(16.0, 20.0), Sense::hover());
            paint_mark(ui.painter(), mark, rect.center(), 14.0, color);
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                stays = !mark_button(ui, Mark::Close, "Dismiss message").clicked();
                if !path.is_empty() && ui.button("Copy path").clicked() {
                    events.push(CompareEvent::Window(Action::CopyText(path.to_owned())));
                }
                ui.with_layout(egui::Layout::left_to_right(egui::Align::Center), |ui| {
                    ui.add(Label::new(words).truncate());
                });
            });
        });
    });
    ui.add_space(space::S);
    stays
}
