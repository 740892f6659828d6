//! A proposed Dockerfile, part of the schema `cutaway.dockerfile/1`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::rewrite::written;
use super::vocabulary;
use super::words::Word;
use crate::rewrite::{Hint, Proposal, Reason, Removed, StageSize};

/// A changed Dockerfile.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ProposalPart {
    /// What tells it from the others.
    pub id: String,
    /// One line.
    pub title: String,
    /// safe, review, manual.
    #[schemars(transform = vocabulary::applicability)]
    pub applicability: Word,
    /// What the final stage starts from; null when that is not known.
    pub base_image: Option<String>,
    /// The whole text.
    pub dockerfile: String,
    /// The same as a unified diff.
    pub diff: String,
    /// Sizes of the image that it gives.
    pub predicted: PredictedPart,
    /// Why lines are new or changed.
    pub reasons: Vec<ReasonLine>,
    /// What is kept although it looks superfluous, or is put in again, and why.
    pub kept: Vec<String>,
    /// Files that the new image does not have, largest first.
    pub removed: Vec<RemovedLine>,
    /// What was proven of the new image.
    pub closure: ClosurePart,
    /// What helps outside the Dockerfile.
    pub hints: Vec<HintPart>,
}

/// Sizes of the image that a proposal gives.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct PredictedPart {
    /// Bytes of the merged view.
    pub merged_bytes: u64,
    /// Bytes of the regular files of all layers.
    pub content_bytes: u64,
    /// Bytes of layers that the image loses.
    pub saved_bytes: u64,
    /// Stages in the order of the text.
    pub stages: Vec<StagePart>,
}

/// What a stage holds.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct StagePart {
    /// Its name; empty for a final stage without one.
    pub name: String,
    /// What it starts from.
    pub base: String,
    /// Bytes of its merged view; null when that is not known.
    pub merged_bytes: Option<u64>,
}

/// Why lines are new or changed.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ReasonLine {
    /// Line of the new text, counted from 1.
    pub line: u32,
    /// How many lines it is about; 0 when something is gone after that line.
    pub lines: u32,
    /// The sentence.
    pub text: String,
    /// safe, review, manual.
    #[schemars(transform = vocabulary::applicability)]
    pub applicability: Word,
    /// Bytes of layers that it saves; null when that is not known on its own.
    pub bytes: Option<u64>,
}

/// A file that the new image does not have.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct RemovedLine {
    /// Absolute path, escaped.
    pub path: String,
    /// Its bytes.
    pub bytes: u64,
    /// The category of the finding that it belongs to; null for what no finding names.
    #[schemars(transform = vocabulary::category)]
    pub category: Option<Word>,
}

/// What was proven of the new image.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct ClosurePart {
    /// Whether all that is found in the image today is found in the new one.
    pub resolved: bool,
    /// Whether all that is opened by name is known.
    pub dlopen_known: bool,
    /// What is not found any more, in sentences.
    pub faults: Vec<String>,
    /// What was taken to be true, or could not be looked at, in sentences.
    pub unproven: Vec<String>,
    /// ELF files that were looked at.
    pub objects: usize,
    /// NEEDED entries and dlopens that were followed.
    pub links: usize,
}

/// Something that helps outside the Dockerfile.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct HintPart {
    /// The file that it is about.
    pub file: String,
    /// Lines to put into it.
    pub lines: Vec<String>,
    /// Why.
    pub reason: String,
    /// Bytes that it saves; null when that is not known.
    pub bytes: Option<u64>,
}

/// A proposal as it is written out; `rebuilt` when its Dockerfile is not the user's.
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
