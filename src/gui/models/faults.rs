//! What of an image could not be read, for the banner above its views.

use super::layers::{LayerItem, LayerState};
use crate::analysis::Analysis;
use crate::base::size::grouped;
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
        let layers = analysis.layers.iter().enumerate();
        // An image may have thousands of layers, and this is asked whenever one of them arrives.
        let mut faulty = layers.filter(|(_, layer)| LayerItem::has_fault(layer)).map(|(index, _)| index);
        let first = faulty.next().and_then(|index| LayerItem::of(analysis, index, done));
        let words = match (first, faulty.count(), analysis.image.intact) {
            (None, _, true) => return None,
            (None, _, false) => {
                let cause = analysis.image.warnings.first().map(|warning| printable(&warning.message));
                let cause = cause.unwrap_or_else(|| "its config cannot be read".to_owned());
                format!("The image is incomplete: {cause}")
            }
            (Some(one), 0, _) => about(&one),
            (Some(first), others, _) => {
                let layers = counted(analysis.layers.len(), "layer");
                format!(
                    "{} of {layers} are missing or incomplete. {}",
                    grouped(others as u64 + 1),
                    about(&first)
                )
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
