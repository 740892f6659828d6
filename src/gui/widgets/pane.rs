//! Framed panes, and texts of empty panes.

use egui::accesskit::Role;
use egui::{
    Key, Rect, RichText, ScrollArea, Sense, Stroke, StrokeKind, Ui, UiBuilder, UiKind, UiStackInfo,
    WidgetInfo, vec2,
};

use super::list;
use super::stops::{self, StopKind};
use crate::gui::design::{Tokens, radius, space, text};

/// How far an arrow key scrolls.
const LINE: f32 = 24.0;
/// Seconds until the line of a pane that works is fully there.
const FADE: f32 = 0.1;
/// Further than any details are long.
const FAR: f32 = 1e6;

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

const OUT_OF_SIGHT: &str = "height out of sight";

/// Shows a view with at least this height; where there is less, the whole view scrolls.
pub fn at_least(ui: &mut Ui, salt: &str, height: f32, add: impl FnOnce(&mut Ui)) {
    let room = ui.available_height();
    if room >= height {
        add(ui);
        return;
    }
    ScrollArea::vertical().id_salt(salt).auto_shrink(false).show(ui, |ui| {
        // Beside the bar there is a gap.
        let width = ui.available_width() - space::S;
        let rect = Rect::from_min_size(ui.cursor().min, vec2(width, height));
        let info = UiStackInfo::new(UiKind::GenericArea).with_tag_value(OUT_OF_SIGHT, height - room);
        add(&mut ui.new_child(UiBuilder::new().max_rect(rect).ui_stack_info(info)));
        ui.advance_cursor_after_rect(rect);
    });
}

/// The height that is left, as if the view did not scroll.
pub fn height_in_sight(ui: &Ui) -> f32 {
    let hidden = ui.stack().iter().find_map(|part| part.tags().get_downcast::<f32>(OUT_OF_SIGHT));
    ui.available_height() - hidden.copied().unwrap_or_default()
}

/// A card with details of the chosen row: a stop of the keyboard, where arrows and page keys scroll.
pub fn details_card<R>(ui: &mut Ui, name: &str, add: impl FnOnce(&mut Ui) -> R) -> R {
    let rect = ui.available_rect_before_wrap();
    let id = ui.make_persistent_id((name, "details"));
    let response = ui.interact(rect, id, Sense::FOCUSABLE);
    response.widget_info(|| WidgetInfo::labeled(Role::Group, true, name));
    stops::stop(ui, StopKind::Details, name, &response);
    let page = (rect.height() - 40.0).max(40.0);
    let keys = if response.has_focus() { list::keys(ui, id) } else { Vec::new() };
    let scrolled = keys.iter().map(|(key, _)| match key {
        Key::ArrowDown | Key::J => LINE,
        Key::ArrowUp | Key::K => -LINE,
        Key::PageDown | Key::Space => page,
        Key::PageUp => -page,
        Key::Home => f32::NEG_INFINITY,
        Key::End => f32::INFINITY,
        _ => 0.0,
    });
    let scrolled = scrolled.sum::<f32>().clamp(-FAR, FAR);
    if keys.iter().any(|(key, _)| *key == Key::Escape) {
        response.surrender_focus();
    }
    let result = card(ui, |ui| {
        if scrolled != 0.0 {
            ui.scroll_with_delta(vec2(0.0, -scrolled));
        }
        add(ui)
    });
    if response.has_focus() {
        list::focus_frame(ui, rect);
    }
    result
}

/// A line along the top of a pane while what it shows is about to be replaced. It fades in, so that what takes a frame or
/// two does not flash.
pub fn working(ui: &Ui, name: &str, busy: bool) {
    let id = ui.make_persistent_id((name, "working"));
    let shown = ui.ctx().animate_bool_with_time(id, busy, FADE);
    if busy {
        let pane = ui.max_rect();
        let line = Rect::from_min_size(pane.min, vec2(pane.width(), 2.0));
        let response = ui.interact(line, id, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::ProgressIndicator, true, name));
        ui.painter().rect_filled(line, 0.0, Tokens::of(ui).accent.gamma_multiply(shown));
    }
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
