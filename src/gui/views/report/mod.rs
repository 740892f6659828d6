//! In: an image with its plan, or a saved report.
//! Out: the report as it will be written, what it is written as, and where.
//! Must not know: tabs, panels, or the content of a report.

mod commands;
mod notice;
mod options;
mod path_field;
mod preview;

use std::path::PathBuf;
use std::sync::Arc;

use egui::{Frame, Margin, Panel, Ui};

use self::notice::ReportNotice;
use self::path_field::PathField;
use super::{Action, ImageView, ViewContext, waker};
use crate::gui::design::space;
use crate::gui::dialogs::Pick;
use crate::gui::models::dockerfile::{SaveState, Saving};
use crate::gui::models::findings::{ChosenPlan, Prediction, waits_for};
use crate::gui::models::layers::{LayerItem, waiting_for};
use crate::gui::models::report::{
    ExportFormat, Opener, Opening, ReportJob, ReportOptions, ReportSource, Writer, desktop,
};
use crate::gui::views::path_bar::PathBar;
use crate::gui::widgets::page::PageState;
use crate::gui::widgets::pane::{card, empty};
use crate::jobs::Waker;
use crate::rewrite::Proposals;

/// State of the proposals, for a report without them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Proposing {
    /// They are known, or there never will be any.
    #[default]
    Done,
    /// They are being worked out.
    Busy,
    /// They could not be worked out, and why.
    Failed(String),
}

/// What the Dockerfile view works out, for the report of the same image.
#[derive(Clone, Debug, Default)]
pub struct ProposedDockerfile {
    /// All that is proposed for the plan as it is; `None` while that is worked out.
    pub proposals: Option<Arc<Proposals>>,
    /// The file that the user gave.
    pub given: Option<PathBuf>,
    /// State of the work on them.
    pub proposing: Proposing,
}

/// What the view is given each frame.
pub struct ReportContext<'a> {
    /// What the report is made from; the title and the words of what is waited for while there is nothing.
    pub source: Result<ReportSource<'a>, (&'static str, String)>,
    /// The image's name.
    pub image: &'a str,
    /// The user's Dockerfile; its folder is the default for reports.
    pub beside: Option<PathBuf>,
    /// State of the proposals.
    pub proposing: Proposing,
    /// What of the plan is in the report, in a sentence; empty where it cannot be changed.
    pub plan: String,
    /// What the view asks for.
    pub actions: &'a mut Vec<Action>,
}

/// State of the view of one tab.
pub struct ReportView {
    choice: ReportOptions,
    job: ReportJob,
    page: PageState,
    path_field: PathField,
    notice: Option<ReportNotice>,
    saving: Saving,
    opening: Opening,
    /// The report is to be put on the clipboard once it is made.
    copy: bool,
    /// What the log has already.
    reported: Option<String>,
    painted: usize,
    pieces: usize,
}

impl Default for ReportView {
    fn default() -> Self {
        Self::made_by(ReportJob::default(), desktop())
    }
}

impl ImageView for ReportView {
    /// The report of an image, with what is proposed for it.
    fn ui(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        let devices = context.machine.devices();
        let ready = context.analysis.merge.is_some() && (context.done || context.analysis.findings.is_some());
        let source = ReportSource::Image {
            analysis: context.analysis,
            plan: context.plan,
            proposals: context.proposed.proposals.as_ref(),
            devices: &devices,
            machine: context.machine.generation(),
        };
        let mut given = ReportContext {
            source: if ready { Ok(source) } else { Err(waits(context)) },
            image: &context.analysis.image.reference,
            beside: context.proposed.given.clone(),
            proposing: context.proposed.proposing.clone(),
            plan: context.plan.prediction().map(Prediction::sentence).unwrap_or_default(),
            actions: context.actions,
        };
        self.show(ui, &mut given);
    }

    fn is_busy(&self) -> bool {
        self.job.is_busy() || self.saving.is_busy()
    }

    fn picked(&mut self, _: Pick, path: PathBuf, _: &ChosenPlan, waker: &Waker) {
        if let Some(text) = path.to_str() {
            self.path_field.set(text);
        }
        self.save(path, true, waker);
    }

    fn dialog_failed(&mut self, reason: &str) {
        self.path_field.show_message(format!("{reason}; enter the path instead"));
    }
}

impl ReportView {
    /// A view whose reports are written by `writer` and whose folders are opened by `opener`, for tests.
    pub fn with(writer: Writer, opener: Opener) -> Self {
        Self::made_by(ReportJob::new(writer), opener)
    }

    fn made_by(job: ReportJob, opener: Opener) -> Self {
        Self {
            choice: ReportOptions::default(),
            job,
            page: PageState::default(),
            path_field: PathField::default(),
            notice: None,
            saving: Saving::default(),
            opening: Opening::new(opener),
            copy: false,
            reported: None,
            painted: 0,
            pieces: 0,
        }
    }

    /// Paints the view of an image or of a saved report.
    pub fn show(&mut self, ui: &mut Ui, context: &mut ReportContext<'_>) {
        let waker = waker(ui);
        self.painted = 0;
        let source = match &context.source {
            Ok(source) => *source,
            Err((title, note)) => {
                empty(ui, title, note);
                return;
            }
        };
        self.path_field.update(context, &self.choice);
        self.job.update(source, &self.choice, &waker);
        self.take_saved(context);
        self.take_opened(context);
        self.log_problem(context);
        self.take_copy(context);
        let chosen = self.choice.clone();
        path_field::show(ui, self, context, &waker);
        notice::show(ui, self, context, &waker);
        let height = ui.available_height();
        let width = ui.available_width();
        let gap = Margin { right: 8, ..Margin::ZERO };
        Panel::left("report options")
            .frame(Frame::new().inner_margin(gap))
            .show_separator_line(false)
            .resizable(false)
            .exact_size((width * 0.26).clamp(196.0, 248.0))
            .show(ui, |ui| {
                ui.set_min_height(height);
                card(ui, |ui| options::show(ui, self, context));
            });
        egui::CentralPanel::no_frame().show(ui, |ui| card(ui, |ui| preview::show(ui, self, context)));
        if chosen != self.choice {
            self.path_field.follow(&chosen, &self.choice);
            ui.ctx().request_repaint();
        }
    }

    /// Polls the result of saving.
    fn take_saved(&mut self, context: &mut ReportContext<'_>) {
        let Some(saved) = self.saving.take() else { return };
        let what = if self.choice.form == ExportFormat::Dockerfile { "Dockerfile" } else { "Report" };
        let bar = &mut self.path_field.bar;
        let path = if let SaveState::Saved(path) = &saved { Some(PathBuf::from(path)) } else { None };
        if let Some(line) = PathBar::saved(Some(&mut *bar), saved, what, context.actions) {
            bar.changed();
            let browser = self.choice.form == ExportFormat::Html;
            self.notice = Some(ReportNotice { line, path, browser });
        }
    }

    /// Polls the result of opening the folder or the browser.
    fn take_opened(&mut self, context: &mut ReportContext<'_>) {
        if let Some(why) = self.opening.failed() {
            context.actions.push(Action::Report(why.clone()));
            self.notice = Some(ReportNotice::failed(why));
        }
    }

    /// Errors go to the log once.
    fn log_problem(&mut self, context: &mut ReportContext<'_>) {
        let problem = self.job.problem().map(str::to_owned);
        if problem != self.reported {
            // A Dockerfile that is not there yet is no error.
            let reported = problem.clone().filter(|_| self.choice.format().is_some());
            let error = reported.map(|why| format!("Cannot create report: {why}"));
            context.actions.extend(error.map(Action::Report));
            self.reported = problem;
        }
    }

    /// Puts the report on the clipboard once it is made, with all that belongs into it.
    fn take_copy(&mut self, context: &mut ReportContext<'_>) {
        if !self.copy || context.proposing == Proposing::Busy {
            return;
        }
        if let Some(preview) = self.job.current(&self.choice) {
            context.actions.push(Action::CopyText(preview.text.to_string()));
            self.notice = Some(ReportNotice::copied(self.choice.form, preview.text.len() as u64));
            self.copy = false;
        } else if self.job.problem().is_some() {
            self.copy = false;
        }
    }

    /// What is chosen.
    pub fn choice(&self) -> &ReportOptions {
        &self.choice
    }

    /// How many pieces or lines were painted for the last frame.
    pub fn painted(&self) -> usize {
        self.painted
    }

    /// Of how many pieces the page is made.
    pub fn pieces(&self) -> usize {
        self.pieces
    }
}

/// What a report waits for, or why there is none.
fn waits(context: &ViewContext<'_>) -> (&'static str, String) {
    if context.done {
        let why = "The analysis stopped before the layers were merged. Reload the image.";
        return ("No report", why.to_owned());
    }
    let layers = LayerItem::all(context.analysis, context.done);
    ("Waiting for findings", waits_for(context.analysis, waiting_for(&layers)))
}

/// Room between parts of the view.
const GAP: f32 = space::S;
