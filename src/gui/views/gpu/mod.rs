//! In: the check of this machine's GPU, and an analysis as it grows.
//! Out: running and past checks, and on which machines the image would run.
//! Must not know: tabs, panels, how a GPU is checked, or how a verdict is reached.

mod details;
mod error;
mod head;
mod machine;
mod results;
mod runs;
mod state;
mod steps;
mod targets;

use std::sync::Arc;

use egui::Ui;

pub use self::machine::MachineView;
pub(in crate::gui) use self::machine::show as show_machine;
use self::state::GpuState;
use super::{Action, ImageView, ViewContext, waker};
use crate::gui::design::space;
use crate::gui::models::gpu::{Judge, TargetVerdicts};
use crate::gui::models::layers::{LayerItem, waiting_for};
use crate::gui::widgets::pane::{at_least, card, empty};
use crate::gui::widgets::split::{LIST_REST, Split};
use crate::gui::widgets::stops;

/// Room for the check's button, below what is missing of the driver.
const MACHINE_HEIGHT: f32 = 200.0;

/// This machine, here and in reports.
pub(super) const MACHINE: Split = Split {
    name: "this machine",
    wide: 1_000.0,
    first: true,
    beside: |width| ((width * 0.28).clamp(330.0, 440.0), 320.0..=width * 0.5),
    stacked: |height| ((height * 0.33).max(MACHINE_HEIGHT), 120.0..=(height * 0.7).max(MACHINE_HEIGHT)),
    // Above the list of machines are the needs of the image, a filter and the verdicts.
    rest: LIST_REST + 110.0,
};

/// The chosen machine, below the verdicts at any width.
const DETAILS: Split = Split {
    name: "machine details",
    wide: f32::INFINITY,
    first: false,
    beside: |width| (width, 0.0..=width),
    stacked: |height| ((height * 0.42).clamp(96.0, 300.0), 84.0..=(height * 0.7).max(110.0)),
    rest: LIST_REST,
};

/// State of the view of one image. The check itself belongs to the window.
#[derive(Default)]
pub struct GpuView {
    state: GpuState,
    machine: MachineView,
    focus_search: bool,
    /// Whether machines are listed for an image that needs no GPU.
    shows_all: bool,
    painted: usize,
}

/// What a part of the view asks for.
enum GpuEvent {
    /// To the window.
    Window(Action),
    /// To a machine, by its place in the model.
    Target(usize),
    /// Nothing is chosen any more.
    Clear,
}

impl ImageView for GpuView {
    fn ui(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        let waker = waker(ui);
        self.painted = 0;
        self.state.update(context, &waker);
        let mut events = Vec::new();
        let one_pane = MACHINE.is_wide(ui) || MACHINE.is_folded(ui, 0.0);
        let height = if one_pane { 0.0 } else { MACHINE_HEIGHT + MACHINE.rest };
        at_least(ui, "gpu page", height, |ui| {
            MACHINE.show(ui, |ui| {
                card(ui, |ui| machine::show(ui, context.machine, &mut self.machine, context.actions));
            });
            egui::CentralPanel::no_frame().show(ui, |ui| self.verdicts(ui, context, &mut events));
        });
        for event in events {
            self.handle(ui, event, context);
        }
    }

    fn main_lists(&self) -> &'static [&'static str] {
        &["Machines"]
    }

    fn focus_search(&mut self) -> bool {
        self.focus_search = true;
        true
    }

    fn is_busy(&self) -> bool {
        self.state.is_busy()
    }
}

impl GpuView {
    /// A view whose verdicts come from `judge`, for tests.
    pub fn with(judge: Judge) -> Self {
        Self { state: GpuState::with(judge), ..Self::default() }
    }

    fn verdicts(&mut self, ui: &mut Ui, context: &ViewContext<'_>, events: &mut Vec<GpuEvent>) {
        let Some(judged) = self.state.judged() else {
            card(ui, |ui| loading(ui, &self.state, context));
            return;
        };
        if !judged.needs.uses_cuda && !self.shows_all {
            card(ui, |ui| {
                let incomplete = context.analysis.totals().is_some_and(|totals| !totals.complete);
                if incomplete {
                    empty(ui, "No need for a GPU found", "Nothing in the part that was read uses CUDA.");
                } else {
                    let note = "Nothing in this image uses CUDA: it runs on machines with and without a GPU.";
                    empty(ui, "Needs no GPU", note);
                }
                ui.add_space(space::S);
                ui.vertical_centered(|ui| self.shows_all |= ui.link("All machines").clicked());
            });
            return;
        }
        let focus = std::mem::take(&mut self.focus_search);
        head::show(ui, &mut self.state, &judged, focus);
        if let Some(target) = self.state.chosen(&judged) {
            DETAILS.show(ui, |ui| card(ui, |ui| details::show(ui, target, events)));
        }
        egui::CentralPanel::no_frame().show(ui, |ui| {
            if let Some(output) = targets::show(ui, &mut self.state, &judged, context.machine, events) {
                self.painted = output.painted;
            }
        });
    }

    fn handle(&mut self, ui: &Ui, event: GpuEvent, context: &mut ViewContext<'_>) {
        match event {
            GpuEvent::Window(action) => context.actions.push(action),
            GpuEvent::Target(place) => self.state.select_at(place),
            GpuEvent::Clear => {
                if !self.state.clear() {
                    stops::escape(ui.ctx());
                }
            }
        }
        ui.ctx().request_repaint();
    }

    /// Chooses the machine with this id and brings it into sight, once it is known.
    pub fn select(&mut self, id: &str) {
        self.state.select(id);
    }

    /// The verdicts, as data.
    pub fn judged(&self) -> Option<Arc<TargetVerdicts>> {
        self.state.judged()
    }

    /// How many rows of the table were made for the last frame.
    pub fn painted_rows(&self) -> usize {
        self.painted
    }
}

/// In place of the verdicts while there are none.
fn loading(ui: &mut Ui, state: &GpuState, context: &ViewContext<'_>) {
    if let Some(error) = state.error() {
        empty(ui, "Compatibility check failed", error);
    } else if state.is_busy() {
        empty(
            ui,
            "Checking compatibility",
            "Comparing image requirements with every machine in the catalog.",
        );
    } else if context.done {
        let note = "The analysis stopped before CUDA content was known. Reload the image.";
        empty(ui, "Image requirements unknown", note);
    } else {
        let layers = LayerItem::all(context.analysis, context.done);
        let what = match (waiting_for(&layers), &context.analysis.inventory) {
            (Some(layers), _) => format!("Requirements follow from the CUDA content. Waiting for {layers}."),
            (None, Some(inventory)) if inventory.waits_for.is_some() => {
                "Requirements follow from the CUDA content, which is still being analysed.".to_owned()
            }
            (None, _) => "Requirements follow from the CUDA content. Searching the merged view.".to_owned(),
        };
        empty(ui, "Waiting for image requirements", &what);
    }
}
