//! Environment of a pass over a layer.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::base::Limits;
use crate::formats::inflate::{Division, PointsSlot};
use crate::jobs::{CancelToken, Progress};

/// Environment of a pass.
#[derive(Clone)]
pub struct Context {
    /// Limits for untrusted input.
    pub limits: Limits,
    /// Cancels the pass.
    pub cancel: CancelToken,
    /// Receives byte and entry counts.
    pub progress: Progress,
    /// Subject of warnings, such as `layer 3 (sha256:…)`.
    pub subject: String,
    /// Bytes of facts stored so far for all layers of the image.
    pub kept: Arc<AtomicU64>,
    /// How a compressed stream that others wait for is divided; `None`: the thread that reads decodes it.
    pub inflate: Option<Division>,
    /// Whether threads beside the one that walks hash the files and search them.
    pub beside: bool,
    /// Where the restart points of a gzip stream go; `None` if nothing stores them.
    pub points: Option<PointsSlot>,
}
