//! What the bytes of an image are for, and what runs on what.

use std::sync::Arc;

use egui::Ui;

use super::{classes, section, stack, tables};
use crate::analysis::Analysis;
use crate::base::text::printable;
use crate::cuda::Inventory;
use crate::gui::models::stack::{ClassItem, Stack};
use crate::gui::views::{Action, View};

/// Both, from the inventory.
pub(super) struct Uses {
    of: Arc<Inventory>,
    classes: Vec<ClassItem>,
    stack: Stack,
    waits_for: Option<String>,
}

impl Uses {
    /// Rebuilds it for another inventory.
    pub(super) fn update(uses: &mut Option<Self>, analysis: &Analysis) {
        let both = analysis.inventory.as_ref().zip(analysis.merge.as_ref());
        if both.map(|(new, _)| Arc::as_ptr(new)) == uses.as_ref().map(|old| Arc::as_ptr(&old.of)) {
            return;
        }
        *uses = both.map(|(inventory, merge)| Self {
            of: Arc::clone(inventory),
            classes: ClassItem::all(&inventory.classes.merged),
            stack: Stack::new(inventory, &merge.rootfs),
            waits_for: inventory.waits_for.as_deref().map(printable),
        });
    }

    /// The bytes by class.
    pub(super) fn classes(&self, ui: &mut Ui, actions: &mut Vec<Action>) {
        section(ui, "Merged view by class", "visible in the container");
        classes::show(ui, &self.classes, actions);
    }

    /// The stack as boxes, or a sentence where nothing uses a GPU.
    pub(super) fn call_stack(&self, ui: &mut Ui, actions: &mut Vec<Action>) {
        section(ui, "CUDA stack", "server to GPU, with suppliers");
        if self.stack.used {
            stack::show(ui, &self.stack, actions);
            if ui.link("All CUDA libraries").clicked() {
                actions.push(Action::ShowView(View::Cuda));
            }
        } else {
            tables::nothing(ui, "No CUDA in this image.");
        }
        if let Some(what) = &self.waits_for {
            tables::nothing(ui, &format!("Still analyzing: {what}"));
        }
    }
}
