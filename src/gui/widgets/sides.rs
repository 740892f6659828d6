//! Two texts side by side in rows of one height, with marks between them. One row is chosen; both sides scroll in
//! step. Paints the rows in sight.

mod paint;

use std::ops::Range;

use egui::accesskit::Role;
use egui::{Color32, Rangef, RichText, Ui};

use self::paint::paint;
use super::controls::Mark;
use super::list::{List, ListKeys, ListNode, ListOutput};
use crate::gui::design::{Tokens, row, text};

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
    /// Whether to bring the chosen row to the middle, even if it is in sight.
    pub middle: bool,
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
) -> ListOutput {
    let tokens = Tokens::of(ui);
    let whole = ui.available_rect_before_wrap();
    let letter =
        ui.painter().layout_no_wrap("0000000000".to_owned(), text::mono(), tokens.text).size().x / 10.0;
    let digits = shape.last.max(10).to_string();
    let number = ui.painter().layout_no_wrap(digits, text::small(), tokens.text).size().x.ceil() + 2.0 * PAD;
    let places = Places::new(whole.x_range(), shape.alone, number);
    let room = places.text(places.left).span().min(if shape.alone {
        f32::MAX
    } else {
        places.text(places.right).span()
    });
    let further = (shape.widest as f32 * letter + PAD - room).max(0.0);
    let list = List {
        salt,
        name: shape.name,
        roles: (Role::Grid, Role::Row),
        head: 0.0,
        rows: shape.rows,
        row_height: row::DENSE,
        width: Some(whole.width() + further),
        selected: shape.selected,
        reveal: shape.reveal || shape.middle,
        middle: shape.middle,
        keys: ListKeys::Sideways(STEP * letter),
    };
    let mut frame = list.begin(ui);
    let node = |index: usize, _: &SidesRow<'_>| ListNode { key: index as u64, ..ListNode::default() };
    list.show(
        ui,
        &mut frame,
        &row_at,
        node,
        |index, _| spoken_at(index),
        |ui, place, line| {
            paint(ui, &places, place, line);
        },
    );
    if let Some((index, response)) = frame.output.hovered.take() {
        let at = response.hover_pos().map_or(whole.left(), |at| at.x);
        let row = row_at(index);
        let line = if places.left.contains(at) { row.left } else { row.right };
        if places.gutter.contains(at) {
            if row.mark.is_some() {
                response.on_hover_text(tip_at(index));
            }
        } else if let Some(line) = line.filter(|line| line.text.chars().count() as f32 * letter > room) {
            response.on_hover_ui_at_pointer(|ui| {
                ui.label(RichText::new(line.text.trim()).font(text::mono()));
            });
        }
    }
    frame.end(ui)
}
