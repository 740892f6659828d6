//! In: an analysis as it grows.
//! Out: layers, their files and what each layer does to them.
//! Must not know: tabs, panels, or how an image is read.

mod details;
mod files;
mod layer_list;
mod map;

use egui::{Frame, Panel, Ui};

use super::{ImageView, ViewContext, waker};
use crate::gui::models::browser::Browser;
use crate::gui::widgets::pane::{card, empty};

/// From this width on, the three panes are side by side.
const WIDE: f32 = 900.0;

/// State of the view of one image.
#[derive(Default)]
pub struct LayersView {
    browser: Browser,
    files: files::FilesPane,
    map: map::MapPane,
    reveal_layer: bool,
}

impl ImageView for LayersView {
    fn ui(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        let waker = waker(ui);
        self.browser.update(context.analysis, context.generation, context.done, &waker);
        let none = || Frame::new();
        if ui.available_width() >= WIDE {
            let width = ui.available_width();
            Panel::left("layer strip")
                .frame(none())
                .show_separator_line(false)
                .default_size((width * 0.32).min(440.0))
                .size_range(200.0..=width * 0.5)
                .show(ui, |ui| self.layer_list(ui));
            Panel::right("file facts")
                .frame(none())
                .show_separator_line(false)
                .default_size((width * 0.27).min(400.0))
                .size_range(200.0..=width * 0.45)
                .show(ui, |ui| self.side(ui, context));
            egui::CentralPanel::no_frame().show(ui, |ui| {
                Frame::new()
                    .inner_margin(egui::Margin::symmetric(8, 0))
                    .show(ui, |ui| self.tree(ui, context));
            });
        } else {
            let height = ui.available_height();
            Panel::top("layer strip narrow")
                .frame(none().inner_margin(egui::Margin { bottom: 8, ..egui::Margin::ZERO }))
                .show_separator_line(false)
                .default_size((height * 0.3).max(120.0))
                .size_range(80.0..=height * 0.5)
                .show(ui, |ui| self.layer_list(ui));
            if self.browser.details().is_some() {
                Panel::bottom("file facts narrow")
                    .frame(none().inner_margin(egui::Margin { top: 8, ..egui::Margin::ZERO }))
                    .show_separator_line(false)
                    .default_size((height * 0.3).max(120.0))
                    .size_range(80.0..=height * 0.5)
                    .show(ui, |ui| card(ui, |ui| details::show(ui, &mut self.browser, context)));
            }
            egui::CentralPanel::no_frame().show(ui, |ui| self.tree(ui, context));
        }
    }

    fn focus_search(&mut self) -> bool {
        self.files.focus_search = true;
        true
    }
}

impl LayersView {
    /// Selects a path and scrolls to it, at the first frame that has it.
    pub fn select_path(&mut self, path: Vec<u8>) {
        self.browser.select_path(path);
    }

    /// Chooses a layer, counted from the bottom, shows it alone, and brings it into sight.
    pub fn select_layer(&mut self, layer: usize) {
        self.browser.select_layer(layer);
        self.browser.set_merged(false);
        self.reveal_layer = true;
    }

    /// Opens every folder, for measuring.
    pub fn open_all(&mut self) {
        self.browser.open_all();
    }

    /// How many rows of the tree were made for the last frame.
    pub fn painted_rows(&self) -> usize {
        self.files.painted
    }

    /// What is shown, as data.
    pub fn browser(&self) -> &Browser {
        &self.browser
    }

    fn layer_list(&mut self, ui: &mut Ui) {
        let reveal = std::mem::take(&mut self.reveal_layer);
        card(ui, |ui| layer_list::show(ui, &mut self.browser, reveal));
    }

    fn tree(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        self.files.show(ui, &mut self.browser, context);
    }

    /// Details above, treemap below.
    fn side(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        let height = ui.available_height();
        Panel::bottom("treemap")
            .frame(Frame::new().inner_margin(egui::Margin { top: 8, ..egui::Margin::ZERO }))
            .show_separator_line(false)
            .default_size(height * 0.5)
            .size_range(120.0..=height * 0.75)
            .show(ui, |ui| card(ui, |ui| self.map.show(ui, &mut self.browser)));
        egui::CentralPanel::no_frame()
            .show(ui, |ui| card(ui, |ui| details::show(ui, &mut self.browser, context)));
    }
}

/// A layer in a tooltip: its instruction and its sizes.
pub(in crate::gui::views) fn describe(ui: &mut Ui, item: &crate::gui::models::layers::LayerItem) {
    layer_list::describe(ui, item, true);
}
