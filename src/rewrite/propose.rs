//! Puts proposals together.

use std::cmp::Reverse;
use std::sync::Arc;

use super::proof::prove;
use super::recipe::{Origin, recipe};
use super::value::{Applicability, Given, Proposal, Proposals};
use super::{split, tidy};
use crate::base::redact;
use crate::base::size::human;
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

/// Proposals for an image, the best first: those that are proven before others, those that need no work by hand
/// before others, those that bring at least three quarters of the largest saving before others; of these the one
/// with the shortest change, else by what they save.
///
/// # Errors
/// The given Dockerfile cannot be read, or made another image.
pub fn propose(input: &Input<'_>) -> Result<Proposals, RewriteError> {
    let recipe = recipe(input)?;
    let mut notes = Vec::new();
    let mut drafts = split::drafts(input, &recipe, &mut notes);
    drafts.extend(tidy::draft(input, &recipe));
    let marks = [UNKNOWN, redact::REDACTED].into_iter();
    let to_fill_in: Vec<&str> =
        marks.filter(|mark| recipe.origin == Origin::Rebuilt && recipe.file.text().contains(mark)).collect();
    let proven = drafts.into_iter().filter_map(|mut draft| {
        draft.by_hand.extend(to_fill_in.iter().map(|mark| match *mark {
            UNKNOWN => format!("{mark} stands for what the history does not say: fill it in"),
            _ => format!(
                "{mark} stands for values that may be secrets: fill them in, or hand them over another way"
            ),
        }));
        prove(input, &recipe, draft)
    });
    let mut list: Vec<_> = proven.filter(|proposal| is_worth_a_change(input, proposal)).collect();
    let is_ready =
        |proposal: &Proposal| proposal.closure.resolved && proposal.applicability != Applicability::Manual;
    let saved = |one: &Proposal| one.predicted.saved_bytes;
    let most = list.iter().filter(|one| is_ready(one)).map(saved).max();
    let most = most.or_else(|| list.iter().map(saved).max());
    list.sort_by_cached_key(|proposal| {
        let saved = proposal.predicted.saved_bytes;
        // Of those that bring most of the saving the one with the shortest change.
        let brings_most = saved.saturating_mul(4) >= most.unwrap_or_default().saturating_mul(3);
        let lines = if brings_most { changed_lines(&proposal.diff) } else { 0 };
        (!proposal.closure.resolved, !is_ready(proposal), !brings_most, lines, Reverse(saved))
    });
    let reason = list.is_empty().then(|| nothing(input, &notes));
    Ok(Proposals { recipe, list, reason, notes })
}

/// Whether a proposal saves enough to be read: at least one percent of the image's content.
fn is_worth_a_change(input: &Input<'_>, proposal: &Proposal) -> bool {
    let saved = proposal.predicted.saved_bytes;
    saved > 0 && saved.saturating_mul(100) >= input.merge.merged_bytes
}

/// Lines that a unified diff adds or removes.
fn changed_lines(diff: &str) -> usize {
    let is_change =
        |line: &&str| line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---");
    diff.lines().filter(is_change).count()
}

/// What stands in a rebuilt file for what its history does not say.
const UNKNOWN: &str = "<unknown>";

fn nothing(input: &Input<'_>, notes: &[String]) -> String {
    if let Some(note) = notes.first() {
        return note.clone();
    }
    let planned = input.findings.list.iter().filter(|finding| input.plan.contains(&finding.id));
    let bytes: u64 = planned.map(|finding| finding.merged_bytes).sum();
    format!(
        "A smaller base, or another stage, would take away next to nothing: {} of {} are to go by the plan, and no instruction wants tidying.",
        human(bytes),
        human(input.merge.merged_bytes)
    )
}
