//! Looks whether the files of open images changed, and offers to read them again.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::names::EARLIER;
use super::{App, Phase, Tab};
use crate::base::FileIdentity;
use crate::gui::views::View;
use crate::jobs::{Snapshot, spawn};
use crate::source::Reference;

/// How often is looked. Opening a file costs nothing; a file server is asked no more than that.
const PERIOD: Duration = Duration::from_secs(3);

/// What was seen: a tab, and the identity of its file.
type Seen = (u64, Option<FileIdentity>);

/// Looks at files in the background.
pub(super) struct Watch {
    seen: Arc<Mutex<Option<Vec<Seen>>>>,
    looking: bool,
    next: Instant,
}

impl Default for Watch {
    fn default() -> Self {
        Self { seen: Arc::default(), looking: false, next: Instant::now() }
    }
}

impl Watch {
    /// Does not wait for the next period.
    pub(super) fn look_now(&mut self) {
        self.next = Instant::now();
    }
}

/// The file of a tab, and its state.
#[derive(Clone, Debug, Default)]
pub(crate) struct WatchedFile {
    path: Option<PathBuf>,
    /// Whether it changed since the image was read, and the user is to be asked.
    pub(crate) changed: bool,
    /// Whether it was looked at since the image was read.
    looked: bool,
    /// As it was when the image was read; none if it was not there.
    read: Option<FileIdentity>,
    /// As it was when it was looked at last.
    last: Option<FileIdentity>,
    /// Whether the user was asked already about the last state.
    dismissed: Option<FileIdentity>,
}

impl WatchedFile {
    /// The file of a reference, which is about to be read.
    pub(super) fn of(text: &str) -> Self {
        Self { path: watched(text), ..Self::default() }
    }

    /// Whether the file changed since it was read, and is no longer being written. One that is gone has nothing to
    /// read again; one that was not there and is now has.
    fn take(&mut self, now: Option<FileIdentity>) -> bool {
        let last = std::mem::replace(&mut self.last, now);
        if !std::mem::replace(&mut self.looked, true) {
            self.read = now;
            return false;
        }
        let Some(now) = now else { return false };
        let same = |other: &FileIdentity| other.same_content(&now);
        let is_same = |other: &Option<FileIdentity>| other.as_ref().is_some_and(same);
        !is_same(&self.read) && is_same(&last) && !is_same(&self.dismissed)
    }
}

/// The file that changes with an image: an archive itself, the index of a layout, the manifest of a skopeo folder.
/// Images of registries, engines and root filesystems have none.
fn watched(text: &str) -> Option<PathBuf> {
    let reference = Reference::parse(text).ok()?;
    let path = reference.path().filter(|_| reference.transport.is_none_or(|of| of.name != "rootfs"))?;
    if !path.is_dir() {
        return Some(path.to_owned());
    }
    ["index.json", "manifest.json"].iter().map(|name| path.join(name)).find(|file| file.is_file())
}

fn identity(path: &Path) -> Option<FileIdentity> {
    let file: File = crate::base::read_at::open_regular(path).ok()?;
    FileIdentity::of(&file).ok()
}

impl App {
    /// Looks at the files of open images every few seconds while the window is in front, and offers to reload those
    /// that changed. A file that is still growing is left alone until two looks agree.
    pub(super) fn poll_watch(&mut self) {
        if !self.settings.watch_files {
            return;
        }
        let seen = self.watch.seen.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(seen) = seen {
            self.watch.looking = false;
            for (id, now) in seen {
                let tab = self.tabs.iter_mut().find(|tab| tab.id == id);
                if let Some(tab) = tab {
                    tab.file.changed = tab.file.take(now) && !tab.is_running();
                }
            }
        }
        let waiting = self.tabs.iter().filter(|tab| tab.file.path.is_some() && !tab.earlier);
        let files: Vec<(u64, PathBuf)> =
            waiting.filter_map(|tab| Some((tab.id, tab.file.path.clone()?))).collect();
        let unread = self.tabs.iter().any(|tab| tab.file.path.is_some() && !tab.earlier && !tab.file.looked);
        let in_front = self.context.input(|input| input.focused);
        if files.is_empty() || self.watch.looking || !(in_front || unread) {
            return;
        }
        let now = Instant::now();
        if now < self.watch.next && !unread {
            self.context.request_repaint_after(self.watch.next - now);
            return;
        }
        self.watch.next = now + PERIOD;
        let (slot, waker) = (Arc::clone(&self.watch.seen), self.waker());
        let started = spawn("watch", move || {
            let seen = files.into_iter().map(|(id, path)| (id, identity(&path))).collect();
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(seen);
            waker();
        });
        self.watch.looking = started.is_ok();
    }

    /// Reads a changed image again; with `compare`, beside what was shown before.
    pub(crate) fn reload_changed(&mut self, id: u64, compare: bool) {
        let Some(place) = self.tabs.iter().position(|tab| tab.id == id) else { return };
        let shown = self.tabs.get(place).and_then(|tab| tab.analysis.clone());
        let earlier = shown.filter(|_| compare).map(|analysis| {
            let front = self.front;
            let earlier = self.add_tab(|earlier| Tab::earlier(earlier, analysis, Snapshot::default()));
            self.front = front;
            earlier
        });
        self.again(id);
        if let (Some(earlier), Some(tab)) = (earlier, self.tabs.iter_mut().find(|tab| tab.id == id)) {
            tab.view = View::Compare;
            tab.views.compare.add(earlier);
        }
    }

    /// Keeps what is shown until the file changes again.
    pub(crate) fn dismiss_change(&mut self, id: u64) {
        self.in_tab(id, |tab| {
            tab.file.changed = false;
            tab.file.dismissed = tab.file.last;
        });
    }
}

impl Tab {
    /// A tab that keeps what was known of an image whose file has changed since.
    fn earlier(id: u64, analysis: Arc<crate::analysis::Analysis>, progress: Snapshot) -> Self {
        let mut tab = Self::still(id, analysis, progress);
        tab.title.push_str(EARLIER);
        tab.shown.push_str(EARLIER);
        (tab.earlier, tab.phase) = (true, Phase::Done);
        tab
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{WatchedFile, identity, watched};

    #[test]
    fn a_change_counts_once_the_file_is_no_longer_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("image.tar");
        let mut file = WatchedFile::of(path.to_str().unwrap());
        assert_eq!(file.path.as_deref(), Some(path.as_path()));
        let put = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            identity(&path).unwrap()
        };
        let one = put(b"one");
        assert!(!file.take(Some(one)) && !file.take(Some(one)), "it is what was read");
        let three = put(b"three");
        assert!(!file.take(Some(three)), "perhaps more comes");
        let seven = put(b"seven..");
        assert!(!file.take(Some(seven)));
        assert!(file.take(Some(seven)) && file.take(Some(seven)));
        file.dismissed = file.last;
        assert!(!file.take(Some(seven)));
        let last = put(b"the last");
        assert!(!file.take(Some(last)) && file.take(Some(last)), "another change is another question");
        assert!(identity(folder.path()).is_none());
    }

    #[test]
    fn only_local_images_have_a_file() {
        let folder = tempfile::tempdir().unwrap();
        let layout = folder.path().to_str().unwrap();
        assert_eq!(watched(&format!("rootfs:{layout}")), None);
        fs::write(folder.path().join("index.json"), "{}").unwrap();
        assert_eq!(watched(&format!("oci:{layout}:latest")), Some(folder.path().join("index.json")));
        assert_eq!(watched("sample:devel"), None);
        assert_eq!(watched("docker://ghcr.io/a/b"), None);
    }
}
