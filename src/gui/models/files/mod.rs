//! The files of a layer, or of all layers up to one: a tree, filters over it, and its open rows.

mod details;
mod filter;
mod rows;
mod shown;
mod tree;

pub use details::{Details, Fact, Touch};
pub use filter::{Found, Query, QueryError};
pub(super) use filter::{glob, size_range};
pub use rows::{LARGE_FOLDER, Row, Rows, Sort, SortKey, is_large};
pub use shown::{Request, Shown};
pub use tree::{FileTree, HIDDEN_SIGN, Mark, Scope};
