//! Files from outside: what dialogs answer, and what is dropped on the window.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use super::{App, DropOffer, LogSource, Tab};
use crate::gui::dialogs::{DialogAnswer, Pick};
use crate::gui::models::deployment::{images_of_file, is_platform_file};
use crate::gui::models::dockerfile::is_dockerfile;
use crate::gui::views::View;
use crate::jobs::spawn;
use crate::source::is_json;

/// Files that were dropped, once they were looked at: the tab with an image that was in front, and each file with what
/// it is.
pub(super) type DroppedFiles = Arc<Mutex<Vec<(Option<u64>, Vec<(PathBuf, DroppedFileKind)>)>>>;

/// What a dropped file is.
pub(super) enum DroppedFileKind {
    /// A Dockerfile for the image in front.
    Dockerfile,
    /// A platform's file for the image in front, and the images that it names.
    Platform(Vec<String>),
    /// A saved report, opened in a new tab.
    Report,
    /// Perhaps an image.
    Image,
}

impl App {
    /// Looks whether a dialog has answered, and gives the answer to the view that asked.
    pub(super) fn poll_dialogs(&mut self) {
        let Some((pick, answer)) = self.dialogs.poll() else { return };
        let (waker, asked_by) = (self.waker(), self.asked_by);
        let asked =
            asked_by.and_then(|(id, view)| Some((self.tabs.iter_mut().find(|tab| tab.id == id)?, view)));
        match (pick, answer, asked) {
            (_, DialogAnswer::Nothing, _) => {}
            (Pick::Archive | Pick::Folder, DialogAnswer::Picked(path), _) => self.open_path(&path),
            (Pick::Archive | Pick::Folder, DialogAnswer::Failed(reason), _) => {
                self.log.error(LogSource::WINDOW, &reason);
                self.start.show_message(format!("{reason}; enter the path instead"));
                self.show_start();
            }
            (Pick::CompareArchive | Pick::CompareFolder, DialogAnswer::Picked(path), Some((tab, _))) => {
                self.front = Some(tab.id);
                self.open_path_beside(&path);
            }
            (Pick::SlimFolder | Pick::SlimArchive, answer, _) => {
                let Some(slim) = &mut self.slim else { return };
                match answer {
                    DialogAnswer::Picked(path) => match path.to_str() {
                        Some(path) => path.clone_into(&mut slim.choices.name),
                        None => slim.message = Some("the path is not UTF-8; choose another".to_owned()),
                    },
                    DialogAnswer::Failed(reason) => {
                        slim.message = Some(format!("{reason}; enter the path instead"));
                    }
                    DialogAnswer::Nothing => {}
                }
            }
            (Pick::SaveFile, answer, _) => self.picked_file(answer),
            (Pick::SaveSelection, DialogAnswer::Picked(path), Some((tab, _))) => {
                tab.save_selection(&self.options, (path, true), &waker);
            }
            (_, DialogAnswer::Picked(path), Some((tab, view))) => {
                tab.views.get(view).picked(pick, path, &tab.plan, &waker);
            }
            (_, DialogAnswer::Picked(_), None) => {}
            (_, DialogAnswer::Failed(reason), asked) => {
                self.log.error(LogSource::WINDOW, &reason);
                if let Some((tab, view)) = asked {
                    tab.views.get(view).dialog_failed(&reason);
                }
            }
        }
    }

    /// Opens dropped files: a Dockerfile or a platform's file for the image in front, everything else as an image or a
    /// report.
    pub(super) fn take_files(&mut self, paths: Vec<PathBuf>) {
        let tab = self.front_tab().filter(|tab| tab.analysis.is_some()).map(|tab| tab.id);
        let (drops, waker, all) = (Arc::clone(&self.drops), self.waker(), paths.clone());
        let started = spawn("dropped files", move || {
            let is = |path: &PathBuf| {
                if is_json(path) {
                    DroppedFileKind::Report
                } else if is_dockerfile(path) {
                    DroppedFileKind::Dockerfile
                } else if is_platform_file(path) {
                    DroppedFileKind::Platform(images_of_file(path))
                } else {
                    DroppedFileKind::Image
                }
            };
            let looked =
                paths.into_iter().map(|path| (is(&path), path)).map(|(is, path)| (path, is)).collect();
            drops.lock().unwrap_or_else(PoisonError::into_inner).push((tab, looked));
            waker();
        });
        if started.is_err() {
            for path in &all {
                self.open_path(path);
            }
        }
    }

    /// Opens dropped files after they are classified; offers to compare images with the one in front, and several with
    /// each other.
    pub(super) fn poll_drops(&mut self) {
        let drops = std::mem::take(&mut *self.drops.lock().unwrap_or_else(PoisonError::into_inner));
        for (tab, files) in drops {
            let mut images = Vec::new();
            for (path, is) in files {
                match (is, self.tabs.iter_mut().find(|open| Some(open.id) == tab)) {
                    (DroppedFileKind::Dockerfile, Some(tab)) => open_dockerfile(tab, path),
                    (DroppedFileKind::Dockerfile, None) => self.refuse_dockerfile(&path),
                    (DroppedFileKind::Platform(_), Some(tab)) => {
                        tab.views.deployment.open(path);
                        tab.view = View::Deployment;
                    }
                    (DroppedFileKind::Platform(images), None) => self.refuse_platform_file(&path, &images),
                    (DroppedFileKind::Image, _) => images.push(path),
                    (DroppedFileKind::Report, _) => self.open_path(&path),
                }
            }
            let tab = tab.filter(|id| self.tabs.iter().any(|open| open.id == *id));
            match &mut self.offer {
                _ if images.is_empty() => {}
                None if tab.is_none() && images.len() == 1 => {
                    for path in &images {
                        self.open_path(path);
                    }
                }
                Some(offer) => offer.paths.append(&mut images),
                None => self.offer = Some(DropOffer { tab, paths: images, seen: false }),
            }
        }
    }
}

impl App {
    /// Says that a platform's file belongs to an image, and which one it names.
    fn refuse_platform_file(&mut self, path: &std::path::Path, images: &[String]) {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let shown = crate::base::text::printable(&name);
        if let [image] = images {
            self.start.put(image.clone());
        }
        let message = format!("{shown} configures a platform: open its image first, then drop it there");
        self.start.show_message(message);
        if self.front_tab().is_none() {
            self.show_start();
        }
    }

    /// Says that a Dockerfile belongs to an image.
    fn refuse_dockerfile(&mut self, path: &std::path::Path) {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let shown = crate::base::text::printable(&name);
        self.start.show_message(format!("{shown} is a Dockerfile: open its image first, then drop it there"));
        if self.front_tab().is_none() {
            self.show_start();
        }
    }
}

fn open_dockerfile(tab: &mut Tab, path: PathBuf) {
    tab.views.dockerfile.open(path);
    tab.view = View::Dockerfile;
}
