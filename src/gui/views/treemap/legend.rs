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

/// The colour, and where names begin.
const SAMPLE: f32 = 20.0;
const START: f32 = 34.0;
const BYTES: f32 = 56.0;
const SHARE: f32 = 48.0;
const GAP: f32 = 8.0;
/// Room for the beginning of an instruction. With less, the numbers are below the names.
const INSTRUCTION: f32 = 100.0;
/// A name and its numbers below.
const TWO_LINES: f32 = 36.0;

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
    let room = ui.available_width() - ui.spacing().scroll.allocated_width();
    let beside = room - START - BYTES - SHARE - 3.0 * GAP;
    // Where all have room on two lines, names take the full width.
    let roomy = colors.groups.len() as f32 * TWO_LINES <= ui.available_height();
    let height = if beside < INSTRUCTION || roomy { TWO_LINES } else { row::DENSE };
    ScrollArea::vertical().auto_shrink(false).show_rows(ui, height, colors.groups.len(), |ui, rows| {
        for group in colors.groups.get(rows).unwrap_or_default() {
            line(ui, group, colors.bytes, height);
        }
    });
}

fn line(ui: &mut Ui, group: &ColorGroup, whole: u64, height: f32) {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    let share = match whole {
        0 => String::new(),
        whole if group.bytes > 0 && group.bytes.saturating_mul(1_000) < whole => "< 0.1 %".to_owned(),
        whole => format!("{:.1} %", group.bytes as f64 * 100.0 / whole as f64),
    };
    let spoken = format!("{}, {}, {share}", group.name, human(group.bytes));
    response.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, &spoken));
    let sample = Rect::from_min_size(pos2(rect.left() + GAP, rect.top() + 4.0), vec2(SAMPLE, 12.0));
    swatch(ui, sample, fill_of(tokens, group.paint), group.pattern);
    let painter = ui.painter();
    let one = height < TWO_LINES;
    let (above, below) =
        if one { (rect, rect) } else { rect.shrink2(vec2(0.0, 1.0)).split_top_bottom_at_fraction(0.5) };
    let (start, right) = (rect.left() + START, rect.right() - GAP);
    let end = right - SHARE - GAP;
    let place = below.with_min_x(right - SHARE).with_max_x(right);
    cell::right(painter, place, &share, &text::small(), tokens.text_weak);
    let place = below.with_min_x(end - BYTES).with_max_x(end);
    cell::right(painter, place, &human(group.bytes), &text::small(), tokens.text);
    let name = above.with_min_x(start).with_max_x(if one { end - BYTES - GAP } else { right });
    cell::left(painter, name, &group.name, &text::small(), tokens.text, Cut::End);
    response.on_hover_text(spoken);
}
