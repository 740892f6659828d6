use std::cmp::Reverse;
use std::collections::HashSet;

use super::filter::FileMatches;
use super::tree::FileTree;
use crate::rootfs::PathId;

/// A folder with more than this many paths is opened in the background.
pub const LARGE_FOLDER: usize = 10_000;

/// Whether a folder is better opened in the background.
pub fn is_large(tree: &FileTree, path: PathId) -> bool {
    tree.timeline().children(path).len() > LARGE_FOLDER
}

/// A row of the open tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileTreeRow {
    /// What it shows.
    pub path: PathId,
    /// Depth in the tree.
    pub depth: u16,
}

/// The column that orders the children of a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SortKey {
    /// By name.
    Name,
    /// By bytes.
    #[default]
    Size,
    /// By number of files.
    Files,
}

/// The order of the children of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileSort {
    /// The column.
    pub key: SortKey,
    /// Whether the largest comes first.
    pub descending: bool,
}

impl Default for FileSort {
    fn default() -> Self {
        Self { key: SortKey::Size, descending: true }
    }
}

impl FileSort {
    /// The order after a click on a column's head.
    pub fn clicked(self, key: SortKey) -> Self {
        if self.key == key {
            Self { key, descending: !self.descending }
        } else {
            Self { key, descending: key != SortKey::Name }
        }
    }
}

/// The rows of a tree whose folders are partly open. Opening and closing changes only the rows below;
/// nothing walks the tree while it is painted.
#[derive(Clone, Debug, Default)]
pub struct FileTreeRows {
    list: Vec<FileTreeRow>,
    open: HashSet<PathId>,
    sort: FileSort,
}

impl FileTreeRows {
    /// The rows of `tree` with the folders of `open` open. Where a filter found little, every folder
    /// that leads to it is opened as well.
    pub fn new(tree: &FileTree, found: Option<&FileMatches>, sort: FileSort, open: HashSet<PathId>) -> Self {
        let mut rows = Self { list: Vec::new(), open, sort };
        let mut pending: Vec<FileTreeRow> = Vec::new();
        let mut below = Vec::new();
        rows.push_children(tree, found, PathId::ROOT, 0, &mut below);
        pending.extend(below.drain(..).rev());
        while let Some(row) = pending.pop() {
            rows.list.push(row);
            if let Some(found) = found.filter(|found| found.opens())
                && found.leads(row.path)
            {
                rows.open.insert(row.path);
            }
            if rows.is_open(row.path) && tree.is_folder(row.path) {
                rows.push_children(tree, found, row.path, row.depth + 1, &mut below);
                pending.extend(below.drain(..).rev());
            }
        }
        rows
    }

    /// All rows, top to bottom.
    pub fn as_slice(&self) -> &[FileTreeRow] {
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
    pub fn sort(&self) -> FileSort {
        self.sort
    }

    /// Folders that are open.
    pub fn open(&self) -> &HashSet<PathId> {
        &self.open
    }

    /// Whether a folder is open.
    pub fn is_open(&self, path: PathId) -> bool {
        self.open.contains(&path)
    }

    /// The row of a path.
    pub fn position(&self, path: PathId) -> Option<usize> {
        self.list.iter().position(|row| row.path == path)
    }

    /// The row of the parent folder of a row.
    pub fn parent_of(&self, row: usize) -> Option<usize> {
        let depth = self.list.get(row)?.depth;
        self.list[..row].iter().rposition(|above| above.depth < depth)
    }

    /// Opens the folder at `row` in place. `false`, with nothing done, where it is no closed folder.
    pub fn open_at(&mut self, row: usize, tree: &FileTree, found: Option<&FileMatches>) -> bool {
        let Some(&FileTreeRow { path, depth }) = self.list.get(row) else { return false };
        if self.is_open(path) || !tree.is_folder(path) {
            return false;
        }
        self.open.insert(path);
        self.open_chain(path, tree, found);
        // What was open below it when it was closed is open again.
        let mut below = Vec::new();
        let mut inserted = Vec::new();
        let mut pending = Vec::new();
        self.push_children(tree, found, path, depth + 1, &mut below);
        pending.extend(below.drain(..).rev());
        while let Some(row) = pending.pop() {
            inserted.push(row);
            if self.is_open(row.path) && tree.is_folder(row.path) {
                self.push_children(tree, found, row.path, row.depth + 1, &mut below);
                pending.extend(below.drain(..).rev());
            }
        }
        let tail = self.list.split_off(row + 1);
        self.list.extend(inserted);
        self.list.extend(tail);
        true
    }

    /// Expands a chain of folders that each contain only the next.
    fn open_chain(&mut self, path: PathId, tree: &FileTree, found: Option<&FileMatches>) {
        let mut at = path;
        loop {
            let mut kept = tree.children(at).filter(|path| found.is_none_or(|found| found.keeps(*path)));
            match (kept.next(), kept.next()) {
                (Some(only), None) if tree.is_folder(only) => at = only,
                _ => return,
            }
            drop(kept);
            self.open.insert(at);
        }
    }

    /// Closes the folder at `row` in place. `false`, with nothing done, where it is no open folder.
    pub fn close_at(&mut self, row: usize) -> bool {
        let Some(&FileTreeRow { path, depth }) = self.list.get(row) else { return false };
        if !self.open.remove(&path) {
            return false;
        }
        let end = self.list[row + 1..]
            .iter()
            .position(|below| below.depth <= depth)
            .map_or(self.list.len(), |count| row + 1 + count);
        self.list.drain(row + 1..end);
        true
    }

    fn push_children(
        &self,
        tree: &FileTree,
        found: Option<&FileMatches>,
        folder: PathId,
        depth: u16,
        into: &mut Vec<FileTreeRow>,
    ) {
        let kept = |path: &PathId| found.is_none_or(|found| found.keeps(*path));
        into.extend(tree.children(folder).filter(kept).map(|path| FileTreeRow { path, depth }));
        order(into, tree, self.sort);
    }
}

fn order(rows: &mut [FileTreeRow], tree: &FileTree, sort: FileSort) {
    let name = |row: &FileTreeRow| tree.timeline().name(row.path);
    match sort.key {
        SortKey::Name => rows.sort_unstable_by(|a, b| name(a).cmp(name(b))),
        SortKey::Size => rows.sort_unstable_by(|a, b| {
            let key = |row: &FileTreeRow| (Reverse(tree.bytes(row.path)), Reverse(tree.files(row.path)));
            key(a).cmp(&key(b)).then_with(|| name(a).cmp(name(b)))
        }),
        SortKey::Files => rows.sort_unstable_by(|a, b| {
            let key = |row: &FileTreeRow| (Reverse(tree.files(row.path)), Reverse(tree.bytes(row.path)));
            key(a).cmp(&key(b)).then_with(|| name(a).cmp(name(b)))
        }),
    }
    let natural = sort.key != SortKey::Name;
    if sort.descending != natural {
        rows.reverse();
    }
}
