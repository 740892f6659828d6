//! A tree of any size with columns: only the rows in sight are asked for and painted.

use egui::accesskit::Role;
use egui::{Align2, Color32, Rangef, Rect, Stroke, Ui, pos2, vec2};

use super::list::{
    List, ListFrame, ListHead, ListKeys, ListNode, ListOutput, ListSort, RowLook, head_back, share_bar,
};
use crate::gui::design::{Tokens, row, text};
use crate::gui::widgets::cell::{self, Cut, Direction};

/// A row as it is painted. Made only for rows in sight.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is one sign of the row")]
pub struct TreeRow {
    /// Tells the row from all others, whatever is open.
    pub key: u64,
    /// The name, safe to show.
    pub name: String,
    /// Depth.
    pub depth: usize,
    /// Whether it can be opened.
    pub folder: bool,
    /// Whether it is open.
    pub open: bool,
    /// Signs before the name, with their colours.
    pub signs: [Option<(&'static str, Color32)>; 2],
    /// The colour of the name.
    pub color: Color32,
    /// Whether the name is struck out.
    pub struck: bool,
    /// Whether it matches the filter; other rows are shown as parents.
    pub strong: bool,
    /// Whether it is one of several that are chosen together.
    pub marked: bool,
    /// The share of the bar behind the first number, 0 to 1.
    pub share: f32,
    /// Numbers, one for each column after the name.
    pub numbers: [String; 2],
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct TreeColumn {
    /// Its head.
    pub title: &'static str,
    /// Its width; the name takes what is left.
    pub width: f32,
}

/// What is shown.
pub struct TreeShape<'a> {
    /// The name of the tree for screen readers.
    pub name: &'a str,
    /// How many rows there are.
    pub rows: usize,
    /// The head of the first column.
    pub title: &'static str,
    /// The columns after it.
    pub columns: [TreeColumn; 2],
    /// The column that orders the rows, 0 for the name, and whether the largest comes first.
    pub sort: ListSort,
    /// The chosen row.
    pub selected: Option<usize>,
    /// Whether to bring the chosen row into sight.
    pub reveal: bool,
}

const HEAD: f32 = 24.0;
const SIGN: f32 = 13.0;
const INDENT: f32 = 14.0;
const ARROW: f32 = 16.0;
const END: f32 = 10.0;
/// Between columns.
const GAP: f32 = 8.0;
/// Names have at least this room; the last column goes before they have less.
const NAME: f32 = 260.0;
/// Indent where names have less than twice that room.
const SMALL_INDENT: f32 = 8.0;

/// Column positions.
#[derive(Clone, Copy)]
struct Places {
    name: f32,
    first: Rangef,
    /// `None` where there is no room for it.
    second: Option<Rangef>,
    /// Indent of each level, and of all levels at most.
    indent: (f32, f32),
}

impl Places {
    fn new(shape: &TreeShape<'_>, rect: Rect) -> Self {
        let right = rect.right() - END;
        let [first, second] = shape.columns.map(|column| column.width);
        let room = right - rect.left() - first - GAP;
        let second = (room - second >= NAME).then(|| Rangef::new(right - second, right));
        let end = second.map_or(right, |second| second.min - GAP);
        let first = Rangef::new(end - first, end);
        let name = first.min - GAP;
        let room = name - rect.left();
        let level = if room < 2.0 * NAME { SMALL_INDENT } else { INDENT };
        Self { name, first, second, indent: (level, room * 0.3) }
    }

    /// Where the arrow of a row begins, from the left edge.
    fn arrow(&self, depth: usize) -> f32 {
        4.0 + 2.0 * SIGN + (depth as f32 * self.indent.0).min(self.indent.1)
    }
}

/// Shows a tree in the room that is left. `row_at` makes a row; it is called for rows in sight only.
/// `spoken_at` returns the screen reader text of a row; it is called only when a screen reader is active.
pub fn tree(
    ui: &mut Ui,
    salt: &str,
    shape: &TreeShape<'_>,
    row_at: impl FnMut(usize) -> TreeRow,
    spoken_at: impl Fn(usize) -> String,
) -> ListOutput {
    let list = List {
        salt,
        name: shape.name,
        roles: (Role::Tree, Role::TreeItem),
        head: HEAD,
        rows: shape.rows,
        row_height: row::DENSE,
        width: None,
        selected: shape.selected,
        reveal: shape.reveal,
        middle: false,
        keys: ListKeys::Several,
    };
    let mut frame = list.begin(ui);
    let places = Places::new(shape, frame.body);
    heads(ui, shape, places, &mut frame);
    let node = |_: usize, row: &TreeRow| ListNode {
        key: row.key,
        level: Some(row.depth),
        fold: row.folder.then_some(row.open),
        ticked: None,
        marked: row.marked,
        arrow: places.arrow(row.depth) + ARROW,
    };
    list.show(
        ui,
        &mut frame,
        row_at,
        node,
        |index, _| spoken_at(index),
        |ui, place, row| {
            paint(ui, places, place.rect, row, place.look);
        },
    );
    frame.end(ui)
}

fn heads(ui: &Ui, shape: &TreeShape<'_>, places: Places, frame: &mut ListFrame) {
    let head = frame.head;
    head_back(ui, head);
    let name = (shape.title, Rangef::new(head.left(), places.name), false);
    let first = (shape.columns[0].title, places.first, true);
    let second = places.second.map(|second| (shape.columns[1].title, second, true));
    for (index, (title, x, number)) in [name, first].into_iter().chain(second).enumerate() {
        let rect = Rect::from_x_y_ranges(x, head.y_range());
        let text = if number { rect.right() } else { rect.left() + 2.0 * SIGN + ARROW };
        frame.head(ui, index, &ListHead { title, rect, text, number }, Some(shape.sort));
    }
}

fn paint(ui: &Ui, places: Places, rect: Rect, row: &TreeRow, look: RowLook) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    look.paint(painter, tokens, rect);
    let mut x = rect.left() + 4.0;
    for sign in &row.signs {
        if let Some((sign, color)) = sign {
            painter.text(
                pos2(x + SIGN / 2.0, rect.center().y),
                Align2::CENTER_CENTER,
                *sign,
                text::mono(),
                *color,
            );
        }
        x += SIGN;
    }
    x = rect.left() + places.arrow(row.depth);
    if row.folder {
        let direction = if row.open { Direction::Down } else { Direction::Right };
        let at = pos2(x + ARROW / 2.0 - 2.0, rect.center().y);
        cell::triangle(painter, at, 7.0, direction, tokens.text_weak);
    }
    x += ARROW;
    let room = Rect::from_x_y_ranges(x..=places.name.max(x + 8.0), rect.y_range());
    let font = if row.strong { text::strong() } else { text::body() };
    let written = cell::left(painter, room, &row.name, &font, row.color, Cut::Middle);
    if row.struck {
        painter.hline(written.x_range(), rect.center().y + 0.5, Stroke::new(1.0, row.color));
    }
    let first = Rect::from_x_y_ranges(places.first, rect.y_range());
    share_bar(painter, tokens, first.expand2(vec2(4.0, -3.0)), row.share);
    cell::right(painter, first, &row.numbers[0], &text::body(), row.color);
    if let Some(second) = places.second {
        let second = Rect::from_x_y_ranges(second, rect.y_range());
        cell::right(painter, second, &row.numbers[1], &text::body(), tokens.text_weak);
    }
}
