//! A table of any length: columns that sort, rows that fold, one row chosen. Paints the rows in sight.

mod columns;
mod paint;

use egui::accesskit::Role;
use egui::{Color32, Id, Rect, Sense, Ui, WidgetInfo, pos2};

use self::columns::Places;
pub use self::columns::TableColumn;
use self::paint::paint;
use super::list::{List, ListEvent, ListKeys, ListNode, ListOutput};
use crate::gui::design::{Tokens, layer_pattern, row};
use crate::gui::models::grouped::Sorting;
use crate::gui::widgets::cell::Cut;
use crate::gui::widgets::controls::{self, Mark};

/// What is shown.
pub struct TableShape<'a, R, C = ()> {
    /// The name of the table for screen readers, by which the choice of columns is known too.
    pub name: &'a str,
    /// How many rows there are.
    pub rows: usize,
    /// The columns; the first one takes what room is left, unless another one grows.
    pub columns: &'a [TableColumn<R, C>],
    /// The order of the rows, which a click on a head changes; `None` where heads do not sort.
    pub sorting: Option<&'a mut Sorting<C>>,
    /// The chosen row.
    pub selected: Option<usize>,
    /// Whether to bring the chosen row into sight.
    pub reveal: bool,
}

/// What is written in a cell.
#[derive(Clone, Debug)]
pub struct TableCell {
    /// The text.
    text: String,
    /// Its colour.
    color: Color32,
    /// A small piece of colour with a pattern before it.
    chip: Option<(Color32, u8)>,
    /// How much of the bar behind it is filled, 0 to 1.
    share: f32,
    /// A sign before left-aligned text.
    mark: Option<(Mark, Color32)>,
}

/// The number of a layer with its colour.
pub fn layer_cell(tokens: &Tokens, layer: u16) -> TableCell {
    let layer = usize::from(layer);
    let chip = Some((tokens.layer(layer), layer_pattern(layer)));
    TableCell { chip, ..TableCell::new(layer.to_string(), tokens.text_weak) }
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
    /// Nothing.
    pub const EMPTY: Self =
        Self { text: String::new(), color: Color32::TRANSPARENT, chip: None, share: 0.0, mark: None };

    /// Text alone.
    pub fn new(text: impl Into<String>, color: Color32) -> Self {
        Self { text: text.into(), color, chip: None, share: 0.0, mark: None }
    }

    /// What is known of a row; nothing where there is none.
    pub fn of<R>(line: Option<R>, cell: impl FnOnce(R) -> Self) -> Self {
        line.map_or(Self::EMPTY, cell)
    }

    /// With a small piece of colour before it.
    #[must_use]
    pub fn chip(self, color: Color32) -> Self {
        Self { chip: Some((color, 0)), ..self }
    }

    /// With a bar behind it, filled so much.
    #[must_use]
    pub fn share(self, share: f32) -> Self {
        Self { share, ..self }
    }

    /// With a sign before it.
    #[must_use]
    pub fn mark(self, sign: (Mark, Color32)) -> Self {
        Self { mark: Some(sign), ..self }
    }
}

/// A row as it is painted. Made only for rows in sight.
#[derive(Clone, Debug)]
pub struct TableRow<R> {
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
    /// A box before the text of the first cell.
    pub check: Option<TableCheck>,
    /// Words behind the text of the first cell, each in a frame of its own.
    pub badges: Vec<(String, Color32)>,
    /// What the columns make their cells of.
    pub line: R,
}

impl<R> TableRow<R> {
    /// A row on its own.
    pub fn new(key: u64, line: R) -> Self {
        Self {
            key,
            depth: 0,
            fold: None,
            strong: false,
            cut: Cut::Middle,
            check: None,
            badges: Vec::new(),
            line,
        }
    }

    /// The head of a group, by its place; its key is none of an item's.
    pub fn group(place: usize, open: bool, line: R) -> Self {
        Self { fold: Some(open), strong: true, cut: Cut::End, ..Self::new(1 << 40 | place as u64, line) }
    }
}

const HEAD: f32 = 24.0;
const ARROW: f32 = 16.0;
const INDENT: f32 = 16.0;
const START: f32 = 8.0;
const END: f32 = 10.0;
const GAP: f32 = 12.0;
/// Room of a box before the text.
const CHECK: f32 = 22.0;

/// Shows a table in the room that is left. `row_at` makes a row, for rows in sight and the chosen one; `spoken`
/// returns its screen reader text.
pub fn table<R, C: Copy + PartialEq>(
    ui: &mut Ui,
    salt: &str,
    shape: TableShape<'_, R, C>,
    row_at: impl FnMut(usize) -> TableRow<R>,
    spoken: impl Fn(&R) -> String,
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
        middle: false,
        keys: ListKeys::Table(0.0),
    };
    let mut frame = list.begin(ui);
    let places = Places::new(ui, shape.name, shape.columns, frame.whole);
    let places = places.heads(ui, shape.columns, shape.sorting.as_deref().copied(), &mut frame);
    let mut toggled = None;
    let node = |_: usize, line: &TableRow<R>| ListNode {
        marked: false,
        key: line.key,
        level: None,
        fold: line.fold,
        ticked: line.check.as_ref().and_then(|check| check.on),
        arrow: START + f32::from(line.depth) * INDENT + ARROW + 4.0,
    };
    list.show(
        ui,
        &mut frame,
        row_at,
        node,
        |_, row| spoken(&row.line),
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
    if let Some(sorting) = shape.sorting {
        for event in &frame.output.events {
            if let ListEvent::Sort(index) = *event
                && let Some((column, largest_first)) = shape.columns[index].order
            {
                *sorting = sorting.clicked(column, largest_first);
            }
        }
    }
    frame.end(ui)
}

/// The box of a row; whether it was clicked.
fn tick<R>(ui: &Ui, row: Id, rect: Rect, line: &TableRow<R>) -> bool {
    let Some(TableCheck { on: Some(on), name }) = &line.check else { return false };
    let left = rect.left() + START + f32::from(line.depth) * INDENT;
    let center = pos2(left + controls::BOX / 2.0, rect.center().y);
    let place = Rect::from_center_size(center, egui::Vec2::splat(controls::BOX + 10.0));
    let response = ui.interact(place, row.with("box"), Sense::CLICK);
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, ui.is_enabled(), *on, name));
    controls::paint_box(ui, center, *on, response.hovered());
    response.clicked()
}
