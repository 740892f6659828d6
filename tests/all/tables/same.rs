//! What a table and some files tell is what the whole layer tells, for a part of its bytes.

use cutaway::formats::contents::Format;
use serde_json::Value;

use super::{Bench, image};
use crate::fixtures::layout::Layout;
use crate::registry::bench::ready;
use crate::support::{Place, Report};

/// A report without what tells how the layers were read.
pub fn of_no_source(report: &Report) -> Value {
    let mut json = report.json.clone();
    for name in ["source", "reference", "tags"] {
        json["image"][name] = Value::Null;
    }
    json["totals"]["uncompressed_bytes"] = Value::Null;
    // How well a layer compresses, and what unpacking it costs, is taken from its tar stream, whose length no table
    // tells.
    json["cold_start"] = Value::Null;
    for finding in json["findings"].as_array_mut().unwrap() {
        finding["cold_start_seconds"] = Value::Null;
    }
    if json["plan"].is_object() {
        json["plan"]["compressed_bytes_after"] = Value::Null;
    }
    for layer in json["layers"].as_array_mut().unwrap() {
        for name in ["verified", "uncompressed_bytes", "toc"] {
            layer[name] = Value::Null;
        }
    }
    json["warnings"].as_array_mut().unwrap().retain(|warning| warning["code"] != "from-table");
    json
}

/// The report of the image from a folder, where its layers are read whole.
pub fn whole(bench: &Bench) -> Report {
    let place = Place::new();
    let reference = format!("oci:{}", place.put_layout("layout", &Layout::of(&bench.image, "1")));
    place.report_with(&reference, &[])
}

#[test]
fn the_report_by_tables_is_that_of_the_whole_layers() {
    if !ready() {
        return;
    }
    for format in [Format::Estargz, Format::ZstdChunked] {
        let bench = Bench::new(image(format, &|_| ()));
        let expected = whole(&bench);
        assert_eq!(expected.code, 0);
        let report = bench.place.report_with(&bench.reference(), &[]);
        assert_eq!(report.code, 0, "{:#}", report.json["warnings"]);
        let (ours, theirs) = (of_no_source(&report), of_no_source(&expected));
        for (name, value) in theirs.as_object().unwrap() {
            assert_eq!(&ours[name], value, "{format}: {name}");
        }
        assert_eq!(ours, theirs);
        // It holds what it is about.
        assert!(!report.json["cuda"]["libraries"].as_array().unwrap().is_empty());
        assert!(!report.json["packages"].as_array().unwrap().is_empty());
        assert!(!report.json["cuda"]["weights"].as_array().unwrap().is_empty());
        assert!(!report.json["cuda"]["identical"].as_array().unwrap().is_empty());
        assert_eq!(report.warnings("from-table").len(), 2);
        let requests = bench.layer_requests();
        assert!(requests.iter().all(|seen| seen.status == 206), "{requests:#?}");
        let fetched: u64 =
            report.layers().iter().map(|layer| layer["toc"]["fetched_bytes"].as_u64().unwrap()).sum();
        // The two files of 3 MiB that nobody asks for are more than half of it.
        assert!(fetched < bench.layer_bytes() * 6 / 10, "{fetched} of {}", bench.layer_bytes());
        assert!(requests.len() <= 24, "{requests:#?}");
        for (layer, line) in bench.image.layers.iter().zip(report.layers()) {
            assert_eq!(line["toc"]["format"], format.as_str());
            assert!(layer.annotations.iter().any(|(_, text)| line["toc"]["digest"] == text.as_str()));
            assert_eq!(line["verified"], "none");
            assert_eq!(line["compressed_bytes"], layer.size);
            assert_eq!(line["uncompressed_bytes"], Value::Null);
        }
    }
}

#[test]
fn whoever_asks_for_proof_gets_the_layers_read_whole() {
    if !ready() {
        return;
    }
    let bench = Bench::new(image(Format::Estargz, &|_| ()));
    let report = bench.place.report_with(&bench.reference(), &["--verify"]);
    assert_eq!(report.code, 0);
    for layer in report.layers() {
        assert_eq!((&layer["verified"], &layer["toc"]), (&"both".into(), &Value::Null));
    }
    // What was read whole is known from then on, and tells more than the table.
    bench.proxy.forget();
    let report = bench.place.report_with(&bench.reference(), &[]);
    assert_eq!(report.code, 0);
}

#[test]
fn the_tree_costs_less_than_a_twentieth() {
    if !ready() {
        return;
    }
    for (format, most) in [(Format::Estargz, 2), (Format::ZstdChunked, 1)] {
        let bench = Bench::new(image(format, &|_| ()));
        let report = bench.place.report_with(&bench.reference(), &["--depth", "toc"]);
        assert_eq!(report.code, 2);
        let bytes: u64 = bench.layer_requests().iter().map(|seen| seen.bytes).sum();
        assert!(bytes * 20 < bench.layer_bytes(), "{format}: {bytes} of {}", bench.layer_bytes());
        assert!(bench.layer_requests().len() <= 2 * most, "{:#?}", bench.layer_requests());
        let expected = whole(&bench);
        for name in ["content_bytes", "merged_files", "merged_bytes", "wasted_bytes", "efficiency"] {
            assert_eq!(report.json["totals"][name], expected.json["totals"][name], "{format}: {name}");
        }
        for (line, whole) in report.layers().iter().zip(expected.layers()) {
            for name in ["entries", "files", "directories", "symlinks", "hardlinks", "whiteouts", "others"] {
                assert_eq!(line[name], whole[name], "{format}: {name}");
            }
        }
        assert_eq!(report.json["largest_files"], expected.json["largest_files"]);
        for name in ["cuda", "findings", "plan", "compatibility"] {
            assert_eq!(report.json[name], Value::Null, "{name} is not known");
        }
        assert!(!report.complete());
        assert_eq!(report.warnings("not-read").len(), 2);
        // A layout that lies here says the same.
        let place = Place::new();
        let reference = format!("oci:{}", place.put_layout("layout", &Layout::of(&bench.image, "1")));
        let local = place.report_with(&reference, &["--depth", "toc"]);
        assert_eq!(local.json["totals"], report.json["totals"]);
        assert_eq!(local.json["layers"], report.json["layers"]);
    }
}

/// The report of an image of which no layer is read: its sums are unknown.
pub fn unread(place: &Place, reference: &str, depth: &str) -> Report {
    let outcome = place.run(&["report", reference, "--format", "json", "--depth", depth]);
    let json = serde_json::from_str(&outcome.stdout).expect("a report");
    crate::schema::fits("report", &json);
    Report { code: outcome.code, json }
}

#[test]
fn documents_alone_tell_the_sizes_that_are_claimed() {
    if !ready() {
        return;
    }
    let bench = Bench::new(image(Format::ZstdChunked, &|_| ()));
    let report = unread(&bench.place, &bench.reference(), "manifest");
    assert_eq!(bench.layer_requests().len(), 0);
    let folder = Place::new();
    let layout = format!("oci:{}", folder.put_layout("layout", &Layout::of(&bench.image, "1")));
    let archive = folder.put("image.tar", Layout::of(&bench.image, "1").archive());
    let packed =
        folder.put("image.tar.gz", crate::fixtures::packing::gzip(&Layout::of(&bench.image, "1").archive()));
    let others = [&layout, &archive, &packed].map(|reference| unread(&folder, reference, "manifest"));
    for report in [report].iter().chain(&others) {
        assert_eq!(report.code, 2);
        for (name, value) in report.json["totals"].as_object().unwrap() {
            let expected = match name.as_str() {
                "complete" => Value::Bool(false),
                "layers" => 2.into(),
                _ => Value::Null,
            };
            assert_eq!(*value, expected, "{name}");
        }
        for (line, layer) in report.layers().iter().zip(&bench.image.layers) {
            assert_eq!(line["claimed_bytes"], layer.size);
            for name in ["compressed_bytes", "content_bytes", "entries", "files", "toc"] {
                assert_eq!(line[name], Value::Null, "{name}");
            }
        }
        assert_eq!(report.warnings("not-read").len(), 2);
        assert_eq!(report.json["image"]["config"]["entrypoint"][0], "/srv/start.sh");
    }
    // The other formats say so, too.
    for format in ["text", "html", "markdown"] {
        let outcome = folder.run(&["report", &layout, "--depth", "manifest", "--format", format]);
        assert_eq!(outcome.code, 2);
        assert!(outcome.stdout.contains("declared by the manifest"), "{}", outcome.stdout);
    }
}

#[test]
fn what_is_fetched_is_said_before() {
    if !ready() {
        return;
    }
    let bench = Bench::new(image(Format::Estargz, &|_| ()));
    let outcome = bench.place.run(&["report", &bench.reference(), "-v"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("estargz, "), "{}", outcome.stdout);
    let places: Vec<_> = ["entries from the table of contents (eStargz)", "libraries and package lists: "]
        .iter()
        .map(|text| outcome.stderr.find(text).unwrap_or_else(|| panic!("no {text}: {}", outcome.stderr)))
        .collect();
    assert!(places.is_sorted());
}
