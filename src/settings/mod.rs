//! In: the user's settings file.
//! Out: its values, each with a default; and the same file with values changed.
//! Must not know: what uses a setting, images, or the window.
//!
//! # Design
//!
//! One TOML file for window and command line, in the user's configuration folder. A setting is a default: options of
//! the command line, then the environment, then the project's `cutaway.toml` override it. Each key is a row of one
//! table (`keys`), from which `cutaway settings show`, changes by the window and the test of the manual are made.
//!
//! The file belongs to the user. A change replaces single values in the text (`file`), so comments, order and layout
//! stay, and the file is replaced atomically. An invalid file is never written to. Unknown keys are errors, because a
//! misspelled one would otherwise be ignored silently.

mod document;
mod file;
mod keys;
#[cfg(test)]
mod tests;

use std::path::PathBuf;

pub use document::SettingsError;
pub use file::SettingsFile;
pub use keys::{KEYS, Key};

use crate::base::size::Units;

/// Percentages of text size that the window can show.
pub const TEXT_SIZES: std::ops::RangeInclusive<u16> = 50..=300;
/// Maximum registries in one file: more than a person allows.
pub const MOST_HOSTS: usize = 1000;

/// Light, dark, or the desktop's setting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// The desktop's setting.
    #[default]
    System,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// All themes.
    pub const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Its value in the file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

/// A string of the file and its position, for errors that are found when it is used. Equal strings are equal wherever
/// they are.
#[derive(Clone, Debug, Default)]
pub struct Written {
    /// The string.
    pub text: String,
    /// Line and column, from 1; 0 if it is not from a file.
    at: (usize, usize),
}

impl From<&str> for Written {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), at: (0, 0) }
    }
}

impl PartialEq for Written {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

/// What options of the command line or the environment have set, and the settings therefore have no effect on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    /// Whether the index cache is used, or its limit.
    pub cache_limit: bool,
    /// The limit of the blob cache.
    pub blob_limit: bool,
    /// Certificates.
    pub ca_file: bool,
}

/// The values of a settings file; [`Settings::default`] without one.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a key of the file")]
pub struct Settings {
    /// Theme of the window.
    pub theme: Theme,
    /// Size of text and all else in the window, in percent: one of [`TEXT_SIZES`].
    pub text_size: u16,
    /// Units of sizes in texts.
    pub units: Units,
    /// Whether the window opens the images of the last session.
    pub restore_images: bool,
    /// Whether the window looks if open local images changed.
    pub watch_files: bool,
    /// GPUs and machines that images are for; empty for the default of each command.
    pub targets: Vec<Written>,
    /// Id of the deployment platform.
    pub profile: Option<Written>,
    /// Maximum bytes of the index cache, 0 to disable it; `None` for the default.
    pub cache_limit: Option<u64>,
    /// Maximum bytes of the blob cache; 0 disables it.
    pub blob_limit: u64,
    /// Whether the start screen lists the images of container engines.
    pub list_engines: bool,
    /// Address of the Docker API, if `DOCKER_HOST` is not set.
    pub docker_host: Option<String>,
    /// Address of the Podman API, if `CONTAINER_HOST` is not set.
    pub podman_host: Option<String>,
    /// Whether the window asks before it contacts a registry for the first time.
    pub ask: bool,
    /// Registries, with their port if they have one, that are contacted without a question. The latest last.
    pub allowed: Vec<String>,
    /// A PEM file of certificates that are trusted in addition to the system's. Absolute.
    pub ca_file: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            theme: Theme::default(),
            text_size: 100,
            units: Units::default(),
            restore_images: false,
            watch_files: true,
            targets: Vec::new(),
            profile: None,
            cache_limit: None,
            blob_limit: 0,
            list_engines: true,
            docker_host: None,
            podman_host: None,
            ask: true,
            allowed: Vec::new(),
            ca_file: None,
        }
    }
}
