//! A proposal before it is proven.

use super::select::Selection;
use super::value::{Applicability, Edit, Hint, StageSize};

/// What a planner makes: edits, and the image that they give.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    /// What tells it from the others.
    pub(super) id: &'static str,
    /// One line: what it does.
    pub(super) title: String,
    /// At best; the proof may lower it.
    pub(super) applicability: Applicability,
    /// What the final stage starts from.
    pub(super) base_image: Option<String>,
    /// Changes of the recipe's text.
    pub(super) edits: Vec<Edit>,
    /// Entries of this image that the new one has.
    pub(super) selection: Selection,
    /// The new image's environment, `NAME=VALUE`.
    pub(super) environment: Vec<String>,
    /// Its entrypoint; `None` for none.
    pub(super) entrypoint: Option<Vec<String>>,
    /// Stages before the final one.
    pub(super) stages: Vec<StageSize>,
    /// What is kept although it looks superfluous, or put in again, and why.
    pub(super) kept: Vec<String>,
    /// What was taken to be true, in sentences.
    pub(super) assumed: Vec<String>,
    /// What could not be carried over, in sentences: makes the proposal one by hand.
    pub(super) by_hand: Vec<String>,
    /// What else helps.
    pub(super) hints: Vec<Hint>,
}
