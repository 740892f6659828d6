//! A text of any length in lines of even width, with their numbers. Paints the lines in sight.

use egui::accesskit::Role;
use egui::{Id, Key, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use crate::gui::design::{Tokens, radius, row, text};
use crate::gui::widgets::cell;
use crate::gui::widgets::list;

/// Lines that can be scrolled to: beyond, positions are too coarse.
const LINES: usize = 2_000_000;

/// What is shown.
pub struct TextShape<'a> {
    /// The name for screen readers.
    pub name: &'a str,
    /// How many lines there are.
    pub lines: usize,
    /// Characters of the longest line.
    pub widest: usize,
    /// Whether lines have their numbers.
    pub numbers: bool,
    /// A line that stands out.
    pub marked: Option<usize>,
    /// Whether to bring that line into sight.
    pub reveal: bool,
}

/// Shows a text in the room that is left; `line_at` makes a line, for lines in sight. Gives how many were painted.
pub fn text_view(
    ui: &mut Ui,
    salt: &str,
    shape: &TextShape<'_>,
    mut line_at: impl FnMut(usize) -> String,
) -> usize {
    let tokens = Tokens::of(ui);
    let id = ui.make_persistent_id(salt);
    let whole = ui.available_rect_before_wrap();
    let all = ui.interact(whole, id, Sense::click());
    all.widget_info(|| WidgetInfo::labeled(Role::Document, ui.is_enabled(), shape.name));
    if all.clicked() {
        all.request_focus();
    }
    let each = ui.fonts_mut(|fonts| fonts.glyph_width(&text::mono(), '0'));
    let digits = shape.lines.max(100).to_string().len();
    let gutter = if shape.numbers { each * digits as f32 + 20.0 } else { 4.0 };
    let count = shape.lines.min(LINES);
    let size = vec2(gutter + 8.0 + each * (shape.widest + 2) as f32, count as f32 * row::DENSE);
    let mut area = ScrollArea::both().id_salt("lines").auto_shrink(false);
    if all.has_focus()
        && let Some(offset) = keys(ui, id, whole.height(), size.y)
    {
        area = area.scroll_offset(offset);
    }
    if let Some(line) = shape.marked.filter(|line| shape.reveal && *line < count) {
        let top = line as f32 * row::DENSE - whole.height() / 2.0;
        area = area.vertical_scroll_offset(top.clamp(0.0, (size.y - whole.height()).max(0.0)));
    }
    let mut inner = ui.new_child(UiBuilder::new().max_rect(whole.shrink(1.0)).id_salt(salt));
    inner.set_clip_rect(whole.shrink(1.0).intersect(ui.clip_rect()));
    let scrolled = area.show_viewport(&mut inner, |ui, viewport| {
        ui.set_min_size(vec2(size.x.max(viewport.width()), size.y.max(viewport.height())));
        let origin = ui.min_rect().min;
        let range = list::visible(viewport.y_range(), row::DENSE, count);
        let painted = range.len();
        let left = origin.x + viewport.left();
        for place in range {
            let top = origin.y + place as f32 * row::DENSE;
            let rect = Rect::from_min_size(pos2(left, top), vec2(viewport.width(), row::DENSE));
            let line = line_at(place);
            let response = ui.interact(rect, id.with(place), Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &line));
            if shape.marked == Some(place) {
                ui.painter().rect_filled(rect, 0.0, tokens.selection);
            }
            let room = Rect::from_min_max(pos2(left + gutter, top), rect.max);
            let clipped = ui.painter().with_clip_rect(room.intersect(ui.clip_rect()));
            let galley = clipped.layout_no_wrap(line, text::mono(), tokens.text);
            let at = pos2(origin.x + gutter + 8.0, rect.center().y - galley.size().y / 2.0);
            clipped.galley(at, galley, tokens.text);
            if shape.numbers {
                let numbers = Rect::from_min_size(rect.min, vec2(gutter - 8.0, row::DENSE));
                let number = (place + 1).to_string();
                cell::right(ui.painter(), numbers, &number, &text::mono(), tokens.text_weak);
            }
        }
        if shape.numbers {
            let edge = left + gutter - 0.5;
            ui.painter().vline(edge, ui.clip_rect().y_range(), Stroke::new(1.0, tokens.border));
        }
        painted
    });
    ui.data_mut(|data| data.insert_temp(id, scrolled.state.clamped_offset()));
    if all.has_focus() {
        ui.painter().rect_stroke(whole, radius::S, Stroke::new(1.5, tokens.accent), StrokeKind::Inside);
    }
    ui.advance_cursor_after_rect(whole);
    scrolled.inner
}

/// Where the keys that were pressed scroll to.
fn keys(ui: &Ui, id: Id, height: f32, whole: f32) -> Option<egui::Vec2> {
    let mut offset: egui::Vec2 = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let before = offset;
    let last = (whole - height).max(0.0);
    for (key, modifiers) in list::keys(ui, id) {
        match key {
            Key::ArrowDown | Key::J => offset.y += row::DENSE,
            Key::ArrowUp | Key::K => offset.y -= row::DENSE,
            Key::PageDown | Key::Space => offset.y += height - row::DENSE,
            Key::PageUp => offset.y -= height - row::DENSE,
            Key::Home => offset.y = 0.0,
            Key::End => offset.y = last,
            Key::G => offset.y = if modifiers.shift { last } else { 0.0 },
            Key::ArrowRight | Key::L => offset.x += 64.0,
            Key::ArrowLeft | Key::H => offset.x = (offset.x - 64.0).max(0.0),
            Key::Escape => ui.memory_mut(|memory| memory.surrender_focus(id)),
            _ => {}
        }
        offset.y = offset.y.clamp(0.0, last);
    }
    (offset != before).then_some(offset)
}
