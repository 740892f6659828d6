//! The Dockerfile and its proposals, as they are shown; the work that finds them; and files of the user's own.

mod align;
mod drafts;
mod given;
mod item;
mod line;
mod pair;
mod problem;
mod saving;
pub mod words;

pub use align::{Aligned, AlignedRow};
pub use drafts::{Drafts, Proposer};
pub(in crate::gui::models) use given::read_file;
pub use given::{is_dockerfile, named_dockerfile};
pub use item::{ProposalItem, ReasonItem};
pub use line::{DockerfileLine, LineChange};
pub use problem::{Excerpt, Problem};
pub(in crate::gui::models) use saving::write as write_text;
pub use saving::{SaveKind, SaveState, Saving};

use crate::analysis::Analysis;
use crate::base::text::printable;
use crate::rewrite::{Origin, Proposals};

/// Bytes of an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sizes {
    /// What a container sees.
    pub merged: u64,
    /// Regular files of all layers.
    pub content: u64,
}

/// What the view shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DockerfileModel {
    /// What the original is.
    pub heading: String,
    /// Whether it is reconstructed from the image history.
    pub rebuilt: bool,
    /// The original alone.
    pub original: Aligned,
    /// What its final stage starts from.
    pub original_base: Option<String>,
    /// Proposals, the best first.
    pub proposals: Vec<ProposalItem>,
    /// Why there are none, when there are none.
    pub reason: String,
    /// What went wrong or could not be known on the way.
    pub notes: Vec<String>,
    /// What could not be known of the original; each with its line.
    pub unknown: Vec<(u32, String)>,
    /// The image now.
    pub now: Sizes,
    /// Whether parts of the image could not be read.
    pub incomplete: bool,
}

impl DockerfileModel {
    /// What is proposed, ready to be shown. Takes time on long texts.
    pub fn new(proposals: Proposals, analysis: &Analysis) -> Self {
        let Proposals { recipe, list, reason, notes } = proposals;
        let text = recipe.file.text();
        let (heading, rebuilt) = match &recipe.origin {
            Origin::Given(name) => (format!("Your Dockerfile: {}", printable(name)), false),
            Origin::Reconstructed if has_history(analysis) => {
                ("Reconstructed from image history".to_owned(), true)
            }
            Origin::Reconstructed => ("Reconstructed: the image has no history".to_owned(), true),
        };
        let totals = analysis.totals();
        // The reason is shown on its own.
        let others = notes.iter().filter(|note| reason.as_ref() != Some(*note));
        let notes = others.map(|note| printable(note)).collect();
        Self {
            heading,
            rebuilt,
            original: Aligned::whole(text),
            original_base: recipe.file.stages().last().map(|stage| printable(&stage.base)),
            reason: match reason {
                Some(reason) => printable(&words::sentence(&reason)),
                None if list.is_empty() => "No way to reduce the image was found.".to_owned(),
                None => String::new(),
            },
            proposals: list.into_iter().map(|one| ProposalItem::new(one, text)).collect(),
            notes,
            unknown: recipe.unknown.iter().map(|(line, what)| (*line, printable(what))).collect(),
            now: totals.map_or_else(Sizes::default, |totals| Sizes {
                merged: totals.merged_bytes,
                content: totals.content_bytes,
            }),
            incomplete: totals.is_some_and(|totals| !totals.complete),
        }
    }

    /// The place of the proposal with this id.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.proposals.iter().position(|proposal| proposal.id == id)
    }
}

/// Whether the image has a build history.
fn has_history(analysis: &Analysis) -> bool {
    let config = analysis.image.config.as_ref();
    config.and_then(|config| config.history().as_ref()).is_some_and(|history| !history.is_empty())
}
