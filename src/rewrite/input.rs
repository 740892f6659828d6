//! The input of the planner, and why it cannot start.

use std::sync::Arc;

use crate::cuda::catalog::Catalog;
use crate::cuda::{FileContents, Inventory};
use crate::findings::{Findings, Plan, TargetGpu};
use crate::formats::dockerfile::SyntaxError;
use crate::layer::LayerRead;
use crate::rootfs::Merge;
use crate::source::Image;

/// Maximum bytes of a Dockerfile: the longest hand-written ones have some tens of KiB.
pub const DOCKERFILE_BYTES: usize = 1 << 20;

/// A Dockerfile from the user.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    /// Its name in messages.
    pub name: &'a str,
    /// Its bytes.
    pub text: &'a [u8],
}

/// The input of proposals.
pub struct Input<'a> {
    /// Config and history.
    pub image: &'a Image,
    /// Layers, bottom first; `None` for those without bytes.
    pub layers: &'a [Option<Arc<LayerRead>>],
    /// The merged view.
    pub merge: &'a Merge,
    /// File contents read after the layers.
    pub bodies: &'a FileContents,
    /// The CUDA inventory.
    pub inventory: &'a Inventory,
    /// The findings.
    pub findings: &'a Findings,
    /// The findings to remove.
    pub plan: &'a Plan,
    /// The catalogue of rules.
    pub catalog: &'a Catalog,
    /// Target GPUs.
    pub targets: &'a [TargetGpu],
    /// Whether the whole image was read.
    pub complete: bool,
    /// The image's Dockerfile, if the user provides it.
    pub dockerfile: Option<Given<'a>>,
    /// Whether a Dockerfile reconstructed from the image history may contain values that look like secrets.
    pub show_secrets: bool,
}

/// Why proposals cannot be created.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// The given file is not a Dockerfile.
    #[error("{name}: {source}")]
    Syntax {
        /// The file.
        name: String,
        /// Location and reason.
        source: SyntaxError,
    },
    /// The given file exceeds the size limit.
    #[error("{name} is too large for a Dockerfile: {bytes} bytes, limit {most}")]
    TooLarge {
        /// The file.
        name: String,
        /// Its size.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// The given file belongs to another image.
    #[error("{name} does not belong to this image: {why}")]
    Foreign {
        /// The file.
        name: String,
        /// What does not match.
        why: String,
    },
}

impl RewriteError {
    /// What to try next.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Foreign { .. } => Some(
                "pass the Dockerfile that this image was built from, or none: it is then reconstructed from the image history"
                    .to_owned(),
            ),
            Self::Syntax { .. } | Self::TooLarge { .. } => {
                Some("omit the file: it is then reconstructed from the image history".to_owned())
            }
        }
    }
}
