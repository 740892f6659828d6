//! Facts of images that several pages show.

use super::result::ComparisonResult;
use crate::base::redact;
use crate::base::text::printable;
use crate::compare::Row;
use crate::gui::models::layers::brief;
use crate::report::short_instruction;
use crate::source::LayerSource;

/// An instruction without its secrets: in short on one line, and whole.
pub(super) fn instruction(text: &str) -> (String, String) {
    let whole = printable(&redact::instruction(text));
    let short = short_instruction(&whole).split_whitespace().collect::<Vec<_>>().join(" ");
    (brief(&short), whole)
}

/// Layer data from the manifest and config.
pub(super) fn of_layer(compared: &ComparisonResult, image: usize, layer: usize) -> Option<&LayerSource> {
    compared.comparison.images.get(image)?.image.layers.get(layer)
}

/// By how much the images differ at a path at most.
pub(super) fn largest(row: Row<'_>, baseline: usize, images: usize) -> u64 {
    let base = row.bytes(baseline).unwrap_or(0);
    (0..images).map(|image| row.bytes(image).unwrap_or(0).abs_diff(base)).max().unwrap_or(0)
}
