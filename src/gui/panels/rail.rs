//! The views of the image in front.

use egui::{Id, ScrollArea, Ui};

use crate::gui::app::{App, NOT_OPENED, Tab};
use crate::gui::views::{Action, Command, View};
use crate::gui::widgets::controls::nav_item;
use crate::gui::widgets::stops::{self, StopKind};

const HEIGHT: f32 = 32.0;

/// The list at the left. `wide` leaves room for the keys.
pub(crate) fn rail(ui: &mut Ui, app: &mut App, wide: bool) {
    ui.spacing_mut().item_spacing.y = 2.0;
    // Never higher than its panel, however little the log leaves.
    ScrollArea::vertical().auto_shrink(false).min_scrolled_height(0.0).show(ui, |ui| items(ui, app, wide));
}

fn items(ui: &mut Ui, app: &mut App, wide: bool) {
    let front = app.front_tab().map(|tab| tab.view);
    // The view in front is brought into sight when it changes, or the room does.
    let seen = (front, ui.clip_rect().height());
    let moved = ui.data_mut(|data| {
        let known: &mut (Option<View>, f32) = data.get_temp_mut_or_default(Id::unique("views in sight"));
        std::mem::replace(known, seen) != seen
    });
    let content = app.content();
    let failed = app.front_tab().is_some_and(Tab::has_failed);
    for view in View::ALL.iter().copied() {
        let keys = Command::Show(view).info().keys_text(ui.ctx());
        let unavailable = view.unavailable(content).or(failed.then_some(NOT_OPENED));
        let note = if wide && unavailable.is_none() { keys.as_str() } else { "" };
        let item = ui.add_enabled_ui(unavailable.is_none(), |ui| {
            nav_item(ui, view.title(), note, front == Some(view), HEIGHT)
        });
        if front == Some(view) {
            stops::stop(ui, StopKind::Pane, "Views", &item.inner);
        }
        if item.inner.gained_focus() || moved && front == Some(view) {
            item.inner.scroll_to_me(None);
        }
        let tooltip = format!("{} ({keys})", view.description());
        let response =
            item.inner.on_hover_text(tooltip).on_disabled_hover_text(unavailable.unwrap_or_default());
        if response.clicked() {
            app.actions.push(Action::ShowView(view));
        }
    }
}
