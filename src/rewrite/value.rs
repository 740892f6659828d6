//! Proposals as values, as they are written to JSON.

use schemars::JsonSchema;
use serde::Serialize;

use super::recipe::Recipe;
use crate::base::labels::labelled;
use crate::base::words::{json_words, words};
use crate::findings::Category;
use crate::formats::dockerfile::Span;

/// How much review a proposal needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Applicability {
    /// The image behaves the same.
    Safe,
    /// The image should behave the same; review the listed assumptions.
    Review,
    /// Manual work is needed.
    Manual,
}

words!(Applicability {
    Safe = "safe",
    Review = "review",
    Manual = "manual",
});

labelled!(Applicability: APPLICABILITIES);
json_words!(Applicability);

/// An edit of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The replaced range of the original text; empty for an insertion.
    pub at: Span,
    /// The replacement.
    pub with: String,
    /// The reason, in a sentence.
    pub reason: String,
    /// Its applicability.
    pub applicability: Applicability,
    /// Bytes of layers that it saves; `None` when unknown for this edit alone.
    pub bytes: Option<u64>,
}

/// The proposals for an image.
#[derive(Clone, Debug)]
pub struct Proposals {
    /// The original Dockerfile: the user's, or one reconstructed from the image history.
    pub recipe: Recipe,
    /// Proposals, best first.
    pub list: Vec<Proposal>,
    /// Why there are none; `None` when there are some.
    pub reason: Option<String>,
    /// Problems and unknown facts, in sentences.
    pub notes: Vec<String>,
}

/// A proposed Dockerfile.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
#[schemars(rename = "ProposalPart")]
pub struct Proposal {
    /// Unique id.
    pub id: String,
    /// Title, one line.
    pub title: String,
    /// safe, review, manual.
    pub applicability: Applicability,
    /// Base image of the final stage; null if unknown.
    pub base_image: Option<String>,
    /// The complete Dockerfile.
    pub dockerfile: String,
    /// The same as a unified diff.
    pub diff: String,
    /// Predicted sizes of the image.
    pub predicted: Predicted,
    /// Reasons of new or changed lines.
    pub reasons: Vec<Reason>,
    /// Content that is kept or restored although it looks superfluous, with reasons.
    pub kept: Vec<String>,
    /// Files that the new image does not have, largest first.
    pub removed: Vec<Removed>,
    /// What is proven about the new image.
    pub closure: Closure,
    /// Recommendations outside the Dockerfile.
    pub hints: Vec<Hint>,
}

/// Predicted sizes of the image of a proposal.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
#[schemars(rename = "PredictedPart")]
pub struct Predicted {
    /// Bytes of the merged view.
    pub merged_bytes: u64,
    /// Bytes of the regular files of all layers.
    pub content_bytes: u64,
    /// Reduction of the layers.
    pub saved_bytes: u64,
    /// Stages in the order of the text.
    pub stages: Vec<StageSize>,
}

/// A stage and its size.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
#[schemars(rename = "StagePart")]
pub struct StageSize {
    /// Name; empty for a final stage without one.
    pub name: String,
    /// Base of the stage.
    pub base: String,
    /// Merged bytes of the stage; null if unknown.
    pub merged_bytes: Option<u64>,
}

/// Reason of new or changed lines.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
#[schemars(rename = "ReasonLine")]
pub struct Reason {
    /// Line in the new text, counted from 1.
    pub line: u32,
    /// Number of lines; 0 for a deletion after that line.
    pub lines: u32,
    /// One sentence.
    pub text: String,
    /// safe, review, manual.
    pub applicability: Applicability,
    /// Layer bytes saved; null if unknown separately.
    pub bytes: Option<u64>,
}

/// A file that the new image does not have.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
#[schemars(rename = "RemovedLine")]
pub struct Removed {
    /// Absolute path, escaped.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// Category of its finding; null without a finding.
    pub category: Option<Category>,
}

/// What is proven about the new image.
#[derive(Clone, Debug, Default, JsonSchema, PartialEq, Eq, Serialize)]
#[schemars(rename = "ClosurePart")]
pub struct Closure {
    /// Whether everything the image resolves today also resolves in the new one.
    pub resolved: bool,
    /// Whether all names opened at run time are known.
    pub dlopen_known: bool,
    /// What no longer resolves, in sentences.
    pub faults: Vec<String>,
    /// Assumptions, and what could not be checked, in sentences.
    pub unproven: Vec<String>,
    /// Number of ELF files checked.
    pub objects: usize,
    /// Number of NEEDED entries and dlopens followed.
    pub links: usize,
}

/// A recommendation outside the Dockerfile.
#[derive(Clone, Debug, JsonSchema, PartialEq, Eq, Serialize)]
#[schemars(rename = "HintPart")]
pub struct Hint {
    /// File to change.
    pub file: String,
    /// Lines to add.
    pub lines: Vec<String>,
    /// Reason.
    pub reason: String,
    /// Bytes saved; null if unknown.
    pub bytes: Option<u64>,
}
