//! Saves files of an image beside the frames: where to, progress, and what came of it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::background::Background;
use crate::analysis::{Analysis, Options};
use crate::base::size::grouped;
use crate::base::text::{counted, printable};
use crate::contents::{ContentsError, save_archive};
use crate::cuda::links::Paths;
use crate::jobs::{CancelToken, Progress, Snapshot, Waker};
use crate::layer::parts;
use crate::rootfs::NodeId;
use crate::slim::needs_all_bytes;

/// What was saved, or why not.
#[derive(Default)]
pub enum SaveState {
    /// Nothing was saved.
    #[default]
    Idle,
    /// Being written.
    Saving,
    /// It is there.
    Saved(String),
    /// It is not.
    Failed(String),
}

/// Saves one thing at a time.
#[derive(Default)]
pub struct Saver {
    /// Where to save, while that is typed.
    pub name: Option<String>,
    /// Whether the field for it is to get the keyboard.
    pub asks_name: bool,
    /// What came of it.
    pub state: SaveState,
    job: Background<Result<String, ContentsError>>,
    progress: Progress,
}

impl Saver {
    /// Asks where to save, beginning with a name.
    pub fn ask(&mut self, name: String) {
        (self.name, self.asks_name) = (Some(name), true);
    }

    /// Starts `work`, which says what it saved.
    pub fn start(
        &mut self,
        waker: &Waker,
        work: impl FnOnce(&Progress, &CancelToken) -> Result<String, ContentsError> + Send + 'static,
    ) {
        (self.state, self.name, self.progress) = (SaveState::Saving, None, Progress::default());
        let progress = self.progress.clone();
        self.job.start(waker, false, move |cancel| Ok(work(&progress, cancel)));
    }

    /// Saves paths of the merged view, and all below them, as a tar archive.
    pub fn save_paths(
        &mut self,
        (analysis, options): (&Arc<Analysis>, &Options),
        paths: Vec<Vec<u8>>,
        (to, replace): (PathBuf, bool),
        waker: &Waker,
    ) {
        let (analysis, options) = (Arc::clone(analysis), options.clone());
        self.start(waker, move |progress, cancel| {
            save_paths((&analysis, &options), &paths, (&to, replace), (progress, cancel))
        });
    }

    /// Takes the result. Called on each frame.
    pub fn update(&mut self) {
        if let Some(result) = self.job.result() {
            self.state = match result {
                Ok(Ok(words)) => SaveState::Saved(words),
                Ok(Err(ContentsError::Cancelled)) => SaveState::Idle,
                Ok(Err(error)) => SaveState::Failed(printable(&error.to_string())),
                Err(panic) => SaveState::Failed(panic),
            };
        }
    }

    /// Stops.
    pub fn cancel(&mut self) {
        (self.job, self.state) = (Background::default(), SaveState::Idle);
    }

    /// Bytes so far.
    pub fn progress(&self) -> Snapshot {
        self.progress.snapshot()
    }

    /// Whether it works.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy()
    }
}

/// Saves paths of the merged view, and all below them, as a tar archive; links are saved as links. Paths that it does
/// not have, because an upper layer removed them, are left out. What was saved in words.
///
/// # Errors
/// None of the paths is in the merged view, or those of [`save_archive`].
pub(super) fn save_paths(
    (analysis, options): (&Analysis, &Options),
    paths: &[Vec<u8>],
    (to, replace): (&Path, bool),
    (progress, cancel): (&Progress, &CancelToken),
) -> Result<String, ContentsError> {
    let unread = |object: &str, reason: &str| ContentsError::Unread {
        object: object.to_owned(),
        reason: reason.to_owned(),
    };
    let merge = analysis.merge.as_deref();
    let merge = merge.ok_or_else(|| unread("the image", "its layers are not merged yet"))?;
    if needs_all_bytes(analysis) {
        let reason = "layers were read by their tables of contents; use cutaway extract";
        return Err(unread("the files", reason));
    }
    // Names as they are: what is at the target of a link was not chosen. Reads the names of a folder once.
    let names = Paths::new(&merge.rootfs);
    let find = |path: &Vec<u8>| parts(path).try_fold(NodeId::ROOT, |at, name| names.child(at, name));
    let found: Vec<NodeId> = paths.iter().filter_map(find).collect();
    if found.is_empty() {
        return Err(unread("the selection", "a container sees none of it: upper layers removed it"));
    }
    let missing = paths.len() - found.len();
    let nodes = BTreeSet::from_iter(found);
    let done = save_archive((analysis, options), &merge.rootfs, &nodes, to, replace, (progress, cancel))?;
    let left = match done.left_out.len() + missing {
        0 => String::new(),
        count => format!(", {} left out", grouped(count as u64)),
    };
    let shown = printable(&to.display().to_string());
    Ok(format!("Saved {}{left} to {shown}", counted(done.files, "file")))
}
