//! One table of a report as CSV (RFC 4180, lines end in LF).
//!
//! Columns are the fields of the JSON, by its schema. Unknown is an empty cell.

use csv::Writer;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::model::Report;
use super::schema::schema_for;
use crate::base::text::{elide_end, printable};

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

/// Fields that are no columns: the first repeats `layers`, the other is long and a column of the layers.
const OMITTED: [&str; 2] = ["layer_bytes.layer", "layer_bytes.created_by"];
/// Columns of findings and layers at the end, for readers that know columns by their position.
const LAST_OF_FINDINGS: &[&str] = &[
    "potential_bytes",
    "files",
    "layers",
    "layer_bytes",
    "packages",
    "subjects",
    "used_by",
    "fix",
    "paths",
    "folders",
];
const LAST_OF_LAYERS: &[&str] = &["created_by", "claimed_bytes", "toc", "class_bytes"];

/// A table with a heading, all of its rows.
pub fn to_csv(report: &Report, which: CsvTable) -> String {
    match which {
        CsvTable::Libraries => written(report.cuda.iter().flat_map(|cuda| &cuda.libraries), &[]),
        CsvTable::Findings => written(report.findings.iter().flatten(), LAST_OF_FINDINGS),
        CsvTable::Layers => written(report.layers.iter(), LAST_OF_LAYERS),
    }
}

fn written<'a, T: JsonSchema + Serialize + 'a>(lines: impl Iterator<Item = &'a T>, last: &[&str]) -> String {
    let mut columns = columns_of::<T>();
    columns.retain(|column| !OMITTED.contains(&column.as_str()));
    columns.sort_by_key(|column| {
        let field = column.split('.').next();
        last.iter().position(|name| Some(*name) == field).map_or(0, |place| place + 1)
    });
    let rows = lines.map(|line| row(&columns, line));
    table(&columns.iter().map(String::as_str).collect::<Vec<_>>(), rows)
}

/// The columns of what `T` is written as: its fields in order. Fields of an object, or of a list of objects, follow its
/// name and a point.
pub(super) fn columns_of<T: JsonSchema>() -> Vec<String> {
    let mut columns = Vec::new();
    let root = schema_for::<T>();
    add_columns(&mut columns, &root, &root, "");
    columns
}

fn add_columns(columns: &mut Vec<String>, root: &Value, schema: &Value, name: &str) {
    let referred = |schema: &Value| root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?);
    let either = schema.get("anyOf").and_then(Value::as_array).into_iter().flatten();
    let object = std::iter::once(schema).chain(either).chain(schema.get("items")).find_map(referred);
    let object = object.unwrap_or(schema);
    let fields = object.get("required").or_else(|| object.pointer("/propertyNames/enum"));
    let Some(fields) = fields.and_then(Value::as_array) else {
        columns.push(name.to_owned());
        return;
    };
    for field in fields.iter().filter_map(Value::as_str) {
        let inner = object.get("properties").and_then(|all| all.get(field)).unwrap_or(&Value::Null);
        let point = if name.is_empty() { "" } else { "." };
        add_columns(columns, root, inner, &format!("{name}{point}{field}"));
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

fn row(columns: &[String], line: &impl Serialize) -> Vec<String> {
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
