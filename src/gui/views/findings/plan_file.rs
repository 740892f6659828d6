//! Opening and saving a plan: the field for its path, and the result.

use std::path::PathBuf;

use egui::Ui;

use super::{Action, FindingsView, ViewContext};
use crate::base::text::counted;
use crate::gui::dialogs::Pick;
use crate::gui::models::findings::{ChosenPlan, LoadedPlan, PlanFiles};
use crate::gui::views::path_bar::{PathBar, PathEvent, PathNotice, PathWords, show_notice};
use crate::jobs::Waker;

/// Where a plan is saved unless another path is typed.
const NAME: &str = "cutaway-plan.json";

/// What a path is asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    Open,
    Save,
}

/// Files of plans in the view of one image.
#[derive(Default)]
pub(super) struct PlanFile {
    bar: Option<(Purpose, PathBar)>,
    notice: Option<PathNotice>,
    files: PlanFiles,
    /// The name of the file that was read last.
    name: String,
}

impl PlanFile {
    /// Takes in what was read and written.
    pub(super) fn update(&mut self, context: &mut ViewContext<'_>) {
        match self.files.take_read() {
            None => {}
            Some(Ok((plan, name))) => {
                self.name = name;
                context.actions.push(Action::LoadPlan(plan));
            }
            Some(Err(why)) => self.failed(why, context.actions),
        }
        if let Some(saved) = self.files.take_saved() {
            let bar = self.bar.as_mut().map(|(_, bar)| bar);
            if let Some(notice) = PathBar::saved(bar, saved, "Plan", context.actions) {
                (self.bar, self.notice) = (None, Some(notice));
            }
        }
    }

    /// Says why, where the path was typed, and in the log.
    fn failed(&mut self, why: String, actions: &mut Vec<Action>) {
        actions.push(Action::Report(why.clone()));
        self.show_message(why);
    }

    /// Takes the path that a dialog gave: a plan is read from it, or written to it.
    pub(super) fn picked(&mut self, pick: Pick, path: PathBuf, plan: &ChosenPlan, waker: &Waker) {
        match (pick, plan.document()) {
            (Pick::SavePlan, Some(document)) => self.files.save(path, document, true, waker),
            (Pick::SavePlan, None) => return,
            _ => self.files.read(path, waker),
        }
        self.notice = None;
    }

    pub(super) fn is_busy(&self) -> bool {
        self.files.is_busy()
    }

    pub(super) fn show_message(&mut self, why: String) {
        match &mut self.bar {
            Some((_, bar)) => bar.show_message(why),
            None => self.notice = Some(PathNotice::failed(why)),
        }
    }

    /// Shows the field and the line, where there is one.
    pub(super) fn show(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>, waker: &Waker) {
        if let Some(notice) = &self.notice
            && !show_notice(ui, notice, context.actions)
        {
            self.notice = None;
        }
        let busy = self.files.is_busy();
        let Some((purpose, bar)) = &mut self.bar else { return };
        let words = match purpose {
            Purpose::Open => PathWords { label: "Open plan", hint: "/path/to/plan.json", button: "Open" },
            Purpose::Save => PathWords { label: "Save plan as", hint: NAME, button: "Save" },
        };
        match bar.show(ui, words, busy) {
            PathEvent::Nothing => {}
            PathEvent::Close => self.bar = None,
            PathEvent::Browse => context.actions.push(Action::Pick(match purpose {
                Purpose::Open => Pick::Plan,
                Purpose::Save => Pick::SavePlan,
            })),
            PathEvent::Take(replace) => {
                bar.taken();
                let path = bar.path();
                self.notice = None;
                match (purpose, context.plan.document()) {
                    (Purpose::Open, _) => self.files.read(path, waker),
                    (Purpose::Save, Some(document)) => self.files.save(path, document, replace, waker),
                    (Purpose::Save, None) => {}
                }
                ui.ctx().request_repaint();
            }
        }
    }
}

impl FindingsView {
    /// Shows the field for the path of a plan to open.
    pub fn ask_for_plan(&mut self) {
        self.plan_file.bar = Some((Purpose::Open, PathBar::new(String::new())));
    }

    /// Shows the field for the path that the plan is saved under.
    pub fn ask_where_plan(&mut self) {
        self.plan_file.bar = Some((Purpose::Save, PathBar::new(NAME.to_owned())));
    }

    /// Says what a plan brought, or why it does not fit.
    pub fn plan_loaded(&mut self, loaded: Result<LoadedPlan, String>) {
        let name = &self.plan_file.name;
        match loaded {
            Ok(LoadedPlan { findings, answers, foreign }) => {
                let of = if foreign { "; saved for another image" } else { "" };
                let words = format!(
                    "Plan {name} opened: {}, {}{of}",
                    counted(findings, "finding"),
                    counted(answers, "answer")
                );
                self.plan_file.bar = None;
                self.plan_file.notice = Some(PathNotice::done(&words, ""));
            }
            Err(why) => {
                let why = format!("Plan {name} does not match this image: {why}");
                self.plan_file.show_message(why);
            }
        }
    }
}
