//! The work that compares: one at a time, the newest request last; the result before it stays until then.

use std::sync::Arc;

use super::model::CompareModel;
use super::result::ComparisonResult;
use crate::analysis::Analysis;
use crate::compare::{Comparison, compare};
use crate::gui::models::background::Background;
use crate::jobs::{CancelToken, Cancelled, Progress, Waker};

/// What compares: [`compare`], or something else in tests.
pub type Comparer =
    Arc<dyn Fn(&[Arc<Analysis>], &CancelToken, &Progress) -> Result<Comparison, Cancelled> + Send + Sync>;

/// An image that is ready: its id, what it is called, and what is known of it.
pub type ReadyImage = (u64, String, Arc<Analysis>);

/// With fewer paths times images another baseline is looked at from at once.
const AT_ONCE: usize = 40_000;

/// The comparison of the images of one view.
pub struct ComparisonJob {
    comparer: Comparer,
    job: Background<CompareModel>,
    progress: Progress,
    images: Vec<ReadyImage>,
    baseline: u64,
    compared: Option<(Vec<ReadyImage>, Arc<ComparisonResult>)>,
    model: Option<Arc<CompareModel>>,
    stopped: bool,
}

impl Default for ComparisonJob {
    fn default() -> Self {
        Self::new(Arc::new(compare))
    }
}

impl ComparisonJob {
    /// Nothing yet; `comparer` will compare, on its own thread.
    pub fn new(comparer: Comparer) -> Self {
        Self {
            comparer,
            job: Background::default(),
            progress: Progress::default(),
            images: Vec::new(),
            baseline: 0,
            compared: None,
            model: None,
            stopped: false,
        }
    }

    /// Takes in which images are ready, which is the baseline, and what was made. To be called each frame.
    pub fn update(&mut self, images: Vec<ReadyImage>, baseline: u64, waker: &Waker) {
        let unchanged = same(&self.images, &images);
        let turned = self.baseline != baseline;
        if !unchanged {
            self.stopped = false;
        }
        (self.images, self.baseline) = (images, baseline);
        if self.images.len() < 2 {
            if !unchanged {
                (self.job, self.compared, self.model) = (Background::default(), None, None);
            }
            return;
        }
        if (!unchanged || turned) && !self.stopped {
            self.start(waker);
        }
        if let Some(model) = self.job.take() {
            self.take(model);
        }
    }

    fn start(&mut self, waker: &Waker) {
        let known = self.compared.as_ref().filter(|(of, _)| same(of, &self.images));
        let known = known.map(|(_, compared)| Arc::clone(compared));
        let place = self.images.iter().position(|image| image.0 == self.baseline).unwrap_or(0);
        let made = if let Some(compared) = known {
            let rows = compared.comparison.tree.len().saturating_mul(self.images.len());
            self.job.start(waker, rows < AT_ONCE, move |cancel| CompareModel::new(compared, place, cancel))
        } else {
            self.progress = Progress::default();
            let (comparer, progress) = (Arc::clone(&self.comparer), self.progress.clone());
            let images = self.images.clone();
            self.job.start(waker, false, move |cancel| {
                let (mut ids, mut titles, mut analyses) = (Vec::new(), Vec::new(), Vec::new());
                for (id, title, analysis) in images {
                    ids.push(id);
                    titles.push(title);
                    analyses.push(analysis);
                }
                let comparison = comparer(&analyses, cancel, &progress)?;
                cancel.check()?;
                CompareModel::new(Arc::new(ComparisonResult::new(ids, titles, comparison)), place, cancel)
            })
        };
        if let Some(model) = made {
            self.take(model);
        }
    }

    fn take(&mut self, model: CompareModel) {
        self.compared = Some((self.images.clone(), Arc::clone(&model.compared)));
        self.model = Some(Arc::new(model));
    }

    /// What is shown; while another comparison is made, the one before.
    pub fn model(&self) -> Option<&Arc<CompareModel>> {
        self.model.as_ref()
    }

    /// Whether images are being compared.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy() && !self.stopped
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Why there is no result.
    pub fn error(&self) -> Option<&str> {
        self.job.error()
    }

    /// Bytes of files that were read to compare them.
    pub fn bytes_compared(&self) -> u64 {
        self.progress.snapshot().bytes_compared
    }

    /// Stops.
    pub fn stop(&mut self) {
        if self.is_busy() {
            self.job = Background::default();
            self.stopped = true;
        }
    }

    /// Tries again.
    pub fn retry(&mut self, waker: &Waker) {
        self.stopped = false;
        if self.images.len() >= 2 {
            self.start(waker);
        }
    }
}

fn same(one: &[ReadyImage], other: &[ReadyImage]) -> bool {
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| one.0 == other.0 && Arc::ptr_eq(&one.2, &other.2))
}
