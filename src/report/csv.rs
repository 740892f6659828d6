//! One table of a report as CSV (RFC 4180, lines end in LF).
//!
//! Columns have the names of the JSON fields. Unknown is an empty cell.

use csv::Writer;
use serde::Serialize;
use serde_json::Value;

use super::model::Report;
use crate::base::text::{elide_end, printable};
use crate::cuda::Class;

/// A table of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CsvTable {
    /// CUDA libraries.
    Libraries,
    /// What should not be there.
    Findings,
    /// Layers.
    Layers,
}

/// Characters of a cell: spreadsheets take 32,767.
const CELL: usize = 32_767 - 1;
/// Maximum bytes of a list in a cell, with room for the count of omitted items.
const LIST: usize = 32_000;

const LIBRARIES: &[&str] = &[
    "path",
    "soname",
    "component",
    "version",
    "cuda_major",
    "role",
    "bytes",
    "layer",
    "hardlink_of",
    "supplier",
    "package.manager",
    "package.name",
    "package.version",
    "foreign",
    "forward_compat.cuda_version",
    "forward_compat.drivers",
    "forward_compat.devices",
    "needed_by",
    "use",
    "chain",
    "gpu_code.arch",
    "gpu_code.kind",
    "gpu_code.isa",
    "gpu_code.compression",
    "gpu_code.entries",
    "gpu_code.bytes",
    "gpu_code.uncompressed_bytes",
    "overhead_bytes",
    "gpu_section_bytes",
];

const FINDINGS: &[&str] = &[
    "id",
    "rule",
    "severity",
    "verdict",
    "category",
    "title",
    "reason",
    "proof",
    "question",
    "bytes",
    "merged_bytes",
    "potential_bytes",
    "files",
    "layers",
    "layer_bytes.bytes",
    "layer_bytes.merged_bytes",
    "layer_bytes.files",
    "packages",
    "subjects",
    "used_by",
    "fix",
    "paths",
    "folders.path",
    "folders.files",
    "folders.bytes",
];

const LAYERS: &[&str] = &[
    "index",
    "digest",
    "diff_id",
    "media_type",
    "compression",
    "verified",
    "compressed_bytes",
    "uncompressed_bytes",
    "content_bytes",
    "entries",
    "files",
    "directories",
    "symlinks",
    "hardlinks",
    "whiteouts",
    "others",
    "wasted_bytes",
    "hides_bytes",
    "metadata_only_bytes",
    "is_base",
    "created_by",
    "claimed_bytes",
    "toc.format",
    "toc.digest",
    "toc.fetched_bytes",
];

/// A table with a heading, all of its rows.
pub fn to_csv(report: &Report, which: CsvTable) -> String {
    match which {
        CsvTable::Libraries => {
            let libraries = report.cuda.iter().flat_map(|cuda| &cuda.libraries);
            table(LIBRARIES, libraries.map(|line| row(LIBRARIES, line)))
        }
        CsvTable::Findings => {
            let findings = report.findings.iter().flatten();
            table(FINDINGS, findings.map(|line| row(FINDINGS, line)))
        }
        CsvTable::Layers => {
            let classes = Class::ALL.map(|class| format!("class_bytes.{}", class.as_str()));
            let columns: Vec<&str> =
                LAYERS.iter().copied().chain(classes.iter().map(String::as_str)).collect();
            table(&columns, report.layers.iter().map(|line| row(&columns, line)))
        }
    }
}

/// A header and rows of formatted cells.
pub(super) fn table(columns: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut writer = Writer::from_writer(Vec::new());
    // Writing rows of one length to memory has nothing that can fail.
    writer.write_record(columns).ok();
    for row in rows {
        writer.write_record(row).ok();
    }
    String::from_utf8(writer.into_inner().unwrap_or_default()).unwrap_or_default()
}

/// A text as a cell. Spreadsheets run text that begins like a formula; an apostrophe prevents it.
pub(super) fn text(text: &str) -> String {
    let text = elide_end(&printable(text), CELL);
    if text.starts_with(['=', '+', '-', '@']) { format!("'{text}") } else { text }
}

fn row(columns: &[&str], line: &impl Serialize) -> Vec<String> {
    // Plain structs with text keys have nothing that can fail.
    let line = serde_json::to_value(line).unwrap_or_default();
    columns.iter().map(|column| cell(&line, column)).collect()
}

/// The value behind names with points between them; of lists of objects, the field of each.
fn cell(line: &Value, column: &str) -> String {
    let (name, rest) = column.split_once('.').unwrap_or((column, ""));
    match line.get(name) {
        Some(Value::Array(items)) => {
            let items = items.iter().map(|item| if rest.is_empty() { Some(item) } else { item.get(rest) });
            text(&joined(items.map(|item| item.map(plain).unwrap_or_default())))
        }
        Some(Value::String(value)) => text(value),
        Some(object @ Value::Object(_)) => cell(object, rest),
        Some(value) => plain(value),
        None => String::new(),
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Items joined by `;`; a list too long for spreadsheets ends with the number of omitted items.
pub(super) fn joined(items: impl ExactSizeIterator<Item = String>) -> String {
    let count = items.len();
    let mut list = String::new();
    for (place, item) in items.enumerate() {
        if list.len() + item.len() >= LIST {
            let more = format!("… and {} more", count - place);
            return if place == 0 { more } else { list + ";" + &more };
        }
        if place > 0 {
            list.push(';');
        }
        list.push_str(&item);
    }
    list
}
