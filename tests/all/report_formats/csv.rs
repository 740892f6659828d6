//! CSV: every row and every figure of the JSON, and nothing that a spreadsheet would run.

use std::collections::BTreeSet;

use serde_json::Value;

use super::scene;
use super::{json_of, list, printed};
use crate::support::Place;

/// The tables, and where JSON has their rows.
const TABLES: [(&str, &str); 3] =
    [("findings", "/findings"), ("libraries", "/cuda/libraries"), ("layers", "/layers")];

/// Rows of a table by the names of its columns.
fn table(text: &str) -> (Vec<String>, Vec<Vec<String>>) {
    let mut reader = ::csv::Reader::from_reader(text.as_bytes());
    let names = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let rows = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect());
    (names, rows.collect())
}

fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The cell that stands for a value of the JSON.
fn cell(row: &Value, column: &str) -> String {
    let (name, rest) = column.split_once('.').unwrap_or((column, ""));
    match &row[name] {
        Value::Array(items) => {
            let items: Vec<String> =
                items.iter().map(|item| plain(if rest.is_empty() { item } else { &item[rest] })).collect();
            items.join(";")
        }
        Value::Object(_) => cell(&row[name], rest),
        value => plain(value),
    }
}

#[test]
fn tables_have_every_row_and_every_figure_of_the_json() {
    let place = Place::new();
    for image in
        ["sample:devel".to_owned(), "sample:runtime".to_owned(), scene::plain(&place), scene::hostile(&place)]
    {
        let json = json_of(&place, &image, &[]);
        for (name, pointer) in TABLES {
            let (columns, rows) = table(&printed(&place, &image, &["--format", "csv", "--table", name]));
            let expected = json.pointer(pointer).and_then(Value::as_array).unwrap();
            assert_eq!(rows.len(), expected.len(), "{image} {name}");
            for (row, line) in rows.iter().zip(expected) {
                for (column, shown) in columns.iter().zip(row) {
                    let wanted = cell(line, column);
                    let same = *shown == wanted || *shown == format!("'{wanted}");
                    // Control characters are escaped; lists that fit no cell say what they leave out.
                    let escaped = wanted.contains(|c: char| c.is_control() || c == '\u{202e}');
                    assert!(
                        same || escaped || shown.contains("… and "),
                        "{image} {name} {column}: {shown} is not {wanted}"
                    );
                }
                let fields: BTreeSet<&str> =
                    columns.iter().map(|name| name.split('.').next().unwrap()).collect();
                let missing: Vec<&String> =
                    line.as_object().unwrap().keys().filter(|key| !fields.contains(key.as_str())).collect();
                assert!(missing.is_empty(), "{name} has no {missing:?}");
            }
        }
    }
}

#[test]
fn without_a_table_it_is_the_findings() {
    let place = Place::new();
    let print = |options: &[&str]| printed(&place, "sample:runtime", options);
    assert_eq!(print(&["--format", "csv"]), print(&["--format", "csv", "--table", "findings"]));
    for format in ["text", "json", "markdown", "html", "sarif"] {
        let message = place.failure(&["report", "sample:runtime", "--format", format, "--table", "layers"]);
        assert!(message.contains("--format csv"), "{message}");
    }
}

#[test]
fn nothing_in_a_cell_acts_in_a_spreadsheet() {
    let place = Place::new();
    let image = scene::hostile(&place);
    let mut guarded = 0;
    for (name, _) in TABLES {
        let (_, rows) = table(&printed(&place, &image, &["--format", "csv", "--table", name]));
        for shown in rows.iter().flatten() {
            assert!(!shown.starts_with(['=', '+', '-', '@', '\t', '\r']), "{name}: {shown}");
            guarded += usize::from(shown.starts_with("'="));
        }
    }
    assert!(guarded > 0, "nothing had to be guarded");
}

#[test]
fn no_cell_is_longer_than_a_spreadsheet_takes_and_says_what_it_leaves_out() {
    let place = Place::new();
    let image = scene::huge(&place);
    let (columns, rows) = table(&printed(&place, &image, &["--format", "csv"]));
    let paths = columns.iter().position(|name| name == "paths").unwrap();
    let longest = rows.iter().max_by_key(|row| row[paths].len()).unwrap();
    let (shown, left_out) = longest[paths].rsplit_once(";… and ").unwrap();
    let left_out: usize = left_out.strip_suffix(" more").unwrap().parse().unwrap();
    assert_eq!(shown.split(';').count() + left_out, scene::HUGE);
    assert!(rows.iter().flatten().all(|cell| cell.chars().count() < 32_767));
    let json = json_of(&place, &image, &[]);
    assert_eq!(rows.len(), list(&json, "findings").len());
}
