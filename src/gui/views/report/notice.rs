//! A result line with actions.

use std::path::PathBuf;

use egui::Ui;

use super::{ReportContext, ReportView};
use crate::base::size::human;
use crate::gui::models::report::ExportFormat;
use crate::gui::views::path_bar::{PathNotice, show_notice_with};
use crate::jobs::Waker;

/// What was done.
pub(super) struct ReportNotice {
    pub(super) line: PathNotice,
    /// The file that was written.
    pub(super) path: Option<PathBuf>,
    /// Whether a browser shows it.
    pub(super) browser: bool,
}

impl ReportNotice {
    pub(super) fn copied(form: ExportFormat, bytes: u64) -> Self {
        let what = match form {
            ExportFormat::Dockerfile => "Dockerfile copied".to_owned(),
            form => format!("Report copied as {}", form.title()),
        };
        PathNotice::done(&format!("{what}, {}", human(bytes)), "").into()
    }

    pub(super) fn failed(words: String) -> Self {
        PathNotice::failed(words).into()
    }
}

impl From<PathNotice> for ReportNotice {
    fn from(line: PathNotice) -> Self {
        Self { line, path: None, browser: false }
    }
}

/// Shows the line, where there is one.
pub(super) fn show(ui: &mut Ui, view: &mut ReportView, context: &mut ReportContext<'_>, waker: &Waker) {
    let Some(notice) = &view.notice else { return };
    let mut open = None;
    let stays = show_notice_with(ui, &notice.line, context.actions, |ui| {
        let Some(path) = &notice.path else { return };
        if ui.button("Open folder").clicked() {
            open = path.parent().map(PathBuf::from);
        }
        if notice.browser && ui.button("Open in browser").clicked() {
            open = Some(path.clone());
        }
    });
    if !stays {
        view.notice = None;
    }
    if let Some(path) = open {
        view.opening.start(path, waker);
    }
}
