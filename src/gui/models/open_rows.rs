//! The rows of a tree whose folders are partly open. Opening and closing changes only the rows below; nothing walks the
//! tree while it is painted.

use std::collections::HashSet;
use std::hash::Hash;

/// A tree, as far as its rows need it.
pub trait Folders<Id> {
    /// Adds what is shown of a folder, in order.
    fn children(&self, folder: Id, into: &mut Vec<Id>);
    /// Whether a path is a folder.
    fn is_folder(&self, path: Id) -> bool;
    /// Whether a folder is opened by itself, because it leads to what a filter found.
    fn leads(&self, path: Id) -> bool;
}

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenRow<Id> {
    /// What it shows.
    pub path: Id,
    /// Depth in the tree.
    pub depth: u16,
}

/// Rows, top to bottom, with the order of the children of a folder.
#[derive(Clone, Debug, Default)]
pub struct OpenRows<Id, Sort> {
    list: Vec<OpenRow<Id>>,
    pub(super) open: HashSet<Id>,
    sort: Sort,
}

impl<Id: Copy + Eq + Hash, Sort: Copy> OpenRows<Id, Sort> {
    pub(super) fn below_root(tree: &impl Folders<Id>, root: Id, sort: Sort, open: HashSet<Id>) -> Self {
        let mut rows = Self { list: Vec::new(), open, sort };
        rows.list = rows.below(tree, root, 0, true);
        rows
    }

    /// All rows, top to bottom.
    pub fn as_slice(&self) -> &[OpenRow<Id>] {
        &self.list
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The order in use.
    pub fn sort(&self) -> Sort {
        self.sort
    }

    /// Folders that are open.
    pub fn open(&self) -> &HashSet<Id> {
        &self.open
    }

    /// Whether a folder is open.
    pub fn is_open(&self, path: Id) -> bool {
        self.open.contains(&path)
    }

    /// The row of a path.
    pub fn position(&self, path: Id) -> Option<usize> {
        self.list.iter().position(|row| row.path == path)
    }

    /// The row of the parent folder of a row.
    pub fn parent_of(&self, row: usize) -> Option<usize> {
        let depth = self.list.get(row)?.depth;
        self.list.get(..row)?.iter().rposition(|above| above.depth < depth)
    }

    /// Inserts the rows below a folder that was opened. With `leads`, folders that lead to what a filter found open too.
    pub(super) fn insert_below(&mut self, row: usize, tree: &impl Folders<Id>, leads: bool) {
        let Some(&folder) = self.list.get(row) else { return };
        let inserted = self.below(tree, folder.path, folder.depth + 1, leads);
        let tail = self.list.split_off(row + 1);
        self.list.extend(inserted);
        self.list.extend(tail);
    }

    /// Closes the folder at `row` in place. `false`, with nothing done, where it is no open folder.
    pub fn close_at(&mut self, row: usize) -> bool {
        let Some(&OpenRow { path, depth }) = self.list.get(row) else { return false };
        if !self.open.remove(&path) {
            return false;
        }
        let deeper = self.list.iter().skip(row + 1).take_while(|below| below.depth > depth).count();
        self.list.drain(row + 1..row + 1 + deeper);
        true
    }

    fn below(&mut self, tree: &impl Folders<Id>, folder: Id, depth: u16, leads: bool) -> Vec<OpenRow<Id>> {
        let (mut rows, mut pending, mut paths) = (Vec::new(), Vec::new(), Vec::new());
        tree.children(folder, &mut paths);
        pending.extend(paths.drain(..).rev().map(|path| OpenRow { path, depth }));
        while let Some(row) = pending.pop() {
            rows.push(row);
            if leads && tree.leads(row.path) {
                self.open.insert(row.path);
            }
            if self.is_open(row.path) && tree.is_folder(row.path) {
                tree.children(row.path, &mut paths);
                pending.extend(paths.drain(..).rev().map(|path| OpenRow { path, depth: row.depth + 1 }));
            }
        }
        rows
    }
}
