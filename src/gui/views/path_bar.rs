//! Fields for paths, and the result line: file dialogs are never the only way in or out.

use std::path::PathBuf;

use egui::accesskit::Role;
use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::{Align2, Key, Label, Margin, Response, RichText, TextEdit, Ui, WidgetInfo, vec2};

use super::Action;
use crate::base::text::without_errno;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::dockerfile::SaveState;
use crate::gui::models::typed::tidy;
use crate::gui::widgets::alert::alert_line;
use crate::gui::widgets::controls::{Mark, mark_button, primary_button};

/// A field for a path.
#[derive(Default)]
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
        Self { typed, wants_focus: true, ..Self::default() }
    }

    /// The path as it is typed.
    pub(super) fn path(&self) -> PathBuf {
        PathBuf::from(tidy(&self.typed))
    }

    pub(super) fn focus(&mut self) {
        self.wants_focus = true;
    }

    /// Shows an error; focus returns to the field.
    pub(super) fn show_message(&mut self, words: String) {
        let words = if words.contains("(os error") { without_errno(&words) } else { words };
        (self.message, self.exists, self.wants_focus) = (Some(words), false, true);
    }

    /// The path was taken: what was wrong with the one before is no more.
    pub(super) fn taken(&mut self) {
        self.message = None;
    }

    /// What is typed is another path.
    pub(super) fn changed(&mut self) {
        (self.message, self.exists) = (None, false);
    }

    /// Whether the button replaces a file that exists.
    pub(super) fn replaces(&self) -> bool {
        self.exists
    }

    /// Takes in the result of saving `what`; a line that takes the place of the field.
    pub(super) fn saved(
        bar: Option<&mut Self>,
        state: SaveState,
        what: &str,
        actions: &mut Vec<Action>,
    ) -> Option<PathNotice> {
        match (state, bar) {
            (SaveState::Saved(path), _) => {
                return Some(PathNotice::done(&format!("{what} saved to {path}"), &path));
            }
            (SaveState::Exists(path), Some(bar)) => {
                bar.show_message(format!("File already exists: {path}"));
                bar.exists = true;
            }
            (SaveState::Exists(_), None) => {}
            (SaveState::Failed(why), bar) => {
                actions.push(Action::Report(why.clone()));
                match bar {
                    Some(bar) => bar.show_message(why),
                    None => return Some(PathNotice::failed(why)),
                }
            }
        }
        None
    }

    /// Shows the field in a bar of its own.
    pub(super) fn show(&mut self, ui: &mut Ui, words: PathWords, busy: bool) -> PathEvent {
        let mut event = PathEvent::Nothing;
        Tokens::of(ui).card().inner_margin(Margin::symmetric(12, 8)).show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.set_width(ui.available_width());
                ui.label(RichText::new(words.label).font(text::strong()));
                event = self.row(ui, words, 200.0, busy);
                if mark_button(ui, Mark::Close, "Close field").clicked() {
                    event = PathEvent::Close;
                }
            });
            self.message(ui);
        });
        ui.add_space(space::S);
        event
    }

    /// The field and its buttons, which take `behind` points. Escape closes it.
    pub(super) fn row(&mut self, ui: &mut Ui, words: PathWords, behind: f32, busy: bool) -> PathEvent {
        let mut event = PathEvent::Nothing;
        let (hint, button) = if self.exists { ("", "Replace") } else { (words.hint, words.button) };
        let response = self.edit(ui, words.label, hint, behind);
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
        if escaped { PathEvent::Close } else { event }
    }

    /// The field alone, as wide as is left beside what takes `behind` points.
    pub(super) fn edit(&mut self, ui: &mut Ui, name: &str, hint: &str, behind: f32) -> Response {
        let field = TextEdit::singleline(&mut self.typed)
            .hint_text(hint)
            .align(Align2::LEFT_CENTER)
            .min_size(vec2(0.0, 26.0))
            .desired_width((ui.available_width() - behind).max(80.0));
        let response = ui.add(field);
        response.widget_info(|| {
            let mut info = WidgetInfo::labeled(Role::TextInput, true, name);
            info.current_text_value = Some(self.typed.clone());
            info
        });
        if response.changed() {
            self.changed();
        }
        if std::mem::take(&mut self.wants_focus) {
            response.request_focus();
            select_file_name(ui, response.id, &self.typed);
        }
        response
    }

    /// What is wrong with the path.
    pub(super) fn message(&self, ui: &mut Ui) {
        if let Some(message) = &self.message {
            let tokens = Tokens::of(ui);
            let color = if self.exists { tokens.warning } else { tokens.error };
            ui.add(Label::new(RichText::new(message).color(color)).wrap().selectable(true));
        }
    }
}

/// Selects the name of the file in a field for a path, without its extension: most often it is the part to change.
pub(in crate::gui) fn select_file_name(ui: &Ui, field: egui::Id, path: &str) {
    let start = path.rfind('/').map_or(0, |slash| slash + 1);
    let name = &path[start..];
    let end = start + name.rfind('.').filter(|dot| *dot > 0).unwrap_or(name.len());
    let cursor = |bytes: usize| CCursor::new(path[..bytes].chars().count());
    let mut state = TextEditState::load(ui.ctx(), field).unwrap_or_default();
    state.cursor.set_char_range(Some(CCursorRange::two(cursor(start), cursor(end))));
    state.store(ui.ctx(), field);
}

/// Shows the line, with `more` buttons; whether it stays.
pub(super) fn show_notice_with(
    ui: &mut Ui,
    notice: &PathNotice,
    actions: &mut Vec<Action>,
    more: impl FnOnce(&mut Ui),
) -> bool {
    let tokens = Tokens::of(ui);
    let (mark, color) =
        if notice.failed { (Mark::Error, tokens.error) } else { (Mark::Proven, tokens.success) };
    let mut stays = true;
    alert_line(ui, mark, color, &notice.words, |ui| {
        stays = !mark_button(ui, Mark::Close, "Dismiss message").clicked();
        if !notice.path.is_empty() && ui.button("Copy path").clicked() {
            actions.push(Action::CopyText(notice.path.clone()));
        }
        more(ui);
    });
    ui.add_space(space::S);
    stays
}

/// Shows the line; whether it stays.
pub(super) fn show_notice(ui: &mut Ui, notice: &PathNotice, actions: &mut Vec<Action>) -> bool {
    show_notice_with(ui, notice, actions, |_| {})
}
