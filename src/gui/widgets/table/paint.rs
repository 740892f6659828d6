//! Layout of the parts of a table, and how they look.

use egui::{Rangef, Rect, Stroke, StrokeKind, Ui, pos2, vec2};

use super::{ARROW, CHECK, END, GAP, INDENT, START, TableCell, TableColumn, TableRow, TableShape};
use crate::gui::design::{Tokens, radius, text};
use crate::gui::widgets::cell::{self, Cut, Direction};
use crate::gui::widgets::controls;
use crate::gui::widgets::list::{ListFrame, ListHead, RowLook, head_back, share_bar};

/// Column positions; `None` for one that is left out.
pub(super) fn places(columns: &[TableColumn], rect: Rect) -> Vec<Option<Rangef>> {
    let mut kept = vec![true; columns.len()];
    let width = |kept: &[bool]| {
        let others = columns.iter().zip(kept).skip(1).filter(|(_, kept)| **kept);
        others.map(|(column, _)| column.width + GAP).sum::<f32>()
    };
    let least = columns.first().map_or(0.0, |column| column.width);
    while rect.width() - START - END - width(&kept) < least {
        let droppable = (1..columns.len()).filter(|at| kept[*at] && columns[*at].rank > 0);
        let Some(at) = droppable.max_by_key(|at| columns[*at].rank) else { break };
        kept[at] = false;
    }
    let mut right = rect.right() - END;
    let mut places = vec![None; columns.len()];
    for at in (1..columns.len()).rev().filter(|at| kept[*at]) {
        places[at] = Some(Rangef::new(right - columns[at].width, right));
        right -= columns[at].width + GAP;
    }
    if let Some(first) = places.first_mut() {
        *first = Some(Rangef::new(rect.left() + START, right.max(rect.left() + START + 24.0)));
    }
    places
}

pub(super) fn heads(ui: &Ui, shape: &TableShape<'_>, places: &[Option<Rangef>], frame: &mut ListFrame) {
    head_back(ui, frame.head);
    for (index, (column, place)) in shape.columns.iter().zip(places).enumerate() {
        let Some(place) = *place else { continue };
        let rect = Rect::from_x_y_ranges(place.min - 6.0..=place.max + 6.0, frame.head.y_range());
        let text = if column.number { place.max } else { place.min };
        let head = ListHead { title: column.title, rect, text, number: column.number };
        frame.head(ui, index, &head, shape.sort);
    }
}

pub(super) fn paint(
    ui: &Ui,
    columns: &[TableColumn],
    places: &[Option<Rangef>],
    rect: Rect,
    line: &TableRow,
    look: RowLook,
) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    look.paint(painter, tokens, rect);
    let font = if line.strong { text::strong() } else { text::body() };
    for (index, (cell, (place, column))) in line.cells.iter().zip(places.iter().zip(columns)).enumerate() {
        let Some(place) = *place else { continue };
        if index == 0 {
            first(ui, Rect::from_x_y_ranges(place, rect.y_range()), line, cell, &font);
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
        if let Some(chip) = cell.chip {
            let at = pos2(written.left() - 9.0, rect.center().y);
            painter.rect_filled(Rect::from_center_size(at, vec2(5.0, 12.0)), 2.0, chip);
        }
    }
}

fn first(ui: &Ui, rect: Rect, line: &TableRow, cell: &TableCell, font: &egui::FontId) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    let mut x = rect.left() + f32::from(line.depth) * INDENT;
    if let Some(open) = line.fold {
        let direction = if open { Direction::Down } else { Direction::Right };
        cell::triangle(painter, pos2(x + 4.0, rect.center().y), 7.0, direction, tokens.text_weak);
        x += ARROW;
    }
    if cell.check.is_some() {
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
