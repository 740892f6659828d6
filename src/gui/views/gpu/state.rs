//! What the view remembers of the verdicts.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::ViewContext;
use crate::cuda::compat::RunVerdict;
use crate::gui::models::gpu::{
    Judge, TargetItem, TargetKind, TargetQuery, TargetRows, TargetVerdicts, VerdictJob, stated_driver,
};
use crate::gui::views::grouping::Grouping;
use crate::jobs::Waker;

/// Cloud groups have many machines with few GPUs: their sums are enough.
const CLOUDS: [TargetKind; 4] = [TargetKind::Azure, TargetKind::Aws, TargetKind::Google, TargetKind::Gke];

/// The verdicts, the choices made, and the rows that follow from both.
pub(super) struct GpuState {
    judgements: VerdictJob,
    pub(super) typed: String,
    pub(super) verdicts: BTreeSet<RunVerdict>,
    /// The driver as it is typed, and as it is taken: the last one that could be understood.
    pub(super) driver_typed: String,
    driver: Option<String>,
    pub(super) driver_fault: Option<String>,
    pub(super) groups: Grouping<TargetKind>,
    /// What was folded before there was a filter, which unfolds all.
    folded_before: Option<BTreeSet<TargetKind>>,
    pub(super) rows: TargetRows,
    made_for: u64,
    selected: Option<String>,
    /// Whether the chosen row is to be brought into sight.
    pub(super) reveal: bool,
}

impl Default for GpuState {
    fn default() -> Self {
        Self {
            judgements: VerdictJob::default(),
            typed: String::new(),
            verdicts: BTreeSet::new(),
            driver_typed: String::new(),
            driver: None,
            driver_fault: None,
            groups: Grouping { folded: CLOUDS.into(), at: None },
            folded_before: None,
            rows: TargetRows::default(),
            made_for: 0,
            selected: None,
            reveal: false,
        }
    }
}

impl GpuState {
    pub(super) fn with(judge: Judge) -> Self {
        Self { judgements: VerdictJob::new(judge), ..Self::default() }
    }

    /// Applies updates; otherwise does nothing.
    pub(super) fn update(&mut self, context: &ViewContext<'_>, waker: &Waker) {
        let driver = self.driver.as_deref();
        let machine = &*context.machine;
        let devices = || machine.devices();
        self.judgements.update(context.analysis, devices, machine.generation(), driver, waker);
        if self.made_for != self.judgements.generation() {
            self.made_for = self.judgements.generation();
            self.make_rows();
        }
    }

    pub(super) fn judged(&self) -> Option<Arc<TargetVerdicts>> {
        self.judgements.judged().map(Arc::clone)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.judgements.is_busy()
    }

    pub(super) fn error(&self) -> Option<&str> {
        self.judgements.error()
    }

    fn query(&self) -> TargetQuery {
        TargetQuery::new(&self.typed, &self.verdicts)
    }

    pub(super) fn make_rows(&mut self) {
        if let Some(judged) = self.judgements.judged() {
            self.rows = TargetRows::new(judged, &self.query(), &self.groups.folded);
        }
    }

    /// After the filter was changed.
    fn filtered(&mut self) {
        match (self.query().is_empty(), &self.folded_before) {
            (false, None) => self.folded_before = Some(std::mem::take(&mut self.groups.folded)),
            (true, Some(_)) => self.groups.folded = self.folded_before.take().unwrap_or_default(),
            _ => {}
        }
        self.make_rows();
    }

    /// Filters by what is typed.
    pub(super) fn set_filter(&mut self, text: &str) {
        if self.typed != text {
            text.clone_into(&mut self.typed);
            self.filtered();
        }
    }

    /// Chooses a verdict to be listed, or no longer.
    pub(super) fn toggle(&mut self, verdict: RunVerdict) {
        if !self.verdicts.remove(&verdict) {
            self.verdicts.insert(verdict);
        }
        self.filtered();
    }

    /// Judges by this driver; what cannot be understood changes nothing.
    pub(super) fn set_driver(&mut self, typed: &str) {
        if self.driver_typed == typed {
            return;
        }
        typed.clone_into(&mut self.driver_typed);
        match stated_driver(typed) {
            Ok(driver) => (self.driver, self.driver_fault) = (driver, None),
            Err(fault) => self.driver_fault = Some(fault),
        }
    }

    /// The row with keyboard focus.
    pub(super) fn row(&self) -> Option<usize> {
        self.groups.row(&self.rows.list, self.place())
    }

    fn place(&self) -> Option<usize> {
        let id = self.selected.as_deref()?;
        self.judgements.judged()?.targets.iter().position(|target| target.id == id)
    }

    /// The chosen machine.
    pub(super) fn chosen<'a>(&self, judged: &'a TargetVerdicts) -> Option<&'a TargetItem> {
        let id = self.selected.as_deref()?;
        judged.targets.iter().find(|target| target.id == id)
    }

    pub(super) fn select_at(&mut self, place: usize) {
        let target = self.judgements.judged().and_then(|judged| judged.targets.get(place));
        if let Some(id) = target.map(|target| target.id.clone()) {
            self.select(&id);
        }
    }

    pub(super) fn select(&mut self, id: &str) {
        (self.selected, self.groups.at, self.reveal) = (Some(id.to_owned()), None, true);
        let judged = self.judgements.judged();
        if let Some(kind) = judged.and_then(|judged| self.chosen(judged)).map(|target| target.kind)
            && self.groups.folded.remove(&kind)
        {
            self.make_rows();
        }
    }

    /// Nothing is chosen any more; whether anything was.
    pub(super) fn clear(&mut self) -> bool {
        self.groups.at = None;
        self.selected.take().is_some()
    }
}
