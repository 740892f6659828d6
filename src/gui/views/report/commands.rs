//! What commands of the window do with the view.

use std::path::PathBuf;

use super::ReportView;
use crate::gui::models::report::ExportFormat;
use crate::jobs::Waker;

impl ReportView {
    /// Puts the report on the clipboard as Markdown, once it is made.
    pub fn copy_markdown(&mut self) {
        let before = self.choice.clone();
        self.choice.form = ExportFormat::Markdown;
        self.path_field.follow(&before, &self.choice);
        self.copy = true;
        self.notice = None;
    }

    /// Puts the cursor into the field for the path.
    pub fn ask_where(&mut self) {
        self.path_field.focus();
    }

    /// Writes what is shown to a file; an existing file is replaced only after confirmation.
    pub fn save(&mut self, path: PathBuf, replace: bool, waker: &Waker) {
        match self.job.current(&self.choice) {
            Some(preview) => {
                self.notice = None;
                self.saving.start(path, std::sync::Arc::clone(&preview.text), replace, waker);
            }
            None => self
                .path_field
                .show_message("The report is not ready; save it when the preview appears".to_owned()),
        }
    }
}
