//! Framed panes, and texts of empty panes.

use egui::{RichText, Stroke, StrokeKind, Ui, UiBuilder};

use crate::gui::design::{Tokens, radius, space, text};

/// A pane with a thin line around, filling what room there is.
pub fn card<R>(ui: &mut Ui, add: impl FnOnce(&mut Ui) -> R) -> R {
    let tokens = Tokens::of(ui);
    let rect = ui.available_rect_before_wrap();
    let painter = ui.painter().clone();
    let inner = rect.shrink(1.0);
    let mut child = ui.new_child(UiBuilder::new().max_rect(inner));
    child.set_clip_rect(inner.intersect(ui.clip_rect()));
    let result = add(&mut child);
    painter.rect_stroke(rect, radius::M, Stroke::new(1.0, tokens.border), StrokeKind::Inside);
    ui.advance_cursor_after_rect(rect);
    result
}

/// Words in the middle of a pane that has nothing else to show.
pub fn empty(ui: &mut Ui, title: &str, note: &str) {
    let tokens = Tokens::of(ui);
    ui.add_space((ui.available_height() * 0.3).min(120.0));
    ui.vertical_centered(|ui| {
        ui.set_max_width((ui.available_width() - 2.0 * space::L).clamp(80.0, 360.0));
        ui.label(RichText::new(title).font(text::heading()).color(tokens.text));
        if !note.is_empty() {
            ui.add_space(space::XS);
            ui.label(RichText::new(note).color(tokens.text_weak));
        }
    });
}
