//! Paths that are chosen together.

use hashbrown::{HashMap, HashSet};

use super::Browser;
use crate::gui::models::files::PathChange;
use crate::rootfs::{PathId, Timeline};

/// Paths that are chosen together, and their sums.
#[derive(Default)]
pub struct Marks {
    paths: HashSet<PathId>,
    /// Where a range of rows begins.
    anchor: Option<PathId>,
    bytes: u64,
    files: u64,
}

impl Marks {
    /// How many paths.
    pub fn count(&self) -> usize {
        self.paths.len()
    }

    /// Whether a path is one of them.
    pub fn has(&self, path: PathId) -> bool {
        self.paths.contains(&path)
    }

    /// Bytes in them and below, as the tree counts them; what is in a chosen folder counts once, what a layer removes
    /// not at all.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Files in them and below.
    pub fn files(&self) -> u64 {
        self.files
    }

    pub(super) fn clear(&mut self) {
        if self.anchor.is_some() || !self.paths.is_empty() {
            *self = Self::default();
        }
    }

    /// The same paths in another timeline.
    pub(super) fn move_to(&mut self, old: &Timeline, new: &Timeline) {
        // The names of a folder are read once, however many of its files are chosen.
        let mut folders: HashMap<PathId, HashMap<&[u8], PathId>> = HashMap::new();
        let mut moved = |path: PathId| {
            let mut names = Vec::new();
            let mut at = path;
            while at != PathId::ROOT {
                names.push(old.name(at));
                at = old.parent(at);
            }
            names.into_iter().rev().try_fold(PathId::ROOT, |at, name| {
                let children = || new.children(at).map(|child| (new.name(child), child)).collect();
                folders.entry(at).or_insert_with(children).get(name).copied()
            })
        };
        self.paths = self.paths.iter().filter_map(|path| moved(*path)).collect();
        self.anchor = self.anchor.and_then(moved);
    }
}

impl Browser {
    /// Paths that are chosen together.
    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// Their paths, in order.
    pub fn marked_paths(&self) -> Vec<Vec<u8>> {
        let Some(shown) = &self.shown else { return Vec::new() };
        let timeline = shown.tree.timeline();
        let mut paths: Vec<Vec<u8>> = self.marks.paths.iter().map(|path| timeline.full_path(*path)).collect();
        paths.sort();
        paths
    }

    /// Whether a row is one of them.
    pub fn is_marked(&self, row: usize) -> bool {
        self.path_at(row).is_some_and(|path| self.marks.has(path))
    }

    /// Adds a row to them, or takes it away; the first one comes together with what was chosen before.
    pub fn mark_row(&mut self, row: usize) {
        let Some(path) = self.path_at(row) else { return };
        if self.marks.paths.is_empty() {
            self.marks
                .paths
                .extend(self.selected_id.filter(|_| self.selected_row.is_some_and(|at| at != row)));
        }
        if !self.marks.paths.remove(&path) {
            self.marks.paths.insert(path);
        }
        self.marks.anchor = Some(path);
        self.go_to_row(row);
        self.sum_marks();
    }

    /// Chooses all rows from the one where that began to this one.
    pub fn extend_to(&mut self, row: usize) {
        let Some(shown) = &self.shown else { return };
        let anchor = self.marks.anchor.and_then(|path| shown.rows.position(shown.row_of(path)));
        let begun = anchor.or(self.selected_row).unwrap_or(row);
        let Some(range) = shown.rows.as_slice().get(begun.min(row)..=begun.max(row)) else { return };
        self.marks.paths = range.iter().map(|row| row.path).collect();
        self.marks.anchor = shown.rows.as_slice().get(begun).map(|row| row.path);
        self.go_to_row(row);
        self.sum_marks();
    }

    /// Chooses one path again.
    pub fn clear_marks(&mut self) {
        self.marks.clear();
    }

    fn path_at(&self, row: usize) -> Option<PathId> {
        Some(self.shown.as_ref()?.rows.as_slice().get(row)?.path)
    }

    pub(super) fn sum_marks(&mut self) {
        let Some(shown) = &self.shown else { return };
        let (tree, marks) = (&shown.tree, &self.marks);
        let is_within = |mut path: PathId| {
            while path != PathId::ROOT {
                path = tree.timeline().parent(path);
                if marks.has(path) {
                    return true;
                }
            }
            false
        };
        let (mut bytes, mut files) = (0_u64, 0_u64);
        let counts =
            |path: PathId| tree.shows(path) && tree.mark(path) != PathChange::Removed && !is_within(path);
        // Sums do not depend on the order.
        for path in self.marks.paths.iter().copied().filter(|path| counts(*path)) {
            bytes = bytes.saturating_add(tree.bytes(path));
            files = files.saturating_add(u64::from(tree.files(path)));
        }
        (self.marks.bytes, self.marks.files) = (bytes, files);
    }
}
