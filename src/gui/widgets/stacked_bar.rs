//! A bar of parts of a whole, side by side.

use egui::accesskit::Role;
use egui::{Rect, Sense, Stroke, StrokeKind, Ui, Vec2, WidgetInfo, pos2, vec2};

use crate::gui::design::{Tokens, text};

/// A part of the bar.
#[derive(Clone, Debug)]
pub struct Segment {
    /// How large it is, in the unit of the others.
    pub value: u64,
    /// Its fill.
    pub fill: egui::Color32,
    /// What is written on it where there is room.
    pub short: String,
    /// Screen reader text.
    pub spoken: String,
    /// A part that is marked as wasted: the share of it, 0 to 1, that is hatched.
    pub hatched: f32,
}

/// No part is narrower, so that it can be pointed at.
const LEAST: f32 = 3.0;

/// Paints the parts in order; `hover` fills the tooltip of one. Gives the part that was clicked.
pub fn stacked_bar(
    ui: &mut Ui,
    name: &str,
    height: f32,
    segments: &[Segment],
    mut hover: impl FnMut(&mut Ui, usize),
) -> Option<usize> {
    let tokens = Tokens::of(ui);
    let size = vec2(ui.available_width(), height);
    let (rect, bar) = ui.allocate_exact_size(size, Sense::hover());
    bar.widget_info(|| WidgetInfo::labeled(Role::Group, true, name));
    ui.painter().rect_filled(rect, tokens.bar_radius(), tokens.border);
    let places = places(segments, rect);
    let mut clicked = None;
    for (index, place) in &places {
        let segment = &segments[*index];
        let id = bar.id.with(*index);
        let response = ui.interact(*place, id, Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &segment.spoken));
        let fill = if response.hovered() { segment.fill.gamma_multiply(0.85) } else { segment.fill };
        let painter = ui.painter().with_clip_rect(place.intersect(ui.clip_rect()));
        painter.rect_filled(*place, 0.0, fill);
        if segment.hatched > 0.0 {
            hatch(&painter, *place, segment.hatched, tokens.text_on(segment.fill));
        }
        // Half a word is worse than none.
        let color = tokens.text_on(segment.fill);
        let words = painter.layout_no_wrap(segment.short.clone(), text::small(), color);
        if place.width() > words.size().x + 8.0 {
            painter.galley(place.center() - words.size() / 2.0, words, color);
        }
        if response.has_focus() {
            let stroke = Stroke::new(2.0, tokens.accent);
            ui.painter().rect_stroke(*place, 0.0, stroke, StrokeKind::Inside);
        }
        if response.clicked() {
            clicked = Some(*index);
        }
        response.on_hover_ui_at_pointer(|ui| hover(ui, *index));
    }
    clicked
}

/// Position of each part: its share of the width, but at least a clickable width.
fn places(segments: &[Segment], rect: Rect) -> Vec<(usize, Rect)> {
    let total: f64 = segments.iter().map(|segment| segment.value as f64).sum();
    let shown: Vec<usize> = (0..segments.len()).filter(|index| segments[*index].value > 0).collect();
    if total <= 0.0 || shown.is_empty() {
        return Vec::new();
    }
    // Parts that are hardly wider than a gap stand side by side.
    let gap = if rect.width() >= 3.0 * shown.len() as f32 { 1.0 } else { 0.0 };
    let room = (rect.width() - gap * (shown.len() - 1) as f32).max(1.0);
    let least = LEAST.min(room / shown.len() as f32);
    // Small parts get the least; the others share what is left.
    let share = |index: usize| share(segments[index].value as f64 / total);
    let small: Vec<bool> = shown.iter().map(|index| share(*index) * room < least).collect();
    let taken = small.iter().filter(|small| **small).count() as f32 * least;
    let large: f32 =
        shown.iter().zip(&small).filter(|(_, small)| !**small).map(|(index, _)| share(*index)).sum();
    let mut x = rect.left();
    let mut places = Vec::with_capacity(shown.len());
    for (index, small) in shown.iter().zip(&small) {
        let width = if *small { least } else { share(*index) / large.max(f32::EPSILON) * (room - taken) };
        places.push((*index, Rect::from_min_size(pos2(x, rect.top()), vec2(width, rect.height()))));
        x += width + gap;
    }
    places
}

#[allow(clippy::cast_possible_truncation, reason = "a share of a bar on a screen")]
fn share(part: f64) -> f32 {
    part as f32
}

/// Slanted lines over the last `share` of a part.
fn hatch(painter: &egui::Painter, rect: Rect, share: f32, color: egui::Color32) {
    let from = egui::lerp(rect.x_range(), 1.0 - share.clamp(0.0, 1.0));
    let hatched = Rect::from_x_y_ranges(from..=rect.right(), rect.y_range());
    let painter = painter.with_clip_rect(hatched.intersect(painter.clip_rect()));
    let stroke = Stroke::new(1.0, color.gamma_multiply(0.55));
    let mut x = hatched.left() - hatched.height();
    while x < hatched.right() {
        let at = pos2(x, hatched.bottom());
        painter.line_segment([at, at + Vec2::new(hatched.height(), -hatched.height())], stroke);
        x += 5.0;
    }
}
