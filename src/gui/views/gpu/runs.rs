//! Earlier runs of the check on this machine.

use egui::accesskit::Role;
use egui::{Align, Key, Label, Layout, Rect, RichText, Sense, Ui, WidgetInfo, pos2, vec2};

use super::machine::{MachineView, tone};
use crate::base::text::counted;
use crate::gui::design::{Tokens, radius, row, space, text};
use crate::gui::models::gpu::{Machine, RunItem};
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls::{heading, paint_focus, paint_mark};

/// How many are shown before all are asked for.
const SHOWN: usize = 6;
/// From these widths on, the GPU and the driver have columns; the tooltip has all.
const WITH_GPU: f32 = 440.0;
const WITH_DRIVER: f32 = 560.0;
const WHEN: f32 = 122.0;
const DRIVER: f32 = 84.0;
const NUMBER: f32 = 58.0;

pub(super) fn show(ui: &mut Ui, machine: &mut Machine, view: &mut MachineView) {
    let tokens = Tokens::of(ui);
    if let Some(fault) = machine.runs_fault() {
        ui.add_space(space::M);
        let fault = RichText::new(crate::base::text::sentence(&crate::base::text::printable(fault)));
        ui.add(Label::new(fault.color(tokens.warning)).wrap().selectable(true));
    }
    if machine.runs().is_empty() {
        view.confirm_forget = false;
        return;
    }
    ui.add_space(space::L);
    ui.horizontal(|ui| {
        heading(ui, "Earlier runs");
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| clear(ui, machine, view));
    });
    let lines = RunItem::all(machine.runs());
    ui.spacing_mut().item_spacing.y = 0.0;
    head(ui);
    let id = ui.make_persistent_id("all earlier runs");
    let all: bool = ui.data(|data| data.get_temp(id)).unwrap_or(false);
    let chosen = machine.past_line();
    let mut clicked = None;
    for (line, run) in lines.iter().enumerate().take(if all { lines.len() } else { SHOWN }) {
        if show_run(ui, run, chosen == Some(line)) {
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
    if !view.confirm_forget {
        if ui.button("Clear…").on_hover_text("Delete all earlier runs").clicked() {
            view.confirm_forget = true;
        }
        return;
    }
    if ui.button("Cancel").clicked() || ui.input(|input| input.key_pressed(Key::Escape)) {
        view.confirm_forget = false;
    }
    if ui.button(format!("Delete {}", counted(machine.runs().len(), "run"))).clicked() {
        machine.clear_runs();
        view.confirm_forget = false;
    }
}

/// Column positions: when, GPU, driver, result, stream, graph; `None` for one that is left out.
fn columns(rect: Rect) -> [Option<Rect>; 6] {
    let at = |from: f32, to: f32| Some(Rect::from_x_y_ranges(from..=to.max(from), rect.y_range()));
    let (left, right) = (rect.left() + 6.0, rect.right() - 6.0);
    let (graph, stream) = (right - NUMBER, right - 2.0 * NUMBER - 4.0);
    let behind = left + WHEN + 8.0;
    let (with_gpu, with_driver) = (rect.width() >= WITH_GPU, rect.width() >= WITH_DRIVER);
    let result = if with_gpu { stream - 104.0 } else { behind };
    let driver = if with_driver { result - DRIVER - 8.0 } else { result };
    [
        at(left, left + WHEN),
        with_gpu.then(|| at(behind, driver - 8.0)).flatten(),
        with_driver.then(|| at(driver, result - 8.0)).flatten(),
        at(result, stream - 4.0),
        at(stream, stream + NUMBER),
        at(graph, right),
    ]
}

fn head(ui: &mut Ui) {
    let tokens = Tokens::of(ui);
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), row::DENSE), Sense::hover());
    let names = ["UTC", "GPU", "Driver", "Result", "Stream µs", "Graph µs"];
    for (column, (place, name)) in columns(rect).into_iter().zip(names).enumerate() {
        let Some(place) = place else { continue };
        let (painter, font, color) = (ui.painter(), text::small(), tokens.text_weak);
        if column < 4 {
            cell::left(painter, place, name, &font, color, Cut::End);
        } else {
            cell::right(painter, place, name, &font, color);
        }
    }
    ui.painter().hline(rect.x_range(), rect.bottom() - 0.5, egui::Stroke::new(1.0, tokens.border));
}

/// Whether it was clicked.
fn show_run(ui: &mut Ui, run: &RunItem, chosen: bool) -> bool {
    let tokens = Tokens::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), row::NORMAL), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Row, true, chosen, run.spoken()));
    if ui.is_rect_visible(rect) {
        if chosen {
            ui.painter().rect_filled(rect, radius::S, tokens.selection);
        } else if response.hovered() {
            ui.painter().rect_filled(rect, radius::S, tokens.hovered);
        }
        let (painter, font) = (ui.painter(), text::body());
        let (mark, color) = tone(tokens, run.tone);
        let (on_stream, in_graph) = run.launches.as_ref().map_or(("–", "–"), |(a, b)| (a, b));
        let texts = [
            (run.when.as_str(), tokens.text),
            (&run.gpu, tokens.text),
            (&run.driver, tokens.text_weak),
            (&run.result, color),
            (on_stream, tokens.text),
            (in_graph, tokens.text),
        ];
        for (column, (place, (words, color))) in columns(rect).into_iter().zip(texts).enumerate() {
            let Some(mut place) = place else { continue };
            // Without launches, the result has their room.
            if run.launches.is_none() && column > 3 {
                continue;
            }
            if column == 3 {
                if run.launches.is_none() {
                    place.max.x = rect.right() - 6.0;
                }
                paint_mark(painter, mark, pos2(place.left() + 6.0, rect.center().y), 11.0, color);
                place.min.x += 18.0;
            }
            if column < 4 {
                cell::left(painter, place, words, &font, color, Cut::End);
            } else {
                cell::right(painter, place, words, &font, color);
            }
        }
        paint_focus(ui, &response, radius::S);
    }
    let clicked = response.clicked();
    response.on_hover_ui(|ui| {
        ui.label(run.spoken());
        crate::gui::widgets::controls::weak(ui, "Show run");
    });
    clicked
}
