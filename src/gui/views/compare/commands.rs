//! What the window and its commands do with the view.

use std::sync::Arc;

use super::CompareView;
use crate::gui::models::compare::{CompareModel, Comparer, ComparisonJob};
use crate::jobs::Waker;

impl CompareView {
    /// Lets something else compare, for tests.
    pub fn compare_by(&mut self, comparer: Comparer) {
        self.state.work = ComparisonJob::new(comparer);
    }

    /// Adds an open image at the end; whether it is new.
    pub fn add(&mut self, id: u64) -> bool {
        self.adding = false;
        self.state.columns.add(id)
    }

    /// Says something beside the field for a path.
    pub fn show_message(&mut self, words: impl Into<String>) {
        self.add.show_message(words.into());
        self.adding = true;
    }

    /// Shows the ways to add an image.
    pub fn ask_for_image(&mut self) {
        self.adding = true;
        self.add.opened(true);
    }

    /// Images other than the own one are left out again.
    pub fn remove_all(&mut self) {
        self.state.columns.retain(|_| false);
    }

    /// The images that are compared.
    pub fn columns(&self) -> &[u64] {
        self.state.columns.list()
    }

    /// Takes the next image as the baseline.
    pub fn next_baseline(&mut self) {
        self.state.columns.next_baseline();
    }

    /// Takes an image as the baseline.
    pub fn set_baseline(&mut self, id: u64) {
        self.state.columns.set_baseline(id);
    }

    /// Whether only differences are shown.
    pub fn only_differences(&self) -> bool {
        self.state.only
    }

    /// Shows differences only, or everything, whichever is not shown.
    pub fn toggle_only_differences(&mut self) {
        self.state.only = !self.state.only;
    }

    /// Whether there is a comparison to show.
    pub fn model(&self) -> Option<&Arc<CompareModel>> {
        self.state.work.model()
    }

    /// How many rows were made for the last frame.
    pub fn painted_rows(&self) -> usize {
        self.painted
    }

    /// Opens every folder of the tree, for measuring.
    pub fn open_all(&mut self, waker: &Waker) {
        self.state.files.open_all(waker);
    }

    /// Shows the field for the path that the comparison is saved under.
    pub fn ask_where(&mut self) {
        if self.model().is_some() {
            self.save.open();
        }
    }

    /// Puts the comparison on the clipboard as Markdown.
    pub fn copy(&mut self, waker: &Waker) {
        if let Some(model) = self.state.work.model().cloned() {
            self.save.copy(&model, waker);
        }
    }
}
