//! An image of real libraries, written for one GPU.

use serde_json::Value;

use super::built::Built;
use super::cache::unpacked;
use super::site_packages;
use crate::fixtures::packing::Packing;
use crate::schema;
use crate::support::Place;

fn slim(place: &Place, source: &str, arguments: &[&str]) -> Value {
    let outcome = place
        .run(&[&["slim", source, "--format", "json", "--target", "h100", "--shrink"], arguments].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let document = serde_json::from_str(&outcome.stdout).unwrap();
    schema::fits("slim", &document);
    document
}

fn size(document: &Value, part: &str, name: &str) -> f64 {
    document[part][name].as_f64().unwrap()
}

#[test]
fn an_image_for_one_gpu_is_half_the_pull() {
    let wheels = ["nvidia-nvjpeg", "nvidia-curand", "nvidia-nccl-cu13"];
    let Some(wheels) = unpacked(&wheels, &["dist-info/", "libnvjpeg.so", "libcurand.so", "libnccl.so"])
    else {
        return;
    };
    let (place, to) = (Place::new(), Place::new());
    let source = Built::new(&place, &[]).level(6);
    let source = source.layer(Packing::Gzip, site_packages(wheels.path())).finish();
    drop(wheels);
    let expected = slim(&place, &source, &["--dry-run"]);
    let out = format!("oci:{}:new", to.path("out"));
    let written = slim(&place, &source, &["-o", &out]);
    let (before, after) =
        (size(&written, "before", "compressed_bytes"), size(&written, "after", "compressed_bytes"));
    println!("pull: {before} bytes before, {after} after");
    assert!(after < before * 0.5, "{before} bytes to pull, then {after}");
    let guess = size(&expected, "after", "compressed_bytes");
    let saved = (before - guess) / (before - after);
    assert!((0.9..1.1).contains(&saved), "estimated {guess} bytes, then {after}");
    let (before, after) = (size(&written, "before", "merged_bytes"), size(&written, "after", "merged_bytes"));
    println!("disk: {before} bytes before, {after} after");
    assert!(after < before * 0.7, "{before} bytes on disk, then {after}");
    // The report counts the same code in both, and what went is the difference.
    let code = |reference: &str| -> u64 {
        let report = place.report(reference);
        let libraries = report.json["cuda"]["libraries"].as_array().unwrap().clone();
        let rows = libraries.iter().flat_map(|library| library["gpu_code"].as_array().unwrap().clone());
        rows.map(|row| row["bytes"].as_u64().unwrap()).sum()
    };
    let removed: u64 = written["layers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|layer| layer["pruned_bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(code(&source), code(&out) + removed);
    for line in written["gpu_code"]["libraries"].as_array().unwrap() {
        println!("{}: {} bytes of code, then {}", line["path"], line["before_bytes"], line["after_bytes"]);
    }
    let again = slim(&place, &out, &["--dry-run"]);
    assert_eq!(again["layers"][0]["action"], "kept", "a second run changes nothing");
    assert_eq!(again["gpu_code"]["libraries"].as_array().unwrap().len(), 0);
}
