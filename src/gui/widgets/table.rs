//! A table of any length: columns that sort, rows that fold, one row chosen. Paints the rows in sight.

mod paint;

use egui::accesskit::Role;
use egui::{Color32, Id, Rect, Sense, Ui, WidgetInfo, pos2};

use self::paint::{heads, paint, places};
use super::list::{List, ListEvent, ListKeys, ListNode, ListOutput, ListSort};
use crate::gui::design::row;
use crate::gui::widgets::cell::Cut;
use crate::gui::widgets::controls::{self, Mark};

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct TableColumn {
    /// Its head.
    pub title: &'static str,
    /// Its width; of the first column, the least that is left to it.
    pub width: f32,
    /// Whether it contains numbers, right-aligned.
    pub number: bool,
    /// Left out where there is little room: the largest number first; 0 never.
    pub rank: u8,
}

/// What is shown.
pub struct TableShape<'a> {
    /// The name of the table for screen readers.
    pub name: &'a str,
    /// How many rows there are.
    pub rows: usize,
    /// The columns; the first one takes what room is left.
    pub columns: &'a [TableColumn],
    /// The column that orders the rows, and whether the largest comes first; `None` where heads do not sort.
    pub sort: Option<ListSort>,
    /// The chosen row.
    pub selected: Option<usize>,
    /// Whether to bring the chosen row into sight.
    pub reveal: bool,
}

/// What is written in a cell.
#[derive(Clone, Debug)]
pub struct TableCell {
    /// The text.
    pub text: String,
    /// Its colour.
    pub color: Color32,
    /// A small piece of colour before it.
    pub chip: Option<Color32>,
    /// How much of the bar behind it is filled, 0 to 1.
    pub share: f32,
    /// A sign before left-aligned text.
    pub mark: Option<(Mark, Color32)>,
    /// Of the first cell: a box before the text.
    pub check: Option<TableCheck>,
}

/// A box that is ticked or not.
#[derive(Clone, Debug)]
pub struct TableCheck {
    /// Whether it is ticked; `None` for a row that has only the room of a box.
    pub on: Option<bool>,
    /// Screen reader text.
    pub name: String,
}

impl TableCell {
    /// Text alone.
    pub fn new(text: impl Into<String>, color: Color32) -> Self {
        Self { text: text.into(), color, chip: None, share: 0.0, mark: None, check: None }
    }
}

/// A row as it is painted. Made only for rows in sight.
#[derive(Clone, Debug)]
pub struct TableRow {
    /// Tells the row from all others, whatever is folded.
    pub key: u64,
    /// Indent.
    pub depth: u8,
    /// Whether what belongs to it is shown; `None` for a row that does not fold.
    pub fold: Option<bool>,
    /// Whether it is the head of others.
    pub strong: bool,
    /// Where the text of the first cell is cut.
    pub cut: Cut,
    /// Words behind the text of the first cell, each in a frame of its own.
    pub badges: Vec<(String, Color32)>,
    /// The cells, one for each column; a row that ends early leaves the others empty.
    pub cells: Vec<TableCell>,
}

const HEAD: f32 = 24.0;
const ARROW: f32 = 16.0;
const INDENT: f32 = 16.0;
const START: f32 = 8.0;
const END: f32 = 10.0;
const GAP: f32 = 12.0;
/// Room of a box before the text.
const CHECK: f32 = 22.0;

/// Shows a table in the room that is left. `row_at` makes a row, for rows in sight and the chosen one;
/// `spoken_at` returns its screen reader text.
pub fn table(
    ui: &mut Ui,
    salt: &str,
    shape: &TableShape<'_>,
    row_at: impl FnMut(usize) -> TableRow,
    spoken_at: impl Fn(usize) -> String,
) -> ListOutput {
    let list = List {
        salt,
        name: shape.name,
        roles: (Role::TreeGrid, Role::Row),
        head: HEAD,
        rows: shape.rows,
        row_height: row::NORMAL,
        width: None,
        selected: shape.selected,
        reveal: shape.reveal,
        keys: ListKeys::Table(0.0),
    };
    let mut frame = list.begin(ui);
    let places = places(shape.columns, frame.whole);
    heads(ui, shape, &places, &mut frame);
    let mut toggled = None;
    let node = |_: usize, line: &TableRow| ListNode {
        key: line.key,
        level: None,
        fold: line.fold,
        ticked: ticked(line),
        arrow: START + f32::from(line.depth) * INDENT + ARROW + 4.0,
    };
    list.show(
        ui,
        &mut frame,
        row_at,
        node,
        |index, _| spoken_at(index),
        |ui, place, line| {
            paint(ui, shape.columns, &places, place.rect, line, place.look);
            if tick(ui, place.id, place.rect, line) {
                toggled = Some(place.index);
            }
        },
    );
    if let Some(index) = toggled {
        ui.memory_mut(|memory| memory.request_focus(frame.id));
        frame.output.events.extend([ListEvent::Select(index), ListEvent::Toggle(index)]);
    }
    frame.end(ui)
}

/// Whether the box of a row is ticked; `None` for a row without one.
fn ticked(line: &TableRow) -> Option<bool> {
    line.cells.first()?.check.as_ref()?.on
}

/// The box of a row; whether it was clicked.
fn tick(ui: &Ui, row: Id, rect: Rect, line: &TableRow) -> bool {
    let Some(TableCheck { on: Some(on), name }) = line.cells.first().and_then(|cell| cell.check.as_ref())
    else {
        return false;
    };
    let left = rect.left() + START + f32::from(line.depth) * INDENT;
    let center = pos2(left + controls::BOX / 2.0, rect.center().y);
    let place = Rect::from_center_size(center, egui::Vec2::splat(controls::BOX + 10.0));
    let response = ui.interact(place, row.with("box"), Sense::CLICK);
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, ui.is_enabled(), *on, name));
    controls::paint_box(ui, center, *on, response.hovered());
    response.clicked()
}
