//! Proposals as values.

use super::recipe::Recipe;
use crate::base::labels::labelled;
use crate::base::words::words;
use crate::findings::Category;
use crate::formats::dockerfile::Span;

/// Maximum bytes of a Dockerfile: the longest hand-written ones have some tens of KiB.
pub const DOCKERFILE_BYTES: usize = 1 << 20;

/// A Dockerfile from the user.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// Its name in messages.
    pub name: &'a str,
    /// Its bytes.
    pub text: &'a [u8],
}

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

/// A changed Dockerfile.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Its id: `base`, `stages`, `packages`, `distribution`, `stages-distribution`, `tidy`.
    pub id: String,
    /// One line: what it does.
    pub title: String,
    /// The lowest applicability of its edits and its proof.
    pub applicability: Applicability,
    /// The base image of the final stage, as a reference; `None` when unknown.
    pub base_image: Option<String>,
    /// The whole text.
    pub dockerfile: String,
    /// A unified diff against the original.
    pub diff: String,
    /// Reasons by line of the new text; for a deletion, the line before it.
    pub reasons: Vec<Reason>,
    /// Sizes of the resulting image.
    pub predicted: Predicted,
    /// Content that is kept although it looks superfluous, or is added again, with the reason.
    pub kept: Vec<String>,
    /// Files of the merged view that the new image lacks, largest first.
    pub removed: Vec<Removed>,
    /// The proof of the new image, and its gaps.
    pub closure: Closure,
    /// Hints outside the Dockerfile.
    pub hints: Vec<Hint>,
}

/// The reason for a new or changed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Line of the new text, from 1; 0 for a deletion at the top.
    pub line: u32,
    /// Number of lines of the new text; 0 for a deletion after the line.
    pub lines: u32,
    /// The sentence.
    pub text: String,
    /// Its applicability.
    pub applicability: Applicability,
    /// Bytes of layers that it saves; `None` when unknown for this edit alone.
    pub bytes: Option<u64>,
}

/// Sizes of the image that results from a proposal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// Bytes of the merged view.
    pub merged_bytes: u64,
    /// Bytes of the regular files of all layers.
    pub content_bytes: u64,
    /// Saved bytes of layers: the difference of `content_bytes`.
    pub saved_bytes: u64,
    /// Stages in the order of the text; the last one is the image.
    pub stages: Vec<StageSize>,
}

/// Size of a stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageSize {
    /// Its name; that of the final stage is empty when it has none.
    pub name: String,
    /// Its base image.
    pub base: String,
    /// Bytes of its merged view; `None` when unknown.
    pub merged_bytes: Option<u64>,
}

/// A file that a new image lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its path, escaped.
    pub path: String,
    /// Its bytes; counted for the first name of an inode only.
    pub bytes: u64,
    /// The category of its finding; `None` without a finding, such as libraries of the current base image that the new
    /// base lacks.
    pub category: Option<Category>,
}

/// The proof in the merged view of a proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closure {
    /// Whether everything that resolves today resolves in the new image: NEEDED entries, known dlopens, the command and
    /// its interpreter, files of Python packages.
    pub resolved: bool,
    /// Whether all files opened by name are known: every application program was searched.
    pub dlopen_known: bool,
    /// What no longer resolves, in sentences; empty when `resolved`.
    pub faults: Vec<String>,
    /// Assumptions and gaps of the proof, in sentences.
    pub unproven: Vec<String>,
    /// Number of ELF files checked in the new view.
    pub objects: usize,
    /// Number of their NEEDED entries and dlopens.
    pub links: usize,
}

/// A hint outside the Dockerfile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The file to change, such as `.dockerignore`.
    pub file: String,
    /// Lines to add.
    pub lines: Vec<String>,
    /// The reason.
    pub reason: String,
    /// Saved bytes, if known.
    pub bytes: Option<u64>,
}
