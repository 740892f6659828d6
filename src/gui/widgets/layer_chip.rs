//! The mark of a layer: its hue and its pattern, and patterns on larger areas.

use egui::epaint::Mesh;
use egui::{Color32, Painter, Rect, Shape, pos2, vec2};

use crate::gui::design::{Tokens, layer_pattern};

/// Distance of lines on a large area, and on a chip.
const AREA_STEP: f32 = 6.0;
const CHIP_STEP: f32 = 3.0;

/// Paints the mark of layer `index`, counted from the bottom.
pub fn layer_chip(painter: &Painter, tokens: &Tokens, rect: Rect, index: usize) {
    chip(painter, tokens, rect, tokens.layer(index), layer_pattern(index));
}

/// Paints a small piece of `fill` with a pattern.
pub fn chip(painter: &Painter, tokens: &Tokens, rect: Rect, fill: Color32, pattern: u8) {
    painter.rect_filled(rect, 2.0, fill);
    if pattern != 0 {
        let mut mesh = Mesh::default();
        lines(&mut mesh, rect.shrink(1.0), pattern, tokens.chip_pattern_on(fill), CHIP_STEP);
        painter.add(Shape::mesh(mesh));
    }
}

/// Lines over a large area: bit 0 for horizontal lines, bit 1 for vertical ones, bit 2 for bands.
pub fn add_pattern(mesh: &mut Mesh, rect: Rect, pattern: u8, color: Color32) {
    lines(mesh, rect, pattern, color, AREA_STEP);
}

fn lines(mesh: &mut Mesh, rect: Rect, pattern: u8, color: Color32, step: f32) {
    let steps = |length: f32, step: f32, thick: f32| {
        (1..).map(move |count| count as f32 * step - step / 3.0).take_while(move |at| at + thick <= length)
    };
    if pattern & 1 != 0 {
        for y in steps(rect.height(), step, 1.0) {
            let line = Rect::from_min_size(pos2(rect.left(), rect.top() + y), vec2(rect.width(), 1.0));
            mesh.add_colored_rect(line, color);
        }
    }
    if pattern & 2 != 0 {
        for x in steps(rect.width(), step, 1.0) {
            let line = Rect::from_min_size(pos2(rect.left() + x, rect.top()), vec2(1.0, rect.height()));
            mesh.add_colored_rect(line, color);
        }
    }
    if pattern & 4 != 0 {
        let thick = step * 0.75;
        for y in steps(rect.height(), step * 3.0, thick).chain((rect.height() < step * 4.0).then_some(0.0)) {
            let band = Rect::from_min_size(pos2(rect.left(), rect.top() + y), vec2(rect.width(), thick));
            mesh.add_colored_rect(band, color);
        }
    }
}
