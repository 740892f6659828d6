//! Commands that open and close images.

use egui::Key;

use super::{always, ctrl, ctrl_shift, with_image};
use crate::gui::app::App;
use crate::gui::app::commands::{Command, Menu};
use crate::gui::dialogs::Pick;

fn without_dialog(app: &App) -> Result<(), &'static str> {
    if app.dialogs.is_waiting() { Err("A file dialog is already open") } else { Ok(()) }
}

pub(super) const NEW_TAB: Command = command!(
    "file.new-tab",
    "Open image…",
    "Open an image in a new tab",
    Menu::File,
    0,
    [ctrl(Key::T)],
    always,
    |app| app.show_start()
);

pub(super) const OPEN_ARCHIVE: Command = command!(
    "file.open-archive",
    "Open archive…",
    "Open an OCI or docker save archive, plain or compressed",
    Menu::File,
    0,
    [ctrl(Key::O)],
    without_dialog,
    |app| app.ask(Pick::Archive)
);

pub(super) const OPEN_FOLDER: Command = command!(
    "file.open-folder",
    "Open folder…",
    "Open an OCI layout, a skopeo directory or a root filesystem",
    Menu::File,
    0,
    [ctrl_shift(Key::O)],
    without_dialog,
    |app| app.ask(Pick::Folder)
);

pub(super) const SAMPLE_DEVEL: Command = command!(
    "file.sample-devel",
    "Open devel sample",
    "Small example of a service built on a CUDA devel image",
    Menu::File,
    1,
    [],
    always,
    |app| app.open("sample:devel")
);

pub(super) const SAMPLE_RUNTIME: Command = command!(
    "file.sample-runtime",
    "Open runtime sample",
    "The same service on a CUDA runtime image",
    Menu::File,
    1,
    [],
    always,
    |app| app.open("sample:runtime")
);

pub(super) const FORGET_RECENT: Command = command!(
    "file.forget-recent",
    "Clear recent images",
    "Remove all entries from the recent images",
    Menu::File,
    3,
    [],
    |app| if app.settings.recent.is_empty() { Err("No recent images") } else { Ok(()) },
    |app| app.settings.recent.clear()
);

pub(super) const CLOSE: Command = command!(
    "file.close-tab",
    "Close image",
    "Close this tab and cancel its work",
    Menu::File,
    4,
    [ctrl(Key::W)],
    with_image,
    |app| {
        if let Some(tab) = app.front {
            app.close(tab);
        }
    }
);

pub(super) const QUIT: Command =
    command!("file.quit", "Quit", "Close the window", Menu::File, 4, [ctrl(Key::Q)], always, |app| app
        .context
        .send_viewport_cmd(egui::ViewportCommand::Close));
