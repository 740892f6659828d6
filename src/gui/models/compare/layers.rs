//! Layers: each once, with where every image has it.

use super::facts::{instruction, of_layer};
use super::line::{CompareCell, CompareLine, LineSubject, NOT_THERE, NOTHING};
use super::result::ComparisonResult;
use crate::base::digest::short;
use crate::base::size::human_or_dash;
use crate::base::text::printable;
use crate::compare::{Change, LayerMatch, LayerRow};

pub(super) fn lines(compared: &ComparisonResult, baseline: usize) -> Vec<CompareLine> {
    let line = |(place, row): (usize, &LayerRow)| {
        let name = row.created_by.as_deref().map(|text| instruction(text).0);
        let digest = row.digest.as_deref().or(row.diff_id.as_deref()).map(|digest| printable(short(digest)));
        let cells: Vec<CompareCell> =
            (0..row.places.len()).map(|image| cell(compared, row, image, baseline)).collect();
        let bytes = row.bytes.iter().flatten().max().copied().or(row.content_bytes).unwrap_or(0);
        let differs = cells.iter().any(
            |cell| matches!(cell.change, Some(change) if !matches!(change, Change::Same | Change::Absent)),
        );
        CompareLine {
            differs,
            difference: if differs { bytes } else { 0 },
            size: bytes,
            ..CompareLine::new(
                "",
                name.or_else(|| digest.clone()).unwrap_or_else(|| format!("layer {place}")),
                cells,
            )
        }
        .note(digest.unwrap_or_default())
        .about(LineSubject::Layer(place))
    };
    compared.comparison.layers.iter().enumerate().map(line).collect()
}

fn cell(compared: &ComparisonResult, row: &LayerRow, image: usize, baseline: usize) -> CompareCell {
    let places = row.places.get(image).map(Vec::as_slice).unwrap_or_default();
    let base = row.places.get(baseline).map(Vec::as_slice).unwrap_or_default();
    let numbers: Vec<String> = places.iter().map(ToString::to_string).collect();
    let text = match (places.is_empty(), base.is_empty()) {
        (true, true) => NOTHING.to_owned(),
        (true, false) if image == baseline => NOTHING.to_owned(),
        (true, false) => NOT_THERE.to_owned(),
        (false, _) => format!("layer {}", numbers.join(", ")),
    };
    let bytes = |image: usize| human_or_dash(row.bytes.get(image).copied().flatten().or(row.content_bytes));
    let (note, change) = match (places.is_empty(), base.is_empty()) {
        _ if image == baseline => (if places.is_empty() { String::new() } else { bytes(image) }, None),
        (true, true) => (String::new(), Some(Change::Absent)),
        // Its bytes are in the column of the baseline.
        (true, false) => (String::new(), Some(Change::Removed)),
        (false, true) => (bytes(image), Some(Change::Added)),
        (false, false) => {
            let layer_match = layer_match(compared, row, image, baseline);
            let change = if layer_match == LayerMatch::Digest { Change::Same } else { Change::Changed };
            (layer_match.label().to_owned(), Some(change))
        }
    };
    CompareCell { text, note, change, number: false }
}

/// How the layer of an image is known to be that of the baseline. What the comparison says is about the first image
/// that has it; two others may be closer to each other.
pub(super) fn layer_match(
    compared: &ComparisonResult,
    row: &LayerRow,
    image: usize,
    baseline: usize,
) -> LayerMatch {
    let place = |image: usize| row.places.get(image).and_then(|places| places.first()).copied();
    let source = |image: usize| of_layer(compared, image, place(image)?);
    let known = |image: usize| row.matches.get(image).copied().flatten().unwrap_or(LayerMatch::Content);
    match (source(image), source(baseline)) {
        (Some(one), Some(other)) if one.digest.is_some() && one.digest == other.digest => LayerMatch::Digest,
        (Some(one), Some(other)) if one.diff_id.is_some() && one.diff_id == other.diff_id => {
            LayerMatch::DiffId
        }
        _ => known(image).max(known(baseline)),
    }
}
