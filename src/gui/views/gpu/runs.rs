//! Earlier runs of the check on this machine.

use egui::accesskit::Role;
use egui::{Align, Key, Label, Layout, Rect, RichText, Sense, Ui, WidgetInfo, pos2, vec2};

use super::machine::{MachineView, tone};
use crate::gui::design::{Tokens, radius, row, space, text};
use crate::gui::models::format::count;
use crate::gui::models::gpu::{Machine, RunItem};
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls::{heading, paint_focus, paint_mark};

/// How many are shown before all are asked for.
const SHOWN: usize = 6;
/// From this width on, the driver has a column.
const WIDE: f32 = 400.0;
const WHEN: f32 = 108.0;
const DRIVER: f32 = 84.0;
const NUMBER: f32 = 44.0;

pub(super) fn show(ui: &mut Ui, machine: &mut Machine, view: &mut MachineView) {
    let tokens = Tokens::of(ui);
    if let Some(fault) = machine.runs_fault() {
        ui.add_space(space::M);
        let fault = RichText::new(crate::base::text::sentence(&crate::base::text::printable(fault)));
        ui.add(Label::new(fault.color(tokens.warning)).wrap().selectable(true));
    }
    if machine.runs().is_empty() {
        view.asks = false;
        return;
    }
    ui.add_space(space::L);
    ui.horizontal(|ui| {
        heading(ui, "Earlier runs");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| clear(ui, machine, view));
    });
    let lines = RunItem::all(machine.runs());
    let wide = ui.available_width() >= WIDE;
    ui.spacing_mut().item_spacing.y = 0.0;
    head(ui, wide);
    let id = ui.make_persistent_id("all earlier runs");
    let all: bool = ui.data(|data| data.get_temp(id)).unwrap_or(false);
    let chosen = machine.past_line();
    let mut clicked = None;
    for (line, run) in lines.iter().enumerate().take(if all { lines.len() } else { SHOWN }) {
        if show_run(ui, run, chosen == Some(line), wide) {
            clicked = Some(line);
        }
    }
    ui.spacing_mut().item_spacing.y = 4.0;
    if let Some(line) = clicked {
        machine.show_past(if chosen == Some(line) { None } else { Some(line) });
        ui.ctx().request_repaint();
    }
    let more = lines.len().saturating_sub(SHOWN);
    if more > 0 && !all && ui.link(format!("Show {more} more")).clicked() {
        ui.data_mut(|data| data.insert_temp(id, true));
    }
}

/// The button, which asks once more.
fn clear(ui: &mut Ui, machine: &mut Machine, view: &mut MachineView) {
    if !view.asks {
        if ui.button("Clear…").on_hover_text("Forget all earlier runs").clicked() {
            view.asks = true;
        }
        return;
    }
    if ui.button("Keep").clicked() || ui.input(|input| input.key_pressed(Key::Escape)) {
        view.asks = false;
    }
    if ui.button(format!("Forget {}", count(machine.runs().len(), "run"))).clicked() {
        machine.clear_runs();
        view.asks = false;
    }
}

/// Where the columns stand: when, GPU, driver, result, stream, graph.
fn columns(rect: Rect, wide: bool) -> [Rect; 6] {
    let at = |from: f32, to: f32| Rect::from_x_y_ranges(from..=to.max(from), rect.y_range());
    let (left, right) = (rect.left() + 6.0, rect.right() - 6.0);
    let graph = right - NUMBER;
    let stream = graph - NUMBER - 4.0;
    let result = stream - if wide { 100.0 } else { 88.0 };
    let driver = if wide { result - DRIVER - 8.0 } else { result };
    [
        at(left, left + WHEN),
        at(left + WHEN + 8.0, driver - 8.0),
        at(driver, if wide { result - 8.0 } else { driver }),
        at(result, stream - 4.0),
        at(stream, stream + NUMBER),
        at(graph, right),
    ]
}

fn head(ui: &mut Ui, wide: bool) {
    let tokens = Tokens::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), row::DENSE), Sense::hover());
    let places = columns(rect, wide);
    let names = ["UTC", "GPU", if wide { "Driver" } else { "" }, "Result", "Stream µs", "Graph µs"];
    for (place, (rect, name)) in places.iter().zip(names).enumerate() {
        let (painter, font, color) = (ui.painter(), text::small(), tokens.text_weak);
        if place < 4 {
            cell::left(painter, *rect, name, &font, color, Cut::End);
        } else {
            cell::right(painter, rect.expand2(vec2(4.0, 0.0)).translate(vec2(-4.0, 0.0)), name, &font, color);
        }
    }
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, egui::Stroke::new(1.0, tokens.border));
}

/// Whether it was clicked.
fn show_run(ui: &mut Ui, run: &RunItem, chosen: bool, wide: bool) -> bool {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), row::NORMAL), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Row, true, chosen, run.spoken()));
    if ui.is_rect_visible(rect) {
        if chosen {
            ui.painter().rect_filled(rect, radius::S, tokens.selection);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, radius::S, tokens.hovered);
        }
        let [when, gpu, driver, result, stream, graph] = columns(rect, wide);
        let (painter, font) = (ui.painter(), text::body());
        cell::left(painter, when, &run.when, &font, tokens.text, Cut::End);
        cell::left(painter, gpu, &run.gpu, &font, tokens.text, Cut::End);
        if wide {
            cell::left(painter, driver, &run.driver, &font, tokens.text_weak, Cut::End);
        }
        let (mark, color) = tone(tokens, run.tone);
        paint_mark(painter, mark, pos2(result.left() + 6.0, rect.center().y), 11.0, color);
        let word = Rect::from_x_y_ranges(result.left() + 16.0..=result.right(), rect.y_range());
        cell::left(painter, word, &run.result, &font, color, Cut::End);
        let (on_stream, in_graph) = run.launches.as_ref().map_or(("–", "–"), |(a, b)| (a, b));
        cell::right(painter, stream, on_stream, &font, tokens.text);
        cell::right(painter, graph, in_graph, &font, tokens.text);
        paint_focus(ui, &response, radius::S);
    }
    let clicked = response.clicked();
    response.on_hover_ui(|ui| {
        ui.label(run.spoken());
        crate::gui::widgets::controls::weak(ui, "Show this run");
    });
    clicked
}
