//! Layout of the parts of a table, and how they look.

use egui::accesskit::Role;
use egui::{Align2, Id, Rangef, Rect, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::{
    ARROW, CHECK, END, GAP, INDENT, START, TableCell, TableColumn, TableEvent, TableOutput, TableRow,
    TableShape,
};
use crate::gui::design::{Tokens, radius, text};
use crate::gui::widgets::cell::{self, Cut, Direction};
use crate::gui::widgets::controls;

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

pub(super) fn heads(
    ui: &Ui,
    id: Id,
    shape: &TableShape<'_>,
    places: &[Option<Rangef>],
    rect: Rect,
    output: &mut TableOutput,
) {
    let tokens = Tokens::of(ui);
    ui.painter().rect_filled(rect, 0.0, tokens.raised);
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, Stroke::new(1.0, tokens.border));
    for (index, (column, place)) in shape.columns.iter().zip(places).enumerate() {
        let Some(place) = *place else { continue };
        let rect = Rect::from_x_y_ranges(place.min - 6.0..=place.max + 6.0, rect.y_range());
        let sense = if shape.sort.is_some() { Sense::click() } else { Sense::hover() };
        let response = ui.interact(rect, id.with(("head", index)), sense);
        let sorted = shape.sort.filter(|sort| sort.0 == index).map(|sort| sort.1);
        response.widget_info(|| {
            let order = match sorted {
                Some(true) => ", largest first",
                Some(false) => ", smallest first",
                None => "",
            };
            let words = match shape.sort {
                Some(_) => format!("Sort by {}{order}", column.title.to_lowercase()),
                None => column.title.to_owned(),
            };
            WidgetInfo::labeled(Role::ColumnHeader, true, words)
        });
        let lit = response.hovered() && shape.sort.is_some() || sorted.is_some();
        let color = if lit { tokens.text } else { tokens.text_weak };
        let (at, align) = if column.number {
            (pos2(place.max, rect.center().y), Align2::RIGHT_CENTER)
        } else {
            (pos2(place.min, rect.center().y), Align2::LEFT_CENTER)
        };
        let written = ui.painter().text(at, align, column.title, text::small(), color);
        if let Some(descending) = sorted {
            let direction = if descending { Direction::Down } else { Direction::Up };
            let x = if column.number { written.left() - 9.0 } else { written.right() + 9.0 };
            cell::triangle(ui.painter(), pos2(x, rect.center().y), 7.0, direction, tokens.text);
        }
        if response.has_focus() {
            ui.painter().rect_stroke(rect, radius::S, Stroke::new(1.5, tokens.accent), StrokeKind::Inside);
        }
        if response.clicked() {
            output.events.push(TableEvent::Sort(index));
        }
    }
}

#[derive(Clone, Copy)]
#[allow(clippy::struct_excessive_bools, reason = "each is one side of how the row looks")]
pub(super) struct TableRowStyle {
    pub(super) selected: bool,
    pub(super) focused: bool,
    pub(super) hovered: bool,
    pub(super) odd: bool,
}

pub(super) fn paint(
    ui: &Ui,
    columns: &[TableColumn],
    places: &[Option<Rangef>],
    rect: Rect,
    line: &TableRow,
    look: TableRowStyle,
) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    if look.selected {
        painter.rect_filled(rect, 0.0, tokens.selection);
        if look.focused {
            painter.rect_filled(Rect::from_min_size(rect.min, vec2(3.0, rect.height())), 0.0, tokens.accent);
        }
    } else if look.hovered {
        painter.rect_filled(rect, 0.0, tokens.hovered);
    } else if look.odd {
        painter.rect_filled(rect, 0.0, tokens.stripe);
    }
    let font = if line.strong { text::strong() } else { text::body() };
    for (index, (cell, (place, column))) in line.cells.iter().zip(places.iter().zip(columns)).enumerate() {
        let Some(place) = *place else { continue };
        if index == 0 {
            first(ui, Rect::from_x_y_ranges(place, rect.y_range()), line, cell, &font);
            continue;
        }
        let mut room = Rect::from_x_y_ranges(place, rect.y_range());
        if cell.share > 0.0 {
            let bar = room.expand2(vec2(4.0, -5.0));
            let width = (bar.width() * cell.share.clamp(0.0, 1.0)).max(1.0);
            let filled = Rect::from_min_size(bar.min, vec2(width, bar.height()));
            painter.rect_filled(filled, 2.0, tokens.wash(tokens.accent));
        }
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
