//! The files of a layer, or of all layers up to one: a tree, filters over it, and its open rows.

mod details;
mod filter;
mod rows;
mod shown;
mod tree;

pub use details::{LayerChange, PathDetails, PathFact};
pub use filter::{FileMatches, Files};
pub use rows::{FileSort, FileTreeRow, FileTreeRows, LARGE_FOLDER, SortKey, is_large};
pub use shown::{FileTreeRequest, ShownTree};
pub use tree::{FileTree, HIDDEN_SIGN, PathChange, Scope};
