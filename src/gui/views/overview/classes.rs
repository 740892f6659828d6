//! What the bytes are for, as a bar with its legend.

use egui::accesskit::Role;
use egui::{Rect, RichText, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::base::size::human;
use crate::cuda::Class;
use crate::gui::design::{Tokens, radius, row, space, text};
use crate::gui::models::format::short_share;
use crate::gui::models::stack::ClassItem;
use crate::gui::views::{Action, View};
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls;
use crate::gui::widgets::stacked_bar::{Segment, stacked_bar};

/// The least width of an entry of the legend.
const ENTRY: f32 = 340.0;

/// Paints the bar and its legend.
pub(super) fn show(ui: &mut Ui, classes: &[ClassItem], actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    let segments: Vec<Segment> = classes
        .iter()
        .map(|item| Segment {
            value: item.bytes,
            fill: color(tokens, item.class),
            short: item.name.to_owned(),
            spoken: item.spoken(),
            hatched: 0.0,
        })
        .collect();
    let clicked = stacked_bar(ui, "Bytes by class", 36.0, &segments, |ui, index| {
        let item = &classes[index];
        ui.label(RichText::new(item.name).font(text::strong()));
        ui.label(format!("{}, {}", human(item.bytes), item.share));
        ui.label(RichText::new(item.about).color(tokens.text_weak));
    });
    if clicked.is_some_and(|index| classes[index].is_cuda()) {
        actions.push(Action::ShowView(View::Cuda));
    }
    ui.add_space(space::S);
    let width = ui.available_width();
    let columns = if width >= 2.0 * ENTRY { 2 } else { 1 };
    let each = width / columns as f32;
    ui.spacing_mut().item_spacing.y = 0.0;
    // Down the first column, then down the second.
    let lines = classes.len().div_ceil(columns);
    for line in 0..lines {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 0.0;
            for item in (0..columns).filter_map(|column| classes.get(column * lines + line)) {
                entry(ui, item, each, actions);
            }
        });
    }
    ui.spacing_mut().item_spacing.y = space::XS;
}

fn entry(ui: &mut Ui, item: &ClassItem, width: f32, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    let leads = item.is_cuda();
    let sense = if leads { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(width, row::NORMAL), sense);
    let role = if leads { Role::Link } else { Role::Label };
    response.widget_info(|| WidgetInfo::labeled(role, true, format!("{}; {}", item.spoken(), item.about)));
    if !ui.is_rect_visible(rect) {
        return;
    }
    let painter = ui.painter();
    let highlighted = leads && response.hovered();
    if highlighted {
        painter.rect_filled(rect, radius::S, tokens.hovered);
    }
    let at =
        |from: f32, to: f32| Rect::from_x_y_ranges(rect.left() + from..=rect.left() + to, rect.y_range());
    let chip = Rect::from_center_size(pos2(rect.left() + 14.0, rect.center().y), vec2(12.0, 12.0));
    painter.rect_filled(chip, 3.0, color(tokens, item.class));
    cell::right(painter, at(24.0, 104.0), &human(item.bytes), &text::body(), tokens.text);
    let share = short_share(&item.share);
    cell::right(painter, at(104.0, 172.0), &share, &text::small(), tokens.text_weak);
    let name = if highlighted { tokens.accent } else { tokens.text };
    let room = Rect::from_x_y_ranges(rect.left() + 184.0..=rect.right() - 8.0, rect.y_range());
    let written = cell::left(painter, room, item.name, &text::strong(), name, Cut::End);
    let behind = Rect::from_x_y_ranges(written.right() + 10.0..=rect.right() - 8.0, rect.y_range());
    if behind.width() > 190.0 {
        cell::left(painter, behind, item.about, &text::small(), tokens.text_weak, Cut::End);
    }
    controls::paint_focus(ui, &response, radius::S);
    if leads && response.on_hover_cursor(egui::CursorIcon::PointingHand).clicked() {
        actions.push(Action::ShowView(View::Cuda));
    }
}

fn color(tokens: &Tokens, class: Class) -> egui::Color32 {
    let place = Class::ALL.iter().position(|other| *other == class).unwrap_or(0);
    tokens.classes[place]
}
