//! One open image: its job, what is known of it, and the state of its views.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::analysis::{Analysis, AnalysisJob, Failure, JobState, Options};
use crate::base::redact::url_user_info;
use crate::base::text::printable;
use crate::gui::views::{LayersView, OverviewView, View};
use crate::jobs::{Snapshot, Waker};

/// Where the work on an image stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Being read.
    Running,
    /// Being read, but asked to stop.
    Stopping,
    /// All that there is.
    Done,
    /// Ended without a result.
    Failed(Failure),
    /// Stopped on request.
    Cancelled,
}

/// An open image.
pub(crate) struct Tab {
    pub(crate) id: u64,
    /// The reference as it was given; never shown as it is.
    pub(crate) text: String,
    /// The reference as it may be shown.
    pub(crate) shown: String,
    /// A few words for the tab.
    pub(crate) title: String,
    pub(crate) phase: Phase,
    pub(crate) analysis: Option<Arc<Analysis>>,
    /// Grows with every news, over restarts too.
    pub(crate) generation: u64,
    pub(crate) view: View,
    pub(crate) overview: OverviewView,
    pub(crate) layers: LayersView,
    /// Warnings of the image so far.
    pub(crate) warnings: usize,
    job: AnalysisJob,
    seen: u64,
    rate: Rate,
}

impl Tab {
    pub(crate) fn open(id: u64, text: &str, options: Options, waker: Waker) -> Self {
        let shown = printable(&url_user_info(text));
        Self {
            id,
            text: text.to_owned(),
            title: title(&shown),
            shown,
            phase: Phase::Running,
            analysis: None,
            generation: 0,
            view: View::default(),
            overview: OverviewView::default(),
            layers: LayersView::default(),
            warnings: 0,
            job: AnalysisJob::start(text, options, waker),
            seen: 0,
            rate: Rate::default(),
        }
    }

    /// Starts anew; the view in front and its place stay.
    pub(crate) fn again(&mut self, options: Options, waker: Waker) {
        self.job = AnalysisJob::start(&self.text, options, waker);
        self.seen = 0;
        self.generation += 1;
        self.phase = Phase::Running;
        self.analysis = None;
        self.warnings = 0;
        self.rate = Rate::default();
    }

    pub(crate) fn cancel(&mut self) {
        if self.is_running() {
            self.job.cancel();
            self.phase = Phase::Stopping;
        }
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.phase, Phase::Running | Phase::Stopping)
    }

    pub(crate) fn progress(&self) -> Snapshot {
        self.job.progress().snapshot()
    }

    /// Bytes a second, over the last two seconds.
    pub(crate) fn rate(&self) -> Option<u64> {
        self.rate.now()
    }

    /// Looks for news; whether there were any.
    pub(crate) fn poll(&mut self) -> bool {
        if self.is_running() {
            self.rate.add(self.progress().bytes_passed);
        }
        let Some((seen, state)) = self.job.state() else { return false };
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
        true
    }
}

/// The last part of the path with what follows it: `oci:/images/tool:latest` is `tool:latest`.
fn title(shown: &str) -> String {
    let whole = shown.trim_end_matches('/');
    let last = whole.rsplit('/').next().unwrap_or(whole);
    let last = ["oci:", "oci-archive:", "docker-archive:", "dir:", "rootfs:"]
        .iter()
        .find_map(|scheme| last.strip_prefix(scheme))
        .unwrap_or(last);
    if last.is_empty() { shown.to_owned() } else { last.to_owned() }
}

/// Counts bytes over a short while.
#[derive(Default)]
struct Rate {
    samples: VecDeque<(Instant, u64)>,
}

impl Rate {
    const WINDOW: Duration = Duration::from_secs(2);

    fn add(&mut self, bytes: u64) {
        let now = Instant::now();
        let due = |last: &(Instant, u64)| now.duration_since(last.0) >= Duration::from_millis(50);
        if self.samples.back().is_none_or(due) {
            self.samples.push_back((now, bytes));
        }
        while self.samples.len() > 2 && now.duration_since(self.samples[0].0) > Self::WINDOW {
            self.samples.pop_front();
        }
    }

    fn now(&self) -> Option<u64> {
        let ((from, first), (to, last)) = (self.samples.front()?, self.samples.back()?);
        let seconds = to.duration_since(*from).as_secs_f64();
        (seconds >= 0.2).then(|| (last.saturating_sub(*first) as f64 / seconds) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::title;

    #[test]
    fn titles_are_the_last_part() {
        for (shown, wanted) in [
            ("/images/tool.tar", "tool.tar"),
            ("oci:/images/tool:latest", "tool:latest"),
            ("oci:tool", "tool"),
            ("sample:devel", "sample:devel"),
            ("rootfs:/mnt/root/", "root"),
            ("/", "/"),
            ("registry.example/team/image:1", "image:1"),
        ] {
            assert_eq!(title(shown), wanted, "{shown}");
        }
    }
}
