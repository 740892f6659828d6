//! The page of a report and its Markdown: what they say is what the report says, whatever is in it.

mod agreement;
mod caps;
mod gaps;
mod hostile;
mod markdown;

use std::sync::OnceLock;

use cutaway::report::page::{Block, Chart, Line, Page, Part, Section, Table};
use cutaway::report::{Report, read_saved, report_page};
use serde_json::{Value, json};

use crate::support::Place;

/// A report of the sample, as a user would save it and read it again.
fn devel() -> &'static (Value, Report) {
    static DEVEL: OnceLock<(Value, Report)> = OnceLock::new();
    DEVEL.get_or_init(|| {
        let json = Place::new().report("sample:devel").json;
        let report = of(&json);
        (json, report)
    })
}

/// A report as JSON, read as the window reads it.
fn of(json: &Value) -> Report {
    read_saved(json.to_string().as_bytes()).unwrap_or_else(|error| panic!("{error}"))
}

fn page_of(json: &Value) -> Page {
    report_page(&of(json))
}

/// A report of an image with one layer and nothing in it that anybody knows.
fn small() -> Value {
    json!({
        "schema": "cutaway.report/1",
        "generator": {"name": "cutaway", "version": "0.0.0"},
        "image": {
            "source": "oci", "reference": "small", "tags": [], "media_type": null, "manifest_digest": null,
            "config_digest": null, "platform": null, "created": null, "config": null, "base": null,
        },
        "totals": {
            "complete": true, "layers": 1, "compressed_bytes": 1000, "uncompressed_bytes": 4000,
            "content_bytes": 3000, "merged_files": 3, "merged_bytes": 3000, "wasted_bytes": 0, "efficiency": 1.0,
        },
        "layers": [layer(0)],
        "packages": [], "cuda": null, "findings": null, "reclaimable": null, "plan": null,
        "compatibility": null, "proposals": null, "largest_files": [], "warnings": [],
    })
}

fn layer(index: usize) -> Value {
    json!({
        "index": index, "digest": null, "diff_id": null, "media_type": null, "compression": null,
        "verified": "none", "compressed_bytes": 1000, "uncompressed_bytes": 4000, "content_bytes": 3000,
        "entries": 3, "files": 3, "directories": 0, "symlinks": 0, "hardlinks": 0, "whiteouts": 0, "others": 0,
        "wasted_bytes": 0, "hides_bytes": 0, "metadata_only_bytes": null, "created_by": null, "is_base": null,
        "class_bytes": null,
    })
}

fn finding(id: &str, verdict: &str, bytes: u64, title: &str) -> Value {
    json!({
        "id": id, "rule": "headers", "severity": "low", "verdict": verdict, "category": "headers",
        "title": title, "reason": title, "proof": [title, title], "question": null, "bytes": bytes,
        "merged_bytes": bytes, "files": 1, "layers": [0],
        "layer_bytes": [
            {"layer": 0, "bytes": bytes, "merged_bytes": bytes, "files": 1, "created_by": title},
        ],
        "paths": [title], "subjects": [title], "packages": [title], "used_by": [title], "potential_bytes": 0,
        "fix": title,
    })
}

fn section(page: &Page, part: Part) -> &Section {
    let found = page.sections.iter().find(|section| section.part == part);
    found.unwrap_or_else(|| panic!("no {part:?} in {page:#?}"))
}

/// All blocks of a section, those in folds and behind rows too.
fn blocks(section: &Section) -> Vec<&Block> {
    fn below<'a>(list: &'a [Block], all: &mut Vec<&'a Block>) {
        for block in list {
            all.push(block);
            match block {
                Block::Fold(_, list) => below(list, all),
                Block::Table(table) => table.rows.iter().for_each(|row| below(&row.details, all)),
                _ => {}
            }
        }
    }
    let mut all = Vec::new();
    below(&section.blocks, &mut all);
    all
}

/// The tables of a section that list such things, wherever they stand.
fn tables<'a>(section: &'a Section, noun: &str) -> Vec<&'a Table> {
    let of = |block: &&'a Block| match block {
        Block::Table(table) if table.noun == noun => Some(table),
        _ => None,
    };
    blocks(section).iter().filter_map(of).collect()
}

fn table<'a>(section: &'a Section, noun: &str) -> &'a Table {
    let found = tables(section, noun);
    found.first().unwrap_or_else(|| panic!("no {noun} in {section:#?}"))
}

fn chart(section: &Section) -> &Chart {
    let found = blocks(section).into_iter().find_map(|block| match block {
        Block::Chart(chart) => Some(chart),
        _ => None,
    });
    found.expect("a chart")
}

/// The first fact of this name.
fn fact<'a>(section: &'a Section, name: &str) -> &'a str {
    let found = blocks(section).into_iter().find_map(|block| match block {
        Block::Facts(facts) => facts.iter().find(|(one, _)| one == name).map(|(_, line)| line.text.as_str()),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no {name} in {section:#?}"))
}

/// The cells of a column from top to bottom.
fn column(table: &Table, title: &str) -> Vec<String> {
    let place = table.columns.iter().position(|column| column.title == title).expect("such a column");
    table.rows.iter().map(|row| row.cells[place].text.clone()).collect()
}

fn lead(page: &Page) -> String {
    page.lead.iter().map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

/// All lines of text of a page, wherever they stand.
fn lines(page: &Page) -> Vec<&Line> {
    let mut all: Vec<&Line> = page.lead.iter().collect();
    for block in page.sections.iter().flat_map(blocks) {
        match block {
            Block::Line(line) => all.push(line),
            Block::Facts(facts) => all.extend(facts.iter().map(|(_, line)| line)),
            Block::Table(table) => all.extend(table.rows.iter().flat_map(|row| &row.cells)),
            _ => {}
        }
    }
    all
}
