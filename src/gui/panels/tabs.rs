//! One tab for each open image, and one to open more.

use egui::accesskit::Role;
use egui::{Rect, ScrollArea, Sense, Stroke, Ui, UiBuilder, WidgetInfo, pos2, vec2};

use crate::gui::app::{App, Phase, Tab};
use crate::gui::design::{Tokens, radius, text};
use crate::gui::views::{Action, Command};
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls::{Mark, mark_button, paint_focus, paint_mark};

const HEIGHT: f32 = 30.0;
const WIDEST: f32 = 220.0;
const NARROWEST: f32 = 110.0;

/// The strip below the menu bar.
pub(crate) fn tab_strip(ui: &mut Ui, app: &mut App) {
    let App { tabs, front, seen_front, actions, .. } = app;
    let moved = std::mem::replace(seen_front, *front) != *front;
    let room = ui.available_width() - 40.0;
    let width = (room / tabs.len().max(1) as f32).clamp(NARROWEST, WIDEST);
    ScrollArea::horizontal().auto_shrink([false, true]).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = 2.0;
            for tab in tabs {
                let in_front = *front == Some(tab.id);
                let rect = show_tab(ui, tab, in_front, width, actions);
                if in_front && moved {
                    ui.scroll_to_rect(rect, None);
                }
            }
            ui.add_space(4.0);
            if mark_button(ui, Mark::Plus, "Open image…").clicked() {
                actions.push(Action::Run(Command::NewTab));
            }
        });
    });
}

fn show_tab(ui: &mut Ui, tab: &Tab, in_front: bool, width: f32, actions: &mut Vec<Action>) -> Rect {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Tab, true, in_front, &tab.title));
    if tab.faults.is_some() {
        ui.ctx().accesskit_node_builder(response.id, |node| node.set_description("incomplete"));
    }
    let round = egui::CornerRadius { nw: 6, ne: 6, sw: 0, se: 0 };
    if in_front {
        ui.painter().rect_filled(rect, round, tokens.background);
        let line = Rect::from_min_size(rect.min, vec2(width, 2.0));
        ui.painter().rect_filled(line.shrink2(vec2(6.0, 0.0)), 1.0, tokens.accent);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, round, tokens.hovered);
    }
    let mut left = rect.left() + 12.0;
    let middle = rect.center().y;
    match &tab.phase {
        Phase::Failed(_) => {
            paint_mark(ui.painter(), Mark::Error, pos2(left + 5.0, middle), 12.0, tokens.error);
            left += 18.0;
        }
        Phase::Running | Phase::Stopping => {
            progress_ring(ui, tab, pos2(left + 5.0, middle));
            left += 18.0;
        }
        Phase::Done | Phase::Cancelled if tab.faults.is_some() => {
            paint_mark(ui.painter(), Mark::Warning, pos2(left + 5.0, middle), 12.0, tokens.warning);
            left += 18.0;
        }
        Phase::Asking | Phase::Done | Phase::Cancelled => {}
    }
    let font = if in_front { text::strong() } else { text::body() };
    let color = if in_front { tokens.text } else { tokens.text_weak };
    let room = Rect::from_min_max(pos2(left, rect.top()), pos2(rect.right() - 30.0, rect.bottom()));
    cell::left(ui.painter(), room, &tab.title, &font, color, Cut::Middle);
    paint_focus(ui, &response, radius::S);
    let close = Rect::from_center_size(pos2(rect.right() - 16.0, middle), egui::Vec2::splat(20.0));
    let mut child = ui.new_child(UiBuilder::new().max_rect(close));
    if mark_button(&mut child, Mark::Close, &format!("Close {}", tab.title)).clicked()
        || response.middle_clicked()
    {
        actions.push(Action::CloseTab(tab.id));
    } else if response.on_hover_text(about(tab)).clicked() {
        actions.push(Action::ShowTab(tab.id));
    }
    rect
}

/// The whole reference, and what is missing of the image.
fn about(tab: &Tab) -> String {
    match &tab.faults {
        Some(faults) => format!("{}\n{}", tab.shown, faults.words),
        None => tab.shown.clone(),
    }
}

/// A small ring that fills with the work.
fn progress_ring(ui: &Ui, tab: &Tab, center: egui::Pos2) {
    let tokens = Tokens::of(ui);
    let radius = 5.0;
    ui.painter().circle_stroke(center, radius, Stroke::new(2.0, tokens.border));
    let done = tab.progress().fraction().unwrap_or(0.1).max(0.05);
    let points =
        (0_u8..=24).map(|step| f32::from(step) / 24.0).take_while(|turn| *turn <= done + 0.03).map(|turn| {
            let angle = (turn - 0.25) * std::f32::consts::TAU;
            center + radius * vec2(angle.cos(), angle.sin())
        });
    ui.painter().add(egui::Shape::line(points.collect(), Stroke::new(2.0, tokens.accent)));
}
