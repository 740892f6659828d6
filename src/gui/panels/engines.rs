//! Images of container engines on the start screen.

use egui::accesskit::Role;
use egui::{
    Align, Frame, Label, Layout, Rect, RichText, ScrollArea, Sense, Stroke, Ui, WidgetInfo, pos2, vec2,
};

use crate::base::text::counted;
use crate::gui::app::App;
use crate::gui::design::{Tokens, radius, row, space, text};
use crate::gui::models::remote::{ImageRow, LocalImages};
use crate::gui::views::{Action, Command};
use crate::gui::widgets::cell::{self, Cut, Direction, triangle};
use crate::gui::widgets::controls::{heading, paint_focus, weak};

const HEAD: f32 = 24.0;
/// Widths of the columns right of the names: engine, day, size.
const ENGINE: f32 = 128.0;
const DAY: f32 = 80.0;
const SIZE: f32 = 84.0;
const GAP: f32 = 12.0;
const EDGE: f32 = 10.0;

/// The images, or in a line why there are none.
pub(super) fn engines(ui: &mut Ui, app: &mut App) {
    if !app.settings.list_engines {
        weak(ui, "Images of Docker and Podman are not listed: see Settings");
        return;
    }
    let waker = app.waker();
    app.remote.images.first(&app.remote.setup, &waker);
    let App { remote, start, actions, .. } = app;
    let images = &remote.images;
    ui.horizontal(|ui| {
        if images.rows().is_empty() {
            weak(ui, images.state());
        } else {
            heading(ui, "Local images");
            let small = RichText::new(note(images)).font(text::small()).color(Tokens::of(ui).text_weak);
            ui.add(Label::new(small).truncate());
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            controls(ui, images, &mut start.engines_open, actions);
        });
    });
    if !images.rows().is_empty() {
        ui.add_space(space::XS);
        list(ui, images, actions);
    }
    if start.engines_open {
        tried(ui, images);
    }
}

fn note(images: &LocalImages) -> String {
    match images.left_out() {
        0 => counted(images.rows().len(), "image"),
        more => {
            format!("newest {} of {}", images.rows().len(), counted(images.rows().len() + more, "image"))
        }
    }
}

/// From right to left: the results of the sockets, and refresh.
fn controls(ui: &mut Ui, images: &LocalImages, open: &mut bool, actions: &mut Vec<Action>) {
    let link = ui.add_enabled_ui(!images.is_busy(), |ui| ui.link("Refresh")).inner;
    let link = link.on_hover_text(Command::ListEngines.info().about);
    if link.on_disabled_hover_text("Already refreshing").clicked() {
        actions.push(Action::Run(Command::ListEngines));
    }
    ui.add_space(space::XS);
    let tokens = Tokens::of(ui);
    let galley = ui.painter().layout_no_wrap("Engines".to_owned(), text::body(), tokens.accent);
    let (rect, response) = ui.allocate_exact_size(vec2(galley.size().x + 14.0, 20.0), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, *open, "Engines"));
    ui.ctx().accesskit_node_builder(response.id, |node| node.set_expanded(*open));
    let direction = if *open { Direction::Down } else { Direction::Right };
    triangle(ui.painter(), pos2(rect.left() + 5.0, rect.center().y), 6.0, direction, tokens.accent);
    let at = pos2(rect.left() + 14.0, rect.center().y - galley.size().y / 2.0);
    ui.painter().galley(at, galley, tokens.accent);
    paint_focus(ui, &response, radius::S);
    let response = response.on_hover_cursor(egui::CursorIcon::PointingHand);
    if response.on_hover_text("Sockets tried, with the result of each").clicked() {
        *open = !*open;
    }
}

fn tried(ui: &mut Ui, images: &LocalImages) {
    let tokens = Tokens::of(ui);
    tokens.card().show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 2.0;
        let nothing = ["No container engine socket was tried".to_owned()];
        let lines = if images.tried().is_empty() { &nothing[..] } else { images.tried() };
        for line in lines {
            let line = RichText::new(line).font(text::small()).color(tokens.text_weak);
            ui.add(Label::new(line).wrap().selectable(true));
        }
    });
}

/// Cell positions of a row: name, engine, day, size.
fn places(rect: Rect) -> [Rect; 4] {
    let right = rect.right() - EDGE;
    let column = |from: f32, to: f32| Rect::from_x_y_ranges(from..=to.max(from), rect.y_range());
    let (size, day) = (right - SIZE, right - SIZE - GAP - DAY);
    let engine = day - GAP - ENGINE;
    [
        column(rect.left() + EDGE, engine - GAP),
        column(engine, engine + ENGINE),
        column(day, day + DAY),
        column(size, right),
    ]
}

fn list(ui: &mut Ui, images: &LocalImages, actions: &mut Vec<Action>) {
    let tokens = Tokens::of(ui);
    let line = Stroke::new(1.0, tokens.border);
    Frame::new().stroke(line).corner_radius(radius::M).show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = 0.0;
        let (head, _) = ui.allocate_exact_size(vec2(ui.available_width(), HEAD), Sense::hover());
        let round = egui::CornerRadius { sw: 0, se: 0, ..radius::M };
        ui.painter().rect_filled(head, round, tokens.raised);
        ui.painter().hline(head.x_range(), head.bottom() - 0.5, line);
        let [name, engine, day, size] = places(head);
        let (font, color) = (text::small(), tokens.text_weak);
        for (place, words) in [(name, "Image"), (engine, "Engine"), (day, "Created")] {
            cell::left(ui.painter(), place, words, &font, color, Cut::End);
        }
        cell::right(ui.painter(), size, "Size, MiB", &font, color);
        // Half of the last row shows that there are more.
        let room = ui.content_rect().height();
        let most = if room < 720.0 { 5.5 } else { 10.5 };
        let area = ScrollArea::vertical().id_salt("local images").max_height(most * row::NORMAL);
        area.auto_shrink([false, true]).show(ui, |ui| {
            for image in images.rows() {
                if show_row(ui, image).clicked() {
                    actions.push(Action::OpenImage(image.reference.clone()));
                }
            }
        });
    });
}

fn show_row(ui: &mut Ui, image: &ImageRow) -> egui::Response {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), row::NORMAL), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &image.spoken));
    if response.gained_focus() {
        response.scroll_to_me(None);
    }
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let painter = ui.painter();
    if response.hovered() {
        painter.rect_filled(rect, radius::S, tokens.hovered);
    }
    let [mut name, engine, day, size] = places(rect);
    if let Some(more) = &image.more {
        name.max.x -= 36.0;
        let written = cell::left(painter, name, &image.name, &text::body(), tokens.accent, Cut::Middle);
        let beside = Rect::from_x_y_ranges(written.right() + 6.0..=written.right() + 42.0, rect.y_range());
        cell::left(painter, beside, more, &text::small(), tokens.text_weak, Cut::End);
    } else {
        let (font, color) =
            if image.named { (text::body(), tokens.accent) } else { (text::mono(), tokens.text_weak) };
        cell::left(painter, name, &image.name, &font, color, Cut::Middle);
    }
    cell::left(painter, engine, &image.engine, &text::body(), tokens.text_weak, Cut::End);
    cell::left(painter, day, &image.created, &text::body(), tokens.text_weak, Cut::End);
    cell::right(painter, size, &image.size, &text::body(), tokens.text);
    paint_focus(ui, &response, radius::S);
    response.on_hover_cursor(egui::CursorIcon::PointingHand).on_hover_text(&image.about)
}
