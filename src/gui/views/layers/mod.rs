//! In: an analysis as it grows.
//! Out: layers, their files and what each layer does to them.
//! Must not know: tabs, panels, or how an image is read.

mod details;
mod files;
mod layer_details;
mod layer_list;

use std::path::PathBuf;
use std::sync::Arc;

use egui::Ui;

pub(in crate::gui) use details::severity;
pub(in crate::gui) use files::SAVE_SELECTION;
pub(in crate::gui::views) use files::mark_color;

use super::treemap::MapPane;
use super::{Action, ImageView, ViewContext, waker};
use crate::analysis::{Analysis, Options};
use crate::gui::models::browser::{Browser, MissingTree};
use crate::gui::models::filter::folder_term;
use crate::gui::models::inspector::PathTarget;
use crate::gui::models::layers::BaseLayers;
use crate::gui::models::path_why::PathWhy;
use crate::gui::models::report::SavedReport;
use crate::gui::models::saver::{SaveState, Saver};
use crate::gui::widgets::pane::{card, details_card, empty};
use crate::gui::widgets::split::{LIST_REST, Split};
use crate::jobs::Waker;
use crate::report::page::Page;

const LAYERS: Split = Split {
    name: "layers",
    wide: 900.0,
    first: true,
    beside: |width| ((width * 0.32).min(440.0) + 8.0, 208.0..=width * 0.5 + 8.0),
    stacked: |height| ((height * 0.3).max(120.0), 80.0..=height * 0.5),
    rest: LIST_REST,
};
const FILE: Split = Split {
    name: "file details",
    wide: LAYERS.wide,
    first: false,
    beside: |width| ((width * 0.27).min(400.0) + 8.0, 208.0..=width * 0.45 + 8.0),
    stacked: LAYERS.stacked,
    rest: LIST_REST,
};
/// Below the details of the file.
const TREEMAP: Split = Split {
    name: "treemap",
    wide: f32::INFINITY,
    first: false,
    beside: LAYERS.beside,
    stacked: |height| (height * 0.5, 120.0..=height * 0.75),
    rest: LIST_REST,
};

/// With less height than this beside the panel about a path, only the tree is shown.
const BOTH: f32 = 320.0;

/// State of the view of one image.
#[derive(Default)]
pub struct LayersView {
    browser: Browser,
    files: files::FilesPane,
    map: MapPane,
    why: PathWhy,
    saver: Saver,
    layers: layer_list::LayerListState,
    base: Option<BaseLayers>,
    generation: Option<u64>,
    /// Whether the panel about a path is beside or below the view.
    beside_panel: bool,
}

impl ImageView for LayersView {
    fn saved_page(saved: &SavedReport) -> Option<&Arc<Page>> {
        Some(&saved.layers)
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        let waker = waker(ui);
        self.saver.update();
        if self.saver.is_busy() {
            ui.ctx().request_repaint_after(std::time::Duration::from_millis(100));
        }
        self.browser.update(context.analysis, context.generation, context.done, &waker);
        if self.generation != Some(context.generation) {
            self.generation = Some(context.generation);
            self.base = BaseLayers::of(context.analysis);
        }
        if let Some(details) = self.browser.details() {
            self.why.update(context.analysis, context.generation, &details.raw_path, &waker);
        }
        let (view, wide) = (ui.available_size(), LAYERS.is_wide(ui));
        // The panel about a path takes the place of details and treemap, and of the layers where it is low.
        if !self.beside_panel || wide || view.y >= BOTH {
            LAYERS.show(ui, |ui| self.layer_list(ui, context));
        }
        let about_layer = self.browser.is_about_layer();
        let covered = self.beside_panel && !about_layer;
        if wide && !covered {
            FILE.show_in(ui, view, |ui| self.side(ui, context));
        } else if !covered && (self.browser.details().is_some() || about_layer) {
            FILE.show_in(ui, view, |ui| self.details(ui, context));
        }
        egui::CentralPanel::no_frame().show(ui, |ui| self.tree(ui, context));
    }

    fn is_busy(&self) -> bool {
        self.why.is_busy() || self.saver.is_busy()
    }

    fn dialog_failed(&mut self, reason: &str) {
        self.saver.state = SaveState::Failed(format!("{reason}; enter the path instead"));
        self.ask_selection();
    }

    fn main_lists(&self) -> &'static [&'static str] {
        &["Files"]
    }

    fn focus_search(&mut self) -> bool {
        self.files.focus_search = true;
        true
    }
}

impl LayersView {
    /// Tells whether the panel about a path is beside or below the view.
    pub fn set_beside_panel(&mut self, beside: bool) {
        self.beside_panel = beside;
    }

    /// Selects a path and scrolls to it, at the first frame that has it.
    pub fn select_path(&mut self, path: Vec<u8>) {
        self.browser.select_path(path);
    }

    /// Shows only what is in a folder, or in the folder of a file.
    pub fn filter_folder(&mut self, raw: &[u8]) {
        let folder = self.browser.folder_of(raw);
        if let Some(term) = folder_term(&folder) {
            self.files.set_filter(&mut self.browser, term);
        }
    }

    /// Asks where to save what is chosen together.
    pub fn ask_selection(&mut self) {
        if self.browser.marks().count() > 0 {
            self.saver.ask("selection.tar".to_owned());
        }
    }

    /// Saves what is chosen together as an archive; `replace` if a dialog asked whether a file may be replaced.
    pub fn save_selection(
        &mut self,
        analysis: &Arc<Analysis>,
        options: &Options,
        to: (PathBuf, bool),
        waker: &Waker,
    ) {
        self.saver.save_paths((analysis, options), self.browser.marked_paths(), to, waker);
    }

    /// The selected path, in the version that is shown.
    pub fn selected_target(&self) -> Option<PathTarget> {
        self.browser
            .details()
            .map(|details| PathTarget { raw: details.raw_path.clone(), version: details.version })
    }

    /// Chooses a layer, counted from the bottom, shows it alone, and brings it into sight.
    pub fn select_layer(&mut self, layer: usize) {
        self.browser.show_layer(layer);
        self.browser.set_merged(false);
        self.layers.reveal();
    }

    /// Opens every folder, for measuring.
    pub fn open_all(&mut self) {
        self.browser.open_all();
    }

    /// How many rows of the tree were made for the last frame.
    pub fn painted_rows(&self) -> usize {
        self.files.painted
    }

    /// What is shown, for the view that borrows it.
    pub(super) fn browser_mut(&mut self) -> &mut Browser {
        &mut self.browser
    }

    /// What is shown, as data.
    pub fn browser(&self) -> &Browser {
        &self.browser
    }

    fn layer_list(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        let (browser, passed) = (&mut self.browser, &context.layers_passed);
        let asked =
            card(ui, |ui| layer_list::show(ui, browser, &mut self.layers, self.base.as_ref(), passed));
        if let Some(item) = asked.and_then(|layer| self.browser.items.get(layer)) {
            context.actions.push(Action::RowMenu(layer_details::menu(item, context.analysis)));
        }
    }

    fn tree(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        self.files.show(ui, (&mut self.browser, &mut self.saver), context);
    }

    /// Details above, treemap below.
    fn side(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        TREEMAP.show(ui, |ui| card(ui, |ui| self.map.show(ui, &mut self.browser, None, context)));
        egui::CentralPanel::no_frame().show(ui, |ui| self.details(ui, context));
    }

    /// Of the chosen file; without one, or when a layer was chosen after it, of the layer.
    fn details(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        let about_layer = self.browser.is_about_layer() || self.browser.details().is_none();
        let layer = self.browser.layer().filter(|_| about_layer);
        if let Some(item) = layer.and_then(|layer| self.browser.items.get(layer)) {
            details_card(ui, "Layer details", |ui| layer_details::show(ui, item, context));
        } else {
            details_card(ui, "File details", |ui| details::show(ui, &mut self.browser, &self.why, context));
        }
    }
}

/// A layer in a tooltip: its instruction and its sizes.
pub(in crate::gui::views) fn describe(ui: &mut Ui, item: &crate::gui::models::layers::LayerItem) {
    layer_list::describe(ui, item, true);
}

/// Why there are no files to show.
pub(super) fn show_gap(ui: &mut Ui, browser: &mut Browser, gap: &MissingTree) {
    files::show_gap(ui, browser, gap);
}
