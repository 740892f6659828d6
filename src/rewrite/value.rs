//! What is proposed.

use super::recipe::Recipe;
use crate::base::words::words;
use crate::findings::Category;
use crate::formats::dockerfile::Span;

/// What a Dockerfile may have: the longest that people write have some tens of KiB.
pub const DOCKERFILE_BYTES: usize = 1 << 20;

/// A Dockerfile that the user gives.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// What it is called, for messages.
    pub name: &'a str,
    /// Its bytes.
    pub text: &'a [u8],
}

/// How much of a proposal may be taken without thinking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Applicability {
    /// The image does the same afterwards.
    Safe,
    /// It should; what was taken to be true is listed, and wants a look.
    Review,
    /// It needs work by hand.
    Manual,
}

words!(Applicability {
    Safe = "safe",
    Review = "review",
    Manual = "manual",
});

/// One change of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// What is replaced, in the original text; empty where something is put in.
    pub at: Span,
    /// What stands there afterwards.
    pub with: String,
    /// Why, in a sentence.
    pub reason: String,
    /// How much of it may be taken without thinking.
    pub applicability: Applicability,
    /// Bytes of layers that it saves; `None` when that is not known on its own.
    pub bytes: Option<u64>,
}

/// What is proposed for an image.
#[derive(Clone, Debug)]
pub struct Proposals {
    /// The Dockerfile that is changed: the user's, or one rebuilt from the image's history.
    pub recipe: Recipe,
    /// Proposals, the best first.
    pub list: Vec<Proposal>,
    /// Why there are none, when there are none.
    pub reason: Option<String>,
    /// What went wrong or could not be known on the way, in sentences.
    pub notes: Vec<String>,
}

/// A changed Dockerfile.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// What tells it from the others: `base`, `stages`, `packages`, `distribution`, `stages-distribution`, `tidy`.
    pub id: String,
    /// One line: what it does.
    pub title: String,
    /// The least of its edits and of its proof.
    pub applicability: Applicability,
    /// What the final stage starts from, as a reference; `None` when that is not known.
    pub base_image: Option<String>,
    /// The whole text.
    pub dockerfile: String,
    /// The same as a unified diff against the original.
    pub diff: String,
    /// Reasons by line of the new text; of edits that only take away, the line after which something is gone.
    pub reasons: Vec<Reason>,
    /// Sizes of the image that it gives.
    pub predicted: Predicted,
    /// What is kept although it looks superfluous, or is put in again, and why.
    pub kept: Vec<String>,
    /// Files of the merged view that the new image does not have, largest first.
    pub removed: Vec<Removed>,
    /// What was proven of the new image, and what not.
    pub closure: Closure,
    /// What else helps, outside the Dockerfile.
    pub hints: Vec<Hint>,
}

/// Why a line is new or changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    /// Line of the new text, counted from 1; 0 when something is gone at the very top.
    pub line: u32,
    /// How many lines of the new text it is about; 0 when something is gone after the line before.
    pub lines: u32,
    /// The sentence.
    pub text: String,
    /// How much of it may be taken without thinking.
    pub applicability: Applicability,
    /// Bytes of layers that it saves; `None` when that is not known on its own.
    pub bytes: Option<u64>,
}

/// Sizes of the image that a proposal gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// Bytes of the merged view.
    pub merged_bytes: u64,
    /// Bytes of the regular files of all layers.
    pub content_bytes: u64,
    /// Bytes of layers that the image loses: `content_bytes` before and after.
    pub saved_bytes: u64,
    /// Stages in the order of the text; the last one is the image.
    pub stages: Vec<StageSize>,
}

/// Size of what a stage holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageSize {
    /// Its name; that of the final stage is empty when it has none.
    pub name: String,
    /// What it starts from.
    pub base: String,
    /// Bytes of its merged view; `None` when that is not known.
    pub merged_bytes: Option<u64>,
}

/// A file that a new image does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its path, escaped.
    pub path: String,
    /// Its bytes; names of one inode share them, and only the first has them.
    pub bytes: u64,
    /// The category of the finding that it belongs to; `None` for what no finding names, such as libraries of a
    /// base image that the new base does not bring.
    pub category: Option<Category>,
}

/// What was proven in the merged view of a proposal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closure {
    /// Whether everything that the image's files need and find today is found in the new one: NEEDED entries,
    /// known dlopens, the command and its interpreter, files of Python packages.
    pub resolved: bool,
    /// Whether all that is opened by name is known: every program of the application was searched.
    pub dlopen_known: bool,
    /// What is not found any more, in sentences; empty when `resolved`.
    pub faults: Vec<String>,
    /// What was taken to be true or could not be looked at, in sentences.
    pub unproven: Vec<String>,
    /// How many ELF files were looked at in the new view.
    pub objects: usize,
    /// How many of their NEEDED entries and dlopens were followed.
    pub links: usize,
}

/// Something that helps outside the Dockerfile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hint {
    /// The file that it is about, such as `.dockerignore`.
    pub file: String,
    /// Lines to put into it.
    pub lines: Vec<String>,
    /// Why.
    pub reason: String,
    /// Bytes that it saves, when that is known.
    pub bytes: Option<u64>,
}
