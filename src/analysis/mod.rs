//! In: an image reference and options.
//! Out: an [`Analysis`], published stage by stage: manifest and config, each layer, merged view, inventory.
//! Must not know: the command line, the window, or how results are written.

mod blob_cache;
mod bodies;
mod body;
mod job;
mod layer_cache;
mod options;
mod outcome;
mod pipeline;
mod single;
mod streamed;
mod tables;
mod toc_cache;
mod value;

pub use bodies::Body;
pub use job::{AnalysisJob, Failure, JobState};
pub use options::{AnalysisError, Depth, Options};
pub use pipeline::analyze;
pub use value::{Analysis, Layer, Totals};
