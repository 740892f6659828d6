//! A section that can be folded away.

use egui::accesskit::Role;
use egui::{Sense, Ui, WidgetInfo, pos2, vec2};

use super::cell::{Direction, triangle};
use super::controls::{line_of_text, paint_focus};
use crate::gui::design::{Tokens, radius, text};

/// A head with a note behind it, and below it what `add` shows while it is open.
pub fn fold(ui: &mut Ui, title: &str, note: &str, open_at_first: bool, add: impl FnOnce(&mut Ui)) {
    let tokens = Tokens::of(ui);
    let id = ui.make_persistent_id(("fold", title));
    let mut open = ui.data(|data| data.get_temp(id)).unwrap_or(open_at_first);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 24.0), Sense::click());
    response.widget_info(|| {
        WidgetInfo::selected(Role::Button, ui.is_enabled(), open, format!("{title} {note}").trim())
    });
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_expanded(open));
    if response.clicked() {
        open = !open;
        ui.data_mut(|data| data.insert_temp(id, open));
    }
    if ui.is_rect_visible(rect) {
        let color = if response.hovered() { tokens.text } else { tokens.text_weak };
        let direction = if open { Direction::Down } else { Direction::Right };
        triangle(ui.painter(), pos2(rect.left() + 5.0, rect.center().y), 7.0, direction, color);
        let galley = ui.painter().layout_no_wrap(title.to_owned(), text::heading(), tokens.text);
        let at = pos2(rect.left() + 16.0, rect.center().y - galley.size().y / 2.0);
        let behind = at.x + galley.size().x + 8.0;
        ui.painter().galley(at, galley, tokens.text);
        let room = egui::Rect::from_x_y_ranges(behind.min(rect.right())..=rect.right(), rect.y_range());
        line_of_text(ui, room, note, text::small(), tokens.text_weak);
        paint_focus(ui, &response, radius::S);
    }
    if open {
        add(ui);
    }
}
