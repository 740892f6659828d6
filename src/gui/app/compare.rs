//! What the window does for the views that compare images: which are open, opening more beside, and what was dropped.

use std::path::{Path, PathBuf};

use super::{App, Phase, Tab};
use crate::base::redact;
use crate::base::size::{grouped, human};
use crate::base::text::printable;
use crate::gui::models::compare::{ImageState, OpenImage};
use crate::gui::models::typed::tidy;
use crate::gui::views::View;
use crate::gui::views::compare::CompareContext;
use crate::source::redacted;

/// Dropped files: to compare with the open image, or with each other, or to open in new tabs.
pub(crate) struct DropOffer {
    /// The tab with the image that was in front.
    pub(crate) tab: Option<u64>,
    /// The files.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether the sheet was shown already: its first button has the focus from then on.
    pub(crate) seen: bool,
}

impl App {
    /// The window state for the Compare view.
    pub(super) fn compare_context(&self) -> CompareContext {
        CompareContext {
            images: self.tabs.iter().map(open_image).collect(),
            recent: self.remembered.recent.clone(),
            dialog: self.dialogs.is_waiting(),
        }
    }

    /// Opens an image in a tab behind the one in front, and puts it beside that one.
    pub(crate) fn open_beside(&mut self, text: &str) {
        let Some(front) = self.front else { return };
        let text = tidy(text);
        if text.is_empty() {
            return;
        }
        let id = self.tab_of(&text);
        if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.id == front) {
            tab.view = View::Compare;
            if !tab.views.compare.add(id) {
                let shown = printable(&redacted(&text));
                tab.views.compare.show_message(format!("{shown} is already in the comparison"));
            }
        }
    }

    /// The same for a file.
    pub(crate) fn open_path_beside(&mut self, path: &Path) {
        match self.text_of(path) {
            Ok(text) => self.open_beside(text),
            Err(message) => self.in_view(View::Compare, |views| views.compare.show_message(message)),
        }
    }

    /// Whether the Compare view is in front: paths there are of one of several images.
    pub(crate) fn compares(&self, tab: u64) -> bool {
        let compares = self.front_tab().is_some_and(|front| front.view == View::Compare);
        compares && self.tabs.iter().any(|open| open.id == tab)
    }

    /// Opens images beside the one that was opened last, for `--compare`.
    pub(super) fn start_comparing(&mut self, images: &[String]) {
        for image in images {
            self.open_beside(image);
        }
    }

    /// Does what was asked for with dropped files.
    pub(crate) fn take_offer(&mut self, beside: bool) {
        let Some(DropOffer { tab, paths, .. }) = self.offer.take() else { return };
        let beside_tab = tab.filter(|id| beside && self.tabs.iter().any(|open| open.id == *id));
        if let Some(id) = beside_tab {
            self.front = Some(id);
            for path in &paths {
                self.open_path_beside(path);
            }
        } else if let ([first, others @ ..], None, true) = (&paths[..], tab, beside) {
            self.open_path(first);
            for path in others {
                self.open_path_beside(path);
            }
        } else {
            for path in &paths {
                self.open_path(path);
            }
        }
    }
}

fn open_image(tab: &Tab) -> OpenImage {
    OpenImage { id: tab.id, title: tab.title.clone(), shown: tab.shown.clone(), state: state(tab) }
}

/// Progress of the work on an image, for a comparison.
fn state(tab: &Tab) -> ImageState {
    if tab.saved.is_some() {
        return ImageState::Saved;
    }
    if let Some(analysis) = tab.analysis.as_ref().filter(|analysis| analysis.merge.is_some()) {
        let whole = analysis.findings.is_some()
            && analysis.inventory.as_ref().is_some_and(|inventory| inventory.waits_for.is_none());
        if whole || !tab.is_running() {
            return ImageState::Ready(std::sync::Arc::clone(analysis));
        }
    }
    match &tab.phase {
        Phase::Failed(failure) => ImageState::Failed(printable(&redact::url_user_info(&failure.message))),
        Phase::Cancelled | Phase::Done => ImageState::Stopped,
        Phase::Asking => {
            ImageState::Reading(None, "waiting for permission to connect to the registry".to_owned())
        }
        Phase::Running | Phase::Stopping => {
            let progress = tab.progress();
            let merged = tab.analysis.as_ref().is_some_and(|analysis| analysis.merge.is_some());
            let words = match (progress.bytes_passed, progress.bytes_total) {
                _ if merged => "analyzing CUDA content and findings".to_owned(),
                (0, _) if progress.entries > 0 => {
                    format!("{} entries read", grouped(progress.entries))
                }
                (0, _) => "manifest and config".to_owned(),
                (passed, 0) => human(passed),
                (passed, total) => format!("{} of {}", human(passed), human(total)),
            };
            ImageState::Reading(progress.fraction(), words)
        }
    }
}
