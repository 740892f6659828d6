//! Commands for files of plans.

use super::with_findings;
use crate::gui::app::App;
use crate::gui::app::commands::{Command, Menu};
use crate::gui::views::{FindingsView, View};

/// Switches to the Findings view and acts on it.
fn show(app: &mut App, act: impl FnOnce(&mut FindingsView)) {
    app.show_view(View::Findings);
    if let Some(tab) = app.front_tab_mut() {
        act(&mut tab.findings);
    }
}

pub(super) const SAVE: Command = command!(
    "plan.save",
    "Save plan as…",
    "Save the selected findings and answers for cutaway dockerfile --plan",
    Menu::Image,
    2,
    [],
    with_findings,
    |app| show(app, FindingsView::ask_where_plan)
);

pub(super) const OPEN: Command = command!(
    "plan.open",
    "Open plan…",
    "Load selected findings and answers from a saved plan or report",
    Menu::Image,
    2,
    [],
    with_findings,
    |app| show(app, FindingsView::ask_for_plan)
);
