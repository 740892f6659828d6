//! Puts proposals together.

use std::sync::Arc;

use super::proof::prove;
use super::recipe::recipe;
use super::value::{Given, Proposals};
use super::{split, tidy};
use crate::cuda::catalog::Catalog;
use crate::cuda::{Bodies, Inventory};
use crate::findings::{Findings, Plan, TargetGpu};
use crate::formats::dockerfile::SyntaxError;
use crate::layer::LayerRead;
use crate::rootfs::Merge;
use crate::source::Image;

/// What proposals are made from.
pub struct Input<'a> {
    /// Config and history.
    pub image: &'a Image,
    /// Layers as they were read, bottom first; `None` for those without bytes.
    pub layers: &'a [Option<Arc<LayerRead>>],
    /// The merged view.
    pub merge: &'a Merge,
    /// What was read of bodies after the layers.
    pub bodies: &'a Bodies,
    /// What is known of the CUDA content.
    pub inventory: &'a Inventory,
    /// What should not be there.
    pub findings: &'a Findings,
    /// Which of that is to go.
    pub plan: &'a Plan,
    /// The rules that are data.
    pub catalog: &'a Catalog,
    /// GPUs that the image is meant for.
    pub targets: &'a [TargetGpu],
    /// Whether all of the image could be read.
    pub complete: bool,
    /// The image's Dockerfile, when the user has it.
    pub dockerfile: Option<Given<'a>>,
    /// Whether a Dockerfile that is rebuilt from the history may hold values that look like secrets.
    pub show_secrets: bool,
}

/// Why nothing could be looked at.
#[derive(Debug, thiserror::Error)]
pub enum RewriteError {
    /// The given file is no Dockerfile.
    #[error("{name}: {source}")]
    Syntax {
        /// The file.
        name: String,
        /// Where and why.
        source: SyntaxError,
    },
    /// The given file is longer than a Dockerfile may be.
    #[error("{name} has {bytes} bytes; a Dockerfile may have {most}")]
    TooLarge {
        /// The file.
        name: String,
        /// Its size.
        bytes: usize,
        /// The bound.
        most: usize,
    },
    /// The given file made another image.
    #[error("{name} does not belong to this image: {why}")]
    Foreign {
        /// The file.
        name: String,
        /// What does not fit.
        why: String,
    },
}

impl RewriteError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Foreign { .. } => Some(
                "give the Dockerfile that this image was built from, or none: one is rebuilt from the history"
                    .to_owned(),
            ),
            Self::Syntax { .. } | Self::TooLarge { .. } => {
                Some("without a file, one is rebuilt from the image's history".to_owned())
            }
        }
    }
}

/// Proposals for an image, the best first.
///
/// # Errors
/// The given Dockerfile cannot be read, or made another image.
pub fn propose(input: &Input<'_>) -> Result<Proposals, RewriteError> {
    let recipe = recipe(input)?;
    let mut notes = Vec::new();
    let mut drafts = split::drafts(input, &recipe, &mut notes);
    drafts.extend(tidy::draft(input, &recipe));
    let mut list: Vec<_> = drafts.into_iter().map(|draft| prove(input, &recipe, draft)).collect();
    list.retain(|proposal| !proposal.reasons.is_empty());
    list.sort_by_key(|proposal| {
        (!proposal.closure.resolved, std::cmp::Reverse(proposal.predicted.saved_bytes))
    });
    let reason = list.is_empty().then(|| "nothing to propose".to_owned());
    Ok(Proposals { recipe, list, reason, notes })
}
