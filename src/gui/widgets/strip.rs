//! A list of things in an order, each with a colour, a line of text and numbers in columns.

use egui::accesskit::Role;
use egui::{
    Align2, Color32, EventFilter, Id, Key, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use crate::gui::design::{Tokens, radius, row, text};
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls::{self, Mark};

/// A line of the strip.
#[derive(Clone, Debug)]
pub struct StripRow {
    /// Its number.
    pub number: String,
    /// Its colour.
    pub fill: Color32,
    /// Its text.
    pub title: String,
    /// Its numbers, one for each column.
    pub numbers: [String; 3],
    /// Which of the numbers stand out.
    pub strong: [bool; 3],
    /// A mark and words where something is wrong, in place of what is not known.
    pub fault: Option<(Mark, Color32, &'static str)>,
    /// Words in place of numbers that are not known yet.
    pub waits: Option<&'static str>,
    /// What a screen reader says.
    pub spoken: String,
}

/// What is shown.
pub struct StripShape<'a> {
    /// The name for screen readers.
    pub name: &'a str,
    /// How many lines there are.
    pub rows: usize,
    /// The head of the text.
    pub title: &'static str,
    /// Heads of the numbers.
    pub columns: [&'static str; 3],
    /// The chosen line.
    pub selected: Option<usize>,
    /// Whether to bring the chosen line into sight.
    pub reveal: bool,
}

const HEAD: f32 = 24.0;
const NUMBER: f32 = 76.0;
const LEAST_TITLE: f32 = 90.0;

/// Shows the strip in the room that is left. Gives the line that was chosen. `row_at` makes a line, for
/// those in sight; `hover` fills the tooltip of one.
pub fn strip(
    ui: &mut Ui,
    salt: &str,
    shape: &StripShape<'_>,
    mut row_at: impl FnMut(usize) -> StripRow,
    mut hover: impl FnMut(&mut Ui, usize),
) -> Option<usize> {
    let tokens = Tokens::of(ui);
    let id = ui.make_persistent_id(salt);
    let whole = ui.available_rect_before_wrap();
    let head = Rect::from_min_size(whole.min, vec2(whole.width(), HEAD));
    let body = Rect::from_min_max(pos2(whole.left(), head.bottom()), whole.max);
    let all = ui.interact(body, id, Sense::click());
    all.widget_info(|| WidgetInfo::labeled(Role::ListBox, ui.is_enabled(), shape.name));
    if all.clicked() {
        all.request_focus();
    }
    paint_head(ui, shape, head);
    let mut chosen = None;
    if all.has_focus() {
        chosen = keys(ui, id, shape, body.height());
    }
    let reveal = chosen.or(shape.selected.filter(|_| shape.reveal));
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(body).id_salt(salt));
    inner.spacing_mut().item_spacing = Vec2::ZERO;
    let mut area = ScrollArea::vertical().id_salt("lines").auto_shrink(false);
    if let Some(reveal) = reveal {
        let now: f32 = ui.data(|data| data.get_temp(id)).unwrap_or(0.0);
        let (top, bottom) = (reveal as f32 * row::NORMAL, (reveal + 1) as f32 * row::NORMAL);
        if top < now {
            area = area.vertical_scroll_offset(top);
        } else if bottom > now + body.height() {
            area = area.vertical_scroll_offset(bottom - body.height());
        }
    }
    let scrolled = area.show_rows(&mut inner, row::NORMAL, shape.rows, |ui, range| {
        let mut active = None;
        for index in range {
            let line = row_at(index);
            let size = vec2(ui.available_width(), row::NORMAL);
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            let response = ui.interact(rect, id.with(index), Sense::CLICK);
            let selected = shape.selected == Some(index);
            response.widget_info(|| WidgetInfo::labeled(Role::ListBoxOption, true, &line.spoken));
            ui.ctx().accesskit_node_builder(response.id, |node| node.set_selected(selected));
            if selected {
                active = Some(response.id);
            }
            paint(ui, rect, &line, selected, all.has_focus(), response.hovered());
            if response.clicked() {
                ui.memory_mut(|memory| memory.request_focus(id));
                chosen = Some(index);
            }
            response.on_hover_ui(|ui| hover(ui, index));
        }
        active
    });
    ui.data_mut(|data| data.insert_temp(id, scrolled.state.clamped_offset().y));
    if let Some(active) = scrolled.inner {
        ui.ctx().accesskit_node_builder(id, |node| node.set_active_descendant(active.accesskit_id()));
    }
    if all.has_focus() {
        ui.painter().rect_stroke(whole, radius::S, Stroke::new(1.5, tokens.accent), StrokeKind::Inside);
    }
    ui.advance_cursor_after_rect(whole);
    chosen
}

/// Where the numbers stand, left to right; those that have no room are left out from the left.
fn places(rect: Rect) -> (Rect, [Option<Rect>; 3]) {
    let right = rect.right() - 10.0;
    let left = rect.left() + 46.0;
    let mut columns = [None; 3];
    let mut end = right;
    for column in columns.iter_mut().rev() {
        if end - NUMBER < left + LEAST_TITLE {
            break;
        }
        *column = Some(Rect::from_x_y_ranges(end - NUMBER + 6.0..=end, rect.y_range()));
        end -= NUMBER;
    }
    (Rect::from_x_y_ranges(left..=end.max(left), rect.y_range()), columns)
}

fn paint_head(ui: &Ui, shape: &StripShape<'_>, rect: Rect) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    painter.rect_filled(rect, 0.0, tokens.raised);
    painter.hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, tokens.border));
    let (title, columns) = places(rect);
    cell::left(painter, title, shape.title, &text::small(), tokens.text_weak, Cut::End);
    for (place, name) in columns.iter().zip(shape.columns) {
        if let Some(place) = place {
            cell::right(painter, *place, name, &text::small(), tokens.text_weak);
        }
    }
}

fn paint(ui: &Ui, rect: Rect, line: &StripRow, selected: bool, focused: bool, hovered: bool) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    if selected {
        painter.rect_filled(rect, 0.0, tokens.selection);
        if focused {
            painter.rect_filled(Rect::from_min_size(rect.min, vec2(3.0, rect.height())), 0.0, tokens.accent);
        }
    } else if hovered {
        painter.rect_filled(rect, 0.0, tokens.hovered);
    }
    let chip = Rect::from_min_size(pos2(rect.left() + 8.0, rect.top() + 4.0), vec2(5.0, rect.height() - 8.0));
    painter.rect_filled(chip, 2.0, line.fill);
    let number = pos2(rect.left() + 38.0, rect.center().y);
    painter.text(number, Align2::RIGHT_CENTER, &line.number, text::small(), tokens.text_weak);
    let (mut title, columns) = places(rect);
    if let Some((mark, color, word)) = &line.fault {
        let at = pos2(title.left() + 7.0, rect.center().y);
        controls::paint_mark(painter, *mark, at, 13.0, *color);
        title.min.x += 18.0;
        let written = cell::left(painter, title, word, &text::strong(), *color, Cut::End);
        title.min.x = (written.right() + 8.0).min(title.right());
    }
    let color = if line.waits.is_some() { tokens.text_weak } else { tokens.text };
    if title.width() > 8.0 {
        cell::left(painter, title, &line.title, &text::body(), color, Cut::End);
    }
    for (index, place) in columns.iter().enumerate() {
        let Some(place) = place else { continue };
        if let Some(word) = line.waits.filter(|_| index == 1) {
            cell::right(painter, *place, word, &text::small(), tokens.text_weak);
        } else if line.waits.is_none() || index == 0 {
            let color = if line.strong[index] { tokens.text } else { tokens.text_weak };
            cell::right(painter, *place, &line.numbers[index], &text::body(), color);
        }
    }
}

fn keys(ui: &Ui, id: Id, shape: &StripShape<'_>, height: f32) -> Option<usize> {
    let lock = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, lock));
    let last = shape.rows.checked_sub(1)?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lines on a screen")]
    let page = (height / row::NORMAL).max(1.0) as usize;
    let mut at = shape.selected;
    let mut moved = false;
    ui.input(|input| {
        if input.modifiers.command || input.modifiers.alt {
            return;
        }
        let mut go = |keys: [Key; 2], to: usize| {
            if keys.iter().any(|key| input.key_pressed(*key)) {
                at = Some(to.min(last));
                moved = true;
            }
        };
        let now = shape.selected.unwrap_or(0);
        go([Key::ArrowDown, Key::J], now + 1);
        go([Key::ArrowUp, Key::K], now.saturating_sub(1));
        go([Key::PageDown; 2], now + page);
        go([Key::PageUp; 2], now.saturating_sub(page));
        go([Key::Home; 2], 0);
        go([Key::End; 2], last);
    });
    at.filter(|_| moved)
}
