//! In: a report that was saved.
//! Out: the views of an image as far as a report has them, and what needs the image.
//! Must not know: tabs, panels, or how a report is read.

mod banner;

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::Ui;

use super::gpu::{MACHINE, MachineView, show_machine};
use super::report::{Proposing, ReportContext, ReportView};
use super::{Action, View};
use crate::gui::models::gpu::Machine;
use crate::gui::models::report::{ReportSource, SavedReport};
use crate::gui::widgets::page::{PageShape, PageState, page};
use crate::gui::widgets::pane::{card, empty};
use crate::report::page::Page;

/// State of the views of one report.
#[derive(Default)]
pub struct SavedView {
    pages: BTreeMap<&'static str, PageState>,
    machine: MachineView,
    /// Why the image cannot be opened, once that was asked for.
    explained: bool,
    painted: usize,
}

impl SavedView {
    /// Paints the line above a view: what this is.
    pub fn banner(&mut self, ui: &mut Ui, saved: &SavedReport, actions: &mut Vec<Action>) {
        banner::show(ui, saved, &mut self.explained, actions);
    }

    /// Paints a view.
    pub fn ui(
        &mut self,
        ui: &mut Ui,
        view: View,
        saved: &SavedReport,
        report: &mut ReportView,
        machine: &mut Machine,
        actions: &mut Vec<Action>,
    ) {
        self.painted = 0;
        match view {
            View::Gpu => self.machines(ui, saved, machine, actions),
            View::Report => {
                let mut context = ReportContext {
                    source: Ok(ReportSource::Saved(&saved.report)),
                    image: &saved.report.image.reference,
                    beside: None,
                    proposing: Proposing::Done,
                    plan: String::new(),
                    actions,
                };
                report.show(ui, &mut context);
            }
            _ => match view.saved_page(saved) {
                Some(made) => self.page(ui, view, made, actions),
                None => empty(ui, "Not part of a saved report", "Open the image."),
            },
        }
    }

    fn page(&mut self, ui: &mut Ui, view: View, made: &Arc<Page>, actions: &mut Vec<Action>) {
        card(ui, |ui| {
            if made.sections.is_empty() {
                let note = "The data was not available when the report was created.";
                empty(ui, "No data in this report", note);
                return;
            }
            let opening = view == View::Overview;
            let headings = view != View::Dockerfile;
            let shape = PageShape { name: view.title(), page: made, opening, headings };
            let state = self.pages.entry(view.title()).or_default();
            let output = page(ui, view.title(), &shape, state);
            self.painted = output.painted;
            actions.extend(output.copied.map(Action::CopyText));
        });
    }

    /// This machine, and the machines that the report judges.
    fn machines(
        &mut self,
        ui: &mut Ui,
        saved: &SavedReport,
        machine: &mut Machine,
        actions: &mut Vec<Action>,
    ) {
        MACHINE.show(ui, |ui| card(ui, |ui| show_machine(ui, machine, &mut self.machine, actions)));
        egui::CentralPanel::no_frame().show(ui, |ui| self.page(ui, View::Gpu, &saved.machines, actions));
    }

    /// How many pieces were painted for the last frame.
    pub fn painted(&self) -> usize {
        self.painted
    }
}
