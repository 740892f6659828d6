//! Which layer and path are chosen.

use super::Browser;
use crate::jobs::Waker;
use crate::rootfs::PathId;

impl Browser {
    /// Goes to a path from outside: where the scope does not show it, to the whole image.
    pub(super) fn choose(&mut self, path: Vec<u8>, waker: &Waker) {
        let known = self.shown.as_ref().filter(|_| !self.stale && !self.shown_job.is_busy());
        let Some(shown) = known else {
            self.pending = Some(path);
            return;
        };
        let found = shown.tree.timeline().find(&path);
        let Some(id) = found.filter(|id| shown.tree.shows(*id)) else {
            let last = self.items.len().checked_sub(1);
            if found.is_some() && (!self.merged || self.layer != last) {
                (self.merged, self.layer) = (true, last);
                self.stale = true;
                self.pending = Some(path);
                waker();
            }
            return;
        };
        if shown.found.as_ref().is_some_and(|found| !found.keeps(id)) {
            self.text.clear();
        }
        self.open = shown.rows.open().clone();
        let mut at = id;
        while at != PathId::ROOT {
            at = shown.tree.timeline().parent(at);
            self.open.insert(at);
        }
        self.selected = Some(path);
        self.reveal = true;
        self.stale = true;
        self.start_shown(waker);
    }

    /// Chooses a layer, and shows what is known of it in place of the chosen path.
    pub fn show_layer(&mut self, layer: usize) {
        self.select_layer(layer);
        self.about_layer = true;
    }

    /// Chooses a layer.
    pub fn select_layer(&mut self, layer: usize) {
        if self.layer != Some(layer) {
            self.layer = Some(layer);
            self.stale = true;
        }
    }

    /// Shows all layers up to the chosen one, or that one alone.
    pub fn set_merged(&mut self, merged: bool) {
        if self.merged != merged {
            self.merged = merged;
            self.stale = true;
        }
    }

    /// Selects a path by its bytes, at the first update that has it.
    pub fn select_path(&mut self, path: Vec<u8>) {
        self.about_layer = false;
        self.pending = Some(path);
    }

    /// Chooses a row, and it alone.
    pub fn select_row(&mut self, row: usize) {
        self.marks.clear();
        self.go_to_row(row);
    }

    pub(super) fn go_to_row(&mut self, row: usize) {
        self.about_layer = false;
        let Some(shown) = &self.shown else { return };
        let Some(line) = shown.rows.as_slice().get(row) else { return };
        if self.selected_path() != Some(line.path) {
            self.selected = Some(shown.tree.timeline().full_path(line.path));
            self.selected_id = Some(line.path);
            self.selected_row = Some(row);
            self.describe();
        }
    }

    /// Chooses a path of the tree in front and brings its row into sight.
    pub fn select(&mut self, path: PathId) {
        self.marks.clear();
        self.about_layer = false;
        if let Some(shown) = &self.shown {
            let full = shown.tree.timeline().full_path(path);
            // At once for the details and the treemap; the row follows.
            (self.selected, self.selected_id) = (Some(full.clone()), Some(path));
            self.pending = Some(full);
            self.find_row();
            self.describe();
        }
    }

    /// Chooses the row of the parent folder of a row.
    pub fn select_parent(&mut self, row: usize) {
        let parent = self.shown.as_ref().and_then(|shown| shown.rows.parent_of(row));
        if let Some(parent) = parent {
            self.select_row(parent);
            self.reveal = true;
        }
    }
}
