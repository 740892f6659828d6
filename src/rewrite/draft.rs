//! A proposal before it is proven.

use super::select::Selection;
use super::value::{Applicability, Edit, Hint, StageSize};

/// The output of a planner: edits, and the resulting image.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// The id of the proposal.
    pub(super) id: &'static str,
    /// One line: what it does.
    pub(super) title: String,
    /// The best case; the proof may lower it.
    pub(super) applicability: Applicability,
    /// The base image of the final stage.
    pub(super) base_image: Option<String>,
    /// Edits of the recipe's text.
    pub(super) edits: Vec<Edit>,
    /// Entries of this image that the new one has.
    pub(super) selection: Selection,
    /// Bytes that it stores once more than the selection says, because a copied folder has them too.
    pub(super) stored_again: u64,
    /// The new image's environment, `NAME=VALUE`.
    pub(super) environment: Vec<String>,
    /// Its entrypoint; `None` for none.
    pub(super) entrypoint: Option<Vec<String>>,
    /// Stages before the final one.
    pub(super) stages: Vec<StageSize>,
    /// Content that is kept although it looks superfluous, or added again, with the reason.
    pub(super) kept: Vec<String>,
    /// Assumptions, in sentences.
    pub(super) assumed: Vec<String>,
    /// What could not be carried over, in sentences: makes the proposal `manual`.
    pub(super) manual_steps: Vec<String>,
    /// Hints outside the Dockerfile.
    pub(super) hints: Vec<Hint>,
}
