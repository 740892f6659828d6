//! In the place of a comparison, while there is none: for what it waits, and what went wrong.

use std::time::Duration;

use egui::{Label, RichText, ScrollArea, Ui, vec2};

use super::state::CompareState;
use super::{Action, CompareContext, CompareEvent};
use crate::base::size::human;
use crate::base::text::elide_middle;
use crate::gui::design::{Tokens, space, text};
use crate::gui::models::compare::{ImageState, OpenImage, letter};
use crate::gui::widgets::alert::alert_line;
use crate::gui::widgets::controls::{Mark, primary_button, progress_bar, weak};

/// The whole place of the comparison.
pub(super) fn show(
    ui: &mut Ui,
    state: &CompareState,
    around: &CompareContext,
    events: &mut Vec<CompareEvent>,
) {
    ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
        let width = (ui.available_width() - 2.0 * space::L).min(560.0);
        let left = (ui.available_width() - width) / 2.0;
        ui.add_space((ui.available_height() * 0.12).min(96.0));
        ui.horizontal_top(|ui| {
            ui.add_space(left);
            ui.vertical(|ui| {
                ui.set_width(width);
                column(ui, state, around, events);
            });
        });
    });
}

fn column(ui: &mut Ui, state: &CompareState, around: &CompareContext, events: &mut Vec<CompareEvent>) {
    let title = |ui: &mut Ui, words: &str| {
        ui.label(RichText::new(words).font(text::title()).color(Tokens::of(ui).text));
    };
    if state.work.is_busy() {
        title(ui, "Comparing images");
        ui.add_space(space::M);
        let width = ui.available_width();
        progress_bar(ui, "Comparing images", None, vec2(width, 8.0));
        ui.add_space(space::XS);
        weak(ui, compared(state));
        ui.add_space(space::M);
        if ui.button("Cancel").clicked() {
            events.push(CompareEvent::Stop);
        }
        again_soon(ui);
        return;
    }
    if state.work.is_stopped() {
        title(ui, "Comparison cancelled");
        ui.add_space(space::M);
        if primary_button(ui, "Compare again").clicked() {
            events.push(CompareEvent::Retry);
        }
        return;
    }
    if let Some(error) = state.work.error() {
        title(ui, "Comparison failed");
        ui.add(Label::new(error).wrap().selectable(true));
        ui.add_space(space::M);
        if primary_button(ui, "Try again").clicked() {
            events.push(CompareEvent::Retry);
        }
        return;
    }
    let images: Vec<_> = state.columns.list().iter().filter_map(|id| around.image(*id)).collect();
    let reading = images.iter().any(|image| matches!(image.state, ImageState::Reading(..)));
    title(ui, if reading { "Waiting for images" } else { "Nothing to compare" });
    let note = if reading {
        "The comparison starts when all layers are read and findings are ready."
    } else {
        "A comparison requires two readable images."
    };
    weak(ui, note);
    ui.add_space(space::M);
    for (place, image) in images.into_iter().enumerate() {
        one(ui, place, image, state, events);
        ui.add_space(space::S);
    }
}

/// An image, and its progress.
fn one(ui: &mut Ui, place: usize, image: &OpenImage, state: &CompareState, events: &mut Vec<CompareEvent>) {
    let tokens = Tokens::of(ui);
    tokens.card().show(ui, |ui| {
        ui.set_width(ui.available_width());
        let name = format!("{}  {}", letter(place), elide_middle(&image.title, 70));
        ui.label(RichText::new(name).font(text::strong())).on_hover_text(&image.shown);
        let action = |ui: &mut Ui, label: &str, action: Action, events: &mut Vec<CompareEvent>| {
            if ui.button(label).clicked() {
                events.push(CompareEvent::Window(action));
            }
        };
        match &image.state {
            ImageState::Ready(_) => {
                weak(ui, "ready");
            }
            ImageState::Reading(fraction, words) => {
                let width = ui.available_width();
                progress_bar(
                    ui,
                    &format!("Loading {}, full depth", image.title),
                    *fraction,
                    vec2(width, 6.0),
                );
                weak(ui, words);
                action(ui, "Cancel loading", Action::CancelTab(image.id), events);
                again_soon(ui);
            }
            ImageState::Failed(why) => {
                ui.add(Label::new(RichText::new(why).color(tokens.error)).wrap().selectable(true));
                retry(ui, image, state, events, action);
            }
            ImageState::Stopped => {
                weak(ui, "Cancelled before all layers were read.");
                retry(ui, image, state, events, action);
            }
            ImageState::Saved => {
                weak(ui, image.state.refused().unwrap_or_default());
            }
        }
    });
}

fn retry(
    ui: &mut Ui,
    image: &OpenImage,
    state: &CompareState,
    events: &mut Vec<CompareEvent>,
    action: impl Fn(&mut Ui, &str, Action, &mut Vec<CompareEvent>),
) {
    ui.horizontal(|ui| {
        action(ui, "Try again", Action::Again(image.id), events);
        if image.id != state.columns.own() && ui.button("Remove").clicked() {
            events.push(CompareEvent::Remove(image.id));
        }
    });
}

fn compared(state: &CompareState) -> String {
    match state.work.bytes_compared() {
        0 => "Comparing layers, files and packages.".to_owned(),
        bytes => {
            format!("{} of file content read to check for identical files", human(bytes))
        }
    }
}

/// Counters move while the window is idle.
fn again_soon(ui: &Ui) {
    ui.ctx().request_repaint_after(Duration::from_millis(100));
}

/// Above a comparison that is shown: what is still to come, and what went wrong.
pub(super) fn line(
    ui: &mut Ui,
    state: &CompareState,
    around: &CompareContext,
    events: &mut Vec<CompareEvent>,
) {
    let tokens = Tokens::of(ui);
    let images = || state.columns.list().iter().filter_map(|id| around.image(*id));
    let titles = |is: fn(&ImageState) -> bool| {
        let found: Vec<String> =
            images().filter(|image| is(&image.state)).map(|image| elide_middle(&image.title, 40)).collect();
        found.join(", ")
    };
    let failed: Vec<&OpenImage> =
        images().filter(|image| matches!(image.state, ImageState::Failed(_) | ImageState::Stopped)).collect();
    let reading = titles(|state| matches!(state, ImageState::Reading(..)));
    for image in failed {
        let why = match &image.state {
            ImageState::Failed(why) => why.as_str(),
            _ => "cancelled before all layers were read",
        };
        let words = format!("{} excluded: {why}", elide_middle(&image.title, 40));
        banner(
            ui,
            Mark::Error,
            tokens.error,
            &words,
            "Try again",
            || CompareEvent::Window(Action::Again(image.id)),
            events,
        );
    }
    if state.work.is_busy() {
        let words = format!("Comparing again. {}", compared(state));
        banner(ui, Mark::Question, tokens.accent, &words, "Cancel", || CompareEvent::Stop, events);
        again_soon(ui);
    } else if state.work.is_stopped() {
        let words = "Comparison cancelled. Showing the previous result.";
        banner(ui, Mark::Warning, tokens.warning, words, "Compare again", || CompareEvent::Retry, events);
    } else if let Some(error) = state.work.error() {
        banner(ui, Mark::Error, tokens.error, error, "Try again", || CompareEvent::Retry, events);
    } else if !reading.is_empty() {
        weak(ui, format!("Waiting for {reading}; added to the comparison when loaded."));
        ui.add_space(space::XS);
        again_soon(ui);
    }
}

fn banner(
    ui: &mut Ui,
    mark: Mark,
    color: egui::Color32,
    words: &str,
    button: &str,
    event: impl FnOnce() -> CompareEvent,
    events: &mut Vec<CompareEvent>,
) {
    alert_line(ui, mark, color, words, |ui| {
        if ui.button(button).clicked() {
            events.push(event());
        }
    });
    ui.add_space(space::XS);
}
