//! The two images that the program carries.

use serde_json::Value;

use super::sums::check;
use crate::support::Place;

/// Categories of content for building.
const BUILDING: [&str; 7] =
    ["stubs", "static-libraries", "headers", "compilers", "profilers", "debuggers", "build-metadata"];

#[test]
fn the_sums_of_both_samples_come_out() {
    let place = Place::new();
    for name in ["devel", "runtime"] {
        check(&place.report(&format!("sample:{name}")));
    }
}

#[test]
fn the_devel_sample_has_every_kind_of_content_for_building() {
    let report = Place::new().report("sample:devel");
    let by_category = report.json["reclaimable"]["by_category"].as_object().unwrap();
    for category in BUILDING {
        assert!(
            by_category.get(category).is_some_and(|bytes| *bytes != 0),
            "no {category}: {by_category:#?}"
        );
    }
}

#[test]
fn the_runtime_sample_has_no_toolkit_for_building() {
    let report = Place::new().report("sample:runtime");
    let findings = report.json["findings"].as_array().unwrap();
    let is_for_building = |one: &&Value| BUILDING.contains(&one["category"].as_str().unwrap());
    // The package cuda-nvtx of the runtime image brings its headers along.
    let of_toolkit: Vec<&str> = (findings.iter().filter(|one| one["verdict"] == "safe"))
        .filter(is_for_building)
        .flat_map(|one| one["paths"].as_array().unwrap())
        .map(|path| path.as_str().unwrap())
        .filter(|path| path.starts_with("/usr/local/cuda") && !path.contains("/include/nvtx3/"))
        .collect();
    assert!(of_toolkit.is_empty(), "{of_toolkit:?}");
}

#[test]
fn a_finding_about_files_has_files() {
    for name in ["devel", "runtime"] {
        let report = Place::new().report(&format!("sample:{name}"));
        for finding in report.json["findings"].as_array().unwrap() {
            let about = ["unused-libraries", "duplicates", "overwritten"].iter().chain(&BUILDING);
            if about.clone().any(|category| finding["category"] == **category) {
                assert_ne!(finding["files"], 0, "{name}: {finding:#}");
            }
        }
    }
}
