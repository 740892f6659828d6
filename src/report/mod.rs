//! In: an analysis.
//! Out: its report as one model, and that as text or JSON.
//! Must not know: where the text goes, or how the image was read.

mod compatibility;
mod cuda;
mod findings;
mod inventory;
mod json;
mod model;
mod proposal;
mod rewrite;
mod text;
mod text_compatibility;
mod text_cuda;
mod text_findings;
mod text_rewrite;

pub use compatibility::{CompatibilityPart, ErrorPart, ReasonPart, RequiresPart, TargetLine, VersionLine};
pub use cuda::{CudaPart, LibraryLine};
pub use findings::{FindingLine, LayerShare, PlanPart, ReclaimablePart, path as item_path, user_name};
pub use json::to_json;
pub use model::{FileLine, ImagePart, LayerLine, Options, Report, RunConfig, TotalsPart, image_part};
pub use proposal::{ClosurePart, HintPart, PredictedPart, ProposalPart, ReasonLine, RemovedLine, StagePart};
pub use rewrite::{ProposalLine, RecipePart, RewriteImage, RewriteReport, proposal_lines};
pub use text::{short_instruction, to_text};
pub use text_rewrite::to_summary;
