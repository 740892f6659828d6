//! The views of the image in front.

use egui::Ui;

use crate::gui::app::{App, Phase};
use crate::gui::views::{Action, Command, View};
use crate::gui::widgets::controls::nav_item;
use crate::gui::widgets::stops::{self, StopKind};

const HEIGHT: f32 = 32.0;

/// The list at the left. `wide` leaves room for the keys.
pub(crate) fn rail(ui: &mut Ui, app: &mut App, wide: bool) {
    ui.spacing_mut().item_spacing.y = 2.0;
    let front = app.front_tab().map(|tab| tab.view);
    let content = app.content();
    let failed = app.front_tab().is_some_and(|tab| {
        matches!(tab.phase, Phase::Failed(_)) && tab.analysis.is_none() && tab.saved.is_none()
    });
    for view in View::ALL.iter().copied() {
        let keys = Command::Show(view).info().keys_text(ui.ctx());
        let unavailable = view.unavailable(content).or(failed.then_some("The image could not be opened"));
        let note = if wide && unavailable.is_none() { keys.as_str() } else { "" };
        let item = ui.add_enabled_ui(unavailable.is_none(), |ui| {
            nav_item(ui, view.title(), note, front == Some(view), HEIGHT)
        });
        if front == Some(view) {
            stops::stop(ui, StopKind::Pane, "Views", &item.inner);
        }
        let tooltip = format!("{} ({keys})", view.description());
        let response =
            item.inner.on_hover_text(tooltip).on_disabled_hover_text(unavailable.unwrap_or_default());
        if response.clicked() {
            app.actions.push(Action::ShowView(view));
        }
    }
}
