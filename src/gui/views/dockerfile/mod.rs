//! In: an analysis, the plan, and a Dockerfile of the user's own.
//! Out: the Dockerfile beside a smaller one: what is changed and why, what the image is then, what was not proven.
//! Must not know: tabs, panels, or how proposals are found.

mod bar;
mod changes;
mod commands;
mod details;
mod facts;
mod head;
mod problem;
mod questions;
mod removed;
mod sides;
mod state;

use std::path::PathBuf;
use std::sync::Arc;

use egui::{Id, Ui};

use self::bar::Bar;
use self::state::DockerfileState;
use super::{Action, ImageView, TabContent, ViewContext, waker};
use crate::gui::dialogs::Pick;
use crate::gui::models::dockerfile::{DockerfileModel, Problem, ProposalItem, Proposer, SaveKind};
use crate::gui::models::findings::{ChosenPlan, waits_for};
use crate::gui::models::layers::{LayerItem, waiting_for};
use crate::gui::models::report::SavedReport;
use crate::gui::views::path_bar::PathNotice;
use crate::gui::widgets::pane::{card, empty};
use crate::gui::widgets::split::{LIST_REST, Split};
use crate::gui::widgets::stops;
use crate::jobs::Waker;
use crate::report::page::Page;

const DETAILS: Split = Split {
    name: "Dockerfile details",
    wide: 1_100.0,
    first: false,
    beside: |width| ((width * 0.34).min(480.0), 300.0..=width * 0.5),
    stacked: |height| ((height * 0.42).max(96.0), 84.0..=(height * 0.62).max(96.0)),
    rest: LIST_REST,
};

/// What is shown of a proposal, besides the texts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DockerfilePage {
    /// Why lines are changed.
    #[default]
    Changes,
    /// Questions whose answers change the proposals.
    Questions,
    /// What the image is then, stage by stage.
    Image,
    /// What was proven, and what not.
    Proof,
    /// Files that the new image does not have.
    Removed,
    /// What else helps.
    Hints,
}

/// State of the view of one image.
#[derive(Default)]
pub struct DockerfileView {
    state: DockerfileState,
    page: DockerfilePage,
    bar: Option<Bar>,
    notice: Option<PathNotice>,
    /// Where the focus of the keyboard is when it is in the texts.
    texts: Option<Id>,
    focus_details: bool,
    /// What the log has already.
    reported: Option<Problem>,
    painted: usize,
}

/// What a part of the view asks for.
enum DockerfileEvent {
    /// To the window.
    Window(Action),
    /// Another proposal, by its place.
    Proposal(usize),
    /// To a row of the texts.
    Row(usize),
    /// To the row of a reason, by its place in the list.
    Reason(usize),
    /// To the row of a line of the original, counted from 1.
    Original(u32),
    /// To the next change, or the one before.
    Step(bool),
    /// Another page of the details.
    Page(DockerfilePage),
    /// Moves the focus to the texts.
    Texts,
    /// Moves the focus to the details.
    Details,
    /// No row is chosen any more.
    Clear,
    /// Try again.
    Retry,
}

impl ImageView for DockerfileView {
    fn unavailable(content: TabContent) -> Option<&'static str> {
        let missing = content == TabContent::Report { proposals: false };
        missing.then_some("No proposed Dockerfile in this report: open the image")
    }

    fn saved_page(saved: &SavedReport) -> Option<&Arc<Page>> {
        saved.dockerfile.as_ref()
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        let waker = waker(ui);
        self.painted = 0;
        self.state.update(context, &waker);
        self.take_saved(context);
        self.log_problem(context);
        if context.analysis.findings.is_none() {
            loading(ui, context);
            return;
        }
        let mut events = Vec::new();
        bar::show(ui, self, context, &waker);
        if let Some(problem) = self.state.drafts.problem() {
            problem::show(ui, problem, self.state.drafts.given().is_some(), &mut events);
        }
        match self.state.model() {
            Some(model) => self.show(ui, &model, context, &mut events),
            None if self.state.drafts.problem().is_some() => {}
            None => {
                let note = "Predicting each resulting image and checking that it still runs.";
                empty(ui, "Computing proposals…", note);
            }
        }
        for event in events {
            self.handle(ui, event, context);
        }
    }

    fn main_lists(&self) -> &'static [&'static str] {
        &["Dockerfile and proposal", "Dockerfile"]
    }

    fn is_busy(&self) -> bool {
        self.state.drafts.is_busy() || self.state.is_saving()
    }

    fn picked(&mut self, pick: Pick, path: PathBuf, _: &ChosenPlan, waker: &Waker) {
        match pick {
            Pick::SaveDockerfile => self.save(SaveKind::Dockerfile, path, true, waker),
            Pick::SavePatch => self.save(SaveKind::Patch, path, true, waker),
            _ => self.open(path),
        }
    }

    fn dialog_failed(&mut self, reason: &str) {
        if let Some(bar) = &mut self.bar {
            bar.show_message(format!("{reason}; enter the path instead"));
        }
    }
}

impl DockerfileView {
    /// A view whose proposals come from `proposer`, for tests.
    pub fn with(proposer: Proposer) -> Self {
        Self { state: DockerfileState::with(proposer), ..Self::default() }
    }

    /// Whether proposals are being computed.
    pub fn is_proposing(&self) -> bool {
        self.state.drafts.is_computing()
    }

    /// Errors go to the log once.
    fn log_problem(&mut self, context: &mut ViewContext<'_>) {
        let problem = self.state.drafts.problem();
        if problem != self.reported.as_ref() {
            self.reported = problem.cloned();
            let error = problem.map(|problem| format!("{}: {}", problem.title, problem.message));
            context.actions.extend(error.map(Action::Report));
        }
    }

    fn show(
        &mut self,
        ui: &mut Ui,
        model: &Arc<DockerfileModel>,
        context: &mut ViewContext<'_>,
        events: &mut Vec<DockerfileEvent>,
    ) {
        head::show(ui, &self.state, model, context.plan, events);
        DETAILS.show(ui, |ui| card(ui, |ui| self.details(ui, model, context, events)));
        egui::CentralPanel::no_frame().show(ui, |ui| {
            card(ui, |ui| {
                let output = sides::show(ui, &mut self.state, model, events);
                (self.painted, self.texts) = (output.painted, output.id);
            });
        });
    }

    fn details(
        &mut self,
        ui: &mut Ui,
        model: &DockerfileModel,
        context: &ViewContext<'_>,
        events: &mut Vec<DockerfileEvent>,
    ) {
        let focus = std::mem::take(&mut self.focus_details);
        match self.state.proposal(model) {
            Some(proposal) => {
                details::show(ui, &mut self.state, model, proposal, self.page, focus, context, events);
            }
            None => details::nothing(ui, model, context.plan, events),
        }
    }

    fn handle(&mut self, ui: &Ui, event: DockerfileEvent, context: &mut ViewContext<'_>) {
        match event {
            DockerfileEvent::Window(action) => context.actions.push(action),
            DockerfileEvent::Proposal(place) => self.state.choose(place),
            DockerfileEvent::Row(row) => self.state.select(row),
            DockerfileEvent::Reason(reason) => self.state.select_reason(reason),
            DockerfileEvent::Original(line) => self.state.select_line(line),
            DockerfileEvent::Step(forward) => self.state.step(forward),
            DockerfileEvent::Page(page) => self.page = page,
            DockerfileEvent::Details => self.focus_details = true,
            DockerfileEvent::Clear => {
                self.state.reason = None;
                if self.state.row.take().is_none() {
                    stops::escape(ui.ctx());
                }
            }
            DockerfileEvent::Texts => {
                if let Some(id) = self.texts {
                    ui.memory_mut(|memory| memory.request_focus(id));
                }
            }
            DockerfileEvent::Retry => self.state.drafts.retry(),
        }
        ui.ctx().request_repaint();
    }

    /// The chosen proposal.
    pub fn chosen(&self) -> Option<&ProposalItem> {
        self.state.proposal(self.model()?)
    }

    /// What is shown, as data.
    pub fn model(&self) -> Option<&DockerfileModel> {
        self.state.drafts.model().map(Arc::as_ref)
    }

    /// The chosen row of the texts.
    pub fn row(&self) -> Option<usize> {
        self.state.row
    }

    /// How many rows of the texts were made for the last frame.
    pub fn painted_rows(&self) -> usize {
        self.painted
    }
}

/// In place of the view while there is nothing to show.
fn loading(ui: &mut Ui, context: &ViewContext<'_>) {
    if context.done {
        empty(ui, "No proposal", "The analysis stopped before findings were ready. Reload the image.");
    } else {
        let layers = LayerItem::all(context.analysis, context.done);
        let what = waits_for(context.analysis, waiting_for(&layers));
        empty(ui, "Waiting for findings", &what);
    }
}
