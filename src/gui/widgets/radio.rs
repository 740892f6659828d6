//! A choice of one of several.

use egui::accesskit::Role;
use egui::{Response, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::controls::paint_focus;
use crate::gui::design::{Tokens, radius, text};

/// Where the text begins.
const TEXT: f32 = 22.0;

/// One of several, in the full width, where long text wraps; in a line of them, as wide as it must be.
pub fn radio(ui: &mut Ui, on: bool, label: &str, indent: f32) -> Response {
    let tokens = Tokens::of(ui);
    let in_line = ui.layout().is_horizontal();
    let room = if in_line { f32::INFINITY } else { ui.available_width() - indent - TEXT };
    let words = ui.painter().layout(label.to_owned(), text::body(), tokens.text, room);
    let width = if in_line { indent + TEXT + words.size().x.ceil() } else { ui.available_width() };
    let height = (words.size().y + 6.0).max(24.0);
    let (rect, response) = ui.allocate_exact_size(vec2(width, height), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, ui.is_enabled(), on, label));
    if ui.is_rect_visible(rect) {
        let center = pos2(rect.left() + indent + 8.0, rect.center().y);
        let line = if response.hovered() { tokens.text } else { tokens.border_strong };
        if on {
            ui.painter().circle(center, 6.5, tokens.accent, Stroke::NONE);
            ui.painter().circle_filled(center, 2.5, tokens.on_accent);
        } else {
            ui.painter().circle(center, 6.0, tokens.field, Stroke::new(1.0, line));
        }
        let at = pos2(rect.left() + indent + TEXT, rect.center().y - words.size().y / 2.0);
        ui.painter().galley(at, words, tokens.text);
        paint_focus(ui, &response, radius::S);
    }
    response
}
