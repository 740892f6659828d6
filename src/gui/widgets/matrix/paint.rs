//! How the parts of the table look.

use egui::accesskit::Role;
use egui::{Align2, Rect, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use super::{ARROW, GAP, INDENT, MatrixCell, MatrixRow, MatrixShape, Places, SIGN, START};
use crate::gui::design::{Tokens, radius, text};
use crate::gui::widgets::cell::{self, Cut, Direction};
use crate::gui::widgets::list::{ListEvent, ListFrame, ListPlace, focus_frame, head_back, share_bar};

/// The most room of a number, and the least and most of how it differs, behind it.
const NUMBER_MOST: f32 = 92.0;
const NOTE: std::ops::RangeInclusive<f32> = 74.0..=98.0;

pub(super) fn row(ui: &Ui, places: Places, place: &ListPlace, line: &MatrixRow) {
    let tokens = Tokens::of(ui);
    let seen = place.rect;
    ui.painter().rect_filled(seen, 0.0, place.look.fill(tokens));
    let scrolled = Rect::from_min_max(pos2(seen.left() + places.names, seen.top()), seen.max);
    let painter = ui.painter().with_clip_rect(scrolled.intersect(ui.clip_rect()));
    for (column, cell) in line.cells.iter().enumerate() {
        let left = seen.left() - place.sideways + places.left(column);
        let room = Rect::from_min_max(
            pos2(left + GAP / 2.0, seen.top()),
            pos2(left + places.column - GAP / 2.0, seen.bottom()),
        );
        if room.intersects(scrolled) {
            one(&painter, tokens, room, cell);
        }
    }
    let names = Rect::from_min_size(seen.min, vec2(places.names, seen.height()));
    name(ui, names, line);
    place.look.paint_bar(ui.painter(), tokens, seen);
}

/// A cell: numbers in two columns, text with its sign after it.
fn one(painter: &egui::Painter, tokens: &Tokens, room: Rect, cell: &MatrixCell) {
    let font = text::body();
    if cell.number {
        let behind = (room.width() * 0.48).clamp(*NOTE.start(), *NOTE.end());
        let number = (room.width() - behind).clamp(0.0, NUMBER_MOST);
        let (value, note) = room.split_left_right_at_x(room.left() + number);
        let note = note.with_max_x(note.left() + behind);
        share_bar(painter, tokens, value.expand2(vec2(2.0, -5.0)), cell.share);
        cell::right(painter, value, &cell.text, &font, cell.color);
        cell::right(painter, note.with_min_x(note.left() + 4.0), &cell.note, &text::small(), cell.note_color);
        return;
    }
    let sign = pos2(room.left() + 4.0, room.center().y);
    painter.text(sign, Align2::CENTER_CENTER, cell.sign, text::mono(), cell.note_color);
    let room = room.with_min_x(room.left() + SIGN);
    let note = painter.layout_no_wrap(cell.note.clone(), text::small(), cell.note_color);
    // A long word yields to more important text.
    let least = (room.width() - note.size().x - 6.0).max(room.width() * 0.35);
    let value = Rect::from_min_size(room.min, vec2(least, room.height()));
    let written = cell::left(painter, value, &cell.text, &font, cell.color, Cut::Middle);
    if !cell.note.is_empty() {
        let rest = room.with_min_x((written.right() + 6.0).min(room.right()));
        cell::left(painter, rest, &cell.note, &text::small(), cell.note_color, Cut::End);
    }
}

fn name(ui: &Ui, rect: Rect, line: &MatrixRow) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter().with_clip_rect(rect.intersect(ui.clip_rect()));
    let middle = rect.center().y;
    let mut x = rect.left() + START + f32::from(line.depth) * INDENT;
    if let Some(open) = line.fold {
        let direction = if open { Direction::Down } else { Direction::Right };
        cell::triangle(&painter, pos2(x + 5.0, middle), 7.0, direction, tokens.text_weak);
    }
    if line.fold.is_some() || line.sign.is_some() {
        x += ARROW;
    }
    if let Some((sign, color)) = line.sign {
        painter.text(pos2(x + SIGN / 2.0 - 2.0, middle), Align2::CENTER_CENTER, sign, text::mono(), color);
        x += SIGN;
    }
    let room = Rect::from_x_y_ranges(x..=(rect.right() - 6.0).max(x + 16.0), rect.y_range());
    let font = if line.strong { text::strong() } else { text::body() };
    let written = cell::left(&painter, room, &line.name, &font, line.color, line.cut);
    if !line.note.is_empty() && written.right() + 40.0 < room.right() {
        let behind = room.with_min_x(written.right() + 8.0);
        cell::left(&painter, behind, &line.note, &text::small(), tokens.text_weak, Cut::End);
    }
}

/// The heads, at the place that their columns are scrolled to.
pub(super) fn heads(ui: &Ui, shape: &MatrixShape<'_>, places: Places, frame: &mut ListFrame) {
    let tokens = Tokens::of(ui);
    let (id, rect, offset) = (frame.id, frame.head, frame.sideways);
    head_back(ui, rect);
    let scrolled = Rect::from_min_max(pos2(rect.left() + places.names, rect.top()), rect.max);
    for (column, head) in shape.heads.iter().enumerate() {
        let left = rect.left() + places.left(column) - offset;
        let place = Rect::from_x_y_ranges(left..=left + places.column, rect.y_range());
        let seen = place.intersect(scrolled);
        if seen.width() < 4.0 {
            continue;
        }
        let response = ui.interact(seen, id.with(("head", column)), Sense::click());
        let sorted = shape.sort == Some(column + 1);
        response.widget_info(|| {
            let mark = if head.marked { ", the baseline" } else { "" };
            let order = if sorted { ", sorted" } else { "" };
            let words = format!("{} {}{mark}{order}: {}", head.letter, head.title, head.about);
            WidgetInfo::labeled(Role::ColumnHeader, true, words)
        });
        let painter = ui.painter().with_clip_rect(scrolled.intersect(ui.clip_rect()));
        if response.hovered() {
            painter.rect_filled(place, 0.0, tokens.hovered);
        }
        let mut x = place.left() + GAP / 2.0;
        x = letter(&painter, tokens, pos2(x, rect.center().y), &head.letter, head.marked) + 6.0;
        let end = if sorted { place.right() - 22.0 } else { place.right() - 6.0 };
        let room = Rect::from_x_y_ranges(x..=end.max(x + 8.0), rect.y_range());
        let color = if head.marked { tokens.text } else { tokens.text_weak };
        let font = if head.marked { text::strong() } else { text::body() };
        cell::left(&painter, room, &head.title, &font, color, Cut::Middle);
        if sorted {
            let at = pos2(place.right() - 12.0, rect.center().y);
            cell::triangle(&painter, at, 7.0, Direction::Down, tokens.text);
        }
        if response.has_focus() {
            focus_frame(ui, seen);
        }
        let words =
            format!("{}{}. {}", head.title, if head.marked { ", the baseline" } else { "" }, head.about);
        if response.on_hover_text(words).clicked() {
            frame.output.events.push(ListEvent::Sort(column + 1));
        }
    }
    let names = Rect::from_min_size(rect.min, vec2(places.names, rect.height()));
    let response = ui.interact(names, id.with("names"), Sense::click());
    let sorted = shape.sort == Some(0);
    response.widget_info(|| {
        let order = if sorted { ", sorted" } else { "" };
        WidgetInfo::labeled(Role::ColumnHeader, true, format!("{}{order}: {}", shape.title, shape.about))
    });
    let color = if sorted || response.hovered() { tokens.text } else { tokens.text_weak };
    let at = pos2(names.left() + START, names.center().y);
    let written = ui.painter().text(at, Align2::LEFT_CENTER, shape.title, text::body(), color);
    if sorted {
        let at = pos2(written.right() + 10.0, names.center().y);
        cell::triangle(ui.painter(), at, 7.0, Direction::Down, tokens.text);
    }
    if response.has_focus() {
        focus_frame(ui, names);
    }
    if response.on_hover_text(shape.about).clicked() {
        frame.output.events.push(ListEvent::Sort(0));
    }
}

/// The letter of a column in a small frame, filled for the baseline. Gives its right edge.
pub fn letter(painter: &egui::Painter, tokens: &Tokens, left: egui::Pos2, letter: &str, filled: bool) -> f32 {
    let color = if filled { tokens.on_accent } else { tokens.text };
    let galley = painter.layout_no_wrap(letter.to_owned(), text::small(), color);
    let size = galley.size();
    let width = (size.x + 8.0).max(18.0);
    let frame = Rect::from_min_size(pos2(left.x, left.y - 9.0), vec2(width, 18.0));
    if filled {
        painter.rect_filled(frame, radius::S, tokens.accent);
    } else {
        let stroke = Stroke::new(1.0, tokens.border_strong);
        painter.rect_stroke(frame, radius::S, stroke, StrokeKind::Inside);
    }
    painter.galley(frame.center() - size / 2.0, galley, color);
    frame.right()
}

/// A line between the names and columns scrolled behind them.
pub(super) fn edge(ui: &Ui, places: Places, whole: Rect, offset: f32) {
    let x = whole.left() + places.names - 0.5;
    let tokens = Tokens::of(ui);
    let color = if offset > 0.5 { tokens.border_strong } else { tokens.border };
    ui.painter().add(Shape::line_segment([pos2(x, whole.top()), pos2(x, whole.bottom())], (1.0, color)));
}
