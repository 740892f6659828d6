//! What commands of the window do with the view.

use std::path::{Path, PathBuf};

use super::bar::Bar;
use super::{DockerfilePage, DockerfileView, ViewContext};
use crate::gui::models::dockerfile::SaveKind;
use crate::gui::views::path_bar::PathNotice;
use crate::gui::views::report::{ProposedDockerfile, Proposing};
use crate::gui::views::waker;
use crate::jobs::Waker;

impl DockerfileView {
    /// Takes a file of the user's as the image's Dockerfile.
    pub fn open(&mut self, path: PathBuf) {
        (self.bar, self.notice) = (None, None);
        self.state.drafts.give(path);
    }

    /// Goes back to what is reconstructed from the image history.
    pub fn forget(&mut self) {
        self.notice = None;
        self.state.drafts.forget();
    }

    /// The file that the user gave.
    pub fn given(&self) -> Option<&Path> {
        self.state.drafts.given()
    }

    /// To the next change, or the one before.
    pub fn step(&mut self, forward: bool) {
        self.state.step(forward);
        self.page = DockerfilePage::Changes;
    }

    /// Shows the field for the path of the user's Dockerfile.
    pub fn ask_for_file(&mut self) {
        self.bar = Some(Bar::open(self.given()));
    }

    /// Shows the field for the path that something is saved under.
    pub fn ask_where(&mut self, kind: SaveKind) {
        if let Some(proposal) = self.chosen() {
            self.bar = Some(Bar::save(kind, &proposal.id, self.given()));
        }
    }

    /// Writes the chosen proposal to a file; an existing file is replaced only after confirmation.
    pub fn save(&mut self, kind: SaveKind, path: PathBuf, replace: bool, waker: &Waker) {
        if let Some(text) = self.text(kind) {
            self.state.save(kind, path, text, replace, waker);
        }
    }

    /// Says that the proposal was put on the clipboard.
    pub fn copied(&mut self) {
        self.notice = Some(PathNotice::done("Proposed Dockerfile copied", ""));
    }

    /// Applies updates while the report is shown, and gives it what is proposed for the plan as it is.
    pub(in crate::gui::views) fn in_background(
        &mut self,
        ui: &egui::Ui,
        context: &mut ViewContext<'_>,
    ) -> ProposedDockerfile {
        let waker = waker(ui);
        self.state.update(context, &waker);
        self.log_problem(context);
        let drafts = &self.state.drafts;
        let proposing = match drafts.problem() {
            _ if context.analysis.findings.is_none() => Proposing::Done,
            Some(problem) => Proposing::Failed(problem.title.clone()),
            None if drafts.is_busy() => Proposing::Busy,
            None => Proposing::Done,
        };
        let given = self.given().map(Path::to_path_buf);
        ProposedDockerfile { proposals: drafts.proposals().cloned(), given, proposing }
    }

    /// The chosen proposal as text.
    pub fn text(&self, kind: SaveKind) -> Option<String> {
        let proposal = self.chosen()?;
        Some(match kind {
            SaveKind::Dockerfile => proposal.dockerfile.clone(),
            SaveKind::Patch => proposal.diff.clone(),
        })
    }
}
