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
mod result;
mod settings;
mod shown;
mod summary;
mod tree_rows;
mod verdicts;
mod words;
mod work;

pub use columns::{ImageColumns, ImageState, OpenImage};
pub use details::{ColumnFacts, CompareDetails};
pub use export::{Export, Exported, FORMATS};
pub use files::{ComparedFiles, FilesRequest, FilesShown};
pub use filter::{ComparedLines, ComparedPaths};
pub use filtered_paths::FilteredPaths;
pub use line::{CompareCell, CompareLine, LineSubject};
pub use model::{CompareModel, ComparePage};
pub use result::ComparisonResult;
pub use shown::{CompareSort, LineRow, LineRows};
pub use tree_rows::{FileRow, FileRows};
pub(in crate::gui) use words::file_delta;
pub use words::{delta, letter};
pub use work::{Comparer, ComparisonJob, ReadyImage};
