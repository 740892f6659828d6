//! Compares the CUDA content of a report with `tests/oracle/cuda.py`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::support::{Place, Report};

/// What the walk in Python says of the CUDA content of an image.
fn walk(reference: &str) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/oracle/cuda.py");
    let arguments = ["--platform", "linux/amd64", reference];
    let output = Command::new("python3").arg(script).args(arguments).output().expect("python3 runs");
    assert!(output.status.success(), "{reference}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the walk prints JSON")
}

/// Reports an image and compares it with the walk.
pub(super) fn judge(place: &Place, reference: &str) -> (Report, Value) {
    let expected = walk(reference);
    let report = place.report_with(reference, &["--platform", "linux/amd64"]);
    assert_eq!(report.code, 0, "{:#}", report.json["warnings"]);
    let faults = differences(&report.json, &expected);
    assert!(faults.is_empty(), "{} differences\n{}", faults.len(), faults.join("\n"));
    (report, expected)
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Rows of a table as lines of text, sorted, so that two tables can be compared whole.
fn lines(table: &Value, columns: &[&str]) -> Vec<String> {
    let line = |row: &Value| columns.iter().map(|name| row[*name].to_string()).collect::<Vec<_>>().join(" ");
    let mut lines: Vec<String> = list(table).iter().map(line).collect();
    lines.sort();
    lines
}

/// Every figure of the CUDA content in which a report differs from the walk.
fn differences(report: &Value, expected: &Value) -> Vec<String> {
    const LIBRARY: [&str; 8] = [
        "path",
        "soname",
        "component",
        "bytes",
        "layer",
        "hardlink_of",
        "overhead_bytes",
        "gpu_section_bytes",
    ];
    const CODE: [&str; 7] = ["arch", "kind", "isa", "compression", "entries", "bytes", "uncompressed_bytes"];
    let cuda = &report["cuda"];
    let mut faults = Vec::new();
    let mut same = |place: &str, ours: Vec<String>, theirs: Vec<String>| {
        let (ours, theirs): (BTreeSet<_>, BTreeSet<_>) =
            (ours.into_iter().collect(), theirs.into_iter().collect());
        faults.extend(ours.difference(&theirs).map(|line| format!("{place}: only in the report: {line}")));
        faults.extend(theirs.difference(&ours).map(|line| format!("{place}: only in the walk: {line}")));
    };
    same("libraries", lines(&cuda["libraries"], &LIBRARY), lines(&expected["libraries"], &LIBRARY));
    for theirs in list(&expected["libraries"]) {
        let ours = list(&cuda["libraries"]).iter().find(|library| library["path"] == theirs["path"]);
        let ours = ours.map_or(&Value::Null, |library| &library["gpu_code"]);
        same(
            &format!("GPU code of {}", theirs["path"]),
            lines(ours, &CODE),
            lines(&theirs["gpu_code"], &CODE),
        );
    }
    let columns = ["name", "bytes", "libraries"];
    same("components", lines(&cuda["components"], &columns), lines(&expected["components"], &columns));
    let wheels =
        json!(list(&report["packages"]).iter().filter(|row| row["manager"] == "pip").collect::<Vec<_>>());
    let columns = ["name", "version", "files", "bytes"];
    same("packages", lines(&wheels, &columns), lines(&expected["packages"], &columns));
    same("duplicates", duplicates(&cuda["duplicates"]), duplicates(&expected["duplicates"]));
    same("sums of GPU code", sums_of(cuda), sums_expected(expected));
    faults.extend(unresolved_differences(&cuda["unresolved"], &expected["unresolved"]));
    faults.extend(arithmetic(report));
    faults
}

fn duplicates(table: &Value) -> Vec<String> {
    let line = |row: &Value| {
        let mut paths: Vec<String> = list(&row["paths"]).iter().map(Value::to_string).collect();
        paths.sort();
        format!("{} identical {} {}", row["soname"], row["identical"], paths.join(" "))
    };
    list(table).iter().map(line).collect()
}

/// Bytes of GPU code by architecture, kind and holder, and unpacked bytes by architecture and kind.
fn sums_of(cuda: &Value) -> Vec<String> {
    let mut sums = Vec::new();
    for row in list(&cuda["gpu_code"]) {
        let (arch, kind) = (text(row, "arch"), text(row, "kind"));
        for holder in ["libraries", "executables", "archives"] {
            sums.push(format!("{arch} {kind} {holder} {}", row["by_holder"][holder]));
        }
        sums.push(format!("{arch} {kind} bytes {}", row["bytes"]));
        sums.push(format!("{arch} {kind} uncompressed_bytes {}", row["uncompressed_bytes"]));
    }
    sums
}

fn sums_expected(expected: &Value) -> Vec<String> {
    let holders = ["libraries", "executables", "archives"];
    let mut sums: BTreeMap<(String, String), BTreeMap<&str, u64>> = BTreeMap::new();
    for holder in holders {
        for row in list(&expected["gpu_code"][holder]) {
            let sum = sums.entry((text(row, "arch").into(), text(row, "kind").into())).or_default();
            let (bytes, unpacked) =
                (row["bytes"].as_u64().unwrap(), row["uncompressed_bytes"].as_u64().unwrap());
            for (name, size) in [(holder, bytes), ("bytes", bytes), ("uncompressed_bytes", unpacked)] {
                *sum.entry(name).or_default() += size;
            }
        }
    }
    let columns = || holders.into_iter().chain(["bytes", "uncompressed_bytes"]);
    sums.iter()
        .flat_map(|((arch, kind), sum)| {
            columns().map(move |name| format!("{arch} {kind} {name} {}", sum.get(name).copied().unwrap_or(0)))
        })
        .collect()
}

/// The loader's truth lies between two simple measures: a name that no file of the image has is unresolved,
/// and one that the object's own search finds is not.
fn unresolved_differences(report: &Value, expected: &Value) -> Vec<String> {
    let rows = |table: &Value| lines(table, &["path", "name"]).into_iter().collect::<BTreeSet<_>>();
    let (ours, least, most) = (rows(report), rows(&expected["any"]), rows(&expected["own"]));
    let missing = least.difference(&ours).map(|row| format!("unresolved: only in the walk: {row}"));
    missing.chain(ours.difference(&most).map(|row| format!("unresolved: the walk finds it: {row}"))).collect()
}

/// Sums that must come out on any image.
fn arithmetic(report: &Value) -> Vec<String> {
    let sum =
        |table: &Value, name: &str| list(table).iter().filter_map(|row| row[name].as_u64()).sum::<u64>();
    let mut faults = Vec::new();
    for library in list(&report["cuda"]["libraries"]) {
        let held = sum(&library["gpu_code"], "bytes") + library["overhead_bytes"].as_u64().unwrap_or(0);
        if library["gpu_section_bytes"] != held {
            faults.push(format!("{}: {held} is not {}", library["path"], library["gpu_section_bytes"]));
        }
    }
    for layer in list(&report["layers"]) {
        let classes =
            layer["class_bytes"].as_object().map(|map| map.values().filter_map(Value::as_u64).sum::<u64>());
        if classes.map(Value::from).as_ref() != Some(&layer["content_bytes"]) {
            faults.push(format!(
                "layer {}: classes hold {classes:?} of {}",
                layer["index"], layer["content_bytes"]
            ));
        }
    }
    faults
}
