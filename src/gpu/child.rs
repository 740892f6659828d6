//! What the child does: it opens the driver's library and tells each step on its standard output.

use std::path::PathBuf;
use std::process::ExitCode;

use super::Depth;

/// What a child is to do.
#[derive(Clone, Debug, Default)]
pub struct ChildRequest {
    /// How far to go.
    pub depth: Depth,
    /// The only device to check; `None` for all.
    pub device: Option<u32>,
    /// Whether copies are timed too.
    pub bandwidth: bool,
    /// The library to open instead of `libcuda.so.1`, for tests.
    pub library: Option<PathBuf>,
}

/// Does the work of a child. Never called in the process that shows results.
pub fn run(_request: &ChildRequest) -> ExitCode {
    ExitCode::FAILURE
}
