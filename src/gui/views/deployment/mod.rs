//! In: an image, the platforms of the catalogue.
//! Out: machines with verdicts, cold start and CUDA Graphs on a platform, and the lines to paste.
//! Must not know: tabs, panels, or how lines are written.

mod choice;
mod lines;

use std::path::PathBuf;

use egui::{Frame, Label, Margin, Panel, RichText, Ui};

use super::path_bar::{PathBar, PathEvent, PathNotice, PathWords, show_notice};
use super::{Action, ImageView, TabContent, ViewContext, waker};
use crate::base::text::printable;
use crate::deploy::snippets::SnippetFormat;
use crate::gui::design::{Tokens, text};
use crate::gui::dialogs::Pick;
use crate::gui::models::deployment::{DeploymentJob, GivenFile, default_profile};
use crate::gui::models::dockerfile::Saving;
use crate::gui::models::findings::{ChosenPlan, waits_for};
use crate::gui::models::layers::{LayerItem, waiting_for};
use crate::gui::widgets::alert::error_box;
use crate::gui::widgets::page::{PageShape, PageState, page};
use crate::gui::widgets::pane::{card, empty};
use crate::jobs::Waker;

const SAVE: PathWords = PathWords { label: "Save lines as", hint: "/path/to/file", button: "Save" };
const OPEN: PathWords =
    PathWords { label: "Open platform file", hint: "/path/to/cerebrium.toml", button: "Open" };

/// State of the view of one tab.
pub struct DeploymentView {
    profile: String,
    format: SnippetFormat,
    job: DeploymentJob,
    page: PageState,
    /// The field for the path of the lines, or of a platform's file; `None` while closed.
    bar: Option<PathBar>,
    /// Whether the field is for a file that is read.
    opens: bool,
    file: Option<GivenFile>,
    /// Whether the platform of the file is still to be chosen, once its kind is known.
    follows_file: bool,
    notice: Option<PathNotice>,
    saving: Saving,
}

impl Default for DeploymentView {
    fn default() -> Self {
        let profile = default_profile();
        Self {
            format: SnippetFormat::of_profile(&profile),
            profile,
            job: DeploymentJob::default(),
            page: PageState::default(),
            bar: None,
            opens: false,
            file: None,
            follows_file: false,
            notice: None,
            saving: Saving::default(),
        }
    }
}

impl ImageView for DeploymentView {
    fn unavailable(content: TabContent) -> Option<&'static str> {
        let saved = matches!(content, TabContent::Report { .. });
        saved.then_some("Not available in a saved report: open the image")
    }

    fn ui(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        let waker = waker(ui);
        let complete =
            context.analysis.inventory.as_deref().is_some_and(|inventory| inventory.waits_for.is_none());
        if !complete || !(context.done || context.analysis.findings.is_some()) {
            waiting(ui, context);
            return;
        }
        self.job.update(
            context.analysis,
            context.plan,
            &self.profile,
            context.machine,
            self.file.as_ref(),
            &waker,
        );
        self.follow_file();
        self.take_saved(context);
        self.path(ui, context, &waker);
        let (width, height) = (ui.available_width(), ui.available_height());
        Panel::left("deployment choice")
            .frame(Frame::new().inner_margin(Margin { right: 8, ..Margin::ZERO }))
            .show_separator_line(false)
            .resizable(false)
            .exact_size((width * 0.26).clamp(196.0, 268.0))
            .show(ui, |ui| {
                ui.set_min_height(height);
                card(ui, |ui| choice::show(ui, self, context));
            });
        let below = (height * 0.42).clamp(140.0, 420.0);
        Panel::bottom("deployment lines")
            .frame(Frame::new().inner_margin(Margin { top: 8, ..Margin::ZERO }))
            .show_separator_line(false)
            .resizable(false)
            .exact_size(below)
            .show(ui, |ui| card(ui, |ui| lines::show(ui, self, context)));
        egui::CentralPanel::no_frame().show(ui, |ui| card(ui, |ui| self.page(ui, context)));
    }

    fn is_busy(&self) -> bool {
        self.job.is_busy() || self.saving.is_busy()
    }

    fn picked(&mut self, pick: Pick, path: PathBuf, _: &ChosenPlan, waker: &Waker) {
        match pick {
            Pick::PlatformFile => self.open(path),
            // The dialog asked whether a file may be replaced.
            _ => self.save(path, true, waker),
        }
    }

    fn dialog_failed(&mut self, reason: &str) {
        let bar = self.bar.get_or_insert_with(PathBar::default);
        bar.show_message(format!("{reason}; enter the path instead"));
    }
}

fn waiting(ui: &mut Ui, context: &ViewContext<'_>) {
    if context.done {
        empty(
            ui,
            "No deployment",
            "The analysis stopped before the inventory was complete. Reload the image.",
        );
        return;
    }
    let layers = LayerItem::all(context.analysis, context.done);
    empty(ui, "Waiting for findings", &waits_for(context.analysis, waiting_for(&layers)));
}

impl DeploymentView {
    /// Id of the chosen platform.
    pub fn profile(&self) -> &str {
        &self.profile
    }

    /// Begins with a platform of the catalogue.
    pub fn set_profile(&mut self, id: &str) {
        id.clone_into(&mut self.profile);
        self.format = SnippetFormat::of_profile(id);
    }

    /// What the lines are for.
    pub fn format(&self) -> SnippetFormat {
        self.format
    }

    /// Opens a platform's file, and chooses its platform.
    pub fn open(&mut self, path: PathBuf) {
        self.file = Some(GivenFile::new(path, self.file.as_ref()));
        (self.bar, self.notice, self.follows_file) = (None, None, true);
    }

    /// Closes the platform's file.
    pub fn close_file(&mut self) {
        (self.file, self.follows_file) = (None, false);
    }

    /// Shows the field for the path of a platform's file.
    pub fn ask_for_file(&mut self) {
        let path = self.file.as_ref().map(|file| file.path().to_string_lossy().into_owned());
        (self.bar, self.opens) = (Some(PathBar::new(path.unwrap_or_default())), true);
    }

    /// Chooses the platform of a file that was just read.
    fn follow_file(&mut self) {
        if !self.follows_file {
            return;
        }
        let made = self.job.made().and_then(|made| made.file.as_ref());
        if let Some(judged) = made.filter(|judged| Some(&judged.given) == self.file.as_ref()) {
            self.follows_file = false;
            if let Ok(profile) = &judged.profile {
                (*profile).clone_into(&mut self.profile);
                self.format = SnippetFormat::of_profile(&self.profile);
            }
        }
    }

    /// Puts a path into the open field, as a file dialog does.
    pub fn type_path(&mut self, path: &str) {
        if let Some(bar) = &mut self.bar {
            path.clone_into(&mut bar.typed);
            bar.changed();
        }
    }

    fn page(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>) {
        if let Some(problem) = self.job.problem() {
            Frame::new().inner_margin(Margin::same(16)).show(ui, |ui| {
                error_box(ui, |ui| {
                    ui.add(Label::new(RichText::new("Cannot judge deployment").font(text::strong())).wrap());
                    ui.add(Label::new(problem).wrap().selectable(true));
                });
            });
            return;
        }
        self.file_state(ui);
        let Some(made) = self.job.made().cloned() else {
            empty(ui, "Judging deployment…", "");
            return;
        };
        let shape = PageShape { name: "Deployment", page: &made.page, opening: true, headings: true };
        let output = page(ui, "deployment page", &shape, &mut self.page);
        context.actions.extend(output.copied.map(Action::CopyText));
    }

    /// Why the open file cannot be read, or how it was judged.
    fn file_state(&self, ui: &mut Ui) {
        let made = self.job.made().and_then(|made| made.file.as_ref());
        let Some(judged) = made.filter(|judged| Some(&judged.given) == self.file.as_ref()) else { return };
        match &judged.profile {
            Err(why) => {
                Frame::new().inner_margin(Margin::same(8)).show(ui, |ui| {
                    error_box(ui, |ui| {
                        let name = format!("Cannot read {}", judged.given.name());
                        ui.add(Label::new(RichText::new(name).font(text::strong())).wrap());
                        ui.add(Label::new(printable(why)).wrap().selectable(true));
                    });
                });
            }
            Ok(_) if !judged.note.is_empty() => {
                Frame::new().inner_margin(Margin::symmetric(12, 6)).show(ui, |ui| {
                    ui.add(Label::new(RichText::new(judged.note).color(Tokens::of(ui).text_weak)).wrap());
                });
            }
            Ok(_) => {}
        }
    }

    /// The field for a path, and the result of saving.
    fn path(&mut self, ui: &mut Ui, context: &mut ViewContext<'_>, waker: &Waker) {
        if let Some(notice) = &self.notice
            && !show_notice(ui, notice, context.actions)
        {
            self.notice = None;
        }
        let Some(bar) = &mut self.bar else { return };
        match bar.show(ui, if self.opens { OPEN } else { SAVE }, self.saving.is_busy()) {
            PathEvent::Nothing => {}
            PathEvent::Close => self.bar = None,
            PathEvent::Browse if self.opens => context.actions.push(Action::Pick(Pick::PlatformFile)),
            PathEvent::Browse => {
                context.actions.push(Action::Pick(Pick::SaveSnippet(self.format.file_name())));
            }
            PathEvent::Take(_) if self.opens => {
                let path = bar.path();
                self.open(path);
                ui.ctx().request_repaint();
            }
            PathEvent::Take(replace) => {
                let path = bar.path();
                bar.taken();
                self.save(path, replace, waker);
                ui.ctx().request_repaint();
            }
        }
    }

    fn save(&mut self, path: PathBuf, replace: bool, waker: &Waker) {
        let snippet = self.job.current(&self.profile).and_then(|made| made.snippet(self.format));
        if let Some(snippet) = snippet {
            self.saving.start(path, snippet.text.clone(), replace, waker);
        }
    }

    fn take_saved(&mut self, context: &mut ViewContext<'_>) {
        let Some(state) = self.saving.take() else { return };
        if let Some(notice) = PathBar::saved(self.bar.as_mut(), state, "Lines", context.actions) {
            (self.notice, self.bar) = (Some(notice), None);
        }
    }
}
