//! In: image, layers, merged view, inventory, catalogue, target GPUs.
//! Out: [`Findings`]: unnecessary or faulty content, each with a verdict, its proof and its bytes; plans, policies.
//! Must not know: how layers are read, how a Dockerfile is changed, or how anything is shown.
//!
//! # Design
//!
//! **File classification** (`findings/classification.rs`) classifies every regular file of every layer once:
//! by its path (`devel_path` in the catalogue, in the report's order of categories), else by the owning
//! package. A file is an inode. It has a category only if all of its names have one, and the first of those,
//! so that removing it frees its bytes. Bytes of findings are therefore layer bytes, and no byte counts
//! twice. A file shadowed by an upper layer is classified by the path in its own layer; without another
//! category it is `overwritten`.
//!
//! **Demands** (`findings/demand.rs`) are run-time readers of content that looks like development content:
//! frameworks by `reads_devel` of the catalogue, the image's command and variables, files of the application
//! that name a tool, users of NVRTC. A framework uses the content of a wheel beside it before the toolkit's
//! copy; compiling with nvcc requires the toolkit.
//!
//! **Verdicts** (`findings/verdict.rs`): what a reachable file loads is `needed`, with the chain; what has a
//! reader is `needed` if the reader is known and `unsure` if it is only named, with the question; the rest is
//! `safe`, with the proof. If part of the image could not be read, no finding with bytes is safe.
//!
//! **Rules** are files in `findings/rules`: name, manual page, and detection where paths are not sufficient.
//! `assets/manual/rules` is generated from them, and a test compares the two.
//!
//! **A plan** is a set of findings. Predicted sizes are those of an image built without the files: the
//! remainder of a layer is assumed to compress like the whole.

mod classification;
mod demand;
mod draft;
mod facts;
mod finish;
mod folders;
mod input;
mod manual;
mod named;
mod plan;
pub mod policy;
mod rules;
mod value;

pub use crate::cuda::compat::{TargetError, TargetGpu, default_targets};
pub use demand::is_searched_for;
pub use facts::Facts;
pub use finish::findings;
pub use folders::{WholeFolder, whole_folders};
pub use input::Input;
pub use manual::{chapter, chapters};
pub use plan::{
    Answer, Answers, Plan, PlanChanges, PlanError, Predicted, Question, SavedAnswer, SavedFinding, SavedPlan,
    lost, tar_bytes,
};
pub use rules::{rule, rules};
pub use value::{
    Category, Computed, FileFindings, FilesOfFindings, Finding, Findings, Item, Reclaimable, Rule, Severity,
    Share, User, Verdict,
};
