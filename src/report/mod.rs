//! In: an analysis.
//! Out: its report as one model, and that as text or JSON.
//! Must not know: where the text goes, or how the image was read.

mod cuda;
mod inventory;
mod json;
mod model;
mod text;
mod text_cuda;

pub use cuda::{CudaPart, LibraryLine};
pub use json::to_json;
pub use model::{FileLine, ImagePart, LayerLine, Options, Report, RunConfig, TotalsPart, image_part};
pub use text::{short_instruction, to_text};
