//! Very large reports: what is left out is counted, and what is written stays small.

use cutaway::report::page::{Block, Chart, Column, Line, Page, Part, Row, Section, Slice, Table};
use cutaway::report::{to_html, to_markdown};
use serde_json::{Value, json};

use super::{finding, layer, page_of, section, small, table, tables};

const MANY: usize = 5_000;
/// GitHub takes 65,536 characters.
const COMMENT: usize = 60_000;

/// A report with five thousand of everything, each with this long name.
fn huge(name: &str) -> Value {
    let mut json = small();
    let named = |number: usize| format!("{number:05}{name}");
    // The largest, which are shown, have more behind them than is shown.
    let several = |number: usize| if number + 200 > MANY { 30 } else { 1 };
    let list = |make: &dyn Fn(usize) -> Value| Value::Array((0..MANY).map(make).collect());
    json["image"]["reference"] = json!(name);
    json["image"]["tags"] = json!([name]);
    let env: Vec<String> = (0..MANY).map(|number| format!("{}={name}", named(number))).collect();
    let labels: serde_json::Map<String, Value> =
        (0..MANY).map(|number| (named(number), json!(name))).collect();
    json["image"]["config"] = json!({
        "env": env, "entrypoint": [name], "cmd": [name], "working_dir": name, "user": name,
        "labels": labels, "exposed_ports": [name],
    });
    json["layers"] = list(&|number| {
        let mut layer = layer(number);
        layer["created_by"] = json!(named(number));
        layer["digest"] = json!(name);
        layer["class_bytes"] = json!({"cuda-devel": 3000});
        layer
    });
    json["findings"] = list(&|number| {
        let verdict = ["safe", "unsure", "needed"][number % 3];
        finding(&named(number), verdict, 10, &named(number))
    });
    json["reclaimable"] =
        json!({"safe_bytes": 16_670, "unsure_bytes": 16_670, "potential_bytes": 0, "by_category": {}});
    let ids: Vec<String> = (0..10).map(named).collect();
    json["plan"] = json!({"findings": ids, "merged_bytes_after": 1, "compressed_bytes_after": 1});
    json["packages"] = list(
        &|number| json!({"manager": "dpkg", "name": named(number), "version": name, "bytes": 1, "files": 1, "layer": 0, "root": name}),
    );
    let code = json!({"arch": name, "kind": "sass", "isa": name, "compression": "none", "entries": 1, "bytes": 1, "uncompressed_bytes": 1});
    json["cuda"] = json!({
        "toolkit": null, "toolkits": [], "frameworks": [], "stack": [], "weights": [],
        "libraries": list(&|number| json!({
            "path": named(number), "soname": name, "component": name, "version": name, "cuda_major": 13,
            "role": "runtime", "bytes": number, "layer": 0, "hardlink_of": null, "supplier": "wheel",
            "package": null, "foreign": null, "forward_compat": null, "needed_by": vec![name; several(number)],
            "use": "needed", "chain": vec![name; several(number)],
            "gpu_code": vec![&code; several(number)], "overhead_bytes": 0,
            "gpu_section_bytes": 0,
        })),
        "components": [],
        "gpu_code": list(&|number| json!({
            "arch": named(number), "kind": "sass", "bytes": 1, "uncompressed_bytes": 1,
            "by_holder": {"libraries": 1, "executables": 0, "archives": 0, "files": 0},
        })),
        "duplicates": list(&|number| json!({
            "soname": named(number), "paths": vec![name; several(number)], "identical": true, "reclaimable_bytes": number, "resolved_by": [],
        })),
        "identical": list(&|number| json!({"paths": vec![named(number); several(number)], "bytes": number})),
        "unresolved": list(&|number| json!({"path": named(number), "name": name})),
    });
    json["largest_files"] = list(&|number| json!({"path": named(number), "bytes": 1, "layer": 0}));
    json["warnings"] = list(&|number| json!({"code": "c", "message": named(number), "subject": name}));
    json["proposals"] = json!([{
        "id": "a", "title": name, "applicability": "manual", "saved_bytes": 1, "merged_bytes": 1,
        "base_image": name, "dockerfile": format!("{name}\n").repeat(500), "diff": format!("{name}\n").repeat(500),
    }]);
    json
}

/// What is shown of a list and what is counted make all of it.
fn all_counted(page: &Page) {
    let lists = [
        (Part::Layers, "layers"),
        (Part::Cuda, "libraries"),
        (Part::Cuda, "names"),
        (Part::GpuCode, "architectures"),
        (Part::Duplicates, "sonames"),
        (Part::Duplicates, "groups"),
        (Part::Packages, "packages"),
        (Part::Files, "files"),
        (Part::Settings, "variables"),
        (Part::Settings, "labels"),
        (Part::Warnings, "warnings"),
    ];
    for (part, noun) in lists {
        let table = table(section(page, part), noun);
        assert_eq!(table.rows.len() as u64 + table.more, MANY as u64, "{noun}");
        assert!(!table.rows.is_empty() && table.more > 0, "{noun}");
        assert_eq!(
            table.left_out().unwrap(),
            format!("{} more {noun}: see the JSON report.", grouped(table.more))
        );
    }
    let findings = tables(section(page, Part::Findings), "findings");
    let all: u64 = findings.iter().map(|table| table.rows.len() as u64 + table.more).sum();
    assert_eq!(all, MANY as u64);
}

fn grouped(count: u64) -> String {
    cutaway::base::size::grouped(count)
}

#[test]
fn a_page_of_thousands_stays_small_and_counts_the_rest() {
    for name in ["/a/long/folder/libname.so".repeat(12), "<&\"'/`|@x#1".repeat(25), "語".repeat(300)] {
        let page = page_of(&huge(&name));
        all_counted(&page);
        let html = to_html(&page).len();
        assert!(html < 2_000_000, "{html} bytes of HTML");
        let text = to_markdown(&page);
        let length = text.chars().count();
        assert!((2_000..=COMMENT).contains(&length), "{length} characters of Markdown");
        assert!(text.contains("Shortened to fit a comment"), "{text}");
        assert!(text.contains(" more findings: see the JSON report."), "{text}");
    }
}

#[test]
fn a_small_page_is_whole() {
    let mut json = small();
    json["findings"] = json!([finding("a", "safe", 10, "one"), finding("b", "safe", 5, "two")]);
    json["reclaimable"] =
        json!({"safe_bytes": 15, "unsure_bytes": 0, "potential_bytes": 0, "by_category": {}});
    let text = to_markdown(&page_of(&json));
    assert!(!text.contains("Shortened to fit") && !text.contains(" more "), "{text}");
    assert!(text.contains("Removable: 2 findings, 15 B"), "{text}");
}

/// A page that no report makes: a comparison of anything may have any shape.
#[test]
fn any_page_fits_a_comment() {
    let long = "$@#:/x ".repeat(300);
    let line = || Line::plain(long.clone());
    let rows = |cells: usize| Row { cells: vec![line(); cells], details: vec![Block::Line(line()); 3] };
    let columns = |count: usize| vec![Column { title: long.clone(), number: true }; count];
    let block = [
        Block::Line(line()),
        Block::Heading(long.clone()),
        Block::Facts(vec![(long.clone(), line()); 50]),
        Block::Chart(Chart {
            title: long.clone(),
            parts: vec![Slice { name: long.clone(), bytes: u64::MAX, colour: "x" }; 50],
        }),
        Block::Table(Table {
            columns: columns(40),
            rows: vec![rows(40); 20],
            more: u64::MAX,
            noun: "things",
        }),
        Block::Fold(long.clone(), vec![Block::Code("diff", long.clone()); 3]),
    ];
    let section = Section { part: Part::Findings, note: long.clone(), blocks: block.to_vec() };
    let page = Page {
        title: long.clone(),
        generator: long.clone(),
        facts: vec![long.clone(); 50],
        lead: vec![line(); 50],
        sections: vec![section; 3],
    };
    let text = to_markdown(&page);
    assert!(text.chars().count() <= COMMENT, "{}", text.chars().count());
    assert!(text.contains("Shortened to fit a comment"));
}
