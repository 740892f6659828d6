//! A table of any length: columns that sort, rows that fold, one row chosen. Paints the rows in sight.

mod paint;

use egui::accesskit::Role;
use egui::{Color32, Id, Key, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use self::paint::{TableRowStyle, heads, paint, places};
use super::list;
use crate::gui::design::{Tokens, radius, row};
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
    pub sort: Option<(usize, bool)>,
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

/// What the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableEvent {
    /// Chose a row.
    Select(usize),
    /// Shows what belongs to a row.
    Open(usize),
    /// Hides what belongs to a row.
    Close(usize),
    /// Goes to the row that this one belongs to.
    Parent(usize),
    /// Clicked the head of a column.
    Sort(usize),
    /// Enter on a row, or a double click.
    Activate(usize),
    /// Escape.
    Clear,
}

/// The result.
#[derive(Debug, Default)]
pub struct TableOutput {
    /// What has the focus of the keyboard when the table has it.
    pub id: Option<Id>,
    /// What the user did.
    pub events: Vec<TableEvent>,
    /// The row whose box was clicked, or on which Space was pressed.
    pub toggled: Option<usize>,
    /// How many rows were made and painted.
    pub painted: usize,
    /// Whether the keyboard acts on the table.
    pub focused: bool,
    /// The row below the pointer, to hang a tooltip on.
    pub hovered: Option<(usize, egui::Response)>,
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
    mut row_at: impl FnMut(usize) -> TableRow,
    spoken_at: impl Fn(usize) -> String,
) -> TableOutput {
    let tokens = Tokens::of(ui);
    let mut output = TableOutput::default();
    let id = ui.make_persistent_id(salt);
    output.id = Some(id);
    let whole = ui.available_rect_before_wrap();
    let head = Rect::from_min_size(whole.min, vec2(whole.width(), HEAD));
    let body = Rect::from_min_max(pos2(whole.left(), head.bottom()), whole.max);
    let places = places(shape.columns, whole);
    // The table as one thing: it has the focus, the rows are its parts.
    let all = ui.interact(body, id, Sense::click());
    all.widget_info(|| WidgetInfo::labeled(Role::TreeGrid, ui.is_enabled(), shape.name));
    if all.clicked() {
        all.request_focus();
    }
    heads(ui, id, shape, &places, head, &mut output);
    output.focused = all.has_focus();
    let mut reveal = shape.selected.filter(|_| shape.reveal);
    if output.focused {
        take_keys(ui, id, shape, list::page(body.height(), row::NORMAL), &mut row_at, &mut output);
        for event in &output.events {
            if let TableEvent::Select(row) = event {
                reveal = Some(*row);
            }
        }
    }
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(body).id_salt(salt));
    inner.spacing_mut().item_spacing = egui::Vec2::ZERO;
    let mut area = ScrollArea::vertical().id_salt("rows").auto_shrink(false);
    let now: f32 = ui.data(|data| data.get_temp(id)).unwrap_or(0.0);
    if let Some(offset) = reveal.and_then(|row| list::offset_for(now, row, row::NORMAL, body.height())) {
        area = area.vertical_scroll_offset(offset);
    }
    let scrolled = area.show_rows(&mut inner, row::NORMAL, shape.rows, |ui, range| {
        let mut chosen = None;
        for index in range {
            let line = row_at(index);
            output.painted += 1;
            let size = vec2(ui.available_width(), row::NORMAL);
            let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
            let row_id = id.with(line.key);
            let response = ui.interact(rect, row_id, Sense::CLICK);
            let selected = shape.selected == Some(index);
            response.widget_info(|| WidgetInfo::labeled(Role::Row, ui.is_enabled(), spoken_at(index)));
            ui.ctx().accesskit_node_builder(row_id, |node| {
                node.set_selected(selected);
                if let Some(open) = line.fold {
                    node.set_expanded(open);
                }
                if let Some(on) = ticked(&line) {
                    node.set_toggled(on.into());
                }
            });
            let look = TableRowStyle {
                selected,
                focused: output.focused,
                hovered: response.hovered(),
                odd: index % 2 == 1,
            };
            paint(ui, shape.columns, &places, rect, &line, look);
            if tick(ui, row_id, rect, &line) {
                ui.memory_mut(|memory| memory.request_focus(id));
                output.events.push(TableEvent::Select(index));
                output.toggled = Some(index);
            }
            if selected {
                chosen = Some(row_id);
            }
            if response.hovered() {
                output.hovered = Some((index, response.clone()));
            }
            if response.clicked() || response.double_clicked() {
                ui.memory_mut(|memory| memory.request_focus(id));
                let arrow = rect.left() + START + f32::from(line.depth) * INDENT + ARROW + 4.0;
                let at_arrow = response.interact_pointer_pos().is_some_and(|at| at.x < arrow);
                output.events.push(TableEvent::Select(index));
                match line.fold {
                    Some(open) if at_arrow || response.double_clicked() => {
                        output.events.push(if open {
                            TableEvent::Close(index)
                        } else {
                            TableEvent::Open(index)
                        });
                    }
                    None if response.double_clicked() => output.events.push(TableEvent::Activate(index)),
                    _ => {}
                }
            }
        }
        chosen
    });
    ui.data_mut(|data| data.insert_temp(id, scrolled.state.clamped_offset().y));
    if let Some(chosen) = scrolled.inner {
        ui.ctx().accesskit_node_builder(id, |node| node.set_active_descendant(chosen.accesskit_id()));
    }
    if output.focused {
        ui.painter().rect_stroke(whole, radius::S, Stroke::new(1.5, tokens.accent), StrokeKind::Inside);
    }
    ui.advance_cursor_after_rect(whole);
    output
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

fn take_keys(
    ui: &Ui,
    id: Id,
    shape: &TableShape<'_>,
    page: usize,
    row_at: &mut impl FnMut(usize) -> TableRow,
    output: &mut TableOutput,
) {
    let mut at = shape.selected;
    for pressed in list::keys(ui, id) {
        if pressed.0 == Key::Escape {
            output.events.push(TableEvent::Clear);
            continue;
        }
        let Some(last) = shape.rows.checked_sub(1) else { return };
        if let Some(to) = list::moved(pressed, at, page, last) {
            at = Some(to);
            output.events.push(TableEvent::Select(to));
            continue;
        }
        let Some(now) = at.filter(|at| *at <= last) else { continue };
        let line = row_at(now);
        match (pressed.0, line.fold) {
            (Key::ArrowRight | Key::L | Key::Space, Some(false)) => output.events.push(TableEvent::Open(now)),
            (Key::ArrowLeft | Key::H | Key::Space, Some(true)) => output.events.push(TableEvent::Close(now)),
            (Key::Enter, Some(open)) => {
                output.events.push(if open { TableEvent::Close(now) } else { TableEvent::Open(now) });
            }
            (Key::Space, None) if ticked(&line).is_some() => output.toggled = Some(now),
            (Key::ArrowLeft | Key::H, _) => output.events.push(TableEvent::Parent(now)),
            (Key::Enter, None) => output.events.push(TableEvent::Activate(now)),
            _ => {}
        }
    }
}
