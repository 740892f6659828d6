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
        Some(tab) if tab.dockerfile.model().is_some() => Err("No proposal for this image"),
        Some(tab) if tab.saved.is_some() => Err(NEEDS_IMAGE),
        Some(_) => Err("No proposal yet: open the Dockerfile view to compute proposals"),
        None => Err("Open an image first"),
    }
}

fn with_image(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) if tab.analysis.is_some() => Ok(()),
        Some(tab) if tab.saved.is_some() => Err(NEEDS_IMAGE),
        Some(_) => Err("The image is not loaded yet"),
        None => Err("Open an image first"),
    }
}

fn with_file(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) if tab.dockerfile.given().is_some() => Ok(()),
        Some(tab) if tab.saved.is_some() => Err(NEEDS_IMAGE),
        Some(_) => Err("No Dockerfile is open for this image"),
        None => Err("Open an image first"),
    }
}

/// Switches to the view and acts on it.
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
    "Copy the proposed Dockerfile to the clipboard",
    Menu::Image,
    3,
    [ctrl_shift(Key::C)],
    with_proposal,
    copy
);

pub(super) const SAVE: Command = command!(
    "dockerfile.save",
    "Save Dockerfile as…",
    "Save the proposed Dockerfile to a file",
    Menu::Image,
    3,
    [ctrl(Key::S)],
    with_proposal,
    |app| show(app, |view| view.ask_where(SaveKind::Dockerfile))
);

pub(super) const SAVE_PATCH: Command = command!(
    "dockerfile.save-patch",
    "Save patch as…",
    "Save the changes as a patch for git apply",
    Menu::Image,
    3,
    [ctrl_shift(Key::S)],
    with_proposal,
    |app| show(app, |view| view.ask_where(SaveKind::Patch))
);

pub(super) const OPEN: Command = command!(
    "dockerfile.open",
    "Open Dockerfile…",
    "Use the Dockerfile that the image was built from",
    Menu::Image,
    3,
    [ctrl_shift(Key::D)],
    with_image,
    |app| show(app, DockerfileView::ask_for_file)
);

pub(super) const FORGET: Command = command!(
    "dockerfile.forget",
    "Close Dockerfile",
    "Return to the Dockerfile reconstructed from the image history",
    Menu::Image,
    3,
    [],
    with_file,
    |app| show(app, DockerfileView::forget)
);

pub(super) const NEXT: Command = command!(
    "dockerfile.next",
    "Next change",
    "Go to the next change in the Dockerfile",
    Menu::Image,
    3,
    [plain(Key::F7)],
    with_proposal,
    |app| show(app, |view| view.step(true))
);

pub(super) const PREVIOUS: Command = command!(
    "dockerfile.previous",
    "Previous change",
    "Go to the previous change in the Dockerfile",
    Menu::Image,
    3,
    [egui::KeyboardShortcut::new(egui::Modifiers::SHIFT, Key::F7)],
    with_proposal,
    |app| show(app, |view| view.step(false))
);
