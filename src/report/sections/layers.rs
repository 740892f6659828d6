//! Layers, bottom first.

use super::Content;
use super::make::{UNKNOWN, code, count_or_dash, fact, number, one_line, table, text, words};
use super::sizes::is_partial;
use crate::base::size::{grouped, human, human_or_dash};
use crate::base::text::counted;
use crate::report::instruction::short_instruction;
use crate::report::model::{LayerLine, Report};
use crate::report::page::{Block, Line, Row};

/// Layers: container engines start no image with more than 127.
const LAYERS: usize = 127;
/// Maximum characters of an instruction in a row, and in its details.
const SHORT: usize = 100;
const LONG: usize = 1200;

/// Names of facts of layers that were not read completely.
pub(super) const TOC: &str = "Table of contents";
pub(super) const CLAIMED: &str = "Compressed";

pub(super) fn section(report: &Report) -> Content {
    if report.layers.is_empty() {
        return (String::new(), Vec::new());
    }
    let columns = [
        number("#"),
        text("Instruction"),
        number("Compressed"),
        number("Content"),
        number("Wasted"),
        number("Files"),
    ];
    let partial = is_partial(report);
    let table = table(columns, "layers", (&report.layers, LAYERS), |layer| line(layer, partial));
    (counted(report.layers.len(), "layer"), vec![table])
}

/// `partial`: some layer was not read completely, which may shadow files of any other.
fn line(layer: &LayerLine, partial: bool) -> Row {
    let figure = |bytes: Option<u64>| Line::plain(human_or_dash(bytes));
    Row {
        cells: vec![
            Line::plain(layer.index.to_string()),
            instruction(layer, SHORT),
            figure(layer.compressed_bytes),
            figure(layer.content_bytes),
            figure(layer.wasted_bytes.filter(|bytes| *bytes > 0 || !partial)),
            Line::plain(count_or_dash(layer.files)),
        ],
        details: vec![Block::Facts(details(layer))],
    }
}

/// The instruction as in a Dockerfile, or the digest if unknown.
fn instruction(layer: &LayerLine, most: usize) -> Line {
    match (&layer.created_by, layer.diff_id.as_deref().or(layer.digest.as_deref())) {
        (Some(text), _) => Line::code(one_line(&short_instruction(text), most)),
        (None, Some(digest)) => code(digest),
        (None, None) => Line::plain("unknown"),
    }
}

fn details(layer: &LayerLine) -> Vec<(String, Line)> {
    let mut facts = Vec::new();
    if layer.created_by.as_ref().is_some_and(|text| short_instruction(text).chars().count() > SHORT) {
        facts.push(("Instruction".to_owned(), instruction(layer, LONG)));
    }
    for (name, digest) in [("Digest", &layer.digest), ("Diff ID", &layer.diff_id)] {
        let line = digest.as_deref().map_or_else(|| Line::plain("unknown"), code);
        facts.push((name.to_owned(), line));
    }
    facts.push(fact("Verified", verified(&layer.verified)));
    if let Some(compression) = &layer.compression {
        facts.push(fact("Compression", words(compression)));
    }
    if let Some(media_type) = &layer.media_type {
        facts.push(("Media type".to_owned(), code(media_type)));
    }
    if let Some(table) = &layer.toc {
        let (fetched, all) = (human(table.fetched_bytes), human_or_dash(layer.compressed_bytes));
        let text = format!(
            "{}, {fetched} of {all} fetched; the layer was not read completely",
            words(&table.format)
        );
        facts.push(fact(TOC, text));
    }
    if let Some(bytes) = layer.claimed_bytes.filter(|bytes| layer.compressed_bytes != Some(*bytes)) {
        facts.push(fact(CLAIMED, format!("{} declared by the manifest", human(bytes))));
    }
    facts.push(fact("Uncompressed", human_or_dash(layer.uncompressed_bytes)));
    facts.push(fact("Entries", entries(layer)));
    facts.push(fact("Shadows", format!("{} of lower layers", human_or_dash(layer.hides_bytes))));
    if let Some(bytes @ 1..) = layer.metadata_only_bytes {
        let text = format!("{} with identical contents: only owner, mode or mtime changed", human(bytes));
        facts.push(fact("Metadata only", text));
    }
    if let Some(is_base) = layer.is_base {
        let text = if is_base { "part of the base image" } else { "above the base image" };
        facts.push(fact("Base", text));
    }
    facts
}

fn verified(word: &str) -> String {
    match word {
        "both" => "digest and diff ID match".to_owned(),
        "digest" => "digest matches".to_owned(),
        "diff-id" => "diff ID matches".to_owned(),
        "none" => "not verified".to_owned(),
        other => words(other),
    }
}

fn entries(layer: &LayerLine) -> String {
    let kinds = [
        (layer.files, "files"),
        (layer.directories, "folders"),
        (layer.symlinks, "symbolic links"),
        (layer.hardlinks, "hard links"),
        (layer.whiteouts, "whiteouts"),
        (layer.others, "others"),
    ];
    let Some(all) = layer.entries else { return UNKNOWN.to_owned() };
    let some = kinds.iter().filter_map(|(count, what)| Some((count.filter(|count| *count > 0)?, what)));
    let list: Vec<String> = some.map(|(count, what)| format!("{} {what}", grouped(count))).collect();
    if list.is_empty() { grouped(all) } else { format!("{}: {}", grouped(all), list.join(", ")) }
}
