//! Commands about the work on the image in front.

use egui::Key;

use super::{ctrl, plain, with_image};
use crate::gui::app::commands::{Command, Menu};
use crate::gui::app::{App, Phase};

fn while_running(app: &App) -> Result<(), &'static str> {
    match app.front_tab().map(|tab| &tab.phase) {
        Some(Phase::Running) => Ok(()),
        Some(Phase::Stopping) => Err("It is being stopped already"),
        Some(_) => Err("Nothing is running for this image"),
        None => Err("Open an image first"),
    }
}

fn when_ended(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) if tab.is_running() => Err("It is still being read"),
        Some(_) => Ok(()),
        None => Err("Open an image first"),
    }
}

pub(super) const AGAIN: Command = command!(
    "image.again",
    "Open again",
    "Read the image in front anew",
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
    "Stop reading the image in front",
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
    "Put the reference of the image in front on the clipboard",
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
