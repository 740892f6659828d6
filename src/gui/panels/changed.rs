//! The offer to reload an image whose file changed.

use egui::{Button, Ui};

use crate::gui::app::Tab;
use crate::gui::design::Tokens;
use crate::gui::views::Action;
use crate::gui::widgets::alert::alert_line;
use crate::gui::widgets::controls::Mark;

/// Above the view of an image whose file changed since it was read.
pub(crate) fn changed(ui: &mut Ui, tab: &Tab, actions: &mut Vec<Action>) {
    if !tab.file.changed {
        return;
    }
    let color = Tokens::of(ui).accent;
    alert_line(ui, Mark::Question, color, "The file changed since it was read.", |ui| {
        if ui.button("Dismiss").clicked() {
            actions.push(Action::DismissChange(tab.id));
        }
        if ui.add(Button::new("Reload")).clicked() {
            actions.push(Action::ReloadChanged(tab.id, false));
        }
        let compare = ui.add_enabled(tab.analysis.is_some(), Button::new("Reload and compare"));
        if compare.on_hover_text("Compare the new contents with what is shown now").clicked() {
            actions.push(Action::ReloadChanged(tab.id, true));
        }
    });
}
