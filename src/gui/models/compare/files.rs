//! The tree over all images: what is typed and chosen, and the rows that follow, made elsewhere where there are many.

use std::collections::HashSet;
use std::sync::Arc;

use super::filtered_paths::FilteredPaths;
use super::model::CompareModel;
use super::shown::CompareSort;
use super::tree_rows::FileRows;
use crate::compare::RowId;
use crate::gui::models::background::Background;
use crate::gui::models::files::LARGE_FOLDER;
use crate::jobs::{CancelToken, Cancelled, Waker};

/// With fewer paths times images the work is done at once.
const AT_ONCE: usize = 40_000;

/// What decides the rows.
#[derive(Clone)]
pub struct FilesRequest {
    /// The comparison and its baseline.
    pub model: Arc<CompareModel>,
    /// The filter as typed.
    pub filter: String,
    /// Whether only differences are shown.
    pub only: bool,
    /// The order in a folder.
    pub sort: CompareSort,
    open: HashSet<RowId>,
    filtered: Option<Arc<FilteredPaths>>,
}

/// Rows, and what they were made for.
pub struct FilesShown {
    /// What they were made for.
    pub model: Arc<CompareModel>,
    /// What the filter keeps.
    pub filtered: Arc<FilteredPaths>,
    /// The rows.
    pub rows: FileRows,
}

impl FilesShown {
    fn new(request: FilesRequest, cancel: &CancelToken) -> Result<Self, Cancelled> {
        let FilesRequest { model, filter, only, sort, open, filtered } = request;
        let filtered = match filtered {
            Some(filtered) => filtered,
            None => Arc::new(FilteredPaths::new(&model, filter, only, cancel)?),
        };
        let rows = FileRows::new(&model, &filtered, sort, open);
        Ok(Self { model, filtered, rows })
    }
}

/// The tree as it is shown.
#[derive(Default)]
pub struct ComparedFiles {
    job: Background<FilesShown>,
    asked: Option<(Arc<CompareModel>, String, bool, CompareSort)>,
    shown: Option<FilesShown>,
    open: HashSet<RowId>,
    selected: Option<Vec<u8>>,
    row: Option<usize>,
    reveal: bool,
}

impl ComparedFiles {
    /// Applies requests and finished work. Called on each frame; does something only after an update.
    pub fn update(
        &mut self,
        model: &Arc<CompareModel>,
        filter: &str,
        only: bool,
        sort: CompareSort,
        waker: &Waker,
    ) {
        if let Some(shown) = self.job.take() {
            self.take(shown);
        }
        let current = self.asked.as_ref().is_some_and(|asked| {
            Arc::ptr_eq(&asked.0, model) && (asked.1.as_str(), asked.2, asked.3) == (filter, only, sort)
        });
        if !current {
            // What was open stays open, by its path, over another comparison.
            if let Some(old) =
                self.asked.as_ref().filter(|asked| !Arc::ptr_eq(&asked.0.compared, &model.compared))
            {
                let (old, new) = (&old.0.compared.comparison.tree, &model.compared.comparison.tree);
                self.open = self.open.iter().filter_map(|id| new.find(&old.row(*id).path())).collect();
            }
            self.asked = Some((Arc::clone(model), filter.to_owned(), only, sort));
            self.start(waker);
        }
    }

    fn start(&mut self, waker: &Waker) {
        let Some((model, filter, only, sort)) = self.asked.clone() else { return };
        let filtered = self.shown.as_ref().filter(|shown| {
            Arc::ptr_eq(&shown.model, &model)
                && shown.filtered.filter == filter
                && shown.filtered.only == only
        });
        let filtered = filtered.map(|shown| Arc::clone(&shown.filtered));
        let small = model.compared.comparison.tree.len().saturating_mul(model.images()) < AT_ONCE;
        let request = FilesRequest { model, filter, only, sort, open: self.open.clone(), filtered };
        if let Some(shown) = self.job.start(waker, small, move |cancel| FilesShown::new(request, cancel)) {
            self.take(shown);
        }
    }

    fn take(&mut self, shown: FilesShown) {
        self.shown = Some(shown);
        self.find();
    }

    /// The row of what is chosen.
    fn find(&mut self) {
        let Some(shown) = &self.shown else { return };
        let id = self.selected.as_deref().and_then(|path| shown.model.compared.comparison.tree.find(path));
        self.row = id.and_then(|id| shown.rows.position(id));
    }

    /// What is shown.
    pub fn shown(&self) -> Option<&FilesShown> {
        self.shown.as_ref()
    }

    /// Whether rows are being made.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy()
    }

    /// Why there are none.
    pub fn error(&self) -> Option<&str> {
        self.job.error()
    }

    /// The chosen row.
    pub fn row(&self) -> Option<usize> {
        self.row
    }

    /// The path that is chosen in all images.
    pub fn selected(&self) -> Option<&[u8]> {
        self.selected.as_deref()
    }

    /// Whether the chosen row is to be brought into sight; once.
    pub fn take_reveal(&mut self) -> bool {
        std::mem::take(&mut self.reveal)
    }

    /// Nothing is chosen any more.
    pub fn clear(&mut self) {
        (self.selected, self.row) = (None, None);
    }

    /// Chooses a row.
    pub fn select_row(&mut self, row: usize) {
        let Some(shown) = &self.shown else { return };
        if let Some(line) = shown.rows.as_slice().get(row) {
            self.selected = Some(shown.model.compared.comparison.tree.row(line.path).path());
            self.row = Some(row);
        }
    }

    /// Chooses the row of the parent folder of a row.
    pub fn select_parent(&mut self, row: usize) {
        if let Some(parent) = self.shown.as_ref().and_then(|shown| shown.rows.parent_of(row)) {
            self.select_row(parent);
            self.reveal = true;
        }
    }

    /// Chooses a path and opens the folders above it. The caller takes filters away that would hide it.
    pub fn select_path(&mut self, path: Vec<u8>, waker: &Waker) {
        if let Some((model, ..)) = &self.asked {
            let tree = &model.compared.comparison.tree;
            let mut at = tree.find(&path);
            while let Some(id) = at.filter(|id| *id != RowId::ROOT) {
                at = Some(tree.row(id).parent().id());
                self.open.extend(at);
            }
        }
        self.selected = Some(path);
        self.reveal = true;
        self.start(waker);
    }

    /// Expands the folder at a row: in place, or in the background when it is large.
    pub fn open_row(&mut self, row: usize, waker: &Waker) {
        let Some(shown) = &mut self.shown else { return };
        let Some(id) = shown.rows.as_slice().get(row).map(|line| line.path) else { return };
        self.open.insert(id);
        if shown.model.compared.comparison.tree.row(id).children().len() > LARGE_FOLDER {
            self.start(waker);
            return;
        }
        shown.rows.open_at(row, &shown.model, &shown.filtered);
        self.rows_changed();
    }

    /// Closes the folder at a row.
    pub fn close_row(&mut self, row: usize) {
        let Some(shown) = &mut self.shown else { return };
        shown.rows.close_at(row);
        self.rows_changed();
    }

    /// Opens every folder, for measuring.
    pub fn open_all(&mut self, waker: &Waker) {
        if let Some((model, ..)) = &self.asked {
            let count = crate::base::convert::index32(model.compared.comparison.tree.len());
            self.open = (0..count).map(RowId).collect();
            self.start(waker);
        }
    }

    fn rows_changed(&mut self) {
        // What a filter opened is closed again without it.
        if let Some(shown) = self.shown.as_ref().filter(|shown| !shown.filtered.opens()) {
            self.open.clone_from(shown.rows.open());
        }
        self.find();
    }
}
