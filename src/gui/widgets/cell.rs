//! Text in the cells of tables: right-aligned numbers, names cut where there is no room.

use std::sync::Arc;

use egui::{Color32, FontId, Galley, Painter, Pos2, Rect, pos2};

use crate::base::text::{elide_end, elide_middle};

/// Where text that does not fit is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// In the middle: the end of a path is the most specific part.
    Middle,
    /// At the end.
    End,
    /// At the end, after a path within has lost all but its last two parts.
    Prose,
}

/// Prose whose paths keep their last two parts.
fn with_short_paths(text: &str) -> String {
    let short = |word: &str| match word.rmatch_indices('/').nth(1) {
        Some((at, _)) if at > 0 => format!("…{}", &word[at..]),
        _ => word.to_owned(),
    };
    text.split(' ').map(short).collect::<Vec<_>>().join(" ")
}

/// Lays `text` out in at most `width` points.
pub fn fit(
    painter: &Painter,
    text: &str,
    font: &FontId,
    color: Color32,
    width: f32,
    cut: Cut,
) -> Arc<Galley> {
    let layout = |text: String| painter.layout_no_wrap(text, font.clone(), color);
    // What is far too long is not laid out whole: no character is narrower than two points.
    let most = room(width / 2.0);
    let elide = |text: &str, count: usize| match cut {
        Cut::Middle => elide_middle(text, count),
        Cut::End | Cut::Prose => elide_end(text, count),
    };
    let mut length = text.chars().count();
    let mut galley = layout(if length > most { elide(text, most) } else { text.to_owned() });
    let short;
    let mut text = text;
    if cut == Cut::Prose && galley.size().x > width {
        short = with_short_paths(text);
        (text, length) = (&short, short.chars().count());
        galley = layout(elide(text, most));
    }
    let mut count = length.min(most);
    // Estimate from the mean character width; a second pass corrects it.
    for _ in 0..4 {
        if galley.size().x <= width || count <= 1 {
            break;
        }
        let share = width / galley.size().x;
        count = room(count as f32 * share).clamp(1, count - 1);
        galley = layout(elide(text, count));
    }
    galley
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count of characters on a screen"
)]
fn room(count: f32) -> usize {
    count.max(1.0) as usize
}

/// Paints text at the left of `rect`, in the middle of its height, cut to its width. Gives what it took.
pub fn left(painter: &Painter, rect: Rect, text: &str, font: &FontId, color: Color32, cut: Cut) -> Rect {
    let galley = fit(painter, text, font, color, rect.width(), cut);
    let at = pos2(rect.left(), rect.center().y - galley.size().y / 2.0);
    put(painter, at, galley, color)
}

/// Paints text and its tail as [`left`] does; of the text the end is cut where both have no room. Gives what it took.
pub fn with_tail(
    painter: &Painter,
    rect: Rect,
    (text, tail): (&str, &str),
    font: &FontId,
    color: Color32,
) -> Rect {
    let tail = fit(painter, tail, font, color, rect.width(), Cut::End);
    let room = rect.with_max_x(rect.right() - tail.size().x);
    let name = left(painter, room, text, font, color, Cut::End);
    let at = pos2(name.right(), rect.center().y - tail.size().y / 2.0);
    name.union(put(painter, at, tail, color))
}

/// Paints text at the right of `rect`, in the middle of its height.
pub fn right(painter: &Painter, rect: Rect, text: &str, font: &FontId, color: Color32) -> Rect {
    let galley = fit(painter, text, font, color, rect.width(), Cut::End);
    let at = pos2(rect.right() - galley.size().x, rect.center().y - galley.size().y / 2.0);
    put(painter, at, galley, color)
}

/// Paints text in the middle of `rect`.
pub fn center(painter: &Painter, rect: Rect, text: &str, font: &FontId, color: Color32) -> Rect {
    let galley = fit(painter, text, font, color, rect.width(), Cut::End);
    put(painter, rect.center() - galley.size() / 2.0, galley, color)
}

fn put(painter: &Painter, at: Pos2, galley: Arc<Galley>, color: Color32) -> Rect {
    let rect = Rect::from_min_size(at, galley.size());
    painter.galley(at, galley, color);
    rect
}

/// A triangle for a sort direction or an expanded folder.
pub fn triangle(painter: &Painter, center: Pos2, size: f32, direction: Direction, color: Color32) {
    let half = size / 2.0;
    let points = match direction {
        Direction::Right => [(-0.6, -1.0), (0.7, 0.0), (-0.6, 1.0)],
        Direction::Down => [(-1.0, -0.6), (1.0, -0.6), (0.0, 0.7)],
        Direction::Up => [(-1.0, 0.6), (1.0, 0.6), (0.0, -0.7)],
    };
    let points = points.map(|(x, y)| pos2(center.x + x * half, center.y + y * half)).to_vec();
    painter.add(egui::Shape::convex_polygon(points, color, egui::Stroke::NONE));
}

/// Where a triangle points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Closed.
    Right,
    /// Open, or largest first.
    Down,
    /// Smallest first.
    Up,
}
