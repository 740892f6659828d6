//! Registries without ranges, and tables that are not what the manifest says.

use cutaway::formats::contents::Format;
use serde_json::{Value, json};

use super::same::{of_no_source, unread, whole};
use super::{Bench, image};
use crate::registry::bench::ready;
use crate::registry::proxy::{Fault, Kind};

const BOTH: [Format; 2] = [Format::Estargz, Format::ZstdChunked];

/// The report must be that of the whole layers, since the tables are of no use. Gives its warnings beside those.
fn is_read_whole(bench: &Bench) -> Vec<Value> {
    let report = bench.place.report_with(&bench.reference(), &[]);
    let mut ours = of_no_source(&report);
    let mut theirs = of_no_source(&whole(bench));
    let warnings = ours["warnings"].take();
    let usual = theirs["warnings"].take();
    assert_eq!(ours, theirs);
    for layer in report.layers() {
        assert_eq!((&layer["verified"], &layer["toc"]), (&"digest".into(), &Value::Null));
    }
    let usual = usual.as_array().unwrap();
    warnings.as_array().unwrap().iter().filter(|warning| !usual.contains(warning)).cloned().collect()
}

#[test]
fn a_registry_without_ranges_gives_the_layers_whole() {
    if !ready() {
        return;
    }
    let bench = Bench::new(image(Format::Estargz, &|_| ()));
    bench.proxy.fault(Kind::Blob, "", usize::MAX, Fault::NoRange);
    assert_eq!(is_read_whole(&bench), Vec::<Value>::new());
}

#[test]
fn a_table_with_another_digest_is_a_warning_and_not_used() {
    if !ready() {
        return;
    }
    for format in BOTH {
        let bench = Bench::new(image(format, &|packed| {
            packed.annotate = |annotations| {
                let digest = format!("sha256:{}", "ab".repeat(32));
                annotations
                    .iter_mut()
                    .filter(|one| one.1.starts_with("sha256:"))
                    .for_each(|one| one.1.clone_from(&digest));
            };
        }));
        let told = is_read_whole(&bench);
        assert_eq!(told.len(), 2, "{told:#?}");
        for warning in told {
            assert_eq!(warning["code"], "digest-mismatch");
            assert!(warning["message"].as_str().unwrap().contains("table of contents"), "{warning:#}");
        }
    }
}

#[test]
fn a_table_that_contradicts_itself_is_not_used_and_no_fault() {
    if !ready() {
        return;
    }
    for format in BOTH {
        for field in ["size", "offset", "chunkOffset"] {
            let bench = Bench::new(image(format, &|packed| {
                let entries = packed.table["entries"].as_array_mut().unwrap();
                for entry in entries.iter_mut().filter(|entry| entry["size"].as_u64() > Some(100_000)) {
                    entry[field] = json!(1_u64 << 40);
                }
            }));
            assert_eq!(is_read_whole(&bench), Vec::<Value>::new(), "{format} {field}");
        }
    }
}

#[test]
fn a_file_with_other_bytes_stays_unknown() {
    if !ready() {
        return;
    }
    for format in BOTH {
        let bench = Bench::new(image(format, &|packed| {
            let Some(entry) = packed.entry("usr/lib/libone.so.1") else { return };
            for name in ["digest", "chunkDigest"] {
                entry[name] = json!(format!("sha256:{}", "cd".repeat(32)));
            }
        }));
        let report = bench.place.report_with(&bench.reference(), &[]);
        assert_eq!(report.code, 2);
        let told = report.warnings("digest-mismatch");
        assert_eq!(told.len(), 1, "{told:#?}");
        assert_eq!(told[0]["subject"], "/usr/lib/libone.so.1");
        // The other copy is known, this one is not.
        let libraries = report.json["cuda"]["libraries"].as_array().unwrap();
        let paths: Vec<_> = libraries.iter().map(|library| library["path"].as_str().unwrap()).collect();
        assert!(paths.contains(&"/opt/app/libone.so.1"), "{paths:?}");
        let code = |path: &str| libraries.iter().find(|one| one["path"] == path).map(|one| &one["gpu_code"]);
        assert!(code("/usr/lib/libone.so.1").is_none_or(|code| code == &json!([])));
        assert!(code("/opt/app/libone.so.1").is_some_and(|code| code != &json!([])));
    }
}

#[test]
fn bytes_that_nothing_proves_are_called_so() {
    if !ready() {
        return;
    }
    let bench = Bench::new(image(Format::Estargz, &|packed| {
        for entry in packed.table["entries"].as_array_mut().unwrap() {
            entry.as_object_mut().unwrap().retain(|name, _| name != "digest" && name != "chunkDigest");
        }
    }));
    let report = bench.place.report_with(&bench.reference(), &[]);
    assert_eq!(report.code, 2);
    let told = report.warnings("not-read");
    assert_eq!(told.len(), 2, "{:#}", report.json["warnings"]);
    assert!(
        told[0]["message"].as_str().unwrap().contains("without a digest in the table of contents"),
        "{told:#?}"
    );
    assert!(!report.json["cuda"]["libraries"].as_array().unwrap().is_empty());
}

#[test]
fn a_layer_without_a_table_is_not_read_where_only_tables_are() {
    if !ready() {
        return;
    }
    let bench = Bench::new(image(Format::Estargz, &|packed| packed.annotate = Vec::clear));
    let report = unread(&bench.place, &bench.reference(), "toc");
    assert_eq!(report.code, 2);
    assert_eq!(report.json["totals"]["merged_bytes"], Value::Null);
    assert_eq!(bench.layer_requests().len(), 0);
    assert_eq!(report.warnings("not-read").len(), 2);
    assert_eq!(report.json["layers"][0]["entries"], Value::Null);
}
