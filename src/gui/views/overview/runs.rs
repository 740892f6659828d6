//! On which GPUs the image runs, in a line below the stack.

use std::sync::Arc;

use egui::{Label, Ui};

use crate::analysis::Analysis;
use crate::gui::design::space;
use crate::gui::models::background::Background;
use crate::gui::models::gpu::runs_line;
use crate::gui::views::waker;
use crate::gui::views::{Action, View};

/// The line, computed for each inventory.
#[derive(Default)]
pub(super) struct RunsOn {
    of: Option<usize>,
    job: Background<Option<String>>,
    line: Option<String>,
}

impl RunsOn {
    pub(super) fn update(&mut self, ui: &Ui, analysis: &Arc<Analysis>) {
        let ready = analysis.inventory.as_ref().filter(|inventory| inventory.waits_for.is_none());
        let of = ready.map(|inventory| Arc::as_ptr(inventory) as usize);
        if of != self.of {
            (self.of, self.line) = (of, None);
            if of.is_some() {
                let waker = waker(ui);
                let analysis = Arc::clone(analysis);
                self.job.start(&waker, false, move |cancel| {
                    cancel.check()?;
                    Ok(runs_line(&analysis))
                });
            }
        }
        if let Some(line) = self.job.take() {
            self.line = line;
        }
    }

    pub(super) fn is_busy(&self) -> bool {
        self.job.is_busy()
    }

    pub(super) fn show(&self, ui: &mut Ui, actions: &mut Vec<Action>) {
        let Some(line) = &self.line else { return };
        ui.add_space(space::S);
        ui.add(Label::new(line).wrap().selectable(true));
        if ui.link("All machines").clicked() {
            actions.push(Action::ShowView(View::Gpu));
        }
    }
}
