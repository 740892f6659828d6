//! In: an analysis with its plan and what is proposed for it, or a saved report; what the user chose.
//! Out: the report as a page and as the text that will be written; saved reports, ready to be shown.
//! Must not know: egui.

mod choice;
mod lines;
mod making;
mod opening;
mod place;
mod saved;

pub use choice::{Choice, Form, TABLES, table_title};
pub use lines::Lines;
pub use making::{Making, Preview, ReportSource, Writer};
pub use opening::{Opener, Opening, desktop};
pub use place::{default_place, with_extension};
pub use saved::{Looked, Looking, SavedReport};
