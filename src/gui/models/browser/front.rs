//! What the browser has to show.

use super::{Browser, Extent};
use crate::gui::models::files::{FileSort, FileTreeRows, PathDetails, ShownTree};
use crate::gui::models::layers::{LayerState, waiting_for};
use crate::rootfs::PathId;

/// Why there is no tree to show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingTree {
    /// The image has no layers.
    NoLayers,
    /// The layer is being read.
    LayerWaits,
    /// Layers up to it are being read: which.
    LayersWait(String),
    /// Nothing of the layer could be read: why.
    LayerFailed(String),
    /// The work was stopped before the layer.
    LayerStopped,
    /// The tree is being made.
    Working,
    /// Making it failed: why.
    Broken(String),
}

impl Browser {
    /// The chosen layer.
    pub fn layer(&self) -> Option<usize> {
        self.layer
    }

    /// Whether the layer was chosen after the path.
    pub fn is_about_layer(&self) -> bool {
        self.about_layer
    }

    /// Whether all layers up to the chosen one are shown.
    pub fn is_merged(&self) -> bool {
        self.merged
    }

    /// The filter.
    pub fn filter(&self) -> (&str, bool) {
        (&self.text, self.regex)
    }

    /// The order.
    pub fn sort(&self) -> FileSort {
        self.sort
    }

    /// The folder at a path, or the one around the file there.
    pub fn folder_of(&self, raw: &[u8]) -> Vec<u8> {
        let tree = self.shown.as_ref().map(|shown| &shown.tree);
        let is_folder = tree.is_some_and(|tree| {
            tree.timeline().find(raw).is_some_and(|path| tree.shows(path) && tree.is_folder(path))
        });
        let end = if is_folder { None } else { raw.iter().rposition(|byte| *byte == b'/') };
        raw.get(..end.unwrap_or(raw.len())).unwrap_or(raw).to_vec()
    }

    /// What is on the screen, perhaps of the request before.
    pub fn shown(&self) -> Option<&ShownTree> {
        self.shown.as_ref()
    }

    /// The rows on the screen.
    pub fn rows(&self) -> Option<&FileTreeRows> {
        self.shown.as_ref().map(|shown| &shown.rows)
    }

    /// Whether the rows on the screen are not yet those of the filter.
    pub fn has_old_rows(&self) -> bool {
        self.stale || self.is_busy()
    }

    /// Whether what is on the screen is about to be replaced.
    pub fn is_busy(&self) -> bool {
        self.timeline_job.is_busy() || self.shown_job.is_busy()
    }

    /// Grows whenever another tree or filter is on the screen.
    pub fn made(&self) -> u64 {
        self.epoch
    }

    /// The chosen path in the tree on the screen.
    pub fn selected_path(&self) -> Option<PathId> {
        self.selected_id
    }

    /// The row of the chosen path.
    pub fn selected_row(&self) -> Option<usize> {
        self.selected_row
    }

    /// The facts of the chosen path.
    pub fn details(&self) -> Option<&PathDetails> {
        self.details.as_ref()
    }

    /// Whether the chosen row is to be brought into sight; asked once.
    pub fn take_reveal(&mut self) -> bool {
        self.selected_row.is_some() && std::mem::take(&mut self.reveal)
    }

    /// How many layers the tree on the screen is made of, and of how many, while others are still being read.
    pub fn partial(&self) -> Option<(usize, usize)> {
        match self.timeline {
            Some((Extent::Partial { last, layers, .. }, _)) if self.merged => Some((layers, last + 1)),
            _ => None,
        }
    }

    /// Why there is no tree to show; `None` where there is one.
    pub fn gap(&self) -> Option<MissingTree> {
        let Some(layer) = self.layer else { return Some(MissingTree::NoLayers) };
        let item = &self.items[layer];
        if !self.merged {
            match &item.state {
                LayerState::Waiting => return Some(MissingTree::LayerWaits),
                LayerState::Failed(why) => return Some(MissingTree::LayerFailed(why.clone())),
                LayerState::Stopped => return Some(MissingTree::LayerStopped),
                LayerState::Ready | LayerState::Incomplete(_) => {}
            }
        } else if self.wanted.is_none() {
            return Some(MissingTree::LayersWait(waiting_for(&self.items[..=layer]).unwrap_or_default()));
        }
        if let Some(error) = self.timeline_job.error().or(self.shown_job.error()) {
            return Some(MissingTree::Broken(error.to_owned()));
        }
        // A tree of another kind of timeline would be wrong.
        self.shown.is_none().then_some(MissingTree::Working)
    }
}
