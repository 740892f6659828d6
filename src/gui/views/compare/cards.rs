//! The images side by side: which one is the baseline, the progress of each.

use egui::accesskit::Role;
use egui::containers::menu::MenuButton;
use egui::{
    Button, EventFilter, Id, Key, Modifiers, Rect, ScrollArea, Sense, Stroke, StrokeKind, Ui, UiBuilder,
    WidgetInfo, pos2, vec2,
};

use super::state::CompareState;
use super::{Action, CompareContext, CompareEvent};
use crate::analysis::Analysis;
use crate::base::size::human;
use crate::gui::design::{Tokens, radius, space, text};
use crate::gui::models::compare::{ImageState, OpenImage, letter};
use crate::gui::views::Command;
use crate::gui::widgets::cell::{self, Cut};
use crate::gui::widgets::controls::{self, Mark, line_of_text, paint_focus, paint_mark, progress_bar};
use crate::gui::widgets::matrix::letter as paint_letter;

const HEIGHT: f32 = 46.0;
const LEAST: f32 = 156.0;
const MOST: f32 = 280.0;
/// Room of the button at the end.
const ADD: f32 = 104.0;

pub(super) fn show(
    ui: &mut Ui,
    state: &CompareState,
    around: &CompareContext,
    events: &mut Vec<CompareEvent>,
) {
    let ids = state.columns.list();
    let gap = space::S;
    let room = ui.available_width() - ADD;
    let width = (room / ids.len().max(1) as f32 - gap).clamp(LEAST, MOST);
    let group = ui.make_persistent_id("compared images");
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        let area = ScrollArea::horizontal().auto_shrink([true, true]).max_width((room - gap).max(LEAST));
        area.id_salt("compared images").show(ui, |ui| {
            ui.horizontal(|ui| {
                for (place, id) in ids.iter().enumerate() {
                    if let Some(image) = around.image(*id) {
                        one(ui, state, image, place, width, group, events);
                    }
                }
            });
        });
        let about = Command::AddImage.info().about;
        if ui.add(Button::new("Add image…").min_size(vec2(0.0, 28.0))).on_hover_text(about).clicked() {
            events.push(CompareEvent::Adding(true));
        }
    });
    ui.add_space(space::S);
}

fn one(
    ui: &mut Ui,
    state: &CompareState,
    image: &OpenImage,
    place: usize,
    width: f32,
    group: Id,
    events: &mut Vec<CompareEvent>,
) {
    let tokens = Tokens::of(ui);
    let ids = state.columns.list();
    let baseline = state.columns.baseline() == image.id;
    let (rect, _) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::hover());
    let id = group.with(image.id);
    let response = ui.interact(rect, id, Sense::click());
    let spoken = spoken(image, place, baseline);
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, ui.is_enabled(), baseline, &spoken));
    let fill = if response.hovered() { tokens.hovered } else { tokens.raised };
    let line = if baseline { Stroke::new(1.5, tokens.accent) } else { Stroke::new(1.0, tokens.border) };
    ui.painter().rect(rect, radius::M, fill, line, StrokeKind::Inside);
    let left = paint_letter(
        ui.painter(),
        tokens,
        pos2(rect.left() + 8.0, rect.top() + 15.0),
        &letter(place),
        baseline,
    );
    let title =
        Rect::from_min_max(pos2(left + 6.0, rect.top() + 5.0), pos2(rect.right() - 30.0, rect.top() + 25.0));
    cell::left(ui.painter(), title, &image.title, &text::strong(), tokens.text, Cut::Middle);
    let about = Rect::from_min_max(
        pos2(rect.left() + 8.0, rect.top() + 26.0),
        pos2(rect.right() - 8.0, rect.bottom() - 4.0),
    );
    status(ui, image, about, baseline);
    paint_focus(ui, &response, radius::M);
    if response.has_focus() {
        keys(ui, &response, ids, image.id, group, events);
    }
    if response.clicked() {
        events.push(CompareEvent::Baseline(image.id));
    }
    response.on_hover_ui(|ui| {
        ui.label(&image.shown);
        let what = if baseline { "Baseline of the comparison" } else { "Click to use as baseline" };
        controls::weak(ui, what);
        controls::weak(ui, "Shift+Left and Shift+Right move the image, Delete removes it");
    });
    let corner = Rect::from_min_max(
        pos2(rect.right() - 28.0, rect.top() + 4.0),
        pos2(rect.right() - 4.0, rect.top() + 26.0),
    );
    let mut child = ui.new_child(UiBuilder::new().max_rect(corner).id_salt(("menu of", image.id)));
    menu(&mut child, state, image, place, events);
}

/// Arrows go from image to image; with Shift they take it along.
fn keys(ui: &Ui, response: &egui::Response, ids: &[u64], id: u64, group: Id, events: &mut Vec<CompareEvent>) {
    let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
    ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
    for (key, right) in [(Key::ArrowRight, true), (Key::ArrowLeft, false)] {
        if pressed(Modifiers::SHIFT, key) {
            events.push(CompareEvent::Shift(id, right));
        } else if pressed(Modifiers::NONE, key) {
            let at = ids.iter().position(|one| *one == id).unwrap_or(0);
            let to = if right { at + 1 } else { at.wrapping_sub(1) };
            if let Some(to) = ids.get(to) {
                ui.memory_mut(|memory| memory.request_focus(group.with(*to)));
            }
        }
    }
    if pressed(Modifiers::NONE, Key::Delete) {
        events.push(CompareEvent::Remove(id));
    }
}

fn menu(ui: &mut Ui, state: &CompareState, image: &OpenImage, place: usize, events: &mut Vec<CompareEvent>) {
    let (ids, id) = (state.columns.list(), image.id);
    let button = Button::new("…").frame(false).min_size(vec2(20.0, 20.0));
    let (button, _) = MenuButton::from_button(button).ui(ui, |ui| {
        ui.set_min_width(170.0);
        let mut item = |ui: &mut Ui, label: &str, enabled: bool, why: &str, event: CompareEvent| {
            let response = ui.add_enabled(enabled, Button::new(label)).on_disabled_hover_text(why);
            if response.clicked() {
                events.push(event);
                ui.close();
            }
        };
        let baseline = state.columns.baseline() == id;
        item(ui, "Use as baseline", !baseline, "Already the baseline", CompareEvent::Baseline(id));
        item(ui, "Move left", place > 0, "Already first", CompareEvent::Shift(id, false));
        item(ui, "Move right", place + 1 < ids.len(), "Already last", CompareEvent::Shift(id, true));
        ui.separator();
        item(
            ui,
            "Go to tab",
            state.columns.own() != id,
            "Already in this tab",
            CompareEvent::Window(Action::ShowTab(id)),
        );
        if matches!(image.state, ImageState::Failed(_) | ImageState::Stopped) {
            item(ui, "Try again", true, "", CompareEvent::Window(Action::Again(id)));
        }
        let own = state.columns.own() == id;
        item(ui, "Remove", !own, "The image of this tab cannot be removed", CompareEvent::Remove(id));
    });
    let name = format!("Actions for {}", image.title);
    button.widget_info(|| WidgetInfo::labeled(Role::Button, true, &name));
}

/// Progress of the work on an image, in its card.
fn status(ui: &mut Ui, image: &OpenImage, rect: Rect, baseline: bool) {
    let tokens = Tokens::of(ui);
    match &image.state {
        ImageState::Ready(analysis) => {
            let size = analysis.totals().map_or(String::new(), |totals| human(totals.merged_bytes));
            let words = if baseline { format!("{size} merged, baseline") } else { format!("{size} merged") };
            if !is_incomplete(analysis) {
                line_of_text(ui, rect, &words, text::small(), tokens.text_weak);
                return;
            }
            let at = pos2(rect.left() + 6.0, rect.center().y);
            paint_mark(ui.painter(), Mark::Warning, at, 12.0, tokens.warning);
            let words = format!("incomplete, {words}");
            line_of_text(ui, rect.with_min_x(rect.left() + 18.0), &words, text::small(), tokens.warning);
        }
        ImageState::Reading(fraction, words) => {
            let bar =
                Rect::from_min_size(pos2(rect.left(), rect.center().y - 3.0), vec2(rect.width() * 0.4, 6.0));
            let mut child = ui.new_child(UiBuilder::new().max_rect(bar));
            progress_bar(&mut child, &format!("Loading {}", image.title), *fraction, bar.size());
            let behind = rect.with_min_x(bar.right() + 6.0);
            line_of_text(ui, behind, words, text::small(), tokens.text_weak);
        }
        ImageState::Failed(_) | ImageState::Stopped | ImageState::Saved => {
            let words = match image.state {
                ImageState::Failed(_) => "failed",
                ImageState::Stopped => "stopped",
                _ => "saved report",
            };
            paint_mark(
                ui.painter(),
                Mark::Error,
                pos2(rect.left() + 6.0, rect.center().y),
                12.0,
                tokens.error,
            );
            line_of_text(ui, rect.with_min_x(rect.left() + 18.0), words, text::small(), tokens.error);
        }
    }
}

fn is_incomplete(analysis: &Analysis) -> bool {
    analysis.totals().is_some_and(|totals| !totals.complete)
}

fn spoken(image: &OpenImage, place: usize, baseline: bool) -> String {
    let state = match &image.state {
        ImageState::Ready(analysis) if is_incomplete(analysis) => ", incomplete".to_owned(),
        ImageState::Ready(_) => String::new(),
        ImageState::Reading(_, words) => format!(", loading: {words}"),
        ImageState::Failed(why) => format!(", failed: {why}"),
        ImageState::Stopped => ", stopped".to_owned(),
        ImageState::Saved => ", saved report".to_owned(),
    };
    let baseline = if baseline { ", the baseline" } else { "" };
    format!("{} {}{state}{baseline}", letter(place), image.title)
}
