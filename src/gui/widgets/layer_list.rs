//! A list of things in an order, each with a colour, a line of text and numbers in columns.

use egui::accesskit::Role;
use egui::{
    Align2, Color32, EventFilter, Id, Key, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo,
    pos2, vec2,
};

use crate::gui::design::{Tokens, radius, row, text};
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls::{self, Mark};

/// A row of the list.
#[derive(Clone, Debug)]
pub struct LayerListRow {
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
    pub pending: Option<&'static str>,
    /// Screen reader text.
    pub spoken: String,
}

/// What is shown.
pub struct LayerListShape<'a> {
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
const NUMBER: f32 = 80.0;
/// Where the text begins.
const TEXT: f32 = 46.0;
const END: f32 = 12.0;
/// Room for a note beside the text.
const NOTE: f32 = 100.0;
/// Two lines: the text, and the numbers below it.
const TWO_LINES: f32 = 44.0;
/// From this width on, everything fits on one line.
const WIDE: f32 = 540.0;

/// Shows the list in the room that is left. Gives the line that was chosen. `row_at` makes a line, for
/// those in sight; `hover` fills the tooltip of one.
pub fn layer_list(
    ui: &mut Ui,
    salt: &str,
    shape: &LayerListShape<'_>,
    mut row_at: impl FnMut(usize) -> LayerListRow,
    mut hover: impl FnMut(&mut Ui, usize),
) -> Option<usize> {
    let tokens = Tokens::of(ui);
    let id = ui.make_persistent_id(salt);
    let whole = ui.available_rect_before_wrap();
    let height = if whole.width() >= WIDE { row::NORMAL } else { TWO_LINES };
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
        chosen = keys(ui, id, shape, body.height() / height);
    }
    let reveal = chosen.or(shape.selected.filter(|_| shape.reveal));
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(body).id_salt(salt));
    inner.spacing_mut().item_spacing = Vec2::ZERO;
    let mut area = ScrollArea::vertical().id_salt("lines").auto_shrink(false);
    if let Some(reveal) = reveal {
        let now: f32 = ui.data(|data| data.get_temp(id)).unwrap_or(0.0);
        let (top, bottom) = (reveal as f32 * height, (reveal + 1) as f32 * height);
        if top < now {
            area = area.vertical_scroll_offset(top);
        } else if bottom > now + body.height() {
            area = area.vertical_scroll_offset(bottom - body.height());
        }
    }
    let scrolled = area.show_rows(&mut inner, height, shape.rows, |ui, range| {
        let mut active = None;
        for index in range {
            let line = row_at(index);
            let size = vec2(ui.available_width(), height);
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

/// Positions of the numbers, side by side at the right.
fn columns(rect: Rect) -> [Rect; 3] {
    let width = NUMBER.min((rect.width() - 60.0) / 3.0).max(20.0);
    let right = rect.right() - END;
    [2.0, 1.0, 0.0].map(|from_right| {
        let right = right - from_right * width;
        Rect::from_x_y_ranges(right - width + 6.0..=right, rect.y_range())
    })
}

fn paint_head(ui: &Ui, shape: &LayerListShape<'_>, rect: Rect) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    painter.rect_filled(rect, 0.0, tokens.raised);
    painter.hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, tokens.border));
    let places = columns(rect);
    let title = Rect::from_x_y_ranges(rect.left() + TEXT..=places[0].left(), rect.y_range());
    cell::left(painter, title, shape.title, &text::small(), tokens.text_weak, Cut::End);
    for (place, name) in places.iter().zip(shape.columns) {
        cell::right(painter, *place, name, &text::small(), tokens.text_weak);
    }
}

fn paint(ui: &Ui, rect: Rect, line: &LayerListRow, selected: bool, focused: bool, hovered: bool) {
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
    painter.hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, tokens.border));
    let chip =
        Rect::from_min_size(pos2(rect.left() + 8.0, rect.top() + 5.0), vec2(5.0, rect.height() - 11.0));
    painter.rect_filled(chip, 2.0, line.fill);
    let one = rect.height() < TWO_LINES;
    let (above, below) =
        if one { (rect, rect) } else { rect.shrink2(vec2(0.0, 3.0)).split_top_bottom_at_fraction(0.5) };
    let number = pos2(rect.left() + TEXT - 8.0, above.center().y);
    painter.text(number, Align2::RIGHT_CENTER, &line.number, text::small(), tokens.text_weak);
    let places = columns(below);
    let beside = if one { places[0].left() } else { rect.right() - END };
    let mut title = Rect::from_x_y_ranges(rect.left() + TEXT..=beside, above.y_range());
    let mut note = Rect::from_x_y_ranges(rect.left() + TEXT..=places[0].left(), below.y_range());
    if one {
        let noted = line.fault.is_some() || line.pending.is_some();
        title.max.x -= if noted { NOTE } else { 0.0 };
        note.min.x = title.right() + 8.0;
    }
    let color = if line.pending.is_some() { tokens.text_weak } else { tokens.text };
    cell::left(painter, title, &line.title, &text::mono(), color, Cut::End);
    if let Some((mark, color, word)) = &line.fault {
        let at = pos2(note.left() + 7.0, note.center().y);
        controls::paint_mark(painter, *mark, at, 13.0, *color);
        let words = Rect::from_min_max(pos2(note.left() + 18.0, note.top()), note.max);
        cell::left(painter, words, word, &text::strong(), *color, Cut::End);
    } else if let Some(word) = line.pending.filter(|_| one) {
        cell::left(painter, note, word, &text::small(), tokens.text_weak, Cut::End);
    }
    // On two lines, the words take the place of the numbers.
    let pending = line.pending.filter(|_| !one && line.fault.is_none());
    if let Some(word) = pending {
        let place = Rect::from_min_max(places[1].min, places[2].max);
        cell::right(painter, place, word, &text::small(), tokens.text_weak);
    }
    for (index, place) in places.iter().enumerate().take(if pending.is_some() { 1 } else { 3 }) {
        let color = if line.strong[index] { tokens.text } else { tokens.text_weak };
        cell::right(painter, *place, &line.numbers[index], &text::body(), color);
    }
}

fn keys(ui: &Ui, id: Id, shape: &LayerListShape<'_>, page: f32) -> Option<usize> {
    let lock = EventFilter { vertical_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(id, lock));
    let last = shape.rows.checked_sub(1)?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "lines on a screen")]
    let page = page.max(1.0) as usize;
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
