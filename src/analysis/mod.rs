//! In: an image reference and options.
//! Out: an [`Analysis`], published stage by stage: documents, each layer, the merged view, totals.
//! Must not know: the command line, the window, or how results are written.

mod bodies;
mod body;
mod job;
mod kept;
mod known;
mod pipeline;
mod remembered;
mod single;
mod streamed;
mod tables;
mod value;

pub use bodies::Body;
pub use job::{AnalysisJob, Failure, JobState};
pub use pipeline::{AnalysisError, Depth, Options, analyze};
pub use value::{Analysis, Layer, Totals};
