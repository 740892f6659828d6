//! Two texts side by side in rows of one height, with marks between them. One row is chosen; both sides scroll in
//! step. Paints the rows in sight.

mod paint;

use std::ops::Range;

use egui::accesskit::Role;
use egui::{Color32, Id, Key, Modifiers, Rangef, Rect, ScrollArea, Sense, Ui, WidgetInfo, pos2};

use self::paint::{SidesRowStyle, paint};
use super::controls::Mark;
use super::list;
use crate::gui::design::{Tokens, radius, row, text};

/// What is shown.
pub struct SidesShape<'a> {
    /// The name for screen readers.
    pub name: &'a str,
    /// How many rows there are.
    pub rows: usize,
    /// Characters of the longest line.
    pub widest: usize,
    /// The largest line number.
    pub last: u32,
    /// The chosen row.
    pub selected: Option<usize>,
    /// Whether to bring the chosen row into sight.
    pub reveal: bool,
    /// Whether there is only the left side.
    pub alone: bool,
}

/// A line of one side.
#[derive(Clone, Copy, Debug)]
pub struct SideLine<'a> {
    /// Its number.
    pub number: u32,
    /// Its text.
    pub text: &'a str,
    /// Its change: a sign with a colour.
    pub sign: Option<(&'static str, Color32)>,
    /// Parts of the text that stand out: byte ranges.
    pub strong: &'a [Range<usize>],
}

/// A row.
#[derive(Clone, Copy, Debug)]
pub struct SidesRow<'a> {
    /// The line at the left.
    pub left: Option<SideLine<'a>>,
    /// The line at the right.
    pub right: Option<SideLine<'a>>,
    /// The mark between them.
    pub mark: Option<(Mark, Color32)>,
}

/// What the user did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SidesEvent {
    /// Chose a row.
    Select(usize),
    /// Enter, or a double click.
    Activate,
    /// To the next change, or the one before.
    Step(bool),
    /// Escape.
    Clear,
}

/// The result of a frame.
#[derive(Debug, Default)]
pub struct SidesOutput {
    /// What the user did, in order.
    pub events: Vec<SidesEvent>,
    /// How many rows were made.
    pub painted: usize,
    /// Where the focus of the keyboard is when it is here.
    pub id: Option<Id>,
}

/// Room of the marks between the sides.
const GUTTER: f32 = 24.0;
/// Room of a sign.
const SIGN: f32 = 20.0;
/// Room at both ends of a number.
const PAD: f32 = 6.0;
/// How far an arrow key scrolls sideways, in characters.
const STEP: f32 = 8.0;

/// Layout of the parts of a row.
#[derive(Clone, Copy)]
struct Places {
    left: Rangef,
    right: Rangef,
    gutter: Rangef,
    /// Room of numbers.
    number: f32,
}

impl Places {
    fn new(whole: Rangef, alone: bool, number: f32) -> Self {
        if alone {
            let left = Rangef::new(whole.min, whole.max);
            return Self { left, right: Rangef::point(whole.max), gutter: Rangef::point(whole.max), number };
        }
        let half = ((whole.span() - GUTTER) / 2.0).floor();
        Self {
            left: Rangef::new(whole.min, whole.min + half),
            gutter: Rangef::new(whole.min + half, whole.min + half + GUTTER),
            right: Rangef::new(whole.min + half + GUTTER, whole.max),
            number,
        }
    }

    /// Room of the text of a side.
    fn text(&self, side: Rangef) -> Rangef {
        let from = side.min + self.number + SIGN;
        Rangef::new(from, (side.max - 2.0).max(from))
    }
}

/// Positions of the two sides in a pane as wide as `whole`, for the headings.
pub fn halves(whole: Rangef) -> (Rangef, Rangef) {
    let places = Places::new(whole, false, 0.0);
    (places.left, Rangef::new(places.gutter.min, places.right.max))
}

/// Shows two texts in the room that is left. `row_at` makes a row, `spoken_at` returns its screen reader text,
/// `tip_at` returns the tooltip of its mark.
pub fn sides<'a>(
    ui: &mut Ui,
    salt: &str,
    shape: &SidesShape<'_>,
    row_at: impl Fn(usize) -> SidesRow<'a>,
    spoken_at: impl Fn(usize) -> String,
    tip_at: impl Fn(usize) -> String,
) -> SidesOutput {
    let tokens = Tokens::of(ui);
    let id = ui.make_persistent_id(salt);
    let mut output = SidesOutput { id: Some(id), ..SidesOutput::default() };
    let whole = ui.available_rect_before_wrap();
    let all = ui.interact(whole, id, Sense::click());
    all.widget_info(|| WidgetInfo::labeled(Role::Grid, ui.is_enabled(), shape.name));
    if all.clicked() {
        all.request_focus();
    }
    let letter =
        ui.painter().layout_no_wrap("0000000000".to_owned(), text::mono(), tokens.text).size().x / 10.0;
    let digits = shape.last.max(10).to_string();
    let number = ui.painter().layout_no_wrap(digits, text::small(), tokens.text).size().x.ceil() + 2.0 * PAD;
    let mut places = Places::new(whole.x_range(), shape.alone, number);
    let room = places.text(places.left).span().min(if shape.alone {
        f32::MAX
    } else {
        places.text(places.right).span()
    });
    let further = (shape.widest as f32 * letter + PAD - room).max(0.0);
    let now: egui::Vec2 = ui.data(|data| data.get_temp(id)).unwrap_or_default();
    let focused = all.has_focus();
    let (mut reveal, mut sideways) = (shape.selected.filter(|_| shape.reveal), None);
    if focused {
        take_keys(ui, id, shape, list::page(whole.height(), row::DENSE), &mut output, |right| {
            sideways = Some((now.x + if right { STEP } else { -STEP } * letter).clamp(0.0, further));
        });
        for event in &output.events {
            if let SidesEvent::Select(row) = event {
                reveal = Some(*row);
            }
        }
    }
    let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(whole).id_salt(salt));
    inner.spacing_mut().item_spacing = egui::Vec2::ZERO;
    let mut area = ScrollArea::both().id_salt("rows").auto_shrink(false);
    if let Some(offset) = reveal.and_then(|row| list::offset_for(now.y, row, row::DENSE, whole.height())) {
        area = area.vertical_scroll_offset(offset);
    }
    if let Some(offset) = sideways {
        area = area.horizontal_scroll_offset(offset);
    }
    let scrolled = area.show_viewport(&mut inner, |ui, viewport| {
        ui.set_width(whole.width() + further);
        ui.set_height(shape.rows as f32 * row::DENSE);
        let origin = ui.min_rect().min;
        let left = origin.x + viewport.left();
        places = Places::new(Rangef::new(left, left + whole.width()), shape.alone, number);
        let mut chosen = None;
        for index in visible(viewport.y_range(), shape.rows) {
            output.painted += 1;
            let line = row_at(index);
            let top = origin.y + index as f32 * row::DENSE;
            let rect = Rect::from_min_max(pos2(left, top), pos2(left + whole.width(), top + row::DENSE));
            let row_id = id.with(index);
            let response = ui.interact(rect, row_id, Sense::CLICK);
            let selected = shape.selected == Some(index);
            response.widget_info(|| WidgetInfo::labeled(Role::Row, ui.is_enabled(), spoken_at(index)));
            ui.ctx().accesskit_node_builder(row_id, |node| node.set_selected(selected));
            let look =
                SidesRowStyle { selected, focused, hovered: response.hovered(), sideways: viewport.left() };
            paint(ui, &places, rect, &line, look);
            if selected {
                chosen = Some(row_id);
            }
            if response.clicked() || response.double_clicked() {
                ui.memory_mut(|memory| memory.request_focus(id));
                output.events.push(SidesEvent::Select(index));
                if response.double_clicked() {
                    output.events.push(SidesEvent::Activate);
                }
            }
            let at_mark = response.hover_pos().is_some_and(|at| places.gutter.contains(at.x));
            if at_mark && line.mark.is_some() {
                response.on_hover_text(tip_at(index));
            }
        }
        chosen
    });
    ui.data_mut(|data| data.insert_temp(id, scrolled.state.clamped_offset()));
    if let Some(chosen) = scrolled.inner {
        ui.ctx().accesskit_node_builder(id, |node| node.set_active_descendant(chosen.accesskit_id()));
    }
    if focused {
        let stroke = egui::Stroke::new(1.5, tokens.accent);
        ui.painter().rect_stroke(whole, radius::S, stroke, egui::StrokeKind::Inside);
    }
    ui.advance_cursor_after_rect(whole);
    output
}

/// The rows in a range of points.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
fn visible(range: Rangef, rows: usize) -> Range<usize> {
    let first = (range.min / row::DENSE).floor().max(0.0) as usize;
    let last = (range.max / row::DENSE).ceil().max(0.0) as usize;
    first.min(rows)..last.min(rows)
}

fn take_keys(
    ui: &Ui,
    id: Id,
    shape: &SidesShape<'_>,
    page: usize,
    output: &mut SidesOutput,
    mut sideways: impl FnMut(bool),
) {
    let mut at = shape.selected;
    for pressed in list::keys(ui, id) {
        let last = shape.rows.saturating_sub(1);
        if let Some(to) = list::moved(pressed, at, page, last).filter(|_| shape.rows > 0) {
            at = Some(to);
            output.events.push(SidesEvent::Select(to));
            continue;
        }
        match pressed.0 {
            Key::ArrowRight | Key::L => sideways(true),
            Key::ArrowLeft | Key::H => sideways(false),
            Key::N => output.events.push(SidesEvent::Step(pressed.1 != Modifiers::SHIFT)),
            Key::Enter => output.events.push(SidesEvent::Activate),
            Key::Escape => output.events.push(SidesEvent::Clear),
            _ => {}
        }
    }
}
