//! Commands about registries and engines.

use super::always;
use crate::gui::app::App;
use crate::gui::app::commands::{Command, Menu};

fn with_repository(app: &App) -> Result<(), &'static str> {
    match (app.tags_of(), app.front_tab()) {
        (Some(_), _) => Ok(()),
        (None, Some(_)) => Err("This image is not from a registry"),
        (None, None) => Err("Enter a registry image name first"),
    }
}

pub(super) const TAGS: Command = command!(
    "file.list-tags",
    "List tags…",
    "List the tags of this image in its registry",
    Menu::File,
    2,
    [],
    with_repository,
    |app| app.list_tags()
);

pub(super) const ENGINES: Command = command!(
    "file.list-engines",
    "Refresh local images",
    "List the images of the local container engines again",
    Menu::File,
    2,
    [],
    |app| if app.remote.images.is_busy() { Err("Already refreshing") } else { Ok(()) },
    |app| app.list_engines()
);

pub(super) const LOGIN: Command = command!(
    "file.log-in",
    "Log in to registry…",
    "Store registry credentials until the window closes",
    Menu::File,
    2,
    [],
    always,
    |app| app.ask_login(None, None)
);

pub(super) const FORGET_LOGINS: Command = command!(
    "file.forget-logins",
    "Clear logins",
    "Delete all registry credentials of this session",
    Menu::File,
    2,
    [],
    |app| if app.remote.has_logins() { Ok(()) } else { Err("Not logged in") },
    |app| app.forget_logins()
);

pub(super) const FORGET_HOSTS: Command = command!(
    "file.forget-hosts",
    "Reset registry permissions",
    "Ask before connecting to any registry again",
    Menu::File,
    2,
    [],
    |app| if app.has_hosts() { Ok(()) } else { Err("No registry is allowed yet") },
    |app| app.forget_hosts()
);
