//! A word in a rounded frame that is on or off: one of several parts of a filter.

use egui::accesskit::Role;
use egui::{Color32, CornerRadius, Response, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::controls::{Mark, paint_focus, paint_mark};
use crate::gui::design::{Tokens, text};

const HEIGHT: f32 = 24.0;

/// A chip with a sign in its own colour, a word, and a number behind it.
pub fn chip(ui: &mut Ui, on: bool, sign: (Mark, Color32), word: &str, number: &str) -> Response {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    let word_galley = painter.layout_no_wrap(word.to_owned(), text::body(), tokens.text);
    let number_galley = painter.layout_no_wrap(number.to_owned(), text::small(), tokens.text_weak);
    let width = 10.0 + 18.0 + word_galley.size().x + 6.0 + number_galley.size().x + 10.0;
    let (rect, response) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::click());
    let name = format!("{word}, {number}");
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, ui.is_enabled(), on, &name));
    if ui.is_rect_visible(rect) {
        let (fill, line) = match (on, response.hovered()) {
            (true, _) => (tokens.selection, tokens.accent),
            (false, true) => (tokens.hovered, tokens.border_strong),
            (false, false) => (tokens.background, tokens.border),
        };
        let round = CornerRadius::same(12);
        ui.painter().rect(rect, round, fill, Stroke::new(1.0, line), StrokeKind::Inside);
        let middle = rect.center().y;
        paint_mark(ui.painter(), sign.0, pos2(rect.left() + 16.0, middle), 11.0, sign.1);
        let mut x = rect.left() + 28.0;
        for galley in [word_galley, number_galley] {
            let size = galley.size();
            ui.painter().galley(pos2(x, middle - size.y / 2.0), galley, tokens.text);
            x += size.x + 6.0;
        }
        paint_focus(ui, &response, round);
    }
    response
}
