//! `cutaway settings`: where the user's settings are, and what is in effect.

use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;

use clap::Subcommand;

use super::output::write;
use crate::settings::{Key, Settings, SettingsFile};

#[derive(Subcommand)]
pub(super) enum SettingsArguments {
    /// Print the path of the settings file, which need not exist
    Path,
    /// Print all settings with their values, in the format of the file
    Show,
}

/// Variables of the environment that override a key.
const VARIABLES: [(&str, &str, &str); 4] = [
    ("cache", "limit", "CUTAWAY_CACHE_SIZE"),
    ("cache", "blob_limit", "CUTAWAY_BLOB_CACHE"),
    ("engines", "docker_host", "DOCKER_HOST"),
    ("engines", "podman_host", "CONTAINER_HOST"),
];

/// Prints the path or the values.
pub(super) fn settings(command: &SettingsArguments) -> anyhow::Result<ExitCode> {
    let file = SettingsFile::of_user()?;
    let text = match command {
        // Raw bytes, for scripts: a path need not be UTF-8.
        SettingsArguments::Path => [file.path().as_os_str().as_bytes(), b"\n"].concat(),
        SettingsArguments::Show => shown(&file, &file.load()?).into_bytes(),
    };
    write(&text, None)?;
    Ok(ExitCode::SUCCESS)
}

fn shown(file: &SettingsFile, settings: &Settings) -> String {
    let exists = if file.path().exists() { "" } else { ", which does not exist: all values are defaults" };
    let note = |key: &Key| {
        let variable = VARIABLES.iter().find(|(table, name, _)| (*table, *name) == (key.table, key.name));
        let set = |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        variable.map(|(.., name)| *name).filter(set).map(|name| format!("{name} overrides it"))
    };
    format!("# {}{exists}\n\n{}", file.shown(), settings.to_text(note))
}
