//! In: an analysis.
//! Out: its report as one model, and that as text or JSON.
//! Must not know: where the text goes, or how the image was read.

mod cuda;
mod findings;
mod inventory;
mod json;
mod model;
mod text;
mod text_cuda;
mod text_findings;

pub use cuda::{CudaPart, LibraryLine};
pub use findings::{FindingLine, LayerShare, PlanPart, ReclaimablePart, path as item_path, user_name};
pub use json::to_json;
pub use model::{FileLine, ImagePart, LayerLine, Options, Report, RunConfig, TotalsPart, image_part};
pub use text::{short_instruction, to_text};
