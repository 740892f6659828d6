use std::cmp::Reverse;
use std::collections::HashSet;

use super::filter::FileMatches;
use super::tree::FileTree;
use crate::gui::models::open_rows::{Folders, OpenRow, OpenRows};
use crate::rootfs::PathId;

/// A folder with more than this many paths is opened in the background.
pub const LARGE_FOLDER: usize = 10_000;

/// A folder with more than this many paths shares its row with no other.
const LARGE_CHAIN: usize = 1_000;

/// Whether a folder is better opened in the background.
pub fn is_large(tree: &FileTree, path: PathId) -> bool {
    tree.timeline().children(path).len() > LARGE_FOLDER
}

/// A row of the open tree.
pub type FileTreeRow = OpenRow<PathId>;
/// The rows of a tree of files.
pub type FileTreeRows = OpenRows<PathId, FileSort>;

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

/// A tree with what a filter keeps of it, in an order.
pub(super) struct SortedTree<'a> {
    pub(super) tree: &'a FileTree,
    pub(super) found: Option<&'a FileMatches>,
    pub(super) sort: FileSort,
}

impl SortedTree<'_> {
    /// What the filter keeps of a folder, unordered.
    fn kept(&self, folder: PathId) -> impl Iterator<Item = PathId> {
        self.tree.children(folder).filter(|path| self.found.is_none_or(|found| found.keeps(*path)))
    }

    /// The folder that is all that a folder contains. Of a folder with very many paths, in other layers or left out by
    /// the filter, this is not looked for: rows in sight ask for it in each frame.
    fn only_folder(&self, folder: PathId) -> Option<PathId> {
        if self.tree.timeline().children(folder).len() > LARGE_CHAIN {
            return None;
        }
        let mut kept = self.kept(folder);
        let first = kept.next().filter(|path| self.tree.is_folder(*path))?;
        kept.next().is_none().then_some(first)
    }

    /// The folder that shares a row with the folder around it: all that it contains, and with the same signs.
    fn joined(&self, folder: PathId) -> Option<PathId> {
        let signs = |path: PathId| (self.tree.mark(path), self.tree.is_hidden(path));
        self.only_folder(folder).filter(|only| signs(*only) == signs(folder))
    }

    /// The path whose row shows a path: the last one of a chain of folders that each contain only the next.
    pub(super) fn row_of(&self, path: PathId) -> PathId {
        let mut at = path;
        while self.tree.is_folder(at)
            && let Some(only) = self.joined(at)
        {
            at = only;
        }
        at
    }

    /// The paths that a row shows, outermost first; the last one is that of the row.
    pub(super) fn chain(&self, row: PathId) -> Vec<PathId> {
        let mut chain = vec![row];
        let mut at = row;
        while at != PathId::ROOT && self.tree.is_folder(row) {
            at = self.tree.timeline().parent(at);
            if at == PathId::ROOT || self.joined(at) != chain.last().copied() {
                break;
            }
            chain.push(at);
        }
        chain.reverse();
        chain
    }
}

impl Folders<PathId> for SortedTree<'_> {
    fn children(&self, folder: PathId, into: &mut Vec<PathId>) {
        into.extend(self.kept(folder));
        order(into, self.tree, self.sort);
        for path in into {
            *path = self.row_of(*path);
        }
    }

    fn is_folder(&self, path: PathId) -> bool {
        self.tree.is_folder(path)
    }

    fn leads(&self, path: PathId) -> bool {
        self.found.is_some_and(|found| found.opens() && found.leads(path))
    }
}

impl FileTreeRows {
    /// The rows of `tree` with the folders of `open` open. Where a filter found little, every folder
    /// that leads to it is opened as well.
    pub fn new(tree: &FileTree, found: Option<&FileMatches>, sort: FileSort, open: HashSet<PathId>) -> Self {
        Self::below_root(&SortedTree { tree, found, sort }, PathId::ROOT, sort, open)
    }

    /// Opens the folder at `row` in place. `false`, with nothing done, where it is no closed folder.
    pub fn open_at(&mut self, row: usize, tree: &FileTree, found: Option<&FileMatches>) -> bool {
        let Some(path) = self.as_slice().get(row).map(|row| row.path) else { return false };
        if self.is_open(path) || !tree.is_folder(path) {
            return false;
        }
        let sorted = SortedTree { tree, found, sort: self.sort() };
        // In another tree, the folders of the row may have rows of their own.
        self.open.extend(sorted.chain(path));
        // A chain of folders that each contain only the next is opened to its end.
        let mut at = path;
        while let Some(only) = sorted.only_folder(at) {
            at = only;
            self.open.insert(at);
        }
        // What was open below it when it was closed is open again.
        self.insert_below(row, &sorted, false);
        true
    }
}

fn order(paths: &mut [PathId], tree: &FileTree, sort: FileSort) {
    let name = |path: &PathId| tree.timeline().name(*path);
    let (bytes, files) = (|path: &PathId| tree.bytes(*path), |path: &PathId| tree.files(*path));
    match sort.key {
        SortKey::Name => paths.sort_unstable_by(|a, b| name(a).cmp(name(b))),
        SortKey::Size => paths.sort_unstable_by(|a, b| {
            let key = |path: &PathId| (Reverse(bytes(path)), Reverse(files(path)));
            key(a).cmp(&key(b)).then_with(|| name(a).cmp(name(b)))
        }),
        SortKey::Files => paths.sort_unstable_by(|a, b| {
            let key = |path: &PathId| (Reverse(files(path)), Reverse(bytes(path)));
            key(a).cmp(&key(b)).then_with(|| name(a).cmp(name(b)))
        }),
    }
    let natural = sort.key != SortKey::Name;
    if sort.descending != natural {
        paths.reverse();
    }
}
