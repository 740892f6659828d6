//! Column widths of a table: as wide as their content while there is room; then long texts give
//! way, and at last columns at the right, whose cells are below an expanded row.

use egui::{Rangef, Ui};

use super::style;
use crate::gui::design::{Tokens, text};
use crate::report::page::Table;

/// Room between columns.
pub(super) const GAP: f32 = 16.0;
/// Room of a triangle before the first column.
pub(super) const ARROW: f32 = 16.0;
/// No text column is narrower.
const LEAST: f32 = 72.0;
/// The first column, the subject of the row.
const FIRST: f32 = 120.0;
/// No text needs more.
const MOST: f32 = 560.0;
/// How many of the longest texts of a column are measured.
const MEASURED: usize = 3;

/// How wide a text is, roughly: enough to find the widest.
fn roughly(text: &str) -> usize {
    let wide = |byte| match byte {
        b'i' | b'l' | b'j' | b'.' | b',' | b':' | b' ' | b'\'' => 1,
        b'm' | b'w' | b'M' | b'W' => 5,
        b'A'..=b'Z' => 4,
        // Bytes behind the first one of a character.
        0x80..=0xbf => 0,
        _ => 3,
    };
    text.bytes().take(400).map(wide).sum()
}

/// The columns of a table.
#[derive(Debug, Default)]
pub(super) struct TableColumns {
    /// What each would like.
    natural: Vec<f32>,
    number: Vec<bool>,
    /// Whether any row has something behind it.
    details: bool,
    /// Position of each, from the left of the table; `None` for one without room.
    pub(super) places: Vec<Option<Rangef>>,
    /// Whether rows can be opened: there is something behind them, or columns are left out.
    pub(super) opens: bool,
}

impl TableColumns {
    /// Looks at all cells once.
    pub(super) fn new(ui: &Ui, table: &Table) -> Self {
        let tokens = Tokens::of(ui);
        let mut natural = Vec::with_capacity(table.columns.len());
        for (place, column) in table.columns.iter().enumerate() {
            let head = ui.painter().layout_no_wrap(column.title.clone(), text::small(), tokens.text);
            let mut widest = head.size().x;
            let mut longest: Vec<(usize, usize)> = Vec::with_capacity(MEASURED + 1);
            for (at, row) in table.rows.iter().enumerate() {
                let Some(cell) = row.cells.get(place).filter(|cell| !cell.text.is_empty()) else { continue };
                let about = roughly(&cell.text);
                if longest.len() < MEASURED || longest.last().is_some_and(|last| last.0 < about) {
                    longest.push((about, at));
                    longest.sort_unstable_by(|one, other| other.cmp(one));
                    longest.truncate(MEASURED);
                }
            }
            for (_, at) in longest {
                let Some(cell) = table.rows.get(at).and_then(|row| row.cells.get(place)) else { continue };
                let (font, color) = style(tokens, cell);
                // Far longer than any column is wide.
                let part: String = cell.text.chars().take(160).collect();
                widest = widest.max(ui.painter().layout_no_wrap(part, font, color).size().x);
            }
            natural.push(if column.number { widest.ceil() } else { widest.ceil().min(MOST) });
        }
        let details = table.rows.iter().any(|row| !row.details.is_empty());
        let number = table.columns.iter().map(|column| column.number).collect();
        Self { natural, number, details, ..Self::default() }
    }

    /// Gives each its place in `width` points.
    pub(super) fn fit(&mut self, width: f32) {
        let count = self.natural.len();
        let least = |at: usize| match (at, self.number.get(at)) {
            (_, Some(true)) => self.natural[at],
            (0, _) => self.natural[at].min(FIRST),
            _ => self.natural[at].min(LEAST),
        };
        // Rows that open need room for the triangle.
        let room = |arrow: bool, kept: usize| {
            let gaps = GAP * kept.saturating_sub(1) as f32 + 16.0;
            width - gaps - if arrow { ARROW } else { 0.0 }
        };
        let fits = |kept: usize| {
            let arrow = self.details || kept < count;
            (0..kept).map(least).sum::<f32>() <= room(arrow, kept)
        };
        let kept = (1..=count).rev().find(|kept| fits(*kept)).unwrap_or(count.min(1));
        self.opens = self.details || kept < count;
        let mut left = room(self.opens, kept);
        let mut widths: Vec<f32> = (0..kept).map(least).collect();
        left -= widths.iter().sum::<f32>();
        // The remaining width goes to the columns that need more, in equal shares.
        for _ in 0..kept {
            let wanting: Vec<usize> = (0..kept).filter(|at| self.natural[*at] > widths[*at] + 0.5).collect();
            if wanting.is_empty() || left < 1.0 {
                break;
            }
            let share = left / wanting.len() as f32;
            for at in wanting {
                let more = share.min(self.natural[at] - widths[at]);
                widths[at] += more;
                left -= more;
            }
        }
        let mut x = 8.0 + if self.opens { ARROW } else { 0.0 };
        self.places = vec![None; count];
        for (place, width) in self.places.iter_mut().zip(&widths) {
            let to = x + width.max(8.0);
            *place = Some(Rangef::new(x, to));
            x = to + GAP;
        }
    }

    /// The columns that there is no room for.
    pub(super) fn left_out(&self) -> impl Iterator<Item = usize> {
        self.places.iter().enumerate().filter(|(_, place)| place.is_none()).map(|(at, _)| at)
    }
}
