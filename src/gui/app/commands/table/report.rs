//! Commands of the report view.

use egui::Key;

use super::{ctrl, ctrl_shift};
use crate::gui::app::App;
use crate::gui::app::commands::{Command, Menu};
use crate::gui::views::{ReportView, View};

fn with_report(app: &App) -> Result<(), &'static str> {
    match app.front_tab() {
        Some(tab) if tab.saved.is_some() => Ok(()),
        Some(tab) => match &tab.analysis {
            Some(analysis) if analysis.merge.is_some() => Ok(()),
            _ => Err("Layers are not merged yet"),
        },
        None => Err("Open an image first"),
    }
}

/// Switches to the view and acts on it.
fn show(app: &mut App, act: impl FnOnce(&mut ReportView)) {
    app.show_view(View::Report);
    if let Some(tab) = app.front_tab_mut() {
        act(&mut tab.report);
    }
}

pub(super) const SAVE: Command = command!(
    "report.save",
    "Save report…",
    "Save the report as HTML, Markdown, JSON, SARIF, CSV or text",
    Menu::Image,
    5,
    [ctrl(Key::E)],
    with_report,
    |app| show(app, ReportView::ask_where)
);

pub(super) const COPY: Command = command!(
    "report.copy-markdown",
    "Copy report as Markdown",
    "Copy the report to the clipboard as Markdown",
    Menu::Image,
    5,
    [ctrl_shift(Key::M)],
    with_report,
    |app| show(app, ReportView::copy_markdown)
);
