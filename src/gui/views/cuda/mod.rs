//! In: an analysis as it grows.
//! Out: its CUDA libraries, GPU code and copies, and why each file is there.
//! Must not know: tabs, panels, or how an image is read.

mod code;
mod details;
mod duplicates;
mod head;
mod keep;
mod libraries;
mod state;

use std::sync::Arc;

use egui::Ui;

use super::{Action, ImageView, ViewContext};
use crate::cuda::catalog::Catalog;
use crate::gui::models::cuda::{CudaModel, PrunedCode};
use crate::gui::models::layers::waiting_for;
use crate::gui::models::report::SavedReport;
use crate::gui::widgets::pane::{at_least, details_card, empty};
use crate::gui::widgets::split::{LINE, LIST_REST, Split};
use crate::gui::widgets::stops;
use crate::report::page::Page;

use self::state::CudaState;

const DETAILS: Split = Split {
    name: "library details",
    wide: 1_040.0,
    first: false,
    beside: |width| ((width * 0.31).min(420.0), 280.0..=width * 0.5),
    stacked: |height| ((height * DETAILS_SHARE).max(120.0), 80.0..=height * 0.6),
    rest: LIST_REST,
};
const DETAILS_SHARE: f32 = 0.4;

/// With less height, the matrix has hardly a row below its bars.
const MATRIX: f32 = 190.0;
/// The same for the tables, which have no bars.
const ROWS: f32 = 110.0;

/// The tables of the view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CudaPage {
    /// Libraries by component.
    #[default]
    Libraries,
    /// GPU code by architecture.
    GpuCode,
    /// What is there more than once.
    Duplicates,
}

/// State of the view of one image.
#[derive(Default)]
pub struct CudaView {
    state: CudaState,
    page: CudaPage,
    focus_search: bool,
    painted: usize,
    /// Height of the summary, and of all above the table, in the last frame.
    summary: f32,
    above: f32,
}

/// What a part of the view asks for.
enum CudaEvent {
    /// To a library of the model.
    Library(usize),
    /// To a file: its details here, whatever it is.
    File(Vec<u8>),
    /// To the window.
    Window(Action),
    /// Nothing is chosen any more.
    Clear,
}

impl ImageView for CudaView {
    fn saved_page(saved: &SavedReport) -> Option<&Arc<Page>> {
        Some(&saved.cuda)
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        self.state.update(ui, context);
        self.painted = 0;
        let Some(model) = self.state.model.clone() else {
            self.loading(ui, context);
            return;
        };
        let mut events = Vec::new();
        // The summary breaks its lines alike with and without the bar that scrolls the page.
        let summary = ui.available_width() - ui.spacing().scroll.allocated_width();
        at_least(ui, "cuda page", self.least_height(ui), |ui| {
            let (top, width) = (ui.cursor().top(), ui.available_width());
            ui.set_max_width(summary);
            head::summary(ui, &model.summary, context.actions);
            ui.set_max_width(width);
            self.summary = ui.cursor().top() - top;
            self.content(ui, top, &model, context, &mut events);
        });
        for event in events {
            self.handle(ui, event, context);
        }
    }

    fn main_lists(&self) -> &'static [&'static str] {
        &["CUDA libraries", "GPU code by architecture and file", "Duplicates"]
    }

    fn focus_search(&mut self) -> bool {
        self.focus_search = true;
        true
    }
}

impl CudaView {
    /// The height that the view needs with a few rows of its table.
    fn least_height(&self, ui: &Ui) -> f32 {
        let least = self.above + if self.page == CudaPage::GpuCode { MATRIX } else { ROWS };
        if DETAILS.is_wide(ui) || self.state.selected().is_none() {
            least
        } else if DETAILS.is_folded(ui, self.summary) {
            least + LINE
        } else {
            least / (1.0 - DETAILS_SHARE)
        }
    }

    /// What is below the summary, in a page that begins at `top`.
    fn content(
        &mut self,
        ui: &mut Ui,
        top: f32,
        model: &Arc<CudaModel>,
        context: &ViewContext<'_>,
        events: &mut Vec<CudaEvent>,
    ) {
        if let Some(checked_items) = &model.summary.nothing {
            match &model.summary.waits_for {
                Some(_) => empty(ui, "No CUDA content found so far", checked_items),
                None if context.analysis.totals().is_some_and(|totals| !totals.complete) => {
                    empty(ui, "No CUDA found in the part that was read", checked_items);
                }
                None => empty(ui, "No CUDA in this image", checked_items),
            }
            return;
        }
        if DETAILS.is_wide(ui) || self.state.selected().is_some() {
            DETAILS.show(ui, |ui| {
                details_card(ui, "Library details", |ui| self.details(ui, events));
            });
        }
        egui::CentralPanel::no_frame().show(ui, |ui| self.table(ui, top, model, events));
    }

    /// Chooses the library or file at a path and brings it into sight, once it is known.
    pub fn select_path(&mut self, path: Vec<u8>) {
        self.state.select_path(path);
    }

    /// Takes the GPUs to judge by from this catalogue rather than from the one that is built in.
    pub fn set_catalog(&mut self, catalog: Option<Arc<Catalog>>) {
        self.state.catalog = catalog;
    }

    /// What `slim` would keep and remove for the ticked GPUs.
    pub fn pruned(&self) -> Option<&PrunedCode> {
        self.state.known_pruned()
    }

    /// What is shown, as data.
    pub fn model(&self) -> Option<&CudaModel> {
        self.state.model.as_deref()
    }

    /// How many rows were made for the last frame.
    pub fn painted_rows(&self) -> usize {
        self.painted
    }

    fn table(&mut self, ui: &mut Ui, top: f32, model: &Arc<CudaModel>, events: &mut Vec<CudaEvent>) {
        let focus = std::mem::take(&mut self.focus_search);
        head::bar(ui, &mut self.page, &mut self.state, model, focus);
        if self.page == CudaPage::GpuCode {
            code::choices(ui, &mut self.state, model);
        }
        let above = ui.cursor().top() - top;
        if (std::mem::replace(&mut self.above, above) - above).abs() > 0.5 {
            // Whether the page scrolls follows in the next frame.
            ui.ctx().request_repaint();
        }
        self.painted = match self.page {
            CudaPage::Libraries => libraries::show(ui, &mut self.state, model, events),
            CudaPage::GpuCode => code::show(ui, &mut self.state, model, events),
            CudaPage::Duplicates => duplicates::show(ui, &mut self.state, model, events),
        };
    }

    fn details(&mut self, ui: &mut Ui, events: &mut Vec<CudaEvent>) {
        match (&self.state.details, self.state.selected()) {
            (Some(chosen), _) => details::show(ui, chosen, &self.state.layers, events),
            (None, Some(raw)) => details::show_file(ui, raw, self.state.model.as_deref(), events),
            (None, None) => empty(
                ui,
                "No library selected",
                "Select a library to see its supplier, dependencies and dependents.",
            ),
        }
    }

    fn handle(&mut self, ui: &Ui, event: CudaEvent, context: &mut ViewContext<'_>) {
        match event {
            CudaEvent::Library(library) => self.state.select_library(library),
            CudaEvent::File(raw) => self.state.select_path(raw),
            CudaEvent::Window(action) => context.actions.push(action),
            CudaEvent::Clear => {
                if self.state.selected().is_none() {
                    stops::escape(ui.ctx());
                }
                self.state.clear();
            }
        }
        ui.ctx().request_repaint();
    }

    /// In place of the view while there is nothing to show.
    fn loading(&self, ui: &mut Ui, context: &ViewContext<'_>) {
        if let Some(error) = self.state.error() {
            empty(ui, "Cannot show CUDA content", error);
        } else if context.analysis.inventory.is_some() && context.analysis.merge.is_some() {
            empty(ui, "Sorting libraries…", "");
        } else if context.done {
            empty(ui, "CUDA content unknown", "The analysis stopped before this step. Reload the image.");
        } else if let Some(layers) = waiting_for(&self.state.layers) {
            let what = format!("The analysis starts when all layers are read. Waiting for {layers}.");
            empty(ui, "Waiting for CUDA content", &what);
        } else {
            let what = "Searching the merged view for libraries, packages and GPU code.";
            empty(ui, "Analyzing CUDA content", what);
        }
    }
}
