use std::collections::HashSet;
use std::sync::Arc;

use super::filter::{FileMatches, Files};
use super::rows::{FileSort, FileTreeRows, SortedTree};
use super::tree::{FileTree, Scope};
use crate::gui::models::filter::{Filter, FilterError};
use crate::jobs::{CancelToken, Cancelled};
use crate::rootfs::{PathId, Timeline};

/// What to show: everything that decides the rows.
#[derive(Clone)]
pub struct FileTreeRequest {
    /// All paths.
    pub timeline: Arc<Timeline>,
    /// Which of them.
    pub scope: Scope,
    /// Whether all layers below are known, so that marks are true.
    pub marks: bool,
    /// The filter as typed.
    pub text: String,
    /// Whether the filter is a regular expression.
    pub regex: bool,
    /// The order.
    pub sort: FileSort,
    /// Folders that are open.
    pub open: HashSet<PathId>,
    /// Trees that were made before, newest last; taken again where they fit.
    pub trees: Vec<Arc<FileTree>>,
}

/// A tree with its filter and rows, made for one request.
pub struct ShownTree {
    /// The files.
    pub tree: Arc<FileTree>,
    /// What the filter found; `None` without a filter.
    pub found: Option<Arc<FileMatches>>,
    /// What is wrong with the filter; the tree is shown whole then.
    pub error: Option<FilterError>,
    /// The rows at first.
    pub rows: FileTreeRows,
}

impl ShownTree {
    fn sorted(&self) -> SortedTree<'_> {
        SortedTree { tree: &self.tree, found: self.found.as_deref(), sort: self.rows.sort() }
    }

    /// The path whose row shows a path: folders that each contain only the next share one.
    pub fn row_of(&self, path: PathId) -> PathId {
        self.sorted().row_of(path)
    }

    /// The paths that the row of a path shows, outermost first.
    pub fn chain(&self, row: PathId) -> Vec<PathId> {
        self.sorted().chain(row)
    }

    /// Does the work; for a thread of its own unless the image is small.
    ///
    /// # Errors
    /// When cancelled.
    pub fn new(request: FileTreeRequest, cancel: &CancelToken) -> Result<Self, Cancelled> {
        let FileTreeRequest { timeline, scope, marks, text, regex, sort, open, trees } = request;
        let known =
            trees.into_iter().find(|tree| tree.scope() == scope && Arc::ptr_eq(tree.timeline(), &timeline));
        let tree = match known {
            Some(tree) => tree,
            None => Arc::new(FileTree::new(timeline, scope, marks, cancel)?),
        };
        let (query, error) = match Filter::<Files>::parse_as(&text, regex) {
            Ok(query) => (query, None),
            Err(error) => (Filter::default(), Some(error)),
        };
        let found = (!query.is_empty()).then(|| FileMatches::new(&tree, &query, cancel)).transpose()?;
        let found = found.map(Arc::new);
        cancel.check()?;
        let rows = FileTreeRows::new(&tree, found.as_deref(), sort, open);
        Ok(Self { tree, found, error, rows })
    }
}
