//! Reading a saved plan and writing one, off the painting thread.

use std::path::{Path, PathBuf};

use crate::base::text::printable;
use crate::findings::SavedPlan;
use crate::gui::models::background::Background;
use crate::gui::models::dockerfile::{SaveState, Saving, read_file};
use crate::jobs::Waker;
use crate::report::{SAVED_BYTES, read_plan};

/// A plan that was read, and the name of its file; or why it could not be read, in words that are safe to show.
pub type ReadPlan = Result<(SavedPlan, String), String>;

/// Plan files of one image.
#[derive(Default)]
pub struct PlanFiles {
    reading: Background<ReadPlan>,
    saving: Saving,
}

impl PlanFiles {
    /// Reads a file.
    pub fn read(&mut self, path: PathBuf, waker: &Waker) {
        self.reading.start(waker, false, move |_| Ok(read(&path)));
    }

    /// Writes a document to a file; one that exists only where it may be replaced.
    pub fn save(&mut self, path: PathBuf, document: String, replace: bool, waker: &Waker) {
        self.saving.start(path, document, replace, waker);
    }

    /// Whether a file is being read or written.
    pub fn is_busy(&self) -> bool {
        self.reading.is_busy() || self.saving.is_busy()
    }

    /// The plan that was asked for, once.
    pub fn take_read(&mut self) -> Option<ReadPlan> {
        self.reading.result().map(|read| read.unwrap_or_else(|error| Err(printable(&error))))
    }

    /// The result of saving, once.
    pub fn take_saved(&mut self) -> Option<SaveState> {
        self.saving.take()
    }
}

fn read(path: &Path) -> ReadPlan {
    let name = printable(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy());
    let failed = |why: String| format!("Cannot read plan {name}: {}", printable(&why));
    let bytes = read_file(path, SAVED_BYTES, "a plan").map_err(failed)?;
    let plan = read_plan(&bytes).map_err(|error| failed(error.to_string()))?;
    Ok((plan, name))
}
