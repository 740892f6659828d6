//! Files from outside: what dialogs answer, and what is dropped on the window.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::{App, Tab};
use crate::gui::dialogs::{Answer, Pick};
use crate::gui::models::dockerfile::{SaveKind, is_dockerfile};
use crate::gui::views::View;
use crate::jobs::spawn;

/// Files that were dropped on an image, once they were looked at: the tab, the file, and whether it is a Dockerfile.
pub(super) type Drops = Arc<Mutex<Vec<(u64, PathBuf, bool)>>>;

impl App {
    /// Looks whether a dialog has answered.
    pub(super) fn poll_dialogs(&mut self) {
        let Some((pick, answer)) = self.dialogs.poll() else { return };
        let waker = self.waker();
        let asked_by = self.asked_by;
        let tab = self.tabs.iter_mut().find(|tab| Some(tab.id) == asked_by);
        match (pick, answer, tab) {
            (_, Answer::Nothing, _) => {}
            (Pick::Archive | Pick::Folder, Answer::Picked(path), _) => self.open_path(&path),
            (Pick::Archive | Pick::Folder, Answer::Failed(reason), _) => {
                self.log.error("", &reason);
                self.start.say(format!("{reason}; type or paste the path instead"));
                self.show_start();
            }
            (_, Answer::Failed(reason), tab) => {
                self.log.error("", &reason);
                if let Some(tab) = tab {
                    tab.dockerfile.dialog_failed(&reason);
                }
            }
            (Pick::Dockerfile, Answer::Picked(path), Some(tab)) => tab.dockerfile.open(path),
            // A dialog asks by itself whether a file may be replaced.
            (Pick::SaveDockerfile, Answer::Picked(path), Some(tab)) => {
                tab.dockerfile.save(SaveKind::Dockerfile, path, true, &waker);
            }
            (Pick::SavePatch, Answer::Picked(path), Some(tab)) => {
                tab.dockerfile.save(SaveKind::Patch, path, true, &waker);
            }
            (Pick::Dockerfile | Pick::SaveDockerfile | Pick::SavePatch, Answer::Picked(_), None) => {}
        }
    }

    /// Takes files that were dropped: a Dockerfile goes to the image in front, everything else is an image.
    pub(super) fn take_files(&mut self, paths: Vec<PathBuf>) {
        let Some(tab) = self.front_tab().filter(|tab| tab.analysis.is_some()).map(|tab| tab.id) else {
            for path in &paths {
                self.open_path(path);
            }
            return;
        };
        let (drops, waker, all) = (Arc::clone(&self.drops), self.waker(), paths.clone());
        let started = spawn("dropped files", move || {
            for path in paths {
                let is = is_dockerfile(&path);
                drops.lock().unwrap_or_else(PoisonError::into_inner).push((tab, path, is));
            }
            waker();
        });
        if started.is_err() {
            for path in &all {
                self.open_path(path);
            }
        }
    }

    /// Opens what was dropped, once it was looked at.
    pub(super) fn poll_drops(&mut self) {
        let drops = std::mem::take(&mut *self.drops.lock().unwrap_or_else(PoisonError::into_inner));
        for (tab, path, is_dockerfile) in drops {
            match self.tabs.iter_mut().find(|open| open.id == tab) {
                Some(tab) if is_dockerfile => open_dockerfile(tab, path),
                _ => self.open_path(&path),
            }
        }
    }
}

fn open_dockerfile(tab: &mut Tab, path: PathBuf) {
    tab.dockerfile.open(path);
    tab.view = View::Dockerfile;
}
