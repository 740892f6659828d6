//! Commands about the work on the image in front.

use egui::Key;

use super::{ctrl, plain, with_image};
use crate::gui::app::commands::{Command, Menu};
use crate::gui::app::{App, Phase};

fn while_running(app: &App) -> Result<(), &'static str> {
    match app.front_tab().map(|tab| &tab.phase) {
        Some(Phase::Running) => Ok(()),
        Some(Phase::Stopping) => Err("Already stopping"),
        Some(_) => Err("No work is running for this image"),
        None => Err("Open an image first"),
    }
}

fn when_ended(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) if tab.is_running() => Err("The image is still loading"),
        Some(_) => Ok(()),
        None => Err("Open an image first"),
    }
}

pub(super) const AGAIN: Command = command!(
    "image.again",
    "Reload",
    "Reload this image",
    Menu::Image,
    0,
    [ctrl(Key::R), plain(Key::F5)],
    when_ended,
    |app| {
        if let Some(tab) = app.front {
            app.again(tab);
        }
    }
);

pub(super) const CANCEL: Command = command!(
    "image.cancel",
    "Cancel",
    "Stop loading this image",
    Menu::Image,
    0,
    [ctrl(Key::Period)],
    while_running,
    |app| {
        if let Some(tab) = app.front_tab_mut() {
            tab.cancel();
        }
    }
);

pub(super) const COPY_REFERENCE: Command = command!(
    "image.copy-reference",
    "Copy reference",
    "Copy the reference of this image to the clipboard",
    Menu::Image,
    1,
    [],
    with_image,
    |app| {
        if let Some(tab) = app.front_tab() {
            app.context.copy_text(tab.shown.clone());
        }
    }
);
