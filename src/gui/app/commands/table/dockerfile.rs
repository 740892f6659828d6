//! Commands of the Dockerfile view.

use egui::Key;

use super::{NEEDS_IMAGE, ctrl, ctrl_shift, plain};
use crate::gui::app::App;
use crate::gui::app::commands::{Command, Menu};
use crate::gui::models::dockerfile::SaveKind;
use crate::gui::views::{DockerfileView, View};

fn with_proposal(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) if tab.dockerfile.chosen().is_some() => Ok(()),
        Some(tab) if tab.dockerfile.model().is_some() => Err("Nothing is proposed for this image"),
        Some(tab) if tab.saved.is_some() => Err(NEEDS_IMAGE),
        Some(_) => Err("Proposals are worked out when the Dockerfile view is shown"),
        None => Err("Open an image first"),
    }
}

fn with_image(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) if tab.analysis.is_some() => Ok(()),
        Some(tab) if tab.saved.is_some() => Err(NEEDS_IMAGE),
        Some(_) => Err("The image is not known yet"),
        None => Err("Open an image first"),
    }
}

fn with_file(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) if tab.dockerfile.given().is_some() => Ok(()),
        Some(tab) if tab.saved.is_some() => Err(NEEDS_IMAGE),
        Some(_) => Err("No Dockerfile was opened for this image"),
        None => Err("Open an image first"),
    }
}

/// Brings the view to the front, and does something with it.
fn show(app: &mut App, act: impl FnOnce(&mut DockerfileView)) {
    app.show_view(View::Dockerfile);
    if let Some(tab) = app.front_tab_mut() {
        act(&mut tab.dockerfile);
    }
}

fn copy(app: &mut App) {
    let text = app.front_tab().and_then(|tab| tab.dockerfile.text(SaveKind::Dockerfile));
    if let Some(text) = text {
        app.context.copy_text(text);
        show(app, DockerfileView::copied);
    }
}

pub(super) const COPY: Command = command!(
    "dockerfile.copy",
    "Copy Dockerfile",
    "Put the proposed Dockerfile on the clipboard",
    Menu::Image,
    3,
    [ctrl_shift(Key::C)],
    with_proposal,
    copy
);

pub(super) const SAVE: Command = command!(
    "dockerfile.save",
    "Save Dockerfile as…",
    "Write the proposed Dockerfile to a file",
    Menu::Image,
    3,
    [ctrl(Key::S)],
    with_proposal,
    |app| show(app, |view| view.ask_where(SaveKind::Dockerfile))
);

pub(super) const SAVE_PATCH: Command = command!(
    "dockerfile.save-patch",
    "Save patch as…",
    "Write what the proposal changes to a file, for patch or git apply",
    Menu::Image,
    3,
    [ctrl_shift(Key::S)],
    with_proposal,
    |app| show(app, |view| view.ask_where(SaveKind::Patch))
);

pub(super) const OPEN: Command = command!(
    "dockerfile.open",
    "Open Dockerfile…",
    "Take a file of your own as the Dockerfile that the image was built from",
    Menu::Image,
    3,
    [ctrl_shift(Key::D)],
    with_image,
    |app| show(app, DockerfileView::ask_for_file)
);

pub(super) const FORGET: Command = command!(
    "dockerfile.forget",
    "Forget Dockerfile",
    "Go back to what is rebuilt from the history of the image",
    Menu::Image,
    3,
    [],
    with_file,
    |app| show(app, DockerfileView::forget)
);

pub(super) const NEXT: Command = command!(
    "dockerfile.next",
    "Next change",
    "To the next change of the Dockerfile",
    Menu::Image,
    3,
    [plain(Key::F7)],
    with_proposal,
    |app| show(app, |view| view.step(true))
);

pub(super) const PREVIOUS: Command = command!(
    "dockerfile.previous",
    "Previous change",
    "To the change of the Dockerfile before this one",
    Menu::Image,
    3,
    [egui::KeyboardShortcut::new(egui::Modifiers::SHIFT, Key::F7)],
    with_proposal,
    |app| show(app, |view| view.step(false))
);
