//! The first view of an image.

use super::ViewContext;

/// State of the view of one image.
#[derive(Default)]
pub struct OverviewView {}

impl OverviewView {
    /// Paints the view.
    pub fn ui(&mut self, ui: &mut egui::Ui, context: &mut ViewContext<'_>) {
        ui.label(format!("{} layers", context.analysis.layers.len()));
    }
}
