//! Location and limit of the cache, from the environment and the user's settings.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use directories::ProjectDirs;

use super::store::Cache;
use crate::base::size;
use crate::base::text::printable;

/// The folder; default is the user's cache folder.
const FOLDER: &str = "CUTAWAY_CACHE_DIR";
/// Maximum stored bytes.
const SIZE: &str = "CUTAWAY_CACHE_SIZE";
/// Any value except empty and `0` disables the cache.
const NONE: &str = "CUTAWAY_NO_CACHE";
/// Indexes of a thousand layers with tens of thousands of files each; small beside the images themselves.
const LIMIT: u64 = 2 << 30;

/// Location and limit of the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// An absolute path.
    pub folder: PathBuf,
    /// Maximum bytes; 0 disables the cache.
    pub limit: u64,
}

/// Invalid environment. Nothing is guessed: a wrong folder or size could fill a disk.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsError {
    /// A relative path would mean another folder in each working directory.
    #[error("CUTAWAY_CACHE_DIR is {0:?}, expected an absolute path")]
    Relative(String),
    /// Invalid size.
    #[error("CUTAWAY_CACHE_SIZE: {0}")]
    Size(String),
    /// No home folder.
    #[error("no home folder; set CUTAWAY_CACHE_DIR")]
    NoHome,
}

impl Settings {
    /// Reads the environment. An empty variable counts as unset; `limit` is then the limit of the user's settings.
    ///
    /// # Errors
    /// An invalid variable, or no home folder.
    pub fn from_environment(limit: Option<u64>) -> Result<Self, SettingsError> {
        let folder = match set(FOLDER) {
            Some(folder) if Path::new(&folder).is_absolute() => PathBuf::from(folder),
            Some(folder) => return Err(SettingsError::Relative(printable(&folder.to_string_lossy()))),
            None => usual_folder().ok_or(SettingsError::NoHome)?,
        };
        let limit = match set(SIZE) {
            Some(text) => size::parse(&text.to_string_lossy()).map_err(SettingsError::Size)?,
            None => limit.unwrap_or(LIMIT),
        };
        Ok(Self { folder, limit })
    }
}

impl Cache {
    /// The current user's cache, with the limit of their settings; `None` if disabled there or by the environment. An
    /// unusable one has the reason in its notes.
    pub fn of_user(limit: Option<u64>) -> Option<Self> {
        if set(NONE).is_some_and(|value| value != "0") {
            return None;
        }
        match Settings::from_environment(limit) {
            Ok(Settings { limit: 0, .. }) => None,
            Ok(Settings { folder, limit }) => Some(Self::new(folder, limit)),
            Err(error) => Some(Self::without(&error.to_string())),
        }
    }
}

/// The user's cache folder by the XDG specification: `$XDG_CACHE_HOME/cutaway`, else `~/.cache/cutaway`.
fn usual_folder() -> Option<PathBuf> {
    let folder = ProjectDirs::from("", "", "cutaway")?.cache_dir().to_owned();
    folder.is_absolute().then_some(folder)
}

fn set(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
