//! A choice of one of several.

use egui::accesskit::Role;
use egui::{Response, Sense, Stroke, Ui, WidgetInfo, pos2, vec2};

use super::controls::{line_of_text, paint_focus};
use crate::gui::design::{Tokens, radius, text};

/// Where the text begins.
const TEXT: f32 = 22.0;

/// One of several, in the full width; in a line of them, as wide as it must be.
pub fn radio(ui: &mut Ui, on: bool, label: &str, indent: f32) -> Response {
    let tokens = Tokens::of(ui);
    let width = if ui.layout().is_horizontal() {
        let words = ui.painter().layout_no_wrap(label.to_owned(), text::body(), tokens.text);
        indent + TEXT + words.size().x.ceil()
    } else {
        ui.available_width()
    };
    let (rect, response) = ui.allocate_exact_size(vec2(width, 24.0), Sense::click());
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
        let room = rect.with_min_x(rect.left() + indent + TEXT);
        line_of_text(ui, room, label, text::body(), tokens.text);
        paint_focus(ui, &response, radius::S);
    }
    response
}
