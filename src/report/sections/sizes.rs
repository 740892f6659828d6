//! Sizes and classes.

use super::Content;
use super::make::{UNKNOWN, count_or_dash, fact, name, sum, weak};
use crate::base::size::human;
use crate::base::text::{counted, printable};
use crate::cuda::Class;
use crate::report::model::{LayerLine, Report};
use crate::report::page::{Block, Chart, Slice, share};
use crate::slim::GPU_TARGETS;

const UNREAD: &str = "no layer was read";
const NOT_ALL_READ: &str = "not every layer was read";

/// Whether files of some layer are unknown, so that its waste is too. A layer that was read by its table of contents
/// has all of its files.
pub(super) fn is_partial(report: &Report) -> bool {
    let is_unread = report.layers.iter().any(|layer| layer.content_bytes.is_none());
    !report.totals.complete && (is_unread || report.warnings.iter().any(|one| one.code != "not-read"))
}

/// Compressed bytes of all layers. The blob of a layer that was not read completely may be a part of what is pulled:
/// then the size that the manifest declares.
pub(super) fn compressed(report: &Report) -> Option<u64> {
    if !is_partial(report) {
        return report.totals.compressed_bytes;
    }
    let size = |layer: &LayerLine| layer.claimed_bytes.or(layer.compressed_bytes);
    let sizes: Option<Vec<u64>> = report.layers.iter().map(size).collect();
    sizes.map(|sizes| sum(sizes.into_iter()))
}

pub(super) fn section(report: &Report) -> Content {
    let totals = &report.totals;
    let known = |bytes: Option<u64>, meaning: &str, why: &str| match bytes {
        Some(bytes) => format!("{}, {meaning}", human(bytes)),
        None => format!("unknown: {why}"),
    };
    let partial = is_partial(report);
    let declared = report.layers.iter().all(|layer| layer.claimed_bytes.is_some());
    let (at_least, by) = match (partial, declared) {
        (true, true) => ("", " as declared by the manifest"),
        (true, false) => ("at least ", ""),
        (false, _) => ("", ""),
    };
    let stored = format!("size of a first pull{by} ({})", counted(totals.layers, "layer"));
    let pulled = match compressed(report) {
        Some(bytes) => format!("{at_least}{}, {stored}", human(bytes)),
        None => "unknown: some layers have no known compressed size".to_owned(),
    };
    let files = format!(
        "visible in the container: {} {}",
        count_or_dash(totals.merged_files),
        if totals.merged_files == Some(1) { "file" } else { "files" }
    );
    let wasted = match totals.wasted_bytes.zip(totals.content_bytes) {
        Some((part, all @ 1..)) if !partial => {
            format!("deleted or overwritten by upper layers: {} of the content", share(part, all))
        }
        _ => "deleted or overwritten by upper layers".to_owned(),
    };
    let wasted = match totals.wasted_bytes {
        Some(0) if partial => format!("unknown: {NOT_ALL_READ}"),
        Some(_) if partial => format!("at least {}", known(totals.wasted_bytes, &wasted, UNREAD)),
        bytes => known(bytes, &wasted, UNREAD),
    };
    let efficiency = match totals.efficiency {
        _ if partial => format!("unknown: {NOT_ALL_READ}"),
        Some(efficiency) => format!("{:.1} %, merged / content", floor_percent(efficiency)),
        None => UNKNOWN.to_owned(),
    };
    let mut facts = vec![
        fact("Compressed", pulled),
        fact("Uncompressed", known(totals.uncompressed_bytes, "tar streams of the layers", NOT_ALL_READ)),
        fact("Content", known(totals.content_bytes, "regular files of all layers", UNREAD)),
        fact("Merged", known(totals.merged_bytes, &files, UNREAD)),
        fact("Wasted", wasted),
        fact("Efficiency", efficiency),
    ];
    if let Some(base) = &report.image.base {
        let name = base
            .reference
            .as_deref()
            .or(base.distribution.as_deref())
            .map_or_else(|| "unknown".to_owned(), name);
        let layers = match base.layers {
            0 => "number of layers unknown".to_owned(),
            count => counted(count, "layer"),
        };
        facts.push(fact("Base image", format!("{name}, {layers}")));
    }
    let labels = report.image.config.as_ref().map(|config| &config.labels);
    if let Some(targets) = labels.and_then(|labels| labels.get(GPU_TARGETS)) {
        let text =
            format!("pruned for compute capability {}; other GPUs fail with error 209", printable(targets));
        facts.push(fact("GPU code", text));
    }
    let mut blocks = vec![Block::Facts(facts)];
    blocks.extend(classes(report));
    (totals.merged_bytes.map_or_else(String::new, |bytes| format!("{} merged", human(bytes))), blocks)
}

/// Content of all layers by class.
fn classes(report: &Report) -> Vec<Block> {
    let known: Vec<_> = report.layers.iter().filter_map(|layer| layer.class_bytes.as_ref()).collect();
    if report.layers.is_empty() {
        return vec![weak("The image has no layers.")];
    }
    if known.is_empty() {
        return vec![weak("Contents unknown: no layer was read.")];
    }
    let parts: Vec<Slice> = Class::ALL
        .into_iter()
        .map(|class| Slice {
            name: class.label().to_owned(),
            bytes: sum(known.iter().filter_map(|bytes| bytes.get(class.as_str()).copied())),
            colour: class.as_str(),
        })
        .filter(|slice| slice.bytes > 0)
        .collect();
    if parts.is_empty() {
        return vec![weak("No regular files with content.")];
    }
    let mut blocks = vec![Block::Chart(Chart { title: "Layer content by class".to_owned(), parts })];
    if let Some(missing @ 1..) = report.layers.len().checked_sub(known.len()) {
        blocks.push(weak(format!("Not included: {}, contents unknown.", counted(missing, "layer"))));
    }
    blocks
}

/// Tenths of a percent, rounded down: 100 % means no waste.
fn floor_percent(ratio: f64) -> f64 {
    (ratio * 1000.0).floor() / 10.0
}

#[cfg(test)]
mod tests {
    use super::floor_percent;

    #[test]
    fn a_hundred_percent_means_no_waste() {
        assert!((floor_percent(0.9999) - 99.9).abs() < 1e-9);
        assert!((floor_percent(1.0) - 100.0).abs() < 1e-9);
    }
}
