//! Fields for paths, and what came of saving: file dialogs are never the only way in or out.

use std::path::{Path, PathBuf};

use egui::accesskit::Role;
use egui::{Align2, Frame, Key, Label, Margin, RichText, Sense, TextEdit, Ui, WidgetInfo, vec2};

use super::{Action, DockerfileView, ViewContext};
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::dialogs::Pick;
use crate::gui::models::dockerfile::{SaveKind, SaveState};
use crate::gui::models::typed::tidy;
use crate::gui::widgets::controls::{Mark, mark_button, paint_mark, primary_button};
use crate::jobs::Waker;

/// What a path is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Open,
    Save(SaveKind),
}

/// A field for a path.
pub(super) struct Bar {
    purpose: Purpose,
    typed: String,
    /// What is wrong with it.
    said: Option<String>,
    /// The path of a file that is there, and that may be replaced once that is said.
    exists: bool,
    wants_focus: bool,
}

/// A line that says what was done.
pub(super) struct Notice {
    words: String,
    /// A path that can be copied.
    path: String,
    failed: bool,
}

impl Notice {
    pub(super) fn done(words: &str, path: &str) -> Self {
        Self { words: words.to_owned(), path: path.to_owned(), failed: false }
    }
}

impl Bar {
    pub(super) fn open(given: Option<&Path>) -> Self {
        let typed = given.and_then(Path::to_str).unwrap_or_default();
        Self::new(Purpose::Open, typed.to_owned())
    }

    /// A file beside the user's own, or in the folder that the program was started in.
    pub(super) fn save(kind: SaveKind, id: &str, given: Option<&Path>) -> Self {
        let name = match kind {
            SaveKind::Dockerfile => format!("Dockerfile.{id}"),
            SaveKind::Patch => format!("Dockerfile.{id}.patch"),
        };
        let beside = given.and_then(Path::parent).map(|folder| folder.join(&name));
        let typed = beside.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or(name);
        Self::new(Purpose::Save(kind), typed)
    }

    fn new(purpose: Purpose, typed: String) -> Self {
        Self { purpose, typed, said: None, exists: false, wants_focus: true }
    }

    /// Says what is wrong; the cursor goes back to the field.
    pub(super) fn say(&mut self, words: String) {
        self.said = Some(words);
        self.wants_focus = true;
    }
}

impl DockerfileView {
    /// Looks what came of saving.
    pub(super) fn take_saved(&mut self, context: &mut ViewContext<'_>) {
        match self.state.take_saved() {
            None => {}
            Some((kind, SaveState::Saved(path))) => {
                let what = if kind == SaveKind::Patch { "The patch" } else { "The proposed Dockerfile" };
                self.notice = Some(Notice::done(&format!("{what} is saved as {path}"), &path));
                self.bar = None;
            }
            Some((_, SaveState::Exists(path))) => {
                if let Some(bar) = &mut self.bar {
                    bar.say(format!("{path} is there already."));
                    bar.exists = true;
                }
            }
            Some((_, SaveState::Failed(why))) => {
                context.actions.push(Action::Report(why.clone()));
                match &mut self.bar {
                    Some(bar) => bar.say(why),
                    None => self.notice = Some(Notice { words: why, path: String::new(), failed: true }),
                }
            }
        }
    }
}

/// Shows the field and the line, where there is one.
pub(super) fn show(ui: &mut Ui, view: &mut DockerfileView, context: &mut ViewContext<'_>, waker: &Waker) {
    if let Some(notice) = &view.notice
        && !show_notice(ui, notice, context)
    {
        view.notice = None;
    }
    let busy = view.state.is_saving();
    let Some(bar) = &mut view.bar else { return };
    match show_bar(ui, bar, busy) {
        Asked::Nothing => {}
        Asked::Close => view.bar = None,
        Asked::Browse => context.actions.push(Action::Pick(match bar.purpose {
            Purpose::Open => Pick::Dockerfile,
            Purpose::Save(SaveKind::Dockerfile) => Pick::SaveDockerfile,
            Purpose::Save(SaveKind::Patch) => Pick::SavePatch,
        })),
        Asked::Path => {
            let (path, purpose, replace) = (PathBuf::from(tidy(&bar.typed)), bar.purpose, bar.exists);
            (bar.said, view.notice) = (None, None);
            match purpose {
                Purpose::Open => view.open(path),
                Purpose::Save(kind) => view.save(kind, path, replace, waker),
            }
            ui.ctx().request_repaint();
        }
    }
}

/// What was asked for in the bar.
enum Asked {
    Nothing,
    Close,
    Browse,
    Path,
}

fn show_bar(ui: &mut Ui, bar: &mut Bar, busy: bool) -> Asked {
    let tokens = Tokens::of(ui);
    let (label, hint, button) = match (bar.purpose, bar.exists) {
        (Purpose::Open, _) => ("The image's Dockerfile", "/path/to/Dockerfile", "Open"),
        (Purpose::Save(_), true) => ("Save the proposal as", "", "Replace"),
        (Purpose::Save(SaveKind::Dockerfile), false) => ("Save the proposal as", "", "Save"),
        (Purpose::Save(SaveKind::Patch), false) => ("Save the patch as", "", "Save"),
    };
    let mut asked = Asked::Nothing;
    tokens.card().inner_margin(Margin::symmetric(12, 8)).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.set_width(ui.available_width());
            ui.label(RichText::new(label).font(text::strong()));
            let room = (ui.available_width() - 200.0).max(80.0);
            let field = TextEdit::singleline(&mut bar.typed)
                .hint_text(hint)
                .align(Align2::LEFT_CENTER)
                .min_size(vec2(0.0, 26.0))
                .desired_width(room);
            let response = ui.add(field);
            let typed = bar.typed.clone();
            response.widget_info(|| {
                let mut info = WidgetInfo::labeled(Role::TextInput, true, label);
                info.current_text_value = Some(typed.clone());
                info
            });
            if response.changed() {
                (bar.said, bar.exists) = (None, false);
            }
            if std::mem::take(&mut bar.wants_focus) {
                response.request_focus();
            }
            let key = |key| response.lost_focus() && ui.input(|input| input.key_pressed(key));
            let (entered, escaped) = (key(Key::Enter), key(Key::Escape));
            let ready = !bar.typed.trim().is_empty() && !busy;
            let clicked = ui.add_enabled_ui(ready, |ui| primary_button(ui, button)).inner.clicked();
            // Replacing a file takes more than one key too many.
            if ready && (clicked || entered && !bar.exists) {
                asked = Asked::Path;
            }
            if ui.button("Browse…").on_hover_text("Choose with a file dialog").clicked() {
                asked = Asked::Browse;
            }
            if mark_button(ui, Mark::Close, "Close this field").clicked() || escaped {
                asked = Asked::Close;
            }
        });
        if let Some(said) = &bar.said {
            let color = if bar.exists { tokens.warning } else { tokens.error };
            ui.add(Label::new(RichText::new(said).color(color)).wrap().selectable(true));
        }
    });
    ui.add_space(space::S);
    asked
}

/// Whether it stays.
fn show_notice(ui: &mut Ui, notice: &Notice, context: &mut ViewContext<'_>) -> bool {
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
                    stays = !mark_button(ui, Mark::Close, "Close this message").clicked();
                    if !notice.path.is_empty() && ui.button("Copy path").clicked() {
                        context.actions.push(Action::CopyText(notice.path.clone()));
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
