//! Which paths of the tree a filter keeps.

use super::filter::{ComparedPath, ComparedPaths};
use super::model::CompareModel;
use crate::base::convert::index32;
use crate::compare::RowId;
use crate::gui::models::filter::{Filter, FilterError};
use crate::jobs::{CancelToken, Cancelled};

/// The path fits the filter.
const FITS: u8 = 1;
/// In a matching folder.
const WITHIN: u8 = 2;
/// It is shown.
const SHOWN: u8 = 4;

/// Up to so many paths that fit, every folder above them is opened.
const OPENED: usize = 2_000;
/// Rows between two looks at whether to go on.
const STRETCH: usize = 1 << 14;

/// What of a tree is shown.
pub struct FilteredPaths {
    /// The filter as typed.
    pub filter: String,
    /// Whether only differences are shown.
    pub only: bool,
    state: Vec<u8>,
    filtered: bool,
    /// Paths that fit the filter, hidden ones included; without a filter all of them.
    pub found: usize,
    /// Paths that would be shown, but for that all images have the same there.
    pub hidden: usize,
    /// What is wrong with the filter; it leaves nothing out then.
    pub error: Option<FilterError>,
}

impl FilteredPaths {
    /// Looks at all paths.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(
        model: &CompareModel,
        filter: String,
        only: bool,
        cancel: &CancelToken,
    ) -> Result<Self, Cancelled> {
        let (parsed, error) = Filter::<ComparedPaths>::typed(&filter);
        let count = model.compared.comparison.tree.len();
        let filtered = !parsed.is_empty();
        let mut paths = Self { filter, only, state: vec![0; count], filtered, found: 0, hidden: 0, error };
        if filtered {
            paths.fit(model, &parsed, cancel)?;
        }
        paths.show(model, cancel)?;
        Ok(paths)
    }

    /// Whether a path is shown.
    pub fn shows(&self, row: RowId) -> bool {
        self.state.get(row.0 as usize).is_some_and(|state| state & SHOWN != 0)
    }

    /// Whether a path is what the filter looked for; `None` without a filter.
    pub fn fits(&self, row: RowId) -> Option<bool> {
        self.filtered.then(|| self.state.get(row.0 as usize).is_some_and(|state| state & FITS != 0))
    }

    /// Whether folders above what was found are opened by themselves.
    pub fn opens(&self) -> bool {
        self.filtered && self.found <= OPENED
    }

    /// Whether something below a path fits the filter.
    pub fn leads(&self, row: RowId) -> bool {
        self.state.get(row.0 as usize).is_some_and(|state| state & (FITS | WITHIN | SHOWN) == SHOWN)
    }

    fn fit(
        &mut self,
        model: &CompareModel,
        parsed: &Filter<ComparedPaths>,
        cancel: &CancelToken,
    ) -> Result<(), Cancelled> {
        let tree = &model.compared.comparison.tree;
        for at in 1..self.state.len() {
            if at % STRETCH == 0 {
                cancel.check()?;
            }
            let id = RowId(index32(at));
            let row = tree.row(id);
            // Folders come before what is in them.
            let above = self.state.get(row.parent().id().0 as usize).copied().unwrap_or(0);
            let within = above & (FITS | WITHIN) != 0;
            let folder = row.children().len() > 0;
            let path = if parsed.has_paths() { row.path() } else { Vec::new() };
            let fits = !(folder && parsed.is_about_files())
                && parsed.fits(&ComparedPath { model, row, path: &path });
            let Some(state) = self.state.get_mut(at) else { continue };
            if within {
                *state |= WITHIN;
            }
            if fits {
                *state |= FITS;
                self.found += 1;
            }
        }
        Ok(())
    }

    /// Marks what is shown, with the folders above.
    fn show(&mut self, model: &CompareModel, cancel: &CancelToken) -> Result<(), Cancelled> {
        let tree = &model.compared.comparison.tree;
        if !self.filtered {
            self.found = self.state.len().saturating_sub(1);
        }
        for at in (1..self.state.len()).rev() {
            if at % STRETCH == 0 {
                cancel.check()?;
            }
            let Some(state) = self.state.get_mut(at) else { continue };
            let wanted = !self.filtered || *state & (FITS | WITHIN) != 0;
            if wanted && self.only && !model.differs(at) {
                self.hidden += 1;
            } else if wanted {
                *state |= SHOWN;
            }
            // What is below comes first here: a folder with something to show is shown itself.
            if *state & SHOWN != 0 {
                let above = tree.row(RowId(index32(at))).parent().id().0 as usize;
                if let Some(above) = self.state.get_mut(above) {
                    *above |= SHOWN;
                }
            }
        }
        Ok(())
    }
}
