//! Commands about registries and engines.

use super::always;
use crate::gui::app::App;
use crate::gui::app::commands::{Command, Menu};

fn with_repository(app: &App) -> Result<(), &'static str> {
    match (app.tags_of(), app.front_tab()) {
        (Some(_), _) => Ok(()),
        (None, Some(_)) => Err("The image in front is at no registry"),
        (None, None) => Err("Type the name of an image at a registry first"),
    }
}

pub(super) const TAGS: Command = command!(
    "file.list-tags",
    "List tags…",
    "Ask the registry for the tags of the image in the field, or of the one in front",
    Menu::File,
    2,
    [],
    with_repository,
    |app| app.list_tags()
);

pub(super) const ENGINES: Command = command!(
    "file.list-engines",
    "Refresh local images",
    "Ask the container engines of this machine again what they hold",
    Menu::File,
    2,
    [],
    |app| if app.remote.images.is_busy() { Err("They are being asked") } else { Ok(()) },
    |app| app.list_engines()
);

pub(super) const LOGIN: Command = command!(
    "file.log-in",
    "Log in to a registry…",
    "Keep a user name and a password or token for a registry until the window closes",
    Menu::File,
    2,
    [],
    always,
    |app| app.ask_login(None, None)
);

pub(super) const FORGET_LOGINS: Command = command!(
    "file.forget-logins",
    "Forget logins",
    "Forget who logged in to registries since the window was opened",
    Menu::File,
    2,
    [],
    |app| if app.remote.has_logins() { Ok(()) } else { Err("Nobody has logged in here") },
    |app| app.forget_logins()
);

pub(super) const FORGET_HOSTS: Command = command!(
    "file.forget-hosts",
    "Forget registries",
    "Ask again before a registry is contacted",
    Menu::File,
    2,
    [],
    |app| if app.has_hosts() { Ok(()) } else { Err("No registry was contacted yet") },
    |app| app.forget_hosts()
);
