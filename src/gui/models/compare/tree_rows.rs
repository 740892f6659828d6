//! The rows of the tree whose folders are partly open.

use std::cmp::Reverse;
use std::collections::HashSet;

use super::facts::largest;
use super::filtered_paths::FilteredPaths;
use super::model::CompareModel;
use super::shown::CompareSort;
use crate::compare::{Row, RowId};

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileRow {
    /// The path that it shows.
    pub id: RowId,
    /// Depth.
    pub depth: u16,
}

/// Rows, top to bottom.
#[derive(Clone, Debug, Default)]
pub struct FileRows {
    list: Vec<FileRow>,
    open: HashSet<RowId>,
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
        let mut rows = Self { list: Vec::new(), open };
        let below = rows.below(model, filtered, sort, RowId::ROOT, 0);
        rows.list = below;
        rows
    }

    /// Them.
    pub fn as_slice(&self) -> &[FileRow] {
        &self.list
    }

    /// Folders that are open.
    pub fn open(&self) -> &HashSet<RowId> {
        &self.open
    }

    /// The row of a path.
    pub fn position(&self, id: RowId) -> Option<usize> {
        self.list.iter().position(|row| row.id == id)
    }

    /// The row of the parent folder of a row.
    pub fn parent_of(&self, row: usize) -> Option<usize> {
        let depth = self.list.get(row)?.depth;
        self.list.get(..row)?.iter().rposition(|above| above.depth < depth)
    }

    /// Opens the folder at a row in place.
    pub fn open_at(&mut self, row: usize, model: &CompareModel, filtered: &FilteredPaths, sort: CompareSort) {
        let Some(&FileRow { id, depth }) = self.list.get(row) else { return };
        if !self.open.insert(id) {
            return;
        }
        let inserted = self.below(model, filtered, sort, id, depth + 1);
        let tail = self.list.split_off(row + 1);
        self.list.extend(inserted);
        self.list.extend(tail);
    }

    /// Closes the folder at a row in place.
    pub fn close_at(&mut self, row: usize) {
        let Some(&FileRow { id, depth }) = self.list.get(row) else { return };
        if self.open.remove(&id) {
            let deeper = self.list.iter().skip(row + 1).take_while(|below| below.depth > depth).count();
            self.list.drain(row + 1..row + 1 + deeper);
        }
    }

    /// Rows below a folder that is open.
    fn below(
        &mut self,
        model: &CompareModel,
        filtered: &FilteredPaths,
        sort: CompareSort,
        folder: RowId,
        depth: u16,
    ) -> Vec<FileRow> {
        let mut rows = Vec::new();
        let mut pending = children(model, filtered, sort, folder, depth);
        while let Some(row) = pending.pop() {
            rows.push(row);
            if filtered.opens() && filtered.leads(row.id) {
                self.open.insert(row.id);
            }
            if self.open.contains(&row.id) {
                pending.extend(children(model, filtered, sort, row.id, row.depth + 1));
            }
        }
        rows
    }
}

/// What is shown of a folder, the last row first.
fn children(
    model: &CompareModel,
    filtered: &FilteredPaths,
    sort: CompareSort,
    folder: RowId,
    depth: u16,
) -> Vec<FileRow> {
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
    list.into_iter().rev().map(|row| FileRow { id: row.id(), depth }).collect()
}
