//! What the view remembers.

use std::path::PathBuf;
use std::sync::Arc;

use super::ViewContext;
use crate::gui::models::dockerfile::{
    Aligned, AlignedRow, DockerfileModel, Drafts, ProposalItem, Proposer, SaveKind, SaveState, Saving,
};
use crate::jobs::Waker;

/// The proposals, and what is chosen of them.
#[derive(Default)]
pub(super) struct DockerfileState {
    pub(super) drafts: Drafts,
    pub(super) row: Option<usize>,
    /// The reason that was chosen in the list; a row may have several.
    pub(super) reason: Option<usize>,
    /// Whether the chosen row is to be brought into sight.
    pub(super) reveal: bool,
    /// Whether it is to be brought to the middle.
    pub(super) middle: bool,
    /// The chosen row of the files that are gone.
    pub(super) file: Option<usize>,
    saving: Saving,
    saved: SaveKind,
    chosen: Option<String>,
    /// The line of the original in the chosen row.
    line: Option<u32>,
    /// Heading of the original that `line` is of.
    heading: Option<String>,
    generation: u64,
}

impl DockerfileState {
    pub(super) fn with(proposer: Proposer) -> Self {
        Self { drafts: Drafts::new(proposer), ..Self::default() }
    }

    /// Applies updates.
    pub(super) fn update(&mut self, context: &ViewContext<'_>, waker: &Waker) {
        self.drafts.update(context.analysis, context.plan, waker);
        if self.generation != self.drafts.generation() {
            self.generation = self.drafts.generation();
            self.stay();
        }
    }

    pub(super) fn model(&self) -> Option<Arc<DockerfileModel>> {
        self.drafts.model().map(Arc::clone)
    }

    /// The chosen proposal; the best one where none was chosen, or it is gone.
    pub(super) fn proposal<'a>(&self, model: &'a DockerfileModel) -> Option<&'a ProposalItem> {
        model.proposals.get(self.place(model))
    }

    /// The place of the chosen proposal.
    pub(super) fn place(&self, model: &DockerfileModel) -> usize {
        self.chosen.as_deref().and_then(|id| model.find(id)).unwrap_or(0)
    }

    pub(super) fn choose(&mut self, place: usize) {
        let Some(model) = self.model() else { return };
        if let Some(proposal) = model.proposals.get(place) {
            self.chosen = Some(proposal.id.clone());
            self.first();
        }
    }

    /// The newest result is shown: the chosen line of the original stays chosen where it is still there.
    fn stay(&mut self) {
        let model = self.model();
        let heading = model.as_ref().map(|model| model.heading.clone());
        let same = std::mem::replace(&mut self.heading, heading) == self.heading;
        let line = self.line.filter(|_| same);
        self.first();
        if let Some(line) = line {
            self.select_line(line);
        }
    }

    /// The first change is chosen, so that its reason is to be seen.
    fn first(&mut self) {
        (self.file, self.reason) = (None, None);
        self.row = self.aligned(|aligned| aligned.changes.first().copied()).flatten();
        self.reveal = true;
        self.note_line();
    }

    /// Remembers which line of the original is chosen.
    fn note_line(&mut self) {
        let row = self.row;
        let line = self.aligned(|aligned| Some(aligned.rows.get(row?)?.left.as_ref()?.number));
        self.line = line.flatten();
    }

    fn aligned<T>(&self, look: impl FnOnce(&Aligned) -> T) -> Option<T> {
        let model = self.drafts.model()?;
        Some(look(self.proposal(model).map_or(&model.original, |proposal| &proposal.aligned)))
    }

    pub(super) fn select(&mut self, row: usize) {
        (self.row, self.reason, self.reveal) = (Some(row), None, true);
        self.note_line();
    }

    /// Chooses the row that a reason is shown at.
    pub(super) fn select_reason(&mut self, reason: usize) {
        if let Some(row) = self.aligned(|aligned| aligned.reason_rows.get(reason).copied()).flatten() {
            self.select(row);
            (self.reason, self.middle) = (Some(reason), true);
        }
    }

    /// Chooses the row of a line of the original.
    pub(super) fn select_line(&mut self, line: u32) {
        let is = |row: &AlignedRow| row.left.as_ref().is_some_and(|left| left.number == line);
        if let Some(row) = self.aligned(|aligned| aligned.rows.iter().position(is)).flatten() {
            self.select(row);
        }
    }

    /// Chooses the next change, or the one before; around the ends.
    pub(super) fn step(&mut self, forward: bool) {
        let at = self.row;
        let to = self.aligned(|aligned| {
            let changes = &aligned.changes;
            if forward {
                let next = changes.iter().find(|row| at.is_none_or(|at| **row > at));
                next.or_else(|| changes.first()).copied()
            } else {
                let before = changes.iter().rev().find(|row| at.is_some_and(|at| **row < at));
                before.or_else(|| changes.last()).copied()
            }
        });
        if let Some(row) = to.flatten() {
            self.select(row);
        }
    }

    pub(super) fn save(&mut self, kind: SaveKind, path: PathBuf, text: String, replace: bool, waker: &Waker) {
        self.saved = kind;
        self.saving.start(path, text, replace, waker);
    }

    pub(super) fn is_saving(&self) -> bool {
        self.saving.is_busy()
    }

    /// The result of saving, returned once.
    pub(super) fn take_saved(&mut self) -> Option<(SaveKind, SaveState)> {
        Some((self.saved, self.saving.take()?))
    }
}
