//! The CUDA stack as boxes: from the server down to the GPU, the end of the image marked.

use egui::accesskit::Role;
use egui::{Color32, Rect, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo, pos2, vec2};

use crate::base::text::{elide_middle, escape};
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::models::stack::{Side, Stack, StackBox};
use crate::gui::views::Action;
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls::{self, Mark};

const HEIGHT: f32 = 38.0;
const GAP: f32 = 4.0;
/// Boxes are no wider, so that names and who supplies them stay together.
const WIDEST: f32 = 660.0;
/// From this width on, notes are beside the boxes.
const BESIDE: f32 = 900.0;
const LEVEL: f32 = 132.0;
const BY: f32 = 168.0;

/// Paints the boxes.
pub(super) fn show(ui: &mut Ui, stack: &Stack, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    let whole = ui.available_width();
    let beside = whole >= BESIDE;
    let width = if beside { WIDEST.min(whole * 0.6) } else { whole };
    ui.spacing_mut().item_spacing.y = 0.0;
    for (index, level) in stack.boxes.iter().enumerate() {
        if stack.boundary == Some(index) {
            boundary(ui, width, "image above, host below");
        }
        let sense = if level.raw.is_some() { Sense::click() } else { Sense::hover() };
        let (rect, response) = ui.allocate_exact_size(vec2(whole, HEIGHT), sense);
        let role = if level.raw.is_some() { Role::Link } else { Role::Label };
        response.widget_info(|| WidgetInfo::labeled(role, true, level.spoken()));
        let boxed = Rect::from_min_size(rect.min, vec2(width, HEIGHT));
        if ui.is_rect_visible(rect) {
            paint(ui, boxed, level, response.hovered() && level.raw.is_some());
            if let Some(note) = level.note.as_deref().filter(|_| beside) {
                let room = Rect::from_min_max(pos2(boxed.right() + 28.0, rect.top()), rect.max);
                let line = Stroke::new(1.0, tokens.border);
                ui.painter().hline(boxed.right() + 6.0..=boxed.right() + 22.0, rect.center().y, line);
                paint_note(ui, room, note, note_color(tokens, level));
            }
        }
        controls::paint_focus(ui, &response, radius::M);
        let clicked = response.clicked();
        if let Some(raw) = level.raw.as_ref().filter(|_| clicked) {
            actions.push(Action::SelectPath(raw.clone()));
        }
        if let Some(raw) = &level.raw {
            response.on_hover_ui_at_pointer(|ui| {
                if !level.names.is_empty() {
                    ui.label(&level.names);
                }
                if let Some(note) = &level.note {
                    ui.label(note);
                }
                let path = elide_middle(&escape(raw), 80);
                controls::weak(ui, format!("Show {path} in Layers"));
            });
        }
        if let Some(note) = level.note.as_deref().filter(|_| !beside) {
            let (rect, _) = ui.allocate_exact_size(vec2(width, 20.0), Sense::hover());
            paint_note(ui, rect.shrink2(vec2(14.0, 0.0)), note, note_color(tokens, level));
        }
        ui.add_space(GAP);
    }
    ui.spacing_mut().item_spacing.y = space::XS;
}

fn note_color(tokens: &Tokens, level: &StackBox) -> Color32 {
    if level.side == Side::Missing { tokens.error } else { tokens.text_weak }
}

/// A note in at most two lines.
fn paint_note(ui: &Ui, rect: Rect, note: &str, color: Color32) {
    let mut job =
        egui::text::LayoutJob::simple(note.to_owned(), text::small(), color, rect.width().max(40.0));
    job.wrap.max_rows = if rect.height() > 24.0 { 2 } else { 1 };
    let galley = ui.painter().layout_job(job);
    let at = pos2(rect.left(), rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, color);
}

/// The line where the image ends.
fn boundary(ui: &mut Ui, width: f32, words: &str) {
    let tokens = Tokens::of(ui);
    ui.add_space(space::XS);
    let (rect, response) = ui.allocate_exact_size(vec2(width, 20.0), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, words));
    let painter = ui.painter();
    let galley = painter.layout_no_wrap(words.to_owned(), text::small(), tokens.text_weak);
    let middle = rect.center();
    let half = galley.size().x / 2.0 + 10.0;
    let line = Stroke::new(1.5, tokens.border_strong);
    painter.hline(rect.left()..=middle.x - half, middle.y, line);
    painter.hline(middle.x + half..=rect.right(), middle.y, line);
    painter.galley(middle - galley.size() / 2.0, galley, tokens.text_weak);
    ui.add_space(space::XS + GAP);
}

fn paint(ui: &Ui, rect: Rect, level: &StackBox, hovered: bool) {
    let tokens = Tokens::of(ui);
    let painter = ui.painter();
    let (fill, line) = match level.side {
        Side::Image => (Some(tokens.raised), tokens.border),
        Side::Host => (None, tokens.border_strong),
        Side::Missing => (Some(tokens.raised), tokens.error),
        Side::None => (None, tokens.border),
    };
    if let Some(fill) = if hovered { Some(tokens.hovered) } else { fill } {
        painter.rect_filled(rect, radius::M, fill);
    }
    if level.side == Side::Host {
        dashed(painter, rect, Stroke::new(1.0, line));
    } else {
        painter.rect_stroke(rect, radius::M, Stroke::new(1.0, line), StrokeKind::Inside);
    }
    if let Side::Image = level.side {
        // A bar marks the levels in the image, not only the frame.
        let bar = Rect::from_min_size(rect.min + vec2(1.0, 7.0), vec2(3.0, rect.height() - 14.0));
        painter.rect_filled(bar, 1.5, tokens.accent);
    }
    let inner = rect.shrink2(vec2(14.0, 0.0));
    let at = |from: f32, to: f32| Rect::from_x_y_ranges(from..=to, inner.y_range());
    let weak = matches!(level.side, Side::None | Side::Host);
    cell::left(
        painter,
        at(inner.left(), inner.left() + LEVEL - 8.0),
        level.level,
        &text::body(),
        tokens.text_weak,
        Cut::End,
    );
    let by = at(inner.right() - BY, inner.right());
    let color = match level.side {
        Side::Missing => tokens.error,
        Side::Image => tokens.text,
        Side::Host | Side::None => tokens.text_weak,
    };
    let words = level.supplied_by.join(", ");
    let mut left = cell::right(painter, by, &words, &text::small(), color).left();
    if level.side == Side::Missing {
        left -= 12.0;
        controls::paint_mark(painter, Mark::Error, pos2(left, rect.center().y), 13.0, tokens.error);
    }
    let names = at(inner.left() + LEVEL, left - 12.0);
    let shown = if level.names.is_empty() { "–" } else { level.names.as_str() };
    let (font, color) = if weak { (text::body(), tokens.text_weak) } else { (text::strong(), tokens.text) };
    cell::left(painter, names, shown, &font, color, Cut::End);
}

/// A frame of short lines.
fn dashed(painter: &egui::Painter, rect: Rect, stroke: Stroke) {
    let rect = rect.shrink(0.5);
    let round = 4.0;
    let corners = [
        (pos2(rect.left() + round, rect.top()), pos2(rect.right() - round, rect.top())),
        (pos2(rect.right(), rect.top() + round), pos2(rect.right(), rect.bottom() - round)),
        (pos2(rect.right() - round, rect.bottom()), pos2(rect.left() + round, rect.bottom())),
        (pos2(rect.left(), rect.bottom() - round), pos2(rect.left(), rect.top() + round)),
    ];
    for (from, to) in corners {
        painter.extend(Shape::dashed_line(&[from, to], stroke, 5.0, 4.0));
    }
}
