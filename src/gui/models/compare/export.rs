//! The comparison as text: written to a file, or for the clipboard; made off the painting thread.

use std::path::PathBuf;
use std::sync::Arc;

use super::model::CompareModel;
use crate::base::text::printable;
use crate::gui::models::background::Background;
use crate::gui::models::dockerfile::{SaveState, write_text};
use crate::jobs::Waker;
use crate::report::{CompareFormat, CompareReport, Options};

/// All formats, the most useful first.
pub const FORMATS: [(CompareFormat, &str); 5] = [
    (CompareFormat::Html, "HTML"),
    (CompareFormat::Markdown, "Markdown"),
    (CompareFormat::Json, "JSON"),
    (CompareFormat::Csv, "CSV"),
    (CompareFormat::Text, "Text"),
];

/// The result.
pub enum Exported {
    /// A file, or why there is none.
    File(SaveState),
    /// Text for the clipboard.
    Text(String),
}

/// Makes one text at a time.
#[derive(Default)]
pub struct Export {
    job: Background<Exported>,
}

impl Export {
    /// Writes to a file; overwrites only after confirmation.
    pub fn save(
        &mut self,
        model: &Arc<CompareModel>,
        format: CompareFormat,
        path: PathBuf,
        replace: bool,
        waker: &Waker,
    ) {
        let model = Arc::clone(model);
        self.job.start(waker, false, move |cancel| {
            let text = text(&model, format);
            cancel.check()?;
            Ok(Exported::File(write_text(&path, &text, replace)))
        });
    }

    /// Makes the Markdown for a pull request.
    pub fn copy(&mut self, model: &Arc<CompareModel>, waker: &Waker) {
        let model = Arc::clone(model);
        self.job.start(waker, false, move |_| Ok(Exported::Text(text(&model, CompareFormat::Markdown))));
    }

    /// Whether something is being made.
    pub fn is_busy(&self) -> bool {
        self.job.is_busy()
    }

    /// The result, returned once.
    pub fn take(&mut self) -> Option<Exported> {
        let failed = |error: String| Exported::File(SaveState::Failed(printable(&error)));
        self.job.result().map(|made| made.unwrap_or_else(failed))
    }
}

fn text(model: &CompareModel, format: CompareFormat) -> String {
    format.write(&CompareReport::new(&model.compared.comparison, &Options::default()))
}
