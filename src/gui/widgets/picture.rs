//! A picture, fitted or in its actual size. Arrows and page keys scroll it.

use egui::accesskit::Role;
use egui::{
    Color32, Image, Key, Painter, Rect, ScrollArea, Sense, TextureHandle, Ui, Vec2, WidgetInfo, pos2, vec2,
};

use super::list;
use crate::gui::design::{Tokens, space};

/// Side of a square below what can be seen through.
const SQUARE: f32 = 8.0;
/// Squares of a side at most; they grow in a larger picture.
const SQUARES: u8 = 48;
/// What an arrow key scrolls.
const STEP: f32 = 48.0;
/// Farther than any picture.
const FAR: f32 = 100_000.0;

/// What is shown.
pub struct PictureShape<'a> {
    /// The name for screen readers.
    pub name: &'a str,
    /// The pixels.
    pub texture: &'a TextureHandle,
    /// Whether some of it can be seen through.
    pub has_alpha: bool,
    /// Whether a pixel of the picture is one of the screen; else it is shrunk to the room.
    pub actual: bool,
}

/// Shows a picture in the room that is left.
pub fn picture(ui: &mut Ui, shape: &PictureShape<'_>) {
    let all = ui.available_rect_before_wrap();
    let id = ui.make_persistent_id(("picture", shape.name));
    let response = ui.interact(all, id, Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, ui.is_enabled(), shape.name));
    if response.clicked() {
        response.request_focus();
    }
    let moved = if response.has_focus() { keys(ui, id, all.size()) } else { Vec2::ZERO };
    let room = all.size() - Vec2::splat(2.0 * space::S);
    let whole = shape.texture.size_vec2() / ui.pixels_per_point();
    let scale = if shape.actual { 1.0 } else { (room / whole).min_elem().clamp(0.0, 1.0) };
    let size = (whole * scale).max(Vec2::splat(1.0));
    let area = ScrollArea::both().id_salt(id).auto_shrink(false);
    area.show(ui, |ui| {
        if moved != Vec2::ZERO {
            ui.scroll_with_delta(-moved);
        }
        let (rect, _) = ui.allocate_exact_size(size.max(all.size().floor()), Sense::hover());
        let at = Rect::from_center_size(rect.center(), size);
        if shape.has_alpha {
            squares(&ui.painter().with_clip_rect(at.intersect(ui.clip_rect())), Tokens::of(ui), at);
        }
        Image::new(shape.texture).paint_at(ui, at);
    });
    if response.has_focus() {
        list::focus_frame(ui, all);
    }
}

/// How far the keys that were pressed move.
fn keys(ui: &Ui, id: egui::Id, room: Vec2) -> Vec2 {
    let mut moved = Vec2::ZERO;
    for (key, _) in list::keys(ui, id) {
        moved += match key {
            Key::ArrowDown | Key::J => vec2(0.0, STEP),
            Key::ArrowUp | Key::K => vec2(0.0, -STEP),
            Key::ArrowRight | Key::L => vec2(STEP, 0.0),
            Key::ArrowLeft | Key::H => vec2(-STEP, 0.0),
            Key::PageDown | Key::Space => vec2(0.0, room.y - STEP),
            Key::PageUp => vec2(0.0, STEP - room.y),
            Key::Home => vec2(-FAR, -FAR),
            Key::End => vec2(FAR, FAR),
            Key::Escape => {
                ui.memory_mut(|memory| memory.surrender_focus(id));
                Vec2::ZERO
            }
            _ => Vec2::ZERO,
        };
    }
    moved
}

/// Squares of two middle grays: both dark and light drawings stand out.
fn squares(painter: &Painter, tokens: &Tokens, at: Rect) {
    let [one, other] = if tokens.dark { [118, 134] } else { [186, 204] }.map(Color32::from_gray);
    painter.rect_filled(at, 0.0, one);
    let side = SQUARE.max(at.size().max_elem() / f32::from(SQUARES));
    let count = |length: f32| (0..=SQUARES).take_while(move |place| f32::from(*place) * side < length);
    for row in count(at.height()) {
        for column in count(at.width()).filter(|column| (column + row) % 2 == 1) {
            let min = pos2(at.left() + f32::from(column) * side, at.top() + f32::from(row) * side);
            painter.rect_filled(Rect::from_min_size(min, Vec2::splat(side)), 0.0, other);
        }
    }
}
