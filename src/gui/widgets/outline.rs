//! A tree of names with values, in rows of one height: only those in sight are asked for and painted.

use egui::accesskit::Role;
use egui::{Rect, Ui, pos2};

use super::cell::{self, Cut, Direction};
use super::list::{List, ListKeys, ListNode, ListOutput};
use crate::gui::design::{Tokens, row, text};

/// A row as it is painted.
#[derive(Clone, Debug)]
pub struct OutlineLine {
    /// Tells the row from all others, whatever is open.
    pub key: u64,
    /// The name; empty without one.
    pub name: String,
    /// Whether that is a name rather than a number.
    pub named: bool,
    /// The value.
    pub value: String,
    /// Whether that is a value rather than a number of members.
    pub scalar: bool,
    /// Depth, from 0.
    pub depth: usize,
    /// Whether what belongs to it is shown; `None` where nothing does.
    pub open: Option<bool>,
}

/// What is shown.
pub struct OutlineShape<'a> {
    /// The name of the tree for screen readers.
    pub name: &'a str,
    /// How many rows there are.
    pub rows: usize,
    /// The chosen row.
    pub selected: Option<usize>,
    /// Whether to bring the chosen row into sight.
    pub reveal: bool,
}

const INDENT: f32 = 14.0;
const ARROW: f32 = 16.0;
/// Between a name and its value.
const GAP: f32 = 8.0;
/// Of the width at most: indentation, and name.
const MOST: [f32; 2] = [0.4, 0.6];

/// Shows a tree in the room that is left; `row_at` makes a row, `spoken` its text for screen readers.
pub fn outline(
    ui: &mut Ui,
    salt: &str,
    shape: &OutlineShape<'_>,
    row_at: impl FnMut(usize) -> OutlineLine,
    spoken: impl Fn(usize) -> String,
) -> ListOutput {
    let list = List {
        salt,
        name: shape.name,
        roles: (Role::Tree, Role::TreeItem),
        head: 0.0,
        rows: shape.rows,
        row_height: row::DENSE,
        width: None,
        selected: shape.selected,
        reveal: shape.reveal,
        middle: false,
        keys: ListKeys::Tree,
    };
    let mut frame = list.begin(ui);
    let width = frame.body.width();
    let indent = |depth: usize| 6.0 + (depth as f32 * INDENT).min(width * MOST[0]);
    let node = |_: usize, line: &OutlineLine| ListNode {
        key: line.key,
        level: Some(line.depth),
        fold: line.open,
        ticked: None,
        marked: false,
        arrow: indent(line.depth) + ARROW,
    };
    list.show(
        ui,
        &mut frame,
        row_at,
        node,
        |index, _| spoken(index),
        |ui, place, line| {
            let (tokens, painter, rect) = (Tokens::of(ui), ui.painter(), place.rect);
            place.look.paint(painter, tokens, rect);
            let mut x = rect.left() + indent(line.depth);
            if let Some(open) = line.open {
                let direction = if open { Direction::Down } else { Direction::Right };
                let at = pos2(x + ARROW / 2.0 - 2.0, rect.center().y);
                cell::triangle(painter, at, 7.0, direction, tokens.text_weak);
            }
            x += ARROW;
            let right = (rect.right() - GAP).max(x);
            if !line.name.is_empty() {
                let end = right.min(x + width * MOST[1]);
                let room = Rect::from_x_y_ranges(x..=end, rect.y_range());
                let color = if line.named { tokens.accent } else { tokens.text_weak };
                x = cell::left(painter, room, &line.name, &text::mono(), color, Cut::Middle).right() + GAP;
            }
            let room = Rect::from_x_y_ranges(x..=right.max(x), rect.y_range());
            let (font, color) =
                if line.scalar { (text::mono(), tokens.text) } else { (text::small(), tokens.text_weak) };
            cell::left(painter, room, &line.value, &font, color, Cut::End);
        },
    );
    frame.end(ui)
}
