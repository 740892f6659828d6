//! A table with one column for each of several things side by side. Its names stay where they are when the columns
//! are scrolled; only rows in sight are made.

mod paint;

use egui::accesskit::Role;
use egui::{Color32, Ui};

pub use self::paint::letter;
use super::cell::Cut;
use super::list::{List, ListKeys, ListNode, ListOutput};
use crate::gui::design::row;

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

const HEAD: f32 = 28.0;
const START: f32 = 8.0;
const INDENT: f32 = 14.0;
const ARROW: f32 = 16.0;
const SIGN: f32 = 14.0;
/// Between columns.
const GAP: f32 = 14.0;
/// The least width of the names, and the share of the whole that they take.
const NAMES: f32 = 170.0;
const NAMES_SHARE: f32 = 0.4;
const NAMES_MOST: f32 = 560.0;
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
        // Names are near to their numbers, however wide the window.
        let names = (room * NAMES_SHARE).min(room - count * shape.least).clamp(NAMES, NAMES_MOST);
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
    row_at: impl FnMut(usize) -> MatrixRow,
    spoken_at: impl Fn(usize) -> String,
) -> ListOutput {
    let places = Places::new(shape, ui.available_rect_before_wrap().width());
    let list = List {
        salt,
        name: shape.name,
        roles: (Role::TreeGrid, Role::Row),
        head: HEAD,
        rows: shape.rows,
        row_height: row::NORMAL,
        width: Some(places.whole),
        selected: shape.selected,
        reveal: shape.reveal,
        middle: false,
        keys: ListKeys::Table(places.column),
    };
    let mut frame = list.begin(ui);
    let node = |_: usize, line: &MatrixRow| ListNode {
        marked: false,
        key: line.key,
        level: Some(usize::from(line.depth)),
        fold: line.fold,
        ticked: None,
        arrow: START + f32::from(line.depth) * INDENT + ARROW + 4.0,
    };
    list.show(
        ui,
        &mut frame,
        row_at,
        node,
        |index, _| spoken_at(index),
        |ui, place, line| {
            paint::row(ui, places, place, line);
        },
    );
    paint::heads(ui, shape, places, &mut frame);
    paint::edge(ui, places, frame.whole, frame.sideways);
    frame.end(ui)
}
