//! Images side by side, as they are shown: which of them, the work that compares them, and rows for each page.

mod columns;
mod details;
mod export;
mod facts;
mod files;
mod filter;
mod filtered_paths;
mod layers;
mod line;
mod model;
mod packages;
mod settings;
mod shown;
mod summary;
mod tree_rows;
mod verdicts;
mod words;
mod work;

pub use columns::{Columns, ImageState, OpenImage};
pub use details::{ColumnFacts, Details};
pub use export::{Export, Exported, FORMATS};
pub use files::{Files, FilesRequest, FilesShown};
pub use filter::CompareFilter;
pub use filtered_paths::FilteredPaths;
pub use line::{About, Cell, Line};
pub use model::{Compared, Model, Page};
pub use shown::{LineRow, LineRows, Sort};
pub use tree_rows::{FileRow, FileRows};
pub(in crate::gui) use words::file_delta;
pub use words::{delta, letter};
pub use work::{Comparer, Comparing, ReadyImage};
