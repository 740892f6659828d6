//! In: an analysis as it grows, and the plan.
//! Out: what can go, each with its evidence, and what the image is without it.
//! Must not know: tabs, panels, or how a rule looks.

mod details;
mod files;
mod head;
mod list;
mod manual;
mod plan_file;
mod reasons;
mod state;

use std::sync::Arc;

use std::path::PathBuf;

use egui::{Id, Ui};

pub(super) use self::list::sign;
pub(in crate::gui) use self::manual::show as manual_page;
use self::plan_file::PlanFile;
use self::state::FindingsState;
use super::{Action, ImageView, ViewContext, waker};
use crate::gui::dialogs::Pick;
use crate::gui::models::findings::{ChosenPlan, FindingsModel, waits_for};
use crate::gui::models::layers::waiting_for;
use crate::gui::models::report::SavedReport;
use crate::gui::widgets::pane::{details_card, empty};
use crate::gui::widgets::split::{LIST_REST, Split};
use crate::gui::widgets::stops;
use crate::jobs::Waker;
use crate::report::page::Page;

const DETAILS: Split = Split {
    name: "finding details",
    wide: 1_000.0,
    first: false,
    beside: |width| ((width * 0.42).min(560.0), 340.0..=width * 0.6),
    stacked: |height| ((height * 0.5).max(140.0), 100.0..=height * 0.75),
    rest: LIST_REST,
};

/// What is shown of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FindingsPage {
    /// Why, and the evidence.
    #[default]
    Reasons,
    /// All of its files.
    Files,
    /// The manual page of its rule.
    Manual,
}

/// State of the view of one image.
#[derive(Default)]
pub struct FindingsView {
    state: FindingsState,
    page: FindingsPage,
    focus_search: bool,
    focus_details: bool,
    /// Where the focus of the keyboard is when it is in the list.
    list: Option<Id>,
    painted: usize,
    painted_files: usize,
    plan_file: PlanFile,
}

/// What a part of the view asks for.
enum FindingsEvent {
    /// To the window.
    Window(Action),
    /// To a finding, by its place in the model.
    Finding(usize),
    /// Moves the focus to the details.
    Details,
    /// Moves the focus to the list.
    List,
    /// Another page of the details.
    Page(FindingsPage),
    /// Nothing is chosen any more.
    Clear,
}

impl ImageView for FindingsView {
    fn saved_page(saved: &SavedReport) -> Option<&Arc<Page>> {
        Some(&saved.findings)
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        self.state.update(context);
        self.plan_file.update(context);
        (self.painted, self.painted_files) = (0, 0);
        let Some(model) = self.state.model.clone() else {
            self.loading(ui, context);
            return;
        };
        if let Some(fault) = &model.fault {
            empty(ui, "Cannot show findings", fault);
            return;
        }
        if model.items.is_empty() {
            let title =
                if model.incomplete { "Nothing found in the part that was read" } else { "No findings" };
            empty(ui, title, &model.checked_items);
            return;
        }
        let waker = waker(ui);
        self.plan_file.show(ui, context, &waker);
        let mut events = Vec::new();
        let focus = std::mem::take(&mut self.focus_search);
        head::show(ui, &mut self.state, &model, context, focus, &mut events);
        if DETAILS.is_wide(ui) {
            self.state.choose_first();
        }
        self.state.order_files(&waker);
        if DETAILS.is_wide(ui) || self.state.details.is_some() {
            DETAILS.show(ui, |ui| {
                details_card(ui, "Finding details", |ui| self.details(ui, context, &mut events));
            });
        }
        egui::CentralPanel::no_frame().show(ui, |ui| {
            let output = list::show(ui, &mut self.state, &model, context.plan, &mut events);
            if let Some(output) = output {
                (self.painted, self.list) = (output.painted, output.id);
            }
        });
        for event in events {
            self.handle(ui, event, context);
        }
    }

    fn main_lists(&self) -> &'static [&'static str] {
        &["Findings"]
    }

    fn focus_search(&mut self) -> bool {
        self.focus_search = true;
        true
    }

    fn is_busy(&self) -> bool {
        self.plan_file.is_busy() || self.state.is_busy()
    }

    fn picked(&mut self, pick: Pick, path: PathBuf, plan: &ChosenPlan, waker: &Waker) {
        self.plan_file.picked(pick, path, plan, waker);
    }

    fn dialog_failed(&mut self, reason: &str) {
        self.plan_file.show_message(format!("{reason}; enter the path instead"));
    }
}

impl FindingsView {
    /// Chooses the finding with this id and brings it into sight, once it is known.
    pub fn select(&mut self, id: &str) {
        self.state.select(id);
        self.page = FindingsPage::Reasons;
    }

    /// The same with another page about it.
    pub fn show_page(&mut self, id: &str, page: FindingsPage) {
        self.select(id);
        self.page = page;
    }

    /// What is shown, as data.
    pub fn model(&self) -> Option<&FindingsModel> {
        self.state.model.as_deref()
    }

    /// How many rows of the list, and of the files, were made for the last frame.
    pub fn painted_rows(&self) -> (usize, usize) {
        (self.painted, self.painted_files)
    }

    fn details(&mut self, ui: &mut Ui, context: &ViewContext<'_>, events: &mut Vec<FindingsEvent>) {
        let focus = std::mem::take(&mut self.focus_details);
        if self.state.details.is_none() {
            empty(ui, "No finding selected", "Select a finding to see its proof, files and users.");
            return;
        }
        self.painted_files = details::show(ui, &mut self.state, self.page, focus, context, events);
    }

    fn handle(&mut self, ui: &Ui, event: FindingsEvent, context: &mut ViewContext<'_>) {
        let focus = |id: Option<Id>| {
            if let Some(id) = id {
                ui.memory_mut(|memory| memory.request_focus(id));
            }
        };
        match event {
            FindingsEvent::Window(action) => context.actions.push(action),
            FindingsEvent::Finding(place) => self.state.select_at(place),
            FindingsEvent::Details => self.focus_details = true,
            FindingsEvent::List => focus(self.list),
            FindingsEvent::Page(page) => self.page = page,
            FindingsEvent::Clear => {
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
        if context.done {
            empty(ui, "Findings unknown", "Cancelled before the rules ran. Reload the image.");
        } else {
            let what = waits_for(context.analysis, waiting_for(&self.state.layers));
            empty(ui, "Waiting for findings", &what);
        }
    }
}
