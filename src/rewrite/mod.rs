//! In: an analysed image, the findings to remove, and its Dockerfile if there is one.
//! Out: [`Proposals`]: Dockerfiles as edits of the user's own, each with reasons, predicted sizes and proof.
//! Must not know: how layers are read, how anything is shown or saved; runs nothing and reads no bytes.

mod draft;
mod edit;
mod proof;
mod propose;
mod recipe;
mod select;
mod split;
mod tidy;
mod value;

#[cfg(feature = "fuzzing")]
pub use edit::fuzz_edits;
pub use propose::{Input, RewriteError, propose};
pub use recipe::{InstructionLayers, Origin, Recipe};
pub use select::Selection;
pub use value::{
    Applicability, Closure, DOCKERFILE_BYTES, Edit, Given, Hint, Predicted, Proposal, Proposals, Reason,
    Removed, StageSize,
};
