//! What of an image could not be read, for the banner above its views.

use super::layers::{LayerItem, LayerState};
use crate::analysis::Analysis;
use crate::base::text::{counted, printable};

/// Parts of an image that are missing from all that is shown of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageFaults {
    /// Which part, and why, in a sentence; safe to show.
    pub words: String,
}

impl ImageFaults {
    /// The faults known so far; `None` where nothing is missing. With `done`, what is missing will not come; what was
    /// stopped on request is no fault.
    pub fn new(analysis: &Analysis, done: bool) -> Option<Self> {
        let items = LayerItem::all(analysis, done);
        let faulty: Vec<&LayerItem> = items.iter().filter(|item| item.state.fault().is_some()).collect();
        let words = match (faulty.as_slice(), analysis.image.intact) {
            ([], true) => return None,
            ([], false) => {
                let cause = analysis.image.warnings.first().map(|warning| printable(&warning.message));
                format!(
                    "The image is incomplete: {}",
                    cause.unwrap_or_else(|| "its config cannot be read".to_owned())
                )
            }
            ([one], _) => about(one),
            ([first, ..], _) => {
                let layers = counted(items.len(), "layer");
                format!("{} of {layers} are missing or incomplete. {}", faulty.len(), about(first))
            }
        };
        Some(Self { words })
    }
}

fn about(item: &LayerItem) -> String {
    let cause = printable(item.state.fault().unwrap_or_default());
    match item.state {
        LayerState::Failed(_) => format!("Cannot read layer {}: {cause}", item.index),
        _ => format!("Layer {} is incomplete: {cause}", item.index),
    }
}
