//! A list of things in an order, each with a colour, a line of text and numbers in columns.

use egui::accesskit::Role;
use egui::{Align2, Color32, Rect, Stroke, Ui, pos2, vec2};

use super::list::{List, ListEvent, ListFrame, ListHead, ListKeys, ListNode, ListSort, RowLook, head_back};
use crate::gui::design::{Tokens, row, text};
use crate::gui::widgets::cell::{self, Cut, Direction};
use crate::gui::widgets::controls::{self, Mark};
use crate::gui::widgets::layer_chip::layer_chip;

/// A row of the list.
#[derive(Clone, Debug)]
pub struct LayerListRow {
    /// Its number.
    pub number: String,
    /// Its layer, whose mark it has; `None` for the head of a group.
    pub layer: Option<usize>,
    /// Its text.
    pub title: String,
    /// What follows the title and is never cut, such as a count.
    pub tail: String,
    /// Its numbers, one for each column.
    pub numbers: [String; 3],
    /// Which of the numbers stand out.
    pub strong: [bool; 3],
    /// A mark and words where something is wrong, in place of what is not known.
    pub fault: Option<(Mark, Color32, &'static str)>,
    /// Words in place of numbers that are not known yet.
    pub pending: Option<String>,
    /// How much of it is there already, 0 to 1: as much of its colour is full. 1 for what is complete.
    pub done: f32,
    /// Screen reader text.
    pub spoken: String,
    /// Tells the row from all others, whatever is folded.
    pub key: u64,
    /// Whether the rows of a group are shown; `None` for a row that is no head of one.
    pub fold: Option<bool>,
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
    /// The column that orders the lines, 0 for the number, and whether the largest comes first.
    pub sort: ListSort,
}

/// What the user did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerListAnswer {
    /// The line that was chosen.
    pub chosen: Option<usize>,
    /// The column whose head was clicked.
    pub sorted: Option<usize>,
    /// The head of a group that was folded or unfolded.
    pub folded: Option<usize>,
    /// The row whose head is to be chosen.
    pub parent: Option<usize>,
    /// The row whose menu is asked for.
    pub menu: Option<usize>,
}

const HEAD: f32 = 24.0;
/// Another line of the head.
const HEAD_LINE: f32 = 16.0;
/// From this width on, all heads fit on one line.
const HEADS_WIDE: f32 = 340.0;
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

/// Shows the list in the room that is left. `row_at` makes a line, for
/// those in sight; `hover` fills the tooltip of one.
pub fn layer_list(
    ui: &mut Ui,
    salt: &str,
    shape: &LayerListShape<'_>,
    row_at: impl FnMut(usize) -> LayerListRow,
    mut hover: impl FnMut(&mut Ui, usize),
) -> LayerListAnswer {
    let width = ui.available_rect_before_wrap().width();
    let wide = width >= WIDE;
    let list = List {
        salt,
        name: shape.name,
        roles: (Role::ListBox, Role::ListBoxOption),
        head: if width >= HEADS_WIDE { HEAD } else { HEAD + HEAD_LINE },
        rows: shape.rows,
        row_height: if wide { row::NORMAL } else { TWO_LINES },
        width: None,
        selected: shape.selected,
        reveal: shape.reveal,
        middle: false,
        keys: ListKeys::Tree,
    };
    let mut frame = list.begin(ui);
    heads(ui, shape, &mut frame);
    let node = |_: usize, line: &LayerListRow| ListNode {
        key: line.key,
        fold: line.fold,
        arrow: TEXT,
        ..ListNode::default()
    };
    let spoken = |_: usize, line: &LayerListRow| line.spoken.clone();
    list.show(ui, &mut frame, row_at, node, spoken, |ui, place, line| {
        paint(ui, place.rect, line, place.look);
    });
    let output = frame.end(ui);
    let mut answer = LayerListAnswer::default();
    if let Some((index, response)) = output.hovered {
        answer.menu = response.secondary_clicked().then_some(index);
        response.on_hover_ui(|ui| hover(ui, index));
    }
    for event in output.events {
        match event {
            ListEvent::Select(index) => answer.chosen = Some(index),
            ListEvent::Sort(column) => answer.sorted = Some(column),
            ListEvent::Open(index) | ListEvent::Close(index) => answer.folded = Some(index),
            ListEvent::Parent(index) => answer.parent = Some(index),
            _ => {}
        }
    }
    answer
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

fn heads(ui: &Ui, shape: &LayerListShape<'_>, frame: &mut ListFrame) {
    let rect = frame.head;
    head_back(ui, rect);
    // As the rows: where there is no room beside the title, the columns are below it.
    let one = rect.height() <= HEAD;
    let (above, below) = if one { (rect, rect) } else { rect.split_top_bottom_at_fraction(0.5) };
    let places = columns(below);
    let title = Rect::from_x_y_ranges(
        rect.left()..=if one { places[0].left() } else { rect.right() },
        above.y_range(),
    );
    let heads = std::iter::once((shape.title, title)).chain(shape.columns.into_iter().zip(places));
    for (index, (title, rect)) in heads.enumerate() {
        let number = index > 0;
        let text = if number { rect.right() } else { rect.left() + TEXT };
        frame.head(ui, index, &ListHead { title, rect, text, number }, Some(shape.sort));
    }
}

fn paint(ui: &Ui, rect: Rect, line: &LayerListRow, look: RowLook) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    RowLook { odd: false, ..look }.paint(painter, tokens, rect);
    painter.hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, tokens.border));
    let chip =
        Rect::from_min_size(pos2(rect.left() + 8.0, rect.top() + 5.0), vec2(7.0, rect.height() - 11.0));
    if let Some(layer) = line.layer {
        // From the bottom up, as much as is there.
        painter.rect_filled(chip, 2.0, tokens.wash(tokens.layer(layer)));
        let top = egui::lerp(chip.bottom()..=chip.top(), line.done);
        layer_chip(painter, tokens, Rect::from_min_max(pos2(chip.left(), top), chip.max), layer);
    }
    let one = rect.height() < TWO_LINES;
    let (above, below) =
        if one { (rect, rect) } else { rect.shrink2(vec2(0.0, 3.0)).split_top_bottom_at_fraction(0.5) };
    if let Some(open) = line.fold {
        let direction = if open { Direction::Down } else { Direction::Right };
        let at = pos2(rect.left() + 22.0, above.center().y);
        cell::triangle(painter, at, 7.0, direction, tokens.text_weak);
    }
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
    } else if line.fault.is_some() {
        // Beside the numbers is no room for words: the title gives way.
        title.max.x -= NOTE;
        note = Rect::from_x_y_ranges(title.right() + 8.0..=rect.right() - END, above.y_range());
    }
    let color = if line.pending.is_some() { tokens.text_weak } else { tokens.text };
    let font = if line.fold.is_some() { text::strong() } else { text::mono() };
    if line.tail.is_empty() {
        cell::left(painter, title, &line.title, &font, color, Cut::End);
    } else {
        cell::with_tail(painter, title, (&line.title, &line.tail), &font, color);
    }
    if let Some((mark, color, word)) = &line.fault {
        let at = pos2(note.left() + 7.0, note.center().y);
        controls::paint_mark(painter, *mark, at, 13.0, *color);
        let words = Rect::from_min_max(pos2(note.left() + 18.0, note.top()), note.max);
        cell::left(painter, words, word, &text::strong(), *color, Cut::End);
    } else if let Some(word) = line.pending.as_ref().filter(|_| one) {
        cell::left(painter, note, word, &text::small(), tokens.text_weak, Cut::End);
    }
    // On two lines, the words take the place of the numbers.
    let pending = line.pending.as_ref().filter(|_| !one && line.fault.is_none());
    if let Some(word) = pending {
        let place = Rect::from_min_max(places[1].min, places[2].max);
        cell::right(painter, place, word, &text::small(), tokens.text_weak);
    }
    for (index, place) in places.iter().enumerate().take(if pending.is_some() { 1 } else { 3 }) {
        let color = if line.strong[index] { tokens.text } else { tokens.text_weak };
        cell::right(painter, *place, &line.numbers[index], &text::body(), color);
    }
}
