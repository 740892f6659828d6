//! Writing a proposal to a file, off the painting thread.

use std::path::{Path, PathBuf};

use crate::base::save::save;
use crate::base::text::printable;
use crate::gui::models::background::Background;
use crate::jobs::Waker;

/// What is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SaveKind {
    /// The proposed Dockerfile.
    #[default]
    Dockerfile,
    /// What changes, as a patch.
    Patch,
}

/// The result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaveState {
    /// Written to this file; safe to show.
    Saved(String),
    /// The file is there already, and replacing it was not confirmed.
    Exists(String),
    /// Why it was not written.
    Failed(String),
}

/// Writes files.
#[derive(Default)]
pub struct Saving {
    job: Background<SaveState>,
}

impl Saving {
    /// Writes `text` to a file; overwrites only after confirmation.
    pub fn start<T>(&mut self, path: PathBuf, text: T, replace: bool, waker: &Waker)
    where
        T: AsRef<str> + Send + 'static,
    {
        self.job.start(waker, false, move |_| Ok(write(&path, text.as_ref(), replace)));
    }

    /// Whether something is being written.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy()
    }

    /// The result, returned once.
    pub fn take(&mut self) -> Option<SaveState> {
        self.job.result().map(|made| made.unwrap_or_else(|error| SaveState::Failed(printable(&error))))
    }
}

/// Writes a text to a file; overwrites only after confirmation.
pub(in crate::gui::models) fn write(path: &Path, text: &str, replace: bool) -> SaveState {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let shown = printable(&whole.display().to_string());
    if !replace && whole.symlink_metadata().is_ok() {
        return SaveState::Exists(shown);
    }
    match save(&whole, text.as_bytes()) {
        Ok(()) => SaveState::Saved(shown),
        Err(error) => SaveState::Failed(format!("Cannot save {shown}: {error}")),
    }
}
