//! What the view remembers.

use std::sync::Arc;

use super::{CompareContext, ComparePage};
use crate::gui::models::compare::{
    CompareDetails, CompareModel, CompareSort, ComparedFiles, ComparisonJob, ImageColumns, ImageState,
    LineRow, LineRows, ReadyImage,
};
use crate::jobs::Waker;

/// What rows of lines were made for.
#[derive(Clone)]
struct Made {
    model: Arc<CompareModel>,
    page: ComparePage,
    typed: String,
    only: bool,
    sort: CompareSort,
}

/// The comparison, and the choices made.
pub(super) struct CompareState {
    pub(super) columns: ImageColumns,
    pub(super) work: ComparisonJob,
    pub(super) files: ComparedFiles,
    pub(super) page: ComparePage,
    pub(super) typed: String,
    pub(super) only: bool,
    pub(super) rows: LineRows,
    /// Whether the chosen row is to be brought into sight.
    pub(super) reveal: bool,
    made: Option<Made>,
    sorts: [CompareSort; 5],
    /// The chosen line of each page.
    chosen: [Option<String>; 5],
    /// A path to choose once the tree is there.
    pending: Option<Vec<u8>>,
    /// The details of what is chosen, and what they were made for.
    details: Option<(Arc<CompareModel>, ComparePage, Vec<u8>, CompareDetails)>,
}

impl Default for CompareState {
    fn default() -> Self {
        Self::new(0)
    }
}

impl CompareState {
    pub(super) fn new(own: u64) -> Self {
        let mut sorts = [CompareSort::Difference; 5];
        sorts[ComparePage::Layers as usize] = CompareSort::Order;
        sorts[ComparePage::Settings as usize] = CompareSort::Name;
        Self {
            columns: ImageColumns::new(own),
            work: ComparisonJob::default(),
            files: ComparedFiles::default(),
            page: ComparePage::default(),
            typed: String::new(),
            only: true,
            rows: LineRows::default(),
            reveal: false,
            made: None,
            sorts,
            chosen: [const { None }; 5],
            pending: None,
            details: None,
        }
    }

    /// Applies updates of the images and finished work.
    pub(super) fn update(&mut self, around: &CompareContext, waker: &Waker) {
        let ready = self.columns.list().iter().filter_map(|id| {
            let image = around.image(*id)?;
            match &image.state {
                ImageState::Ready(analysis) => Some((*id, image.title.clone(), Arc::clone(analysis))),
                _ => None,
            }
        });
        let ready: Vec<ReadyImage> = ready.collect();
        self.work.update(ready, self.columns.baseline(), waker);
        let Some(model) = self.work.model().cloned() else { return };
        if self.page == ComparePage::Files || self.pending.is_some() {
            self.files.update(&model, &self.typed, self.only, self.sorts[ComparePage::Files as usize], waker);
            if let Some(path) = self.pending.take() {
                self.files.select_path(path, waker);
            }
        }
        self.make_rows(&model);
    }

    fn make_rows(&mut self, model: &Arc<CompareModel>) {
        let sort = self.sort();
        let current = self.made.as_ref().is_some_and(|made| {
            Arc::ptr_eq(&made.model, model)
                && (made.page, made.only, made.sort) == (self.page, self.only, sort)
                && made.typed == self.typed
        });
        if current {
            return;
        }
        self.rows = LineRows::new(model.lines(self.page), &self.typed, self.only, sort);
        let (model, typed) = (Arc::clone(model), self.typed.clone());
        self.made = Some(Made { model, page: self.page, typed, only: self.only, sort });
    }

    /// How the page in front is ordered.
    pub(super) fn sort(&self) -> CompareSort {
        self.sorts[self.page as usize]
    }

    pub(super) fn set_sort(&mut self, sort: CompareSort) {
        self.sorts[self.page as usize] = sort;
        self.reveal = true;
    }

    /// The row of the chosen line.
    pub(super) fn row(&self, model: &CompareModel) -> Option<usize> {
        let key = self.chosen[self.page as usize].as_deref()?;
        self.rows.position(model.lines(self.page), key)
    }

    /// Chooses a row of lines.
    pub(super) fn select(&mut self, model: &CompareModel, row: usize) {
        if let Some(LineRow::Line(at)) = self.rows.rows.get(row)
            && let Some(line) = model.lines(self.page).get(*at)
        {
            self.chosen[self.page as usize] = Some(line.key());
        }
    }

    /// Nothing is chosen any more; whether something was.
    pub(super) fn clear(&mut self) -> bool {
        if self.page == ComparePage::Files {
            let was = self.files.selected().is_some();
            self.files.clear();
            return was;
        }
        self.chosen[self.page as usize].take().is_some()
    }

    /// Brings a path of the tree into sight, whatever hid it.
    pub(super) fn show_path(&mut self, path: Vec<u8>, waker: &Waker) {
        self.page = ComparePage::Files;
        let hidden = self.work.model().is_some_and(|model| {
            let found = model.compared.comparison.tree.find(&path);
            found.is_some_and(|id| !model.differs(id.0 as usize))
        });
        self.only &= !hidden;
        self.typed.clear();
        self.pending = Some(path);
        waker();
    }

    /// Everything about what is chosen on the page in front.
    pub(super) fn chosen(&mut self, model: &Arc<CompareModel>) -> Option<CompareDetails> {
        let key = match self.page {
            ComparePage::Files => self.files.selected()?.to_vec(),
            page => self.chosen[page as usize].clone()?.into_bytes(),
        };
        if let Some((of, page, known, details)) = &self.details
            && Arc::ptr_eq(of, model)
            && (*page, known) == (self.page, &key)
        {
            return Some(details.clone());
        }
        let details = match self.page {
            ComparePage::Files => CompareDetails::of_path(model, &key)?,
            page => {
                let line = model.lines(page).iter().find(|line| line.key().as_bytes() == key)?;
                CompareDetails::of_line(model, line)
            }
        };
        self.details = Some((Arc::clone(model), self.page, key, details.clone()));
        Some(details)
    }

    pub(super) fn is_busy(&self) -> bool {
        self.work.is_busy() || self.files.is_busy() || self.pending.is_some()
    }
}
