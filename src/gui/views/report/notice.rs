//! A result line with actions.

use std::path::PathBuf;

use egui::{Align, Frame, Label, Layout, Margin, Sense, Ui, vec2};

use super::{GAP, ReportContext, ReportView};
use crate::base::size::human;
use crate::gui::design::{Tokens, radius};
use crate::gui::models::report::ExportFormat;
use crate::gui::views::Action;
use crate::gui::widgets::controls::{Mark, mark_button, paint_mark};
use crate::jobs::Waker;

/// What was done.
pub(super) struct ReportNotice {
    words: String,
    /// The file that was written.
    path: Option<PathBuf>,
    /// Whether a browser shows it.
    browser: bool,
    failed: bool,
}

impl ReportNotice {
    pub(super) fn saved(form: ExportFormat, path: &str) -> Self {
        let what = if form == ExportFormat::Dockerfile { "Dockerfile" } else { "Report" };
        Self {
            words: format!("{what} saved to {path}"),
            path: Some(PathBuf::from(path)),
            browser: form == ExportFormat::Html,
            failed: false,
        }
    }

    pub(super) fn copied(form: ExportFormat, bytes: u64) -> Self {
        let what = match form {
            ExportFormat::Dockerfile => "Dockerfile copied".to_owned(),
            form => format!("Report copied as {}", form.title()),
        };
        Self { words: format!("{what}, {}", human(bytes)), path: None, browser: false, failed: false }
    }

    pub(super) fn failed(words: String) -> Self {
        Self { words, path: None, browser: false, failed: true }
    }
}

/// Shows the line, where there is one.
pub(super) fn show(ui: &mut Ui, view: &mut ReportView, context: &mut ReportContext<'_>, waker: &Waker) {
    let Some(notice) = &view.notice else { return };
    let tokens = Tokens::of(ui);
    let (mark, color) =
        if notice.failed { (Mark::Error, tokens.error) } else { (Mark::Proven, tokens.success) };
    let (mut stays, mut open) = (true, None);
    Frame::new()
        .fill(tokens.wash(color))
        .corner_radius(radius::M)
        .inner_margin(Margin::symmetric(12, 4))
        .show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.set_width(ui.available_width());
                let (rect, _) = ui.allocate_exact_size(vec2(16.0, 20.0), Sense::hover());
                paint_mark(ui.painter(), mark, rect.center(), 14.0, color);
                ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                    stays = !mark_button(ui, Mark::Close, "Dismiss message").clicked();
                    if let Some(path) = &notice.path {
                        if ui.button("Copy path").clicked() {
                            context.actions.push(Action::CopyText(path.display().to_string()));
                        }
                        if ui.button("Open folder").clicked() {
                            open = path.parent().map(PathBuf::from);
                        }
                        if notice.browser && ui.button("Open in browser").clicked() {
                            open = Some(path.clone());
                        }
                    }
                    ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                        ui.add(Label::new(&notice.words).truncate().selectable(true));
                    });
                });
            });
        });
    ui.add_space(GAP);
    if !stays {
        view.notice = None;
    }
    if let Some(path) = open {
        view.opening.start(path, waker);
    }
}
