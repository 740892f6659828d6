//! A slim image to be written: destination, choices, sizes, and the three jobs: check of the destination, sizes,
//! writing.

mod choices;

pub use self::choices::{DestinationKind, SlimChoices};

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::background::Background;
use super::cuda::CodeTarget;
use crate::analysis::{Analysis, Failure, Options};
use crate::base::size::human;
use crate::cuda::pruning::EstimateRow;
use crate::findings::{Plan, Predicted};
use crate::jobs::{CancelToken, Progress, Snapshot, Waker};
use crate::report::SlimReport;
use crate::slim::{self, Destination, Pruning, Selection, SlimError, SlimOptions};

/// How long the window waits at its end until a job that was cancelled has removed its temporary files.
const PATIENCE: Duration = Duration::from_secs(10);

/// The image as its tab has it.
#[derive(Clone)]
pub struct SlimSource {
    /// Generation of the tab.
    pub generation: u64,
    /// Whether the image is still being read.
    pub loading: bool,
    /// The image; `None` until something of it is known.
    pub analysis: Option<Arc<Analysis>>,
    /// The selected findings.
    pub plan: Plan,
}

/// What is removed, and what that results in.
struct Prepared {
    selection: Selection,
    report: SlimReport,
    /// GPU code that would be removed; `None` if all stays.
    gpu: Option<EstimateRow>,
}

/// Result of the sizes job.
type Computed = Result<Arc<Prepared>, Failure>;

/// A written image.
#[derive(Clone, Debug)]
pub struct SlimResult {
    /// The reference that opens it.
    pub reference: String,
    /// What was done.
    pub report: Arc<SlimReport>,
}

/// The sheet for one image.
pub struct SlimModel {
    /// The tab of the image.
    pub tab: u64,
    /// Title of the image.
    pub title: String,
    /// Whether the sheet is shown; writing continues without it.
    pub open: bool,
    /// Whether the first control had the focus once.
    pub focused: bool,
    /// What the user chooses.
    pub choices: SlimChoices,
    /// Error of the file dialog.
    pub message: Option<String>,
    /// Why the image was not written.
    pub failure: Option<Failure>,
    /// Whether writing was cancelled.
    pub cancelled: bool,
    /// The image that was written.
    pub written: Option<SlimResult>,
    source: SlimSource,
    offered: Vec<CodeTarget>,
    computed: Option<Computed>,
    asked: Option<(bool, BTreeSet<String>, bool)>,
    sizes: Background<Computed>,
    checked: Option<Result<Option<&'static str>, Failure>>,
    checks: Option<String>,
    check: Background<Result<Option<&'static str>, Failure>>,
    writing: Background<Result<SlimResult, Option<Failure>>>,
    progress: Progress,
    cancel: CancelToken,
    /// Disconnected when the thread that writes has ended.
    ended: Option<Receiver<()>>,
}

impl SlimModel {
    /// For the image of a tab.
    pub fn new(tab: u64, title: String, source: SlimSource, choices: SlimChoices) -> Self {
        Self {
            tab,
            title,
            open: true,
            focused: false,
            choices,
            message: None,
            failure: None,
            cancelled: false,
            written: None,
            offered: offered(&source),
            source,
            computed: None,
            asked: None,
            sizes: Background::default(),
            checked: None,
            checks: None,
            check: Background::default(),
            writing: Background::default(),
            progress: Progress::default(),
            cancel: CancelToken::new(),
            ended: None,
        }
    }

    /// Generation of the image.
    pub fn generation(&self) -> u64 {
        self.source.generation
    }

    /// Takes a newer state of the image, unless it is being written or was.
    pub fn update(&mut self, source: SlimSource) {
        if !self.is_writing() && self.written.is_none() {
            self.offered = offered(&source);
            (self.source, self.computed, self.asked) = (source, None, None);
        }
    }

    /// Name of the base image, if one is recognised.
    pub fn base(&self) -> Option<&str> {
        let base = self.source.analysis.as_ref()?.inventory.as_ref()?.base.as_ref()?;
        Some(base.reference.as_deref().unwrap_or("recognised base image"))
    }

    /// Whether all layers have to be read again first.
    pub fn needs_all_bytes(&self) -> bool {
        !self.source.loading && self.source.analysis.as_deref().is_some_and(slim::needs_all_bytes)
    }

    /// Starts what is out of date, and takes results. Gives the written image, once.
    pub fn poll(&mut self, waker: &Waker) -> Option<SlimResult> {
        self.compute(waker);
        self.check(waker);
        let written = self.writing.result()?.unwrap_or_else(|panic| Err(Some(Failure::new(panic))));
        self.ended = None;
        match written {
            Ok(written) => {
                (self.written, self.focused) = (Some(written.clone()), false);
                Some(written)
            }
            Err(reason) => {
                self.cancelled = reason.is_none();
                self.failure = reason;
                // What is there now may differ.
                self.checks = None;
                None
            }
        }
    }

    fn compute(&mut self, waker: &Waker) {
        let analysis =
            self.source.analysis.clone().filter(|_| !self.source.loading && !self.needs_all_bytes());
        if let Some(analysis) = analysis.filter(|_| self.asked != Some(self.choices.sized_by())) {
            self.asked = Some(self.choices.sized_by());
            let (plan, options) = (self.source.plan.clone(), self.choices.options());
            let pruning = self.choices.pruning(&self.offered);
            self.sizes.start(waker, false, move |cancel| {
                cancel.check()?;
                Ok(prepare(&analysis, &plan, &options, pruning.as_ref()).map(Arc::new))
            });
        }
        if let Some(result) = self.sizes.result() {
            self.computed = Some(result.unwrap_or_else(|panic| Err(Failure::new(panic))));
        }
    }

    /// Looks at the destination: a path may be on a file system that takes its time.
    fn check(&mut self, waker: &Waker) {
        let text = self.choices.destination();
        if self.checks != text {
            (self.checks, self.checked) = (text.clone(), None);
            if let Some(text) = text {
                self.check.start(waker, false, move |_| Ok(destination(&text)));
            }
        }
        if let Some(result) = self.check.result() {
            self.checked = Some(result.unwrap_or_else(|panic| Err(Failure::new(panic))));
        }
    }

    /// What happens at the destination, if something is there; or why it cannot be used. `None` while unknown.
    pub fn checked(&self) -> Option<&Result<Option<&'static str>, Failure>> {
        let current = self.checks.is_some() && self.checks == self.choices.destination();
        self.checked.as_ref().filter(|_| current)
    }

    /// Why the image cannot be written now.
    pub fn obstacle(&self) -> Option<&'static str> {
        if self.source.loading {
            return Some("The image is still loading");
        }
        if self.needs_all_bytes() {
            return Some("Read all layers first");
        }
        match (&self.computed, self.is_computing()) {
            (_, true) | (None, _) => return Some("Sizes are not ready yet"),
            (Some(Err(_)), _) => return Some("The image cannot be rewritten"),
            (Some(Ok(_)), _) => {}
        }
        if self.choices.destination().is_none() {
            return Some("Enter a destination first");
        }
        // Until it is checked, the destination may be used: writing to it makes the same checks.
        matches!(self.checked(), Some(Err(_))).then_some("The destination cannot be used")
    }

    /// Whether the sizes are being computed.
    pub fn is_computing(&self) -> bool {
        self.sizes.is_busy()
    }

    /// Whether something is worked on.
    pub fn is_busy(&self) -> bool {
        self.is_computing() || self.check.is_busy() || self.is_writing()
    }

    /// Whether the image is still being read.
    pub fn is_loading(&self) -> bool {
        self.source.loading
    }

    /// Whether the image is being written.
    pub fn is_writing(&self) -> bool {
        self.writing.is_busy()
    }

    /// Whether writing was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.is_writing() && self.cancel.is_cancelled()
    }

    /// Counters of the writing; unknown totals once all layers are written.
    pub fn progress(&self) -> Snapshot {
        let now = self.progress.snapshot();
        if now.layers_total > 0 && now.layers_done >= now.layers_total {
            return Snapshot { bytes_total: 0, ..now };
        }
        now
    }

    /// What is done after the layers are written.
    pub fn step(&self) -> Option<String> {
        let now = self.progress.snapshot();
        match (now.layers_done, now.layers_total) {
            (_, 0) => Some("Opening the destination".to_owned()),
            (done, total) if done < total => None,
            _ => self.progress.messages_since(0).pop(),
        }
    }

    /// Stops writing; nothing is left at the destination.
    pub fn stop(&self) {
        self.cancel.cancel();
    }

    /// What would be written with the choices as they are; or why nothing can be.
    pub fn report(&self) -> Option<Result<&SlimReport, &Failure>> {
        Some(match self.computed.as_ref()? {
            Ok(prepared) => Ok(&prepared.report),
            Err(failure) => Err(failure),
        })
    }

    /// Whether nothing would change.
    pub fn is_unchanged(&self) -> bool {
        let removes = |gpu: &Option<EstimateRow>| gpu.as_ref().is_some_and(|gpu| gpu.removed_bytes > 0);
        matches!(&self.computed, Some(Ok(prepared)) if prepared.selection.is_unchanged() && !removes(&prepared.gpu))
    }

    /// GPUs to choose from: common ones, and those that the image is judged for. None if it has no GPU code.
    pub fn offered(&self) -> &[CodeTarget] {
        &self.offered
    }

    /// What of the GPU code would go, in words.
    pub fn gpu_code(&self) -> Option<String> {
        let Some(Ok(prepared)) = &self.computed else { return None };
        let gpu = prepared.gpu.as_ref()?;
        let compressed = gpu.removed_compressed_bytes.map_or_else(|| "unknown".to_owned(), human);
        Some(format!("{} removed, compressed about {compressed}", human(gpu.removed_bytes)))
    }

    /// Starts writing, if nothing is in the way.
    pub fn write(&mut self, opened: &Options, waker: &Waker) {
        if self.is_writing() || self.obstacle().is_some() {
            return;
        }
        let (Some(Ok(prepared)), Some(analysis)) = (self.computed.clone(), self.source.analysis.clone())
        else {
            return;
        };
        let Some(text) = self.choices.destination() else { return };
        (self.failure, self.cancelled) = (None, false);
        (self.progress, self.cancel) = (Progress::default(), CancelToken::new());
        let (plan, options, opened) = (self.source.plan.clone(), self.choices.options(), opened.clone());
        let pruning = self.choices.pruning(&self.offered);
        let (progress, cancel) = (self.progress.clone(), self.cancel.clone());
        let (thread, ended) = channel();
        self.ended = Some(ended);
        self.writing.start(waker, false, move |_| {
            // Dropped last: when this thread is done with the destination.
            let _thread: std::sync::mpsc::Sender<()> = thread;
            let mut selection = prepared.selection.clone();
            let mut work = || -> Result<SlimResult, SlimError> {
                let to = Destination::parse(&text)?;
                if let Some(pruning) = &pruning {
                    slim::prune(&analysis, &mut selection, pruning, &opened, &progress, &cancel)?;
                }
                let written =
                    slim::write(&analysis, &mut selection, &options, &to, &opened, &progress, &cancel)?;
                // There are findings: what would be written was reported.
                let report = SlimReport::new(&analysis, &plan, &selection, Some(&written));
                let report = Arc::new(report.unwrap_or_else(|| prepared.report.clone()));
                Ok(SlimResult { reference: written.published.reference, report })
            };
            Ok(work().map_err(|error| match error {
                SlimError::Cancelled => None,
                error => Some(failure(&error)),
            }))
        });
    }
}

/// Whoever drops the window ends the program: what is half written is removed first.
impl Drop for SlimModel {
    fn drop(&mut self) {
        self.cancel.cancel();
        if let Some(ended) = &self.ended {
            ended.recv_timeout(PATIENCE).ok();
        }
    }
}

fn offered(source: &SlimSource) -> Vec<CodeTarget> {
    let Some(analysis) = source.analysis.as_ref().filter(|analysis| slim::has_gpu_code(analysis)) else {
        return Vec::new();
    };
    let asked = |target: &CodeTarget| analysis.targets.iter().any(|one| one.id == target.id);
    let all = CodeTarget::all(analysis.known_rules());
    all.into_iter().filter(|target| target.is_common || asked(target)).collect()
}

fn prepare(
    analysis: &Analysis,
    plan: &Plan,
    options: &SlimOptions,
    pruning: Option<&Pruning>,
) -> Result<Prepared, Failure> {
    let selection = Selection::new(analysis, plan, options).map_err(|error| failure(&error))?;
    let gpu = pruning.map(|pruning| slim::prune_estimate(analysis, &selection, pruning));
    let report = SlimReport::new(analysis, plan, &selection, None);
    let mut report = report.ok_or_else(|| Failure::new("the findings of the image are unknown"))?;
    // Findings, overview and report estimate in another way: the same contents have one size.
    let after = &mut report.after;
    let same = |one: &Predicted| {
        after.compressed_bytes.is_some()
            && (one.merged_bytes, one.content_bytes) == (after.merged_bytes, after.content_bytes)
    };
    if let Some(predicted) = analysis.predict(plan).filter(same) {
        after.compressed_bytes = predicted.compressed_bytes;
    }
    if let Some(gpu) = &gpu {
        let after = report.after.compressed_bytes.zip(gpu.removed_compressed_bytes);
        report.after.compressed_bytes = after.map(|(after, removed)| after.saturating_sub(removed));
    }
    Ok(Prepared { selection, report, gpu })
}

fn destination(text: &str) -> Result<Option<&'static str>, Failure> {
    let destination = Destination::parse(text).map_err(|error| failure(&error))?;
    destination.check().map_err(|error| failure(&error))?;
    let layout = destination.path().filter(|path| path.join("index.json").is_file());
    Ok(layout.map(|_| "The layout exists: an image with the same tag is replaced, others stay."))
}

fn failure(error: &SlimError) -> Failure {
    Failure { hint: error.hint().map(str::to_owned), ..Failure::new(error.to_string()) }
}
