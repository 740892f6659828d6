//! A proposed Dockerfile, part of the schema `cutaway.dockerfile/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rewrite::written;
use super::vocabulary;
use super::words::Word;
use crate::rewrite::{Hint, Proposal, Reason, Removed, StageSize};

/// A proposed Dockerfile.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ProposalPart {
    /// Unique id.
    pub id: String,
    /// Title, one line.
    pub title: String,
    /// safe, review, manual.
    #[schemars(transform = vocabulary::applicability)]
    pub applicability: Word,
    /// Base image of the final stage; null if unknown.
    pub base_image: Option<String>,
    /// The complete Dockerfile.
    pub dockerfile: String,
    /// The same as a unified diff.
    pub diff: String,
    /// Predicted sizes of the image.
    pub predicted: PredictedPart,
    /// Reasons of new or changed lines.
    pub reasons: Vec<ReasonLine>,
    /// Content that is kept or restored although it looks superfluous, with reasons.
    pub kept: Vec<String>,
    /// Files that the new image does not have, largest first.
    pub removed: Vec<RemovedLine>,
    /// What is proven about the new image.
    pub closure: ClosurePart,
    /// Recommendations outside the Dockerfile.
    pub hints: Vec<HintPart>,
}

/// Predicted sizes of the image of a proposal.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PredictedPart {
    /// Bytes of the merged view.
    pub merged_bytes: u64,
    /// Bytes of the regular files of all layers.
    pub content_bytes: u64,
    /// Reduction of the layers.
    pub saved_bytes: u64,
    /// Stages in the order of the text.
    pub stages: Vec<StagePart>,
}

/// A stage and its size.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StagePart {
    /// Name; empty for a final stage without one.
    pub name: String,
    /// Base of the stage.
    pub base: String,
    /// Merged bytes of the stage; null if unknown.
    pub merged_bytes: Option<u64>,
}

/// Reason of new or changed lines.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ReasonLine {
    /// Line in the new text, counted from 1.
    pub line: u32,
    /// Number of lines; 0 for a deletion after that line.
    pub lines: u32,
    /// One sentence.
    pub text: String,
    /// safe, review, manual.
    #[schemars(transform = vocabulary::applicability)]
    pub applicability: Word,
    /// Layer bytes saved; null if unknown separately.
    pub bytes: Option<u64>,
}

/// A file that the new image does not have.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RemovedLine {
    /// Absolute path, escaped.
    pub path: String,
    /// Size.
    pub bytes: u64,
    /// Category of its finding; null without a finding.
    #[schemars(transform = vocabulary::category)]
    pub category: Option<Word>,
}

/// What is proven about the new image.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ClosurePart {
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
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct HintPart {
    /// File to change.
    pub file: String,
    /// Lines to add.
    pub lines: Vec<String>,
    /// Reason.
    pub reason: String,
    /// Bytes saved; null if unknown.
    pub bytes: Option<u64>,
}

/// Builds a proposal for output; `rebuilt` if its Dockerfile is reconstructed.
pub(super) fn proposal_part(proposal: Proposal, rebuilt: bool) -> ProposalPart {
    let predicted = proposal.predicted;
    let stage = |one: StageSize| StagePart { name: one.name, base: one.base, merged_bytes: one.merged_bytes };
    let reason = |one: Reason| ReasonLine {
        line: one.line,
        lines: one.lines,
        text: one.text,
        applicability: one.applicability.as_str().into(),
        bytes: one.bytes,
    };
    let removed = |one: Removed| RemovedLine {
        path: one.path,
        bytes: one.bytes,
        category: one.category.map(|category| category.as_str().into()),
    };
    let hint =
        |one: Hint| HintPart { file: one.file, lines: one.lines, reason: one.reason, bytes: one.bytes };
    let closure = proposal.closure;
    ProposalPart {
        id: proposal.id,
        title: proposal.title,
        applicability: proposal.applicability.as_str().into(),
        base_image: proposal.base_image,
        dockerfile: written(proposal.dockerfile, rebuilt),
        diff: written(proposal.diff, rebuilt),
        predicted: PredictedPart {
            merged_bytes: predicted.merged_bytes,
            content_bytes: predicted.content_bytes,
            saved_bytes: predicted.saved_bytes,
            stages: predicted.stages.into_iter().map(stage).collect(),
        },
        reasons: proposal.reasons.into_iter().map(reason).collect(),
        kept: proposal.kept,
        removed: proposal.removed.into_iter().map(removed).collect(),
        closure: ClosurePart {
            resolved: closure.resolved,
            dlopen_known: closure.dlopen_known,
            faults: closure.faults,
            unproven: closure.unproven,
            objects: closure.objects,
            links: closure.links,
        },
        hints: proposal.hints.into_iter().map(hint).collect(),
    }
}
