//! One open image: its job, what is known of it, and the state of its views.

mod log_cursor;
mod rate;

use std::path::PathBuf;
use std::sync::Arc;

use self::log_cursor::LogCursor;
use self::rate::Rate;
use super::watch::WatchedFile;
use crate::analysis::{Analysis, AnalysisJob, Failure, JobState, Options};
use crate::base::Warning;
use crate::base::redact;
use crate::base::text::printable;
use crate::gui::models::faults::ImageFaults;
use crate::gui::models::findings::ChosenPlan;
use crate::gui::models::image_names::image_name;
use crate::gui::models::remote::registry_of;
use crate::gui::models::report::{FileKind, FileKindJob, SavedReport};
use crate::gui::panels::NoticePlace;
use crate::gui::views::{CompareView, SavedView, TabContent, TabViews, View};
use crate::jobs::{Snapshot, Waker};
use crate::source::redacted;

/// Progress of the work on an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Waits until the user allows that its host is contacted.
    Asking,
    /// Being read.
    Running,
    /// Being read, but asked to stop.
    Stopping,
    /// Complete.
    Done,
    /// Ended without a result.
    Failed(Failure),
    /// Stopped on request.
    Cancelled,
}

/// What feeds a tab.
enum Work {
    /// Whether it is a saved report is being looked at; what an analysis starts with when it is none.
    Look(FileKindJob, Box<Options>, Waker),
    /// Waits for permission to connect to its registry.
    Asking(Box<Options>, Waker),
    Job(AnalysisJob),
    /// No work.
    Ended,
    /// A frozen state, for pictures.
    Still(Snapshot),
}

/// An open image.
pub(crate) struct Tab {
    pub(crate) id: u64,
    /// The reference as given; never shown.
    pub(crate) text: String,
    /// The redacted reference.
    pub(crate) shown: String,
    /// Its name, unlike that of every other tab.
    pub(crate) title: String,
    pub(crate) phase: Phase,
    pub(crate) analysis: Option<Arc<Analysis>>,
    /// What of the image could not be read.
    pub(crate) faults: Option<ImageFaults>,
    /// Generation: grows with every update, across reloads.
    pub(crate) generation: u64,
    pub(crate) view: View,
    pub(crate) views: TabViews,
    /// A saved report, in the place of an image.
    pub(crate) saved: Option<Arc<SavedReport>>,
    pub(crate) saved_view: SavedView,
    /// The file that it was read from, if it is one.
    pub(crate) file: WatchedFile,
    /// Whether it shows what a file contained before it changed.
    pub(crate) earlier: bool,
    /// Whether the file is a JSON document, and not an image.
    pub(crate) is_report: bool,
    /// The selected findings; user changes survive a reload.
    pub(crate) plan: ChosenPlan,
    /// The parts of the analysis already logged: documents, layers, merge, findings.
    log_cursor: LogCursor,
    /// The host of its registry.
    pub(crate) host: Option<String>,
    /// Whether the reference came from the command line: its host is allowed.
    pub(crate) asked_already: bool,
    /// How many messages of the work were taken, and the newest of them.
    messages: (usize, Option<String>),
    /// Where what is wrong is shown.
    pub(crate) notices: NoticePlace,
    work: Work,
    seen: u64,
    rate: Rate,
}

impl Tab {
    pub(crate) fn open(id: u64, text: &str, options: Options, waker: Waker) -> Self {
        let catalog = options.catalog.clone();
        let looking = FileKindJob::start(text, &waker);
        let mut tab = Self::new(id, text, Work::Look(looking, Box::new(options), waker));
        tab.views.cuda.set_catalog(catalog);
        tab.file = WatchedFile::of(text);
        tab
    }

    /// Whether it could not be opened, and has nothing to show.
    pub(crate) fn has_failed(&self) -> bool {
        matches!(self.phase, Phase::Failed(_)) && self.analysis.is_none() && self.saved.is_none()
    }

    /// Saves what is chosen together in its layers view.
    pub(crate) fn save_selection(&mut self, options: &Options, to: (PathBuf, bool), waker: &Waker) {
        if let Some(analysis) = &self.analysis {
            self.views.layers.save_selection(analysis, options, to, waker);
        }
    }

    /// A tab that stays as it is, in the middle of its work.
    pub(crate) fn still(id: u64, analysis: Arc<Analysis>, progress: Snapshot) -> Self {
        let mut tab = Self::new(id, &analysis.image.reference, Work::Still(progress));
        tab.plan.update(Some(&analysis));
        let host = registry_of(&analysis.image.reference).map(|(_, host)| host);
        let faults = ImageFaults::new(&analysis, false);
        Self { generation: 1, analysis: Some(analysis), faults, host, ..tab }
    }

    /// A tab that could not be opened.
    pub(crate) fn failed(id: u64, text: &str, failure: Failure) -> Self {
        let host = registry_of(text).map(|(_, host)| host);
        Self { phase: Phase::Failed(failure), host, ..Self::new(id, text, Work::Ended) }
    }

    fn new(id: u64, text: &str, work: Work) -> Self {
        let shown = printable(&redacted(text));
        Self {
            id,
            text: text.to_owned(),
            title: image_name(&shown),
            shown,
            phase: Phase::Running,
            analysis: None,
            faults: None,
            generation: 0,
            view: View::default(),
            views: TabViews { compare: CompareView::new(id), ..TabViews::default() },
            saved: None,
            saved_view: SavedView::default(),
            file: WatchedFile::default(),
            earlier: false,
            is_report: false,
            plan: ChosenPlan::default(),
            log_cursor: LogCursor::default(),
            host: None,
            asked_already: false,
            messages: (0, None),
            notices: NoticePlace::default(),
            work,
            seen: 0,
            rate: Rate::default(),
        }
    }

    /// Restarts the work; the current view and its position stay.
    pub(crate) fn again(&mut self, options: Options, waker: Waker) {
        self.work = Work::Look(FileKindJob::start(&self.text, &waker), Box::new(options), waker);
        (self.saved, self.is_report) = (None, false);
        self.file = WatchedFile::of(&self.text);
        self.seen = 0;
        self.generation += 1;
        self.phase = Phase::Running;
        self.messages = (0, None);
        (self.analysis, self.faults) = (None, None);
        self.plan.update(None);
        self.log_cursor = LogCursor::default();
        self.rate = Rate::default();
    }

    pub(crate) fn cancel(&mut self) {
        match &self.work {
            Work::Job(job) if self.is_running() => {
                job.cancel();
                self.phase = Phase::Stopping;
            }
            Work::Look(..) | Work::Asking(..) => (self.work, self.phase) = (Work::Ended, Phase::Cancelled),
            _ => {}
        }
    }

    /// The displayable state.
    pub(crate) fn content(&self) -> TabContent {
        self.saved
            .as_ref()
            .map_or(TabContent::Image, |saved| TabContent::Report { proposals: saved.dockerfile.is_some() })
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running | Phase::Stopping)
    }

    pub(crate) fn progress(&self) -> Snapshot {
        match &self.work {
            Work::Job(job) => job.progress().snapshot(),
            Work::Still(progress) => *progress,
            Work::Look(..) | Work::Asking(..) | Work::Ended => Snapshot::default(),
        }
    }

    /// Bytes of each layer that are done, while it is read.
    pub(crate) fn layers_passed(&self) -> Vec<u64> {
        match &self.work {
            Work::Job(job) if self.is_running() => job.progress().passed_by_layer(),
            _ => Vec::new(),
        }
    }

    /// How long the rest takes, in words, at the mean rate so far; `None` while that is not known.
    pub(crate) fn time_left(&self) -> Option<String> {
        let progress = self.progress();
        let left = progress.bytes_total.checked_sub(progress.bytes_passed).filter(|left| *left > 0)?;
        Some(in_words(left / self.rate.mean().filter(|rate| *rate > 0)?))
    }

    /// Bytes a second, over the last two seconds.
    pub(crate) fn rate(&self) -> Option<u64> {
        self.rate.now()
    }

    /// Warnings that came up since the last call.
    pub(crate) fn new_warnings(&mut self) -> Vec<Warning> {
        self.analysis.as_ref().map(|analysis| self.log_cursor.new_warnings(analysis)).unwrap_or_default()
    }

    /// Messages of the work since the last call. Safe to show.
    pub(crate) fn new_messages(&mut self) -> Vec<String> {
        let Work::Job(job) = &self.work else { return Vec::new() };
        let messages = job.progress().messages_since(self.messages.0);
        self.messages.0 += messages.len();
        let messages: Vec<String> =
            messages.iter().map(|message| printable(&redact::url_user_info(message))).collect();
        self.messages.1 = messages.last().cloned().or(self.messages.1.take());
        messages
    }

    /// The newest message of the work, while it goes on.
    pub(crate) fn message(&self) -> Option<&str> {
        self.messages.1.as_deref().filter(|_| self.is_running())
    }

    /// The host that waits for permission.
    pub(crate) fn pending_host(&self) -> Option<&str> {
        self.host.as_deref().filter(|_| self.phase == Phase::Asking)
    }

    /// Allows its host.
    pub(crate) fn go_on(&mut self) {
        match std::mem::replace(&mut self.work, Work::Ended) {
            Work::Asking(options, waker) => {
                self.work = Work::Job(AnalysisJob::start(&self.text, *options, waker));
                self.phase = Phase::Running;
            }
            work => self.work = work,
        }
    }

    /// Polls for updates; returns whether there were any.
    pub(crate) fn poll(&mut self) -> bool {
        if let Work::Look(looking, ..) = &mut self.work {
            return looking.take().is_some_and(|found| self.found(found));
        }
        let Work::Job(job) = &self.work else { return false };
        if self.is_running() {
            self.rate.add(job.progress().snapshot().bytes_passed);
        }
        let Some((seen, state)) = job.state() else { return false };
        if seen == self.seen {
            return false;
        }
        self.seen = seen;
        self.generation += 1;
        match &*state {
            JobState::Running(analysis) => self.analysis = Some(Arc::clone(analysis)),
            JobState::Done(analysis) => {
                self.analysis = Some(Arc::clone(analysis));
                self.phase = Phase::Done;
            }
            JobState::Failed(failure) => self.phase = Phase::Failed(failure.clone()),
            JobState::Cancelled => self.phase = Phase::Cancelled,
        }
        self.plan.update(self.analysis.as_ref());
        self.faults =
            self.analysis.as_ref().and_then(|analysis| ImageFaults::new(analysis, !self.is_running()));
        true
    }
}

/// A time in words, no more exact than it is known: `about 40 s left`.
fn in_words(seconds: u64) -> String {
    match seconds {
        0..10 => format!("about {} s left", seconds.max(1)),
        10..90 => format!("about {} s left", seconds.div_ceil(5) * 5),
        90..5_400 => format!("about {} min left", seconds.div_ceil(60)),
        _ => format!("about {} h left", seconds.div_ceil(3_600)),
    }
}

impl Tab {
    /// Takes the result of the file check; whether the view changes.
    fn found(&mut self, found: FileKind) -> bool {
        let Work::Look(_, options, waker) = std::mem::replace(&mut self.work, Work::Ended) else {
            return false;
        };
        match found {
            FileKind::Registry(host) => {
                (self.host, self.phase) = (Some(host), Phase::Asking);
                self.work = Work::Asking(options, waker);
            }
            FileKind::Other => {
                self.work = Work::Job(AnalysisJob::start(&self.text, *options, waker));
                return false;
            }
            FileKind::Report(saved) => {
                let saved = Arc::new(*saved);
                (self.phase, self.is_report) = (Phase::Done, true);
                self.saved = Some(saved);
                if self.view.unavailable(self.content()).is_some() {
                    self.view = View::default();
                }
            }
            FileKind::Failed(failure) => (self.phase, self.is_report) = (Phase::Failed(failure), true),
        }
        self.generation += 1;
        true
    }
}
