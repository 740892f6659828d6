//! In: an analysis with its plan and what is proposed for it, or a saved report; what the user chose.
//! Out: the report as a page and as the text that will be written; saved reports, ready to be shown.
//! Must not know: egui.

mod choice;
mod default_path;
mod lines;
mod opening;
mod report_job;
mod saved;

pub use choice::{ExportFormat, ReportOptions, TABLES, table_title};
pub use default_path::{default_path, with_extension};
pub use lines::TextLines;
pub use opening::{Opener, Opening, desktop};
pub use report_job::{Preview, ReportJob, ReportSource, Writer};
pub use saved::{FileKind, FileKindJob, SavedReport};
