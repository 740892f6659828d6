//! A table with one column for each of several things side by side. Its names stay where they are when the columns
//! are scrolled; only rows in sight are made.

mod paint;

use egui::accesskit::Role;
use egui::{
    Color32, Id, Key, Modifiers, Pos2, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2,
    vec2,
};

use self::paint::MatrixRowStyle;
pub use self::paint::letter;
use super::cell::Cut;
use super::list;
use super::table::TableEvent;
use crate::gui::design::{Tokens, radius, row};

/// The head of a column.
#[derive(Clone, Debug)]
pub struct MatrixHead {
    /// What it is called in short: one or two letters in a frame.
    pub letter: String,
    /// Its name.
    pub title: String,
    /// Whether it is the baseline.
    pub marked: bool,
    /// What a click on it does, in words.
    pub about: String,
}

/// What is shown.
pub struct MatrixShape<'a> {
    /// The name of the table for screen readers.
    pub name: &'a str,
    /// The head of the names.
    pub title: &'a str,
    /// What a click on the head of the names does, in words.
    pub about: &'a str,
    /// The columns.
    pub heads: &'a [MatrixHead],
    /// The least width of a column.
    pub least: f32,
    /// How many rows there are.
    pub rows: usize,
    /// The sorted column: 0 for the names.
    pub sort: Option<usize>,
    /// The chosen row.
    pub selected: Option<usize>,
    /// Whether to bring the chosen row into sight.
    pub reveal: bool,
}

/// What is written in a column.
#[derive(Clone, Debug)]
pub struct MatrixCell {
    /// What the thing has.
    pub text: String,
    /// Its colour.
    pub color: Color32,
    /// A sign before it, where it is no number.
    pub sign: &'static str,
    /// How it differs: a number with a sign, or words.
    pub note: String,
    /// Its colour.
    pub note_color: Color32,
    /// Whether it is a number, right-aligned.
    pub number: bool,
    /// How much of the bar behind it is filled, 0 to 1.
    pub share: f32,
}

/// A row as it is painted. Made only for rows in sight.
#[derive(Clone, Debug)]
pub struct MatrixRow {
    /// Tells the row from all others, whatever is open.
    pub key: u64,
    /// Indent.
    pub depth: u16,
    /// Whether what belongs to it is shown; `None` for a row that does not fold.
    pub fold: Option<bool>,
    /// Whether it is the head of those below.
    pub strong: bool,
    /// A sign before the name.
    pub sign: Option<(&'static str, Color32)>,
    /// The name.
    pub name: String,
    /// Its colour.
    pub color: Color32,
    /// Where it is cut.
    pub cut: Cut,
    /// A note after the name.
    pub note: String,
    /// One for each column; a row that ends early leaves the others empty.
    pub cells: Vec<MatrixCell>,
}

/// The result.
#[derive(Debug, Default)]
pub struct MatrixOutput {
    /// What has the focus of the keyboard when the table has it.
    pub id: Option<Id>,
    /// What the user did; a click on a head is [`TableEvent::Sort`] with 0 for the names.
    pub events: Vec<TableEvent>,
    /// How many rows were made and painted.
    pub painted: usize,
    /// Whether the keyboard acts on it.
    pub focused: bool,
    /// The row below the pointer, to hang a tooltip on.
    pub hovered: Option<(usize, egui::Response)>,
}

const HEAD: f32 = 28.0;
const START: f32 = 8.0;
const INDENT: f32 = 14.0;
const ARROW: f32 = 16.0;
const SIGN: f32 = 14.0;
/// Between columns.
const GAP: f32 = 14.0;
/// The least width of the names, and the share of the whole that they take.
const NAMES: f32 = 170.0;
const NAMES_SHARE: f32 = 0.3;
/// Room of the scroll bar.
const BAR: f32 = 10.0;

/// Column positions.
#[derive(Clone, Copy)]
struct Places {
    /// The width of the names.
    names: f32,
    /// The width of a column.
    column: f32,
    /// All of it.
    whole: f32,
}

impl Places {
    fn new(shape: &MatrixShape<'_>, width: f32) -> Self {
        let count = shape.heads.len().max(1) as f32;
        let room = width - BAR;
        let names = (room * NAMES_SHARE).clamp(NAMES, 420.0).max(room - count * 250.0);
        let column = ((room - names) / count).max(shape.least);
        Self { names, column, whole: (names + count * column + BAR).max(width) }
    }

    /// The left edge of a column, from the left of the first name.
    fn left(self, column: usize) -> f32 {
        self.names + column as f32 * self.column
    }
}

/// Shows a table in the room that is left. `row_at` makes a row, for rows in sight and the chosen one; `spoken_at`
/// returns its screen reader text.
pub fn matrix(
    ui: &mut Ui,
    salt: &str,
    shape: &MatrixShape<'_>,
    mut row_at: impl FnMut(usize) -> MatrixRow,
    spoken_at: impl Fn(usize) -> String,
) -> MatrixOutput {
    let tokens = Tokens::of(ui);
    let mut output = MatrixOutput::default();
    let id = ui.make_persistent_id(salt);
    output.id = Some(id);
    let whole = ui.available_rect_before_wrap();
    let head = Rect::from_min_size(whole.min, vec2(whole.width(), HEAD));
    let body = Rect::from_min_max(pos2(whole.left(), head.bottom()), whole.max);
    let places = Places::new(shape, whole.width());
    // The table as one thing: it has the focus, the rows are its parts.
    let all = ui.interact(body, id, Sense::click());
    all.widget_info(|| WidgetInfo::labeled(Role::TreeGrid, ui.is_enabled(), shape.name));
    if all.clicked() {
        all.request_focus();
    }
    output.focused = all.has_focus();
    let mut reveal = shape.selected.filter(|_| shape.reveal);
    let (mut across, before): (Option<f32>, Pos2) =
        (None, ui.data(|data| data.get_temp(id)).unwrap_or_default());
    if output.focused {
        let page = list::page(body.height(), row::NORMAL);
        across = take_keys(ui, id, shape, page, &mut row_at, &mut output)
            .map(|by| (before.x + by * places.column).clamp(0.0, (places.whole - whole.width()).max(0.0)));
        for event in &output.events {
            if let TableEvent::Select(row) = event {
                reveal = Some(*row);
            }
        }
    }
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(body).id_salt(salt));
    inner.spacing_mut().item_spacing = egui::Vec2::ZERO;
    let mut area = ScrollArea::both().id_salt("rows").auto_shrink(false);
    if let Some(offset) = reveal.and_then(|row| list::offset_for(before.y, row, row::NORMAL, body.height())) {
        area = area.vertical_scroll_offset(offset);
    }
    if let Some(offset) = across {
        area = area.horizontal_scroll_offset(offset);
    }
    let scrolled = area.show_rows(&mut inner, row::NORMAL, shape.rows, |ui, range| {
        let mut chosen = None;
        for index in range {
            let line = row_at(index);
            output.painted += 1;
            let (rect, _) = ui.allocate_exact_size(vec2(places.whole, row::NORMAL), Sense::hover());
            let seen = Rect::from_x_y_ranges(body.x_range(), rect.y_range());
            let row_id = id.with(line.key);
            let response = ui.interact(seen, row_id, Sense::CLICK);
            let selected = shape.selected == Some(index);
            response.widget_info(|| WidgetInfo::labeled(Role::Row, ui.is_enabled(), spoken_at(index)));
            ui.ctx().accesskit_node_builder(row_id, |node| {
                node.set_selected(selected);
                node.set_level(usize::from(line.depth));
                if let Some(open) = line.fold {
                    node.set_expanded(open);
                }
            });
            let look = MatrixRowStyle {
                selected,
                focused: output.focused,
                hovered: response.hovered(),
                odd: index % 2 == 1,
            };
            paint::row(ui, places, rect, seen, &line, look);
            if selected {
                chosen = Some(row_id);
            }
            if response.hovered() {
                output.hovered = Some((index, response.clone()));
            }
            if response.clicked() || response.double_clicked() {
                ui.memory_mut(|memory| memory.request_focus(id));
                output.events.push(TableEvent::Select(index));
                let arrow = seen.left() + START + f32::from(line.depth) * INDENT + ARROW + 4.0;
                let at_arrow = response.interact_pointer_pos().is_some_and(|at| at.x < arrow);
                match line.fold {
                    Some(open) if at_arrow || response.double_clicked() => {
                        output.events.push(folded(open, index));
                    }
                    None if response.double_clicked() => output.events.push(TableEvent::Activate(index)),
                    _ => {}
                }
            }
        }
        chosen
    });
    let offset = scrolled.state.clamped_offset();
    ui.data_mut(|data| data.insert_temp(id, offset.to_pos2()));
    paint::heads(ui, id, shape, places, head, offset.x, &mut output);
    paint::edge(ui, places, whole, offset.x);
    if let Some(chosen) = scrolled.inner {
        ui.ctx().accesskit_node_builder(id, |node| node.set_active_descendant(chosen.accesskit_id()));
    }
    if output.focused {
        ui.painter().rect_stroke(whole, radius::S, Stroke::new(1.5, tokens.accent), StrokeKind::Inside);
    }
    ui.advance_cursor_after_rect(whole);
    output
}

fn folded(open: bool, row: usize) -> TableEvent {
    if open { TableEvent::Close(row) } else { TableEvent::Open(row) }
}

/// What keys do; how many columns to scroll, where they ask for that.
fn take_keys(
    ui: &Ui,
    id: Id,
    shape: &MatrixShape<'_>,
    page: usize,
    row_at: &mut impl FnMut(usize) -> MatrixRow,
    output: &mut MatrixOutput,
) -> Option<f32> {
    let mut at = shape.selected;
    let mut across = None;
    for pressed in list::keys(ui, id) {
        match pressed {
            (Key::Escape, _) => {
                output.events.push(TableEvent::Clear);
                continue;
            }
            (Key::ArrowRight, Modifiers::SHIFT) => {
                across = Some(1.0);
                continue;
            }
            (Key::ArrowLeft, Modifiers::SHIFT) => {
                across = Some(-1.0);
                continue;
            }
            _ => {}
        }
        let Some(last) = shape.rows.checked_sub(1) else { return across };
        if let Some(to) = list::moved(pressed, at, page, last) {
            at = Some(to);
            output.events.push(TableEvent::Select(to));
            continue;
        }
        let Some(now) = at.filter(|at| *at <= last) else { continue };
        match (pressed.0, row_at(now).fold) {
            (Key::ArrowRight | Key::L | Key::Space, Some(false)) => output.events.push(TableEvent::Open(now)),
            (Key::ArrowRight | Key::L, Some(true)) if now < last => {
                at = Some(now + 1);
                output.events.push(TableEvent::Select(now + 1));
            }
            (Key::ArrowLeft | Key::H | Key::Space, Some(true)) => output.events.push(TableEvent::Close(now)),
            (Key::Enter, Some(open)) => output.events.push(folded(open, now)),
            (Key::ArrowLeft | Key::H, _) => output.events.push(TableEvent::Parent(now)),
            (Key::Enter, None) => output.events.push(TableEvent::Activate(now)),
            _ => {}
        }
    }
    across
}
