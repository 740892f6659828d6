//! The legend: each group with its colour, pattern, bytes and share.

use egui::accesskit::Role;
use egui::{Rect, RichText, ScrollArea, Sense, Ui, WidgetInfo, pos2, vec2};

use super::map::fill_of;
use crate::base::size::human;
use crate::gui::design::{Tokens, row, space, text};
use crate::gui::models::treemap_colors::{ColorGroup, Coloring};
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::pane::empty;
use crate::gui::widgets::treemap::swatch;

const BYTES: f32 = 62.0;
const SHARE: f32 = 46.0;
/// Room for a short name. With less, the bytes are in the tooltip only.
const NAME: f32 = 72.0;

pub(super) fn show(ui: &mut Ui, colors: Option<&Coloring>) {
    let Some(colors) = colors else {
        empty(ui, "No legend yet", "");
        return;
    };
    let tokens = Tokens::of(ui);
    ui.add_space(space::XS);
    ui.horizontal(|ui| {
        ui.add_space(space::S);
        ui.label(RichText::new(colors.by.title()).font(text::strong()));
        ui.label(RichText::new(human(colors.bytes)).color(tokens.text_weak));
    });
    ui.spacing_mut().item_spacing.y = 0.0;
    ScrollArea::vertical().auto_shrink(false).show_rows(ui, row::DENSE, colors.groups.len(), |ui, rows| {
        for group in colors.groups.get(rows).unwrap_or_default() {
            line(ui, group, colors.bytes);
        }
    });
}

fn line(ui: &mut Ui, group: &ColorGroup, whole: u64) {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), row::DENSE), Sense::hover());
    let share = match whole {
        0 => String::new(),
        whole => format!("{:.1} %", group.bytes as f64 * 100.0 / whole as f64),
    };
    let spoken = format!("{}, {}, {share}", group.name, human(group.bytes));
    response.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, &spoken));
    let sample = Rect::from_min_size(pos2(rect.left() + 8.0, rect.top() + 4.0), vec2(20.0, 12.0));
    swatch(ui, sample, fill_of(tokens, group.paint), group.pattern);
    let painter = ui.painter();
    let at = |from: f32, to: f32| Rect::from_x_y_ranges(from..=to, rect.y_range());
    let right = rect.right() - 8.0;
    cell::right(painter, at(right - SHARE, right), &share, &text::small(), tokens.text_weak);
    let (start, mut end) = (sample.right() + 6.0, right - SHARE);
    if end - BYTES - start >= NAME {
        cell::right(painter, at(end - BYTES, end), &human(group.bytes), &text::small(), tokens.text);
        end -= BYTES;
    }
    let name = at(start, end - 4.0);
    cell::left(painter, name, &group.name, &text::small(), tokens.text, Cut::End);
    response.on_hover_text(spoken);
}
