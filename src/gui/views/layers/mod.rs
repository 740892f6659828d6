//! In: an analysis as it grows.
//! Out: layers, their files and what each layer does to them.
//! Must not know: tabs, panels, or how an image is read.

use super::ViewContext;

/// State of the view of one image.
#[derive(Default)]
pub struct LayersView {}

impl LayersView {
    /// Paints the view.
    pub fn ui(&mut self, ui: &mut egui::Ui, context: &mut ViewContext<'_>) {
        ui.label(format!("{} layers", context.analysis.layers.len()));
    }

    /// Chooses a path and brings it into sight, at the next frame that knows it.
    pub fn select_path(&mut self, path: Vec<u8>) {
        drop(path);
    }

    /// Chooses a layer, counted from the bottom, and brings it into sight.
    pub fn select_layer(&mut self, layer: usize) {
        let _: usize = layer;
    }

    /// Puts the keyboard focus into the filter field, for `/` and Ctrl+F.
    pub fn focus_search(&mut self) {}
}
