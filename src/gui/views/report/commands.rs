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

    /// A dialog answered with a path: the report is written there.
    pub fn picked(&mut self, path: PathBuf, waker: &Waker) {
        if let Some(text) = path.to_str() {
            self.path_field.set(text);
        }
        // The dialog asks by itself whether a file may be replaced.
        self.save(path, true, waker);
    }

    /// A dialog could not be shown: the field is there for the path.
    pub fn dialog_failed(&mut self, reason: &str) {
        self.path_field.show_message(format!("{reason}; enter the path instead"));
    }
}
