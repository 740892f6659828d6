//! The field for a path and the result of saving.

use std::path::Path;

use egui::Ui;

use super::{Action, DockerfileView, ViewContext};
use crate::gui::dialogs::Pick;
use crate::gui::models::dockerfile::SaveKind;
use crate::gui::views::path_bar::{PathBar, PathEvent, PathWords, show_notice};
use crate::jobs::Waker;

/// What a path is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Open,
    Save(SaveKind),
}

/// A field for a path, and what it is for.
pub(super) struct Bar {
    purpose: Purpose,
    field: PathBar,
}

impl Bar {
    pub(super) fn open(given: Option<&Path>) -> Self {
        let typed = given.and_then(Path::to_str).unwrap_or_default();
        Self { purpose: Purpose::Open, field: PathBar::new(typed.to_owned()) }
    }

    /// A file beside the user's own, or in the folder that the program was started in.
    pub(super) fn save(kind: SaveKind, id: &str, given: Option<&Path>) -> Self {
        let name = match kind {
            SaveKind::Dockerfile => format!("Dockerfile.{id}"),
            SaveKind::Patch => format!("Dockerfile.{id}.patch"),
        };
        let beside = given.and_then(Path::parent).map(|folder| folder.join(&name));
        let typed = beside.and_then(|path| path.to_str().map(str::to_owned)).unwrap_or(name);
        Self { purpose: Purpose::Save(kind), field: PathBar::new(typed) }
    }

    /// Shows an error; focus returns to the field.
    pub(super) fn show_message(&mut self, words: String) {
        self.field.show_message(words);
    }

    fn words(&self) -> PathWords {
        match self.purpose {
            Purpose::Open => {
                PathWords { label: "Dockerfile of the image", hint: "/path/to/Dockerfile", button: "Open" }
            }
            Purpose::Save(SaveKind::Dockerfile) => {
                PathWords { label: "Save proposal as", hint: "", button: "Save" }
            }
            Purpose::Save(SaveKind::Patch) => PathWords { label: "Save patch as", hint: "", button: "Save" },
        }
    }
}

impl DockerfileView {
    /// Polls the result of saving.
    pub(super) fn take_saved(&mut self, context: &mut ViewContext<'_>) {
        let Some((kind, saved)) = self.state.take_saved() else { return };
        let what = if kind == SaveKind::Patch { "Patch" } else { "Proposed Dockerfile" };
        let field = self.bar.as_mut().map(|bar| &mut bar.field);
        if let Some(notice) = PathBar::saved(field, saved, what, context.actions) {
            (self.bar, self.notice) = (None, Some(notice));
        }
    }
}

/// Shows the field and the line, where there is one.
pub(super) fn show(ui: &mut Ui, view: &mut DockerfileView, context: &mut ViewContext<'_>, waker: &Waker) {
    if let Some(notice) = &view.notice
        && !show_notice(ui, notice, context.actions)
    {
        view.notice = None;
    }
    let busy = view.state.is_saving();
    let Some(bar) = &mut view.bar else { return };
    let words = bar.words();
    match bar.field.show(ui, words, busy) {
        PathEvent::Nothing => {}
        PathEvent::Close => view.bar = None,
        PathEvent::Browse => context.actions.push(Action::Pick(match bar.purpose {
            Purpose::Open => Pick::Dockerfile,
            Purpose::Save(SaveKind::Dockerfile) => Pick::SaveDockerfile,
            Purpose::Save(SaveKind::Patch) => Pick::SavePatch,
        })),
        PathEvent::Take(replace) => {
            bar.field.taken();
            let (path, purpose) = (bar.field.path(), bar.purpose);
            view.notice = None;
            match purpose {
                Purpose::Open => view.open(path),
                Purpose::Save(kind) => view.save(kind, path, replace, waker),
            }
            ui.ctx().request_repaint();
        }
    }
}
