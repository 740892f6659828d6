//! File dialogs, off the painting thread: a desktop portal may hang, and there may be none at all.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use poll_promise::Promise;

use crate::jobs::{Waker, catch_panic};

/// After this long without an answer the window reports a missing dialog service.
const PATIENCE: Duration = Duration::from_secs(3);
/// An answer sooner than anyone can click: there was no dialog.
const TOO_SOON: Duration = Duration::from_millis(150);

/// The request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// An archive.
    Archive,
    /// A folder: an image layout or a root filesystem.
    Folder,
    /// An archive to compare with.
    CompareArchive,
    /// A folder to compare with.
    CompareFolder,
    /// Where to save a comparison; how its name ends.
    SaveComparison(&'static str),
    /// The Dockerfile of an image.
    Dockerfile,
    /// Where to save a proposed Dockerfile.
    SaveDockerfile,
    /// Where to save a patch.
    SavePatch,
    /// A saved plan.
    Plan,
    /// Where to save a plan.
    SavePlan,
    /// Where to save a report; how its name ends, empty for a Dockerfile.
    SaveReport(&'static str),
    /// A platform's file.
    PlatformFile,
    /// Where to save lines of a deployment; the usual name of the file.
    SaveSnippet(&'static str),
    /// The folder of a slim image.
    SlimFolder,
    /// Where to save the archive of a slim image.
    SlimArchive,
    /// Where to save a file of an image.
    SaveFile,
    /// Where to save several as an archive.
    SaveSelection,
}

/// Shows a dialog and waits for its answer; runs on its own thread.
pub type Picker = Arc<dyn Fn(Pick) -> Option<PathBuf> + Send + Sync>;

/// The dialogs of the desktop.
pub fn desktop() -> Picker {
    Arc::new(|pick| {
        let dialog = rfd::FileDialog::new();
        match pick {
            Pick::CompareArchive => dialog
                .set_title("Compare with an archive")
                .add_filter("Image archives", &["tar", "gz", "tgz", "zst"])
                .add_filter("All files", &["*"])
                .pick_file(),
            Pick::CompareFolder => dialog.set_title("Compare with a folder").pick_folder(),
            Pick::SaveComparison(extension) => dialog
                .set_title("Save comparison")
                .set_file_name(format!("comparison.{extension}"))
                .save_file(),
            Pick::Archive => dialog
                .set_title("Open archive")
                .add_filter("Image archives, saved reports", &["tar", "gz", "tgz", "zst", "json"])
                .add_filter("All files", &["*"])
                .pick_file(),
            Pick::Folder => dialog.set_title("Open folder").pick_folder(),
            Pick::Dockerfile => dialog.set_title("Open Dockerfile").pick_file(),
            Pick::Plan => dialog
                .set_title("Open plan")
                .add_filter("Plans, saved reports", &["json"])
                .add_filter("All files", &["*"])
                .pick_file(),
            Pick::SavePlan => dialog.set_title("Save plan").set_file_name("cutaway-plan.json").save_file(),
            Pick::SaveDockerfile => {
                dialog.set_title("Save Dockerfile").set_file_name("Dockerfile.cutaway").save_file()
            }
            Pick::SlimFolder => dialog.set_title("Write to folder").set_file_name("image-slim").save_file(),
            Pick::SlimArchive => {
                dialog.set_title("Write archive").set_file_name("image-slim.tar").save_file()
            }
            Pick::SaveReport("") => {
                dialog.set_title("Save Dockerfile").set_file_name("Dockerfile.cutaway").save_file()
            }
            Pick::SaveReport(extension) => {
                dialog.set_title("Save report").set_file_name(format!("report.{extension}")).save_file()
            }
            Pick::PlatformFile => dialog
                .set_title("Open platform file")
                .add_filter("cerebrium.toml, YAML", &["toml", "yaml", "yml"])
                .add_filter("All files", &["*"])
                .pick_file(),
            Pick::SaveSnippet(name) => dialog.set_title("Save lines").set_file_name(name).save_file(),
            Pick::SaveSelection => {
                dialog.set_title("Save selection").set_file_name("selection.tar").save_file()
            }
            Pick::SaveFile => dialog.set_title("Save file").save_file(),
            Pick::SavePatch => dialog.set_title("Save patch").set_file_name("Dockerfile.patch").save_file(),
        }
    })
}

/// The result of a dialog.
#[derive(Debug, PartialEq, Eq)]
pub enum DialogAnswer {
    /// This was chosen.
    Picked(PathBuf),
    /// It was closed without a choice.
    Nothing,
    /// It could not be shown, for this reason.
    Failed(String),
}

/// At most one dialog, and what is known about it.
pub struct Dialogs {
    picker: Picker,
    waiting: Option<Waiting>,
}

struct Waiting {
    pick: Pick,
    since: Instant,
    /// The choice, and how long it took.
    promise: Promise<(Result<Option<PathBuf>, String>, Duration)>,
}

impl Dialogs {
    /// No dialog yet; `picker` will show them.
    pub fn new(picker: Picker) -> Self {
        Self { picker, waiting: None }
    }

    /// Whether one is open or about to open.
    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// Whether one was asked for so long ago that there may be no dialog service.
    pub fn is_late(&self) -> bool {
        self.waiting.as_ref().is_some_and(|waiting| waiting.since.elapsed() >= PATIENCE)
    }

    /// How long until [`Self::is_late`] turns true.
    pub fn late_in(&self) -> Option<Duration> {
        PATIENCE.checked_sub(self.waiting.as_ref()?.since.elapsed())
    }

    /// Asks for a dialog; nothing happens while another one is open.
    pub fn open(&mut self, pick: Pick, waker: Waker) {
        if self.waiting.is_some() {
            return;
        }
        let picker = Arc::clone(&self.picker);
        let (sender, promise) = Promise::new();
        let started = crate::jobs::spawn("dialog", move || {
            let begun = Instant::now();
            let choice = catch_panic(|| picker(pick));
            sender.send((choice, begun.elapsed()));
            waker();
        });
        // Without a thread the sender is dropped, and polling the promise would panic.
        let promise = match started {
            Ok(()) => promise,
            Err(error) => {
                Promise::from_ready((Err(format!("Cannot start a thread: {error}")), Duration::ZERO))
            }
        };
        self.waiting = Some(Waiting { pick, since: Instant::now(), promise });
    }

    /// Stops waiting; a later answer is ignored.
    pub fn give_up(&mut self) {
        self.waiting = None;
    }

    /// The answer, and what was asked for; once, when it is there.
    pub fn poll(&mut self) -> Option<(Pick, DialogAnswer)> {
        let Waiting { pick, since, promise } = self.waiting.take()?;
        let answer = match promise.try_take() {
            Err(promise) => {
                self.waiting = Some(Waiting { pick, since, promise });
                return None;
            }
            Ok((Ok(Some(path)), _)) => DialogAnswer::Picked(path),
            Ok((Ok(None), took)) if took < TOO_SOON => {
                DialogAnswer::Failed("File dialogs are not available on this desktop".to_owned())
            }
            Ok((Ok(None), _)) => DialogAnswer::Nothing,
            Ok((Err(panic), _)) => DialogAnswer::Failed(format!("File dialog failed: {panic}")),
        };
        Some((pick, answer))
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::time::Duration;

    use super::{DialogAnswer, Dialogs, Pick, Picker};

    fn answer(picker: Picker) -> DialogAnswer {
        let mut dialogs = Dialogs::new(picker);
        dialogs.open(Pick::Archive, Arc::new(|| ()));
        for _ in 0..500 {
            if let Some((pick, answer)) = dialogs.poll() {
                assert!(!dialogs.is_waiting() && pick == Pick::Archive);
                return answer;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("no answer");
    }

    #[test]
    fn answers_arrive_and_panics_are_caught() {
        let path = PathBuf::from("image.tar");
        let picked = path.clone();
        assert_eq!(answer(Arc::new(move |_| Some(picked.clone()))), DialogAnswer::Picked(path));
        assert!(matches!(answer(Arc::new(|_| None)), DialogAnswer::Failed(_)), "nobody clicks that fast");
        let slow: Picker = Arc::new(|_| {
            std::thread::sleep(Duration::from_millis(200));
            None
        });
        assert_eq!(answer(slow), DialogAnswer::Nothing);
        let DialogAnswer::Failed(reason) = answer(Arc::new(|_| panic!("no portal"))) else {
            panic!("no failure")
        };
        assert!(reason.contains("no portal"), "{reason}");
    }
}
