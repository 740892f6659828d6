//! Marks with the words that they are about, and coloured boxes around them.

use egui::{Align, Color32, Frame, Label, Layout, Margin, Sense, Ui, Vec2, vec2};

use super::controls::{Mark, paint_mark};
use crate::gui::design::{Tokens, radius, space};

/// Paints a mark of `points` into room of its own.
pub fn mark_in(ui: &mut Ui, room: Vec2, mark: Mark, points: f32, color: Color32) {
    let (rect, _) = ui.allocate_exact_size(room, Sense::hover());
    paint_mark(ui.painter(), mark, rect.center(), points, color);
}

/// A mark, and beside it what it is about.
pub fn marked(ui: &mut Ui, mark: Mark, color: Color32, add: impl FnOnce(&mut Ui)) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().item_spacing.x = space::S;
        mark_in(ui, vec2(14.0, 17.0), mark, if mark == Mark::Tick { 9.0 } else { 13.0 }, color);
        ui.vertical(add);
    });
}

/// A line of words that ends in buttons, which are added from the right.
pub fn alert_line(ui: &mut Ui, mark: Mark, color: Color32, words: &str, buttons: impl FnOnce(&mut Ui)) {
    framed(ui, color, 4, |ui| {
        ui.horizontal(|ui| {
            ui.set_width(ui.available_width());
            mark_in(ui, vec2(16.0, 20.0), mark, 14.0, color);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                buttons(ui);
                ui.with_layout(Layout::left_to_right(Align::Center), |ui| {
                    ui.add(Label::new(words).truncate().selectable(true));
                });
            });
        });
    });
}

/// An error with all that is known of it.
pub fn error_box(ui: &mut Ui, add: impl FnOnce(&mut Ui)) {
    let color = Tokens::of(ui).error;
    framed(ui, color, 8, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal_top(|ui| {
            mark_in(ui, vec2(16.0, 18.0), Mark::Error, 14.0, color);
            ui.vertical(add);
        });
    });
}

fn framed(ui: &mut Ui, color: Color32, margin: i8, add: impl FnOnce(&mut Ui)) {
    let frame = Frame::new().fill(Tokens::of(ui).wash(color)).corner_radius(radius::M);
    frame.inner_margin(Margin::symmetric(12, margin)).show(ui, add);
}
