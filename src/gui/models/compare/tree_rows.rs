//! The rows of the tree over all images.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::facts::largest;
use super::filtered_paths::FilteredPaths;
use super::model::CompareModel;
use super::shown::CompareSort;
use crate::compare::{Row, RowId};
use crate::gui::models::open_rows::{Folders, OpenRow, OpenRows};

/// A row.
pub type FileRow = OpenRow<RowId>;
/// The rows of the tree.
pub type FileRows = OpenRows<RowId, CompareSort>;

/// The tree with what is shown of it, in an order.
struct SortedPaths<'a> {
    model: &'a CompareModel,
    filtered: &'a FilteredPaths,
    sort: CompareSort,
}

impl FileRows {
    /// The rows with the folders of `open` open. Where a filter found little, every folder that leads to it is
    /// opened as well.
    pub fn new(
        model: &CompareModel,
        filtered: &FilteredPaths,
        sort: CompareSort,
        open: HashSet<RowId>,
    ) -> Self {
        Self::below_root(&SortedPaths { model, filtered, sort }, RowId::ROOT, sort, open)
    }

    /// Opens the folder at a row in place.
    pub fn open_at(&mut self, row: usize, model: &CompareModel, filtered: &FilteredPaths) {
        let Some(path) = self.as_slice().get(row).map(|row| row.path) else { return };
        if self.open.insert(path) {
            self.insert_below(row, &SortedPaths { model, filtered, sort: self.sort() }, true);
        }
    }
}

impl Folders<RowId> for SortedPaths<'_> {
    fn children(&self, folder: RowId, into: &mut Vec<RowId>) {
        let Self { model, filtered, sort } = *self;
        let tree = &model.compared.comparison.tree;
        let shown = tree.row(folder).children().filter(|row| filtered.shows(row.id()));
        let mut list: Vec<Row<'_>> = shown.collect();
        let images = model.images();
        let size = |row: &Row<'_>| (0..images).filter_map(|image| row.bytes(image)).max().unwrap_or(0);
        match sort {
            // They come by name.
            CompareSort::Name | CompareSort::Order => {}
            CompareSort::Size => list.sort_by_cached_key(|row| Reverse(size(row))),
            CompareSort::Difference => list.sort_by_cached_key(|row| {
                let differs = model.differs(row.id().0 as usize);
                Reverse((differs, largest(*row, model.baseline, images), size(row)))
            }),
        }
        into.extend(list.into_iter().map(Row::id));
    }

    fn is_folder(&self, _: RowId) -> bool {
        // Only folders are ever open.
        true
    }

    fn leads(&self, path: RowId) -> bool {
        self.filtered.opens() && self.filtered.leads(path)
    }
}
