//! Buttons, bars and marks.

use std::f32::consts::TAU;

use egui::accesskit::Role;
use egui::text::{LayoutJob, TextWrapping};
use egui::{
    Align2, Button, Color32, FontId, Key, Rect, Response, RichText, Sense, Stroke, StrokeKind, Ui, Vec2,
    WidgetInfo, pos2, vec2,
};

use crate::gui::design::{Tokens, radius, text};

/// Marks that are drawn rather than written: no font has all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Close, cancel.
    Close,
    /// One more.
    Plus,
    /// A warning.
    Warning,
    /// Failure.
    Error,
    /// Chosen, or proven.
    Tick,
    /// The same in a ring, without text.
    Proven,
    /// A question.
    Question,
    /// To be kept.
    Keep,
    /// An entry of a list.
    Dot,
}

/// Draws a mark into a square around `center`.
pub fn paint_mark(painter: &egui::Painter, mark: Mark, center: egui::Pos2, size: f32, color: Color32) {
    let stroke = Stroke::new(1.5, color);
    let half = size / 2.0;
    let line = |from: Vec2, to: Vec2| {
        painter.line_segment([center + from * half, center + to * half], stroke);
    };
    match mark {
        Mark::Close => {
            line(vec2(-0.6, -0.6), vec2(0.6, 0.6));
            line(vec2(-0.6, 0.6), vec2(0.6, -0.6));
        }
        Mark::Plus => {
            line(vec2(-0.75, 0.0), vec2(0.75, 0.0));
            line(vec2(0.0, -0.75), vec2(0.0, 0.75));
        }
        Mark::Warning => {
            let corner = |x: f32, y: f32| center + vec2(x, y) * half;
            let triangle = vec![corner(0.0, -0.85), corner(0.95, 0.75), corner(-0.95, 0.75)];
            painter.add(egui::Shape::closed_line(triangle, stroke));
            line(vec2(0.0, -0.3), vec2(0.0, 0.25));
            painter.circle_filled(corner(0.0, 0.5), 0.9, color);
        }
        Mark::Error => {
            painter.circle_stroke(center, half * 0.9, stroke);
            line(vec2(0.0, -0.5), vec2(0.0, 0.1));
            painter.circle_filled(center + vec2(0.0, 0.45) * half, 0.9, color);
        }
        Mark::Tick => {
            line(vec2(-0.75, 0.05), vec2(-0.2, 0.6));
            line(vec2(-0.2, 0.6), vec2(0.8, -0.6));
        }
        Mark::Proven => {
            painter.circle_stroke(center, half * 0.95, stroke);
            line(vec2(-0.45, 0.05), vec2(-0.1, 0.4));
            line(vec2(-0.1, 0.4), vec2(0.45, -0.35));
        }
        Mark::Question => {
            painter.circle_stroke(center, half * 0.95, stroke);
            let font = FontId { size: size * 0.8, ..text::strong() };
            painter.text(center, Align2::CENTER_CENTER, "?", font, color);
        }
        Mark::Keep => {
            painter.circle_stroke(center, half * 0.95, stroke);
            line(vec2(-0.45, 0.0), vec2(0.45, 0.0));
        }
        Mark::Dot => {
            painter.circle_filled(center, half * 0.3, color);
        }
    }
}

/// A ring around what the keyboard acts on.
pub fn paint_focus(ui: &Ui, response: &Response, corner: egui::CornerRadius) {
    if response.has_focus() {
        let stroke = Stroke::new(1.5, Tokens::of(ui).accent);
        ui.painter().rect_stroke(response.rect, corner, stroke, StrokeKind::Inside);
    }
}

/// A small square button with a mark. `name` is its tooltip and screen reader text.
pub fn mark_button(ui: &mut Ui, mark: Mark, name: &str) -> Response {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(Vec2::splat(20.0), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, ui.is_enabled(), name));
    if ui.is_rect_visible(rect) {
        if response.hovered() {
            ui.painter().rect_filled(rect, radius::S, tokens.border);
        }
        let color = if response.hovered() { tokens.text } else { tokens.text_weak };
        paint_mark(ui.painter(), mark, rect.center(), 10.0, color);
        paint_focus(ui, &response, radius::S);
    }
    response.on_hover_text(name)
}

/// The one action that matters in a place.
pub fn primary_button(ui: &mut Ui, label: &str) -> Response {
    let tokens = Tokens::of(ui);
    if !ui.is_enabled() {
        return ui.add(Button::new(RichText::new(label).font(text::strong())));
    }
    ui.scope(|ui| {
        let widgets = &mut ui.visuals_mut().widgets;
        for (state, fill, line) in [
            (&mut widgets.inactive, tokens.accent, tokens.accent),
            (&mut widgets.hovered, tokens.accent_hovered, tokens.accent_hovered),
            (&mut widgets.active, tokens.accent_hovered, tokens.text),
        ] {
            state.weak_bg_fill = fill;
            state.bg_stroke.color = line;
            state.fg_stroke.color = tokens.on_accent;
        }
        ui.add(Button::new(RichText::new(label).font(text::strong())))
    })
    .inner
}

/// An entry of a list of places to go: the full width, the chosen one marked, a note at its right.
pub fn nav_item(ui: &mut Ui, label: &str, note: &str, selected: bool, height: f32) -> Response {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Tab, ui.is_enabled(), selected, label));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let enabled = ui.is_enabled();
    let painter = ui.painter();
    if selected {
        painter.rect_filled(rect, radius::S, tokens.selection);
        let bar = Rect::from_min_size(pos2(rect.left(), rect.top() + 6.0), vec2(3.0, height - 12.0));
        painter.rect_filled(bar, 1.5, tokens.accent);
    } else if response.hovered() && enabled {
        painter.rect_filled(rect, radius::S, tokens.hovered);
    }
    // What is disabled is faded by egui on top of this.
    let color = if enabled { tokens.text } else { tokens.text_weak };
    let font = if selected { text::strong() } else { text::body() };
    painter.text(pos2(rect.left() + 12.0, rect.center().y), Align2::LEFT_CENTER, label, font, color);
    if !note.is_empty() {
        let at = pos2(rect.right() - 8.0, rect.center().y);
        painter.text(at, Align2::RIGHT_CENTER, note, text::small(), tokens.text_weak);
    }
    paint_focus(ui, &response, radius::S);
    response
}

/// One line of text in the vertical middle of `rect`, from its left edge, cut with `…` where it ends.
/// Whether it had to be cut.
pub fn line_of_text(ui: &Ui, rect: Rect, words: &str, font: FontId, color: Color32) -> bool {
    let mut job = LayoutJob::simple_singleline(words.to_owned(), font, color);
    job.wrap = TextWrapping::truncate_at_width(rect.width().max(0.0));
    let galley = ui.painter().layout_job(job);
    let at = Align2::LEFT_CENTER.align_size_within_rect(galley.size(), rect).min;
    let cut = galley.elided;
    ui.painter().galley(at, galley, color);
    cut
}

/// How many letters of small text surely fit into `width` points.
pub fn letters_in(width: f32) -> usize {
    const WIDEST: f32 = 6.3;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a float cast saturates")]
    let letters = (width / WIDEST) as usize;
    letters.max(8)
}

/// How far work is: a bar that fills, or a piece that wanders while the end is not known.
pub fn progress_bar(ui: &mut Ui, name: &str, fraction: Option<f32>, size: Vec2) -> Response {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::ProgressIndicator, true, name);
        info.value = fraction.map(|fraction| f64::from(fraction) * 100.0);
        info
    });
    if ui.is_rect_visible(rect) {
        let painter = ui.painter();
        let round = size.y / 2.0;
        painter.rect_filled(rect, round, tokens.border);
        let (from, to) = if let Some(fraction) = fraction {
            (0.0, fraction.clamp(0.0, 1.0))
        } else {
            let turns = ui.input(|input| input.time / 2.4).fract();
            #[expect(clippy::cast_possible_truncation, reason = "below 1")]
            let middle = 0.5 - 0.5 * (turns as f32 * TAU).cos();
            (middle * 0.7, middle * 0.7 + 0.3)
        };
        let filled = Rect::from_x_y_ranges(
            egui::lerp(rect.x_range(), from)..=egui::lerp(rect.x_range(), to),
            rect.y_range(),
        );
        if filled.width() >= 1.0 {
            painter.rect_filled(filled, round, tokens.accent);
        }
    }
    response
}

/// A key as it is written on a keyboard.
pub fn key_cap(ui: &mut Ui, keys: &str) -> Response {
    let tokens = Tokens::of(ui);
    egui::Frame::new()
        .fill(tokens.raised)
        .stroke(Stroke::new(1.0, tokens.border))
        .corner_radius(radius::S)
        .inner_margin(egui::Margin::symmetric(6, 1))
        .show(ui, |ui| ui.label(RichText::new(keys).font(text::small()).color(tokens.text_weak)))
        .inner
}

/// The edge of a box that is ticked or not.
pub const BOX: f32 = 14.0;

/// Paints a box around `center`, ticked or not.
pub fn paint_box(ui: &Ui, center: egui::Pos2, on: bool, hovered: bool) {
    let tokens = Tokens::of(ui);
    let edge = match (on, hovered) {
        (true, _) => tokens.accent,
        (false, true) => tokens.text,
        (false, false) => tokens.border_strong,
    };
    let fill = if on { tokens.accent } else { tokens.field };
    let frame = Rect::from_center_size(center, Vec2::splat(BOX));
    ui.painter().rect(frame, 3.0, fill, Stroke::new(1.0, edge), StrokeKind::Inside);
    if on {
        paint_mark(ui.painter(), Mark::Tick, center, 10.0, tokens.on_accent);
    }
}

/// A box with words behind it.
pub fn check_box(ui: &mut Ui, on: bool, label: &str) -> Response {
    let tokens = Tokens::of(ui);
    let galley = ui.painter().layout_no_wrap(label.to_owned(), text::body(), tokens.text);
    let size = vec2(BOX + 10.0 + galley.size().x, 24.0);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, ui.is_enabled(), on, label));
    if ui.is_rect_visible(rect) {
        let center = pos2(rect.left() + 1.0 + BOX / 2.0, rect.center().y);
        paint_box(ui, center, on, response.hovered());
        let at = pos2(rect.left() + BOX + 8.0, rect.center().y - galley.size().y / 2.0);
        ui.painter().galley(at, galley, tokens.text);
        paint_focus(ui, &response, radius::S);
    }
    response
}

/// The head of a section.
pub fn heading(ui: &mut Ui, label: &str) -> Response {
    ui.label(RichText::new(label).font(text::heading()).color(Tokens::of(ui).text))
}

/// Text of second rank.
pub fn weak(ui: &mut Ui, label: impl Into<String>) -> Response {
    ui.label(RichText::new(label).color(Tokens::of(ui).text_weak))
}

/// The head of a section with a note behind it.
pub fn heading_with_note(ui: &mut Ui, label: &str, note: &str) {
    ui.horizontal(|ui| {
        heading(ui, label);
        if !note.is_empty() {
            weak(ui, note);
        }
    });
}

/// What was done with the tabs of [`page_tabs`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageTab<P> {
    /// This page is asked for.
    Show(P),
    /// The keyboard leaves the tabs.
    Leave,
}

/// The pages of details, one in front, which takes the keyboard focus if `focus`.
pub fn page_tabs<P: Copy + PartialEq>(
    ui: &mut Ui,
    pages: &[(P, String)],
    front: P,
    focus: bool,
) -> Option<PageTab<P>> {
    let mut done = None;
    for (page, label) in pages {
        let selected = *page == front;
        let response = ui.selectable_label(selected, label);
        response.widget_info(|| WidgetInfo::selected(Role::Tab, true, selected, label));
        if selected && focus {
            response.request_focus();
        }
        // Escape has taken the focus away already.
        let left = response.has_focus() || response.lost_focus();
        if left && ui.input(|input| input.key_pressed(Key::Escape)) {
            done = Some(PageTab::Leave);
        }
        if response.clicked() {
            done = Some(PageTab::Show(*page));
        }
    }
    done
}
