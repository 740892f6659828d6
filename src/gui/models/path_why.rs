//! Why a path is in the image, made in the background for one path at a time.

use std::sync::Arc;

use super::background::Background;
use crate::analysis::Analysis;
use crate::jobs::Waker;
use crate::report::{Options, WhyReport};
use crate::rootfs::Timeline;

/// The answer for a path.
pub type WhyAnswer = Result<Arc<WhyReport>, String>;

type Made = (Option<Arc<Timeline>>, u64, Vec<u8>, Option<WhyAnswer>);

/// The question and its answer.
#[derive(Default)]
pub struct PathWhy {
    /// Generation of the analysis and path of the answer that is there.
    known: Option<(u64, Vec<u8>)>,
    asked: Option<(u64, Vec<u8>)>,
    answer: Option<WhyAnswer>,
    /// All versions of all paths, made once for an analysis.
    timeline: Option<(u64, Arc<Timeline>)>,
    job: Background<Made>,
}

impl PathWhy {
    /// Asks for a path, if it was not asked for; called on each frame. While one answer is being made, the next question
    /// waits: moving through a list asks for few of its rows.
    pub fn update(&mut self, analysis: &Arc<Analysis>, generation: u64, path: &[u8], waker: &Waker) {
        if let Some((timeline, generation, path, answer)) = self.job.take() {
            self.timeline = timeline.map(|timeline| (generation, timeline));
            self.answer = answer;
            self.known = Some((generation, path));
        }
        let is_asked = |(known, asked): &(u64, Vec<u8>)| *known == generation && asked == path;
        if self.job.is_busy() || self.asked.as_ref().is_some_and(is_asked) {
            return;
        }
        self.asked = Some((generation, path.to_vec()));
        let (analysis, path) = (Arc::clone(analysis), path.to_vec());
        let known =
            self.timeline.take().filter(|(known, _)| *known == generation).map(|(_, timeline)| timeline);
        self.job.start(waker, false, move |cancel| {
            let timeline = match known {
                Some(timeline) => timeline,
                None => Arc::new(WhyReport::timeline(&analysis)),
            };
            cancel.check()?;
            let made = WhyReport::with_timeline(&analysis, &timeline, &path, &Options::default());
            let answer = made.map(|made| made.map(Arc::new).map_err(|error| error.to_string()));
            Ok((Some(timeline), generation, path, answer))
        });
    }

    /// The answer for a path; `None` while it is made, or before the layers are merged.
    pub fn answer(&self, path: &[u8]) -> Option<&WhyAnswer> {
        self.answer.as_ref().filter(|_| self.known.as_ref().is_some_and(|(_, known)| known == path))
    }

    /// Whether an answer is being made.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy()
    }

    /// Why there is no answer.
    pub fn error(&self) -> Option<&str> {
        self.job.error()
    }
}
