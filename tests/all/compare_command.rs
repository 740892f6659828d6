//! `cutaway compare`: what it says of images made by code, in every format, and how it ends.

use std::fs;
use std::process::Stdio;

use cutaway::report::{CompareReport, to_json};
use serde_json::{Value, json};

use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, symlink, tar};
use crate::schema::fits;
use crate::support::{self, Outcome, Place};

mod budget;
mod hostile;

pub(super) const FORMATS: [&str; 5] = ["text", "json", "markdown", "html", "csv"];

fn last_line(text: &str) -> &str {
    text.lines().last().unwrap_or_default()
}

/// An image of these layers, with this config.
fn image(layers: &[(&str, Vec<Member>)], config: Value) -> Image {
    let add = |image: Image, (step, members): &(&str, Vec<Member>)| image.layer(step, &tar(members.clone()));
    Image { config, ..layers.iter().fold(Image::new(Packing::Plain), add) }
}

fn base() -> (&'static str, Vec<Member>) {
    ("COPY base / # buildkit", vec![file("etc/base", vec![b'b'; 1000]), file("srv/model", vec![b'm'; 500])])
}

/// Two images on one base: the second replaces the model, adds a file and a link, and has another environment.
fn pair() -> (Image, Image) {
    let old = vec![file("srv/old", vec![b'o'; 200])];
    let new = vec![
        file("srv/model", vec![b'n'; 800]),
        file("srv/new", vec![b'w'; 3000]),
        symlink("srv/link", "/srv/new"),
    ];
    let first =
        image(&[base(), ("COPY old /srv # buildkit", old)], json!({"Env": ["MODE=slow", "GONE=1", "A=b"]}));
    let second = image(
        &[base(), ("COPY new /srv # buildkit", new)],
        json!({"Env": ["MODE=fast", "A=b", "CAME=1"], "Cmd": ["serve", "--all"], "Labels": {"team": "vision"}}),
    );
    (first, second)
}

fn put(place: &Place, name: &str, image: &Image) -> String {
    format!("oci:{}", place.put_layout(name, &Layout::of(image, "latest")))
}

/// Compares layouts of these images, which are named `one`, `two`, `three` and so on.
fn compare(images: &[&Image], options: &[&str]) -> Outcome {
    let place = Place::new();
    let names = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
    let references: Vec<String> =
        names.iter().zip(images).map(|(name, image)| put(&place, name, image)).collect();
    let mut arguments = vec!["compare"];
    arguments.extend(references.iter().map(String::as_str));
    arguments.extend(options);
    place.run(&arguments)
}

/// The JSON of a comparison that ends with this code; it fits the schema, and reads back as it was written.
fn report(images: &[&Image], code: i32) -> Value {
    let outcome = compare(images, &["--format", "json"]);
    assert_eq!(outcome.code, code, "{}", outcome.stderr);
    let json: Value = serde_json::from_str(&outcome.stdout).unwrap();
    fits("compare", &json);
    let read: CompareReport = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(to_json(&read), outcome.stdout);
    json
}

/// The row of a list in which a field has this value.
fn row<'j>(list: &'j Value, field: &str, value: &str) -> &'j Value {
    let rows = list.as_array().unwrap();
    rows.iter().find(|row| row[field] == value).unwrap_or_else(|| panic!("no {field} {value}: {list:#}"))
}

#[test]
fn totals_layers_files_and_settings_are_those_of_the_images() {
    let (first, second) = pair();
    let json = report(&[&first, &second], 0);
    let merged: Vec<&Value> =
        json["images"].as_array().unwrap().iter().map(|image| &image["totals"]["merged_bytes"]).collect();
    assert_eq!(merged, [1700, 4800]);
    let layers = json["layers"].as_array().unwrap();
    let shared: Vec<&Value> = layers.iter().map(|layer| &layer["shared_by"]).collect();
    assert_eq!(shared, [&json!([0, 1]), &json!([0]), &json!([1])]);
    assert_eq!(layers[0]["digest"], *first.layers[0].digest);
    assert_eq!(layers[2]["bytes"], json!([null, second.layers[1].blob.len()]));
    assert_eq!(layers[0]["matches"], json!(["digest", "digest"]));
    assert_eq!(json["pull_bytes"], json!([0, second.layers[1].blob.len()]));
    let files = json!({
        "added": 1, "removed": 1, "changed": 1, "unknown": 0, "same": 1, "added_bytes": 3000, "removed_bytes": 200,
        "changed_bytes": 800, "changed_bytes_before": 500, "unknown_bytes": 0
    });
    assert_eq!(json["files"], files);
    assert_eq!(json["files_by_image"], json!([]));
    let changes = json!([
        {"path": "/srv/new", "change": "added", "bytes": [null, 3000]},
        {"path": "/srv/model", "change": "changed", "bytes": [500, 800]},
        {"path": "/srv/old", "change": "removed", "bytes": [200, null]},
    ]);
    assert_eq!(json["largest_changes"], changes);
    let environment = json!([
        {"name": "A", "values": ["b", "b"], "differs": false},
        {"name": "CAME", "values": [null, "1"], "differs": true},
        {"name": "GONE", "values": ["1", null], "differs": true},
        {"name": "MODE", "values": ["slow", "fast"], "differs": true},
    ]);
    assert_eq!(json["environment"], environment);
    assert_eq!(row(&json["config"], "name", "command")["values"], json!([null, "[\"serve\",\"--all\"]"]));
    assert_eq!(row(&json["config"], "name", "label team")["values"], json!([null, "vision"]));
    assert_eq!(row(&json["findings"], "rule", "overwritten")["bytes"], json!([0, 500]));
    let classes = json["classes"].as_array().unwrap();
    let sum = |image: usize| classes.iter().map(|row| row["bytes"][image].as_u64().unwrap()).sum::<u64>();
    assert_eq!([sum(0), sum(1)], [1700, 4800]);
    assert_eq!((&json["complete"], &json["verdict"]), (&json!(true), &Value::Null));
}

#[test]
fn every_image_has_a_column_and_is_held_against_the_first() {
    let (first, second) = pair();
    let json = report(&[&first, &second, &first], 0);
    let added: Vec<&Value> =
        json["files_by_image"].as_array().unwrap().iter().map(|files| &files["added"]).collect();
    assert_eq!(added, [0, 1, 0]);
    assert_eq!(json["files"]["same"], 3);
    assert_eq!(json["pull_bytes"], json!([0, second.layers[1].blob.len(), 0]));
    assert!(
        json["packages"].as_array().unwrap().iter().all(|row| row["versions"].as_array().unwrap().len() == 3)
    );
    let targets = json["compatibility"].as_array().unwrap();
    assert!(!targets.is_empty() && targets.iter().all(|row| row["verdicts"].as_array().unwrap().len() == 3));
}

#[test]
fn text_leads_with_what_grew_and_what_is_pulled() {
    let (first, second) = pair();
    let text = compare(&[&first, &second], &[]).stdout;
    let start =
        "one vs two\n2 images, baseline one\n\ntwo is 3.03 KiB larger than one (4.69 KiB vs 1.66 KiB)";
    assert!(text.starts_with(start), "{text}");
    let pull = "A node that has one pulls 6.50 KiB of 10.0 KiB for two; 1 of 2 layers is\n  shared.";
    assert!(text.contains(pull), "{text}");
    assert!(
        text.contains("1 file added (2.93 KiB), 1 file removed (200 B), 1 file changed (800 B)."),
        "{text}"
    );
    let has =
        |line: &str| text.lines().any(|one| one.split_whitespace().collect::<Vec<_>>().join(" ") == line);
    for line in [
        "Merged 1.66 KiB 4.69 KiB +3.03 KiB",
        "/srv/new 2.93 KiB +2.93 KiB",
        "/srv/old 200 B −200 B",
        "~ MODE one slow",
        "two fast",
        "+ CAME two 1",
        "− GONE one 1",
        "1 layer is the same blob in both images: 3.50 KiB.",
        "variables: 1 more is the same in both images.",
    ] {
        assert!(has(line), "{line}: {text}");
    }
    assert_eq!(last_line(&text), "verdict: pass");
}

#[test]
fn samples_are_told_apart_by_what_is_for_building() {
    let text = Place::new().run(&["compare", "sample:runtime", "sample:devel"]).stdout;
    let lead = "runtime vs devel\n2 images, baseline runtime\n\n\
        devel is 10.3 MiB larger than runtime (21.9 MiB vs 11.6 MiB), mainly";
    assert!(text.starts_with(lead), "{text}");
    assert!(text.lines().any(|line| line.starts_with("  static-libraries ") && line.contains(" +5.14 MiB")));
}

#[test]
fn an_image_is_the_same_as_itself() {
    let outcome = Place::new().run(&["compare", "sample:devel", "sample:devel"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    for line in [
        "devel #2 has the same merged size as devel #1: 21.9 MiB.",
        "All 1,236 files are unchanged.",
        "  20 layers are the same blob in both images: 778 KiB.",
    ] {
        assert!(outcome.stdout.contains(line), "{line}: {}", outcome.stdout);
    }
    assert!(!outcome.stdout.contains('+') && !outcome.stdout.contains('−'), "{}", outcome.stdout);
}

#[test]
fn text_fits_in_80_columns_whatever_the_number_of_images() {
    let (first, second) = pair();
    for count in 2..=6 {
        let images: Vec<&Image> = [&first, &second].into_iter().cycle().take(count).collect();
        let text = compare(&images, &[]).stdout;
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(
            text.contains("JSON\nand CSV have all images") || text.contains("CSV have all"),
            count > 4,
            "{text}"
        );
    }
    let samples = ["compare", "sample:runtime", "sample:devel", "sample:runtime", "sample:devel"];
    let text = Place::new().run(&samples).stdout;
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn formats_tell_the_same_figures() {
    let (first, second) = pair();
    let json = report(&[&first, &second], 0);
    let csv = compare(&[&first, &second], &["--format", "csv"]).stdout;
    let mut reader = csv::Reader::from_reader(csv.as_bytes());
    assert_eq!(reader.headers().unwrap(), vec!["kind", "name", "measure", "image", "title", "value"]);
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let value = |kind: &str, name: &str, measure: &str, image: &str| {
        let found = rows.iter().find(|row| row.iter().take(4).eq([kind, name, measure, image]));
        found.unwrap_or_else(|| panic!("no {kind} {name} {measure} {image}: {csv}"))[5].to_owned()
    };
    for image in ["0", "1"] {
        let place: usize = image.parse().unwrap();
        let totals = &json["images"][place]["totals"];
        for name in ["compressed_bytes", "merged_bytes", "wasted_bytes"] {
            assert_eq!(value("total", name, "bytes", image), totals[name].to_string());
        }
        assert_eq!(value("total", "pull_bytes", "bytes", image), json["pull_bytes"][place].to_string());
    }
    assert_eq!(value("file", "/srv/model", "bytes", "1"), "800");
    assert_eq!(value("file", "/srv/new", "bytes", "0"), "");
    assert_eq!(value("file", "/srv/new", "change", "1"), "added");
    assert_eq!(value("files", "added_bytes", "bytes", "1"), "3000");
    assert_eq!(value("environment", "MODE", "text", "1"), "fast");
    for format in ["text", "markdown", "html"] {
        let shown = compare(&[&first, &second], &["--format", format]).stdout;
        for figure in ["3.03 KiB", "4.69 KiB", "6.50 KiB", "/srv/model"] {
            assert!(shown.contains(figure), "{figure} in {format}: {shown}");
        }
    }
}

#[test]
fn wrong_use_is_told_with_the_image_that_it_is_about() {
    let place = Place::new();
    for arguments in [&["compare"][..], &["compare", "sample:devel"]] {
        let outcome = place.run(arguments);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("<IMAGE>"), "{}", outcome.stderr);
    }
    let missing = place.failure(&["compare", "sample:devel", "oci:/no/such/image"]);
    assert!(missing.starts_with("error: image 2 of 2, oci:/no/such/image: "), "{missing}");
    let target = place.failure(&["compare", "sample:devel", "sample:runtime", "--target", "gpu:l44"]);
    assert!(target.contains("unknown target gpu:l44") && !target.contains("image 1"), "{target}");
    let saved = place.put("saved.json", place.run(&["report", "sample:runtime", "--format", "json"]).stdout);
    let message = place.failure(&["compare", "sample:devel", &saved]);
    assert!(
        message.contains("image 2 of 2") && message.contains("is a JSON document, not an image"),
        "{message}"
    );
    assert!(message.contains("\nhint: pass the image that "), "{message}");
}

#[test]
fn output_appears_whole_or_not_at_all_and_a_reader_may_hang_up() {
    let place = Place::new();
    let program = |arguments: &[&str]| {
        let mut command = support::program();
        command.args(["compare", "sample:runtime", "sample:devel"]).args(arguments).stdin(Stdio::null());
        command
    };
    let file = place.put("out/compare.json", "old");
    let output = program(&["--format", "json", "-o", &file]).output().unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"verdict: pass\n"[..]));
    let written: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(written["schema"], "cutaway.compare/1");
    assert_eq!(fs::read_dir(place.path("out")).unwrap().count(), 1);
    let nowhere = program(&["-o", "no/such/folder/file"]).output().unwrap();
    let message = String::from_utf8(nowhere.stderr).unwrap();
    assert!(nowhere.status.code() == Some(2) && message.contains("no/such/folder/file"), "{message}");
    assert_eq!(nowhere.stdout, b"");
    for format in FORMATS {
        let mut child =
            program(&["--format", format]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(0), "{format}");
    }
}
