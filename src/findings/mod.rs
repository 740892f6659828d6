//! In: image, layers, merged view, inventory, catalogue, target GPUs.
//! Out: [`Findings`]: unnecessary or faulty content, each with a verdict, its proof and its bytes; plans, policies.
//! Must not know: how layers are read, how a Dockerfile is changed, or how anything is shown.

mod classification;
mod demand;
mod facts;
mod finish;
mod folders;
mod manual;
mod named;
mod plan;
pub mod policy;
mod rules;
mod value;

pub use crate::cuda::compat::{TargetError, TargetGpu, default_targets};
pub use facts::{Facts, Input};
pub use finish::findings;
pub use folders::{WholeFolder, whole_folders};
pub use manual::{chapter, chapters};
pub use plan::{Answer, Plan, PlanChanges, PlanError, Predicted, SavedAnswer, SavedFinding, SavedPlan};
pub use rules::{rule, rules};
pub use value::{Category, Finding, Findings, Item, Reclaimable, Rule, Severity, Share, User, Verdict};
