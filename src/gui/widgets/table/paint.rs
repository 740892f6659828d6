//! How the rows of a table look.

use egui::{Rangef, Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use super::{ARROW, CHECK, INDENT, TableCell, TableColumn, TableRow};
use crate::gui::design::{Tokens, radius, text};
use crate::gui::widgets::cell::{self, Cut, Direction};
use crate::gui::widgets::controls;
use crate::gui::widgets::layer_chip::chip;
use crate::gui::widgets::list::{RowLook, share_bar};

pub(super) fn paint<R, C>(
    ui: &Ui,
    columns: &[TableColumn<R, C>],
    places: &[Option<Rangef>],
    rect: Rect,
    line: &TableRow<R>,
    look: RowLook,
) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    look.paint(painter, tokens, rect);
    let font = if line.strong { text::strong() } else { text::body() };
    for (index, (place, column)) in places.iter().zip(columns).enumerate() {
        let Some(place) = *place else { continue };
        let cell = (column.cell)(&line.line, tokens);
        if index == 0 {
            first(ui, Rect::from_x_y_ranges(place, rect.y_range()), line, &cell, &font);
            continue;
        }
        let mut room = Rect::from_x_y_ranges(place, rect.y_range());
        share_bar(painter, tokens, room.expand2(vec2(4.0, -5.0)), cell.share);
        let written = if column.number {
            cell::right(painter, room, &cell.text, &text::body(), cell.color)
        } else {
            room.min.x += if cell.chip.is_some() { 14.0 } else { 0.0 };
            if let Some((mark, color)) = cell.mark {
                controls::paint_mark(painter, mark, pos2(room.left() + 6.0, rect.center().y), 12.0, color);
                room.min.x += 18.0;
            }
            cell::left(painter, room, &cell.text, &text::body(), cell.color, Cut::End)
        };
        if let Some((fill, pattern)) = cell.chip {
            let at = pos2(written.left() - 9.0, rect.center().y);
            chip(painter, tokens, Rect::from_center_size(at, vec2(7.0, 12.0)), fill, pattern);
        }
    }
}

fn first<R>(ui: &Ui, rect: Rect, line: &TableRow<R>, cell: &TableCell, font: &egui::FontId) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    let mut x = rect.left() + f32::from(line.depth) * INDENT;
    if let Some(open) = line.fold {
        let direction = if open { Direction::Down } else { Direction::Right };
        cell::triangle(painter, pos2(x + 4.0, rect.center().y), 7.0, direction, tokens.text_weak);
        x += ARROW;
    }
    if line.check.is_some() {
        x += CHECK;
    }
    if let Some((mark, color)) = cell.mark {
        controls::paint_mark(painter, mark, pos2(x + 6.0, rect.center().y), 12.0, color);
        x += 18.0;
    }
    // Words have their room first: a name that is cut is still known by its end.
    let words: Vec<_> = line
        .badges
        .iter()
        .map(|(word, color)| (painter.layout_no_wrap(word.clone(), text::small(), *color), *color))
        .collect();
    let taken: f32 = words.iter().map(|(galley, _)| galley.size().x + 16.0).sum();
    let room = Rect::from_x_y_ranges(x..=(rect.right() - taken).max(x + 24.0), rect.y_range());
    let written = cell::left(painter, room, &cell.text, font, cell.color, line.cut);
    let mut x = written.right() + 8.0;
    for (galley, color) in words {
        let size = galley.size();
        let frame = Rect::from_min_size(pos2(x, rect.center().y - 8.0), vec2(size.x + 8.0, 16.0));
        painter.rect_stroke(frame, radius::S, Stroke::new(1.0, color), StrokeKind::Inside);
        painter.galley(pos2(x + 4.0, rect.center().y - size.y / 2.0), galley, color);
        x = frame.right() + 8.0;
    }
}
