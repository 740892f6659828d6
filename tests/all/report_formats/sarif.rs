//! SARIF: valid against its schema, located where code scanning needs it, and bounded.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::scene::HUGE;
use super::{json_of, list, printed, scene};
use crate::oracle::skip;
use crate::support::Place;

/// The schema of SARIF 2.1.0, as the crate serde-sarif carries it.
fn schema() -> Option<Value> {
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .ok()?;
    let metadata: Value = serde_json::from_slice(&cargo.stdout).ok()?;
    let package = list(&metadata, "packages").iter().find(|package| package["name"] == "serde-sarif")?;
    let manifest = PathBuf::from(package["manifest_path"].as_str()?);
    let text = std::fs::read(manifest.with_file_name("src").join("schema.json")).ok()?;
    let mut schema: Value = serde_json::from_slice(&text).ok()?;
    // The pattern of a language has a bracket too many, so that no validator takes it as it is.
    for part in ["run", "toolComponent"] {
        schema["definitions"][part]["properties"]["language"]["pattern"] =
            "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$".into();
    }
    Some(schema)
}

fn run(place: &Place, image: &str, options: &[&str]) -> Value {
    let text = printed(place, image, &[options, &["--format", "sarif"]].concat());
    let log: Value = serde_json::from_str(&text).unwrap();
    log["runs"][0].clone()
}

/// A copy of the scene's image whose Dockerfile is known.
const DOCKERFILE: &str = "\
# Nothing was installed here.
FROM scratch

COPY one /usr/local/cuda/include/

COPY two /usr/local/cuda/
";

fn built(place: &Place) -> String {
    use crate::fixtures::image::Image;
    use crate::fixtures::layout::Layout;
    use crate::fixtures::packing::Packing;
    use crate::fixtures::tarball::{file, tar};
    let image = Image::new(Packing::Gzip)
        .layer(
            "COPY one /usr/local/cuda/include/ # buildkit",
            &tar([file("usr/local/cuda/include/a.h", "x")]),
        )
        .layer(
            "COPY two /usr/local/cuda/ # buildkit",
            &tar([
                file("usr/local/cuda/include/b.h", vec![b'y'; 9000]),
                file("usr/local/cuda/lib64/libcudart_static.a", "!<arch>\n"),
            ]),
        );
    format!("oci:{}", place.put_layout("built", &Layout::of(&image, "latest")))
}

#[test]
fn it_is_valid_for_any_image() {
    let Some(schema) = schema() else {
        skip("cargo does not say where serde-sarif lies, which carries the schema of SARIF");
        return;
    };
    let validator = jsonschema::validator_for(&schema).unwrap();
    let place = Place::new();
    let dockerfile = place.put("a folder/Dockerfile é", DOCKERFILE);
    let built = built(&place);
    for (image, options) in [
        ("sample:devel", &[][..]),
        ("sample:runtime", &[]),
        (&scene::plain(&place), &[]),
        (&scene::hostile(&place), &[]),
        (&scene::huge(&place), &[]),
        (&built, &["--dockerfile", &dockerfile]),
    ] {
        let log: Value =
            serde_json::from_str(&printed(&place, image, &[options, &["--format", "sarif"]].concat()))
                .unwrap();
        let faults: Vec<String> = validator
            .iter_errors(&log)
            .map(|error| format!("{}: {}", error.instance_path(), error.masked()))
            .collect();
        assert!(faults.is_empty(), "{image}: {faults:#?}");
        // The check itself can fail.
        let mut wrong = log.clone();
        wrong["runs"][0]["columnKind"] = "letters".into();
        assert!(!validator.is_valid(&wrong));
    }
}

#[test]
fn every_result_has_what_code_scanning_asks_for() {
    let place = Place::new();
    for image in ["sample:devel".to_owned(), scene::hostile(&place), scene::huge(&place)] {
        let run = run(&place, &image, &[]);
        let rules = list(&run["tool"]["driver"], "rules");
        let ids: BTreeSet<&str> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
        assert_eq!(ids.len(), rules.len());
        assert!(!rules.is_empty());
        for rule in rules {
            assert!(rule["help"]["markdown"].as_str().unwrap().starts_with("# "), "{rule:#}");
            assert!(
                rule["shortDescription"]["text"].is_string() && rule["fullDescription"]["text"].is_string()
            );
        }
        let mut prints = BTreeSet::new();
        for result in list(&run, "results") {
            let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
            assert_eq!(result["ruleId"], rules[index]["id"]);
            assert!(
                prints.insert(result["partialFingerprints"]["primaryLocationLineHash"].to_string()),
                "{result:#}"
            );
            let places = list(result, "locations");
            assert!((1..=10).contains(&places.len()), "{result:#}");
            for place in places {
                let uri = place["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
                assert!(!uri.is_empty() && uri.bytes().all(|byte| byte.is_ascii_graphic()), "{uri}");
                // Nobody gave a Dockerfile: a line would be a guess.
                assert!(place["physicalLocation"]["region"].is_null(), "{place:#}");
            }
            // What is needed is told, and is nothing to mend.
            let needed = result["properties"]["verdict"] == "needed";
            assert_eq!(needed, result["kind"] == "informational");
            assert_eq!(needed, result["level"] == "none");
            let text = result["message"]["text"].as_str().unwrap();
            assert!(!text.contains("](") && !text.contains("{0}"), "{text}");
        }
    }
}

#[test]
fn results_point_at_the_lines_of_a_dockerfile_that_is_given() {
    let place = Place::new();
    let image = built(&place);
    let dockerfile = place.put("Dockerfile", DOCKERFILE);
    let run = run(&place, &image, &["--dockerfile", &dockerfile]);
    let headers = list(&run, "results").iter().find(|result| result["ruleId"] == "headers");
    let places = list(headers.expect("headers are found"), "locations");
    let lines: Vec<u64> = places
        .iter()
        .map(|place| place["physicalLocation"]["region"]["startLine"].as_u64().unwrap())
        .collect();
    // The line with more bytes first.
    assert_eq!(lines, [6, 4]);
    let logical: Vec<&str> = list(&places[0], "logicalLocations")
        .iter()
        .map(|place| place["fullyQualifiedName"].as_str().unwrap())
        .collect();
    assert_eq!(logical, ["layer/1", "/usr/local/cuda/include/a.h", "/usr/local/cuda/include/b.h"]);
    let uri = |run: &Value| {
        run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].clone()
    };
    assert_eq!(uri(&run), format!("file://{dockerfile}"));
    // As a pipeline gives it: relative to the folder of the build.
    let relative = place.put("deploy/Docker file", DOCKERFILE);
    assert!(relative.ends_with("deploy/Docker file"));
    let relative = self::run(&place, &image, &["--dockerfile", "./deploy/Docker file"]);
    assert_eq!(uri(&relative), "deploy/Docker%20file");
}

#[test]
fn an_incomplete_image_is_no_success_and_says_why() {
    let place = Place::new();
    let image = scene::hostile(&place);
    let invocation = &run(&place, &image, &[])["invocations"][0];
    assert_eq!(invocation["executionSuccessful"], false);
    let told = list(invocation, "toolExecutionNotifications");
    assert!(
        told.iter().any(|one| one["descriptor"]["id"] == "layer-missing" && one["level"] == "error"),
        "{told:#?}"
    );
    assert_eq!(run(&place, "sample:runtime", &[])["invocations"][0]["executionSuccessful"], true);
}

#[test]
fn a_huge_image_gives_a_file_that_code_scanning_takes() {
    let place = Place::new();
    let image = scene::huge(&place);
    let text = printed(&place, &image, &["--format", "sarif"]);
    assert!(text.len() < 1 << 20, "{}", text.len());
    let json = json_of(&place, &image, &[]);
    let paths = list(&json, "findings").iter().map(|finding| list(finding, "paths").len()).max();
    assert_eq!(paths, Some(HUGE));
    let results = run(&place, &image, &[])["results"].clone();
    let left_out =
        results.as_array().unwrap().iter().map(|result| result["properties"]["paths_left_out"].as_u64());
    assert_eq!(left_out.max(), Some(Some(HUGE as u64 - 20)));
}

#[test]
fn more_findings_than_code_scanning_takes_are_counted() {
    let place = Place::new();
    let mut json = json_of(&place, "sample:devel", &[]);
    let finding = json["findings"][0].clone();
    json["findings"] = (0..26_000)
        .map(|number| {
            let mut finding = finding.clone();
            finding["id"] = format!("static-libraries:{number}").into();
            finding["paths"] = Value::Array(vec![]);
            finding
        })
        .collect();
    let saved = place.put("many.json", json.to_string());
    let text = printed(&place, &saved, &["--format", "sarif"]);
    assert!(text.len() < 10 << 20, "{}", text.len());
    let run: Value = serde_json::from_str::<Value>(&text).unwrap()["runs"][0].clone();
    let left_out = run["properties"]["results_left_out"].as_u64().unwrap();
    assert!(left_out > 0 && list(&run, "results").len() as u64 + left_out == 26_000);
    let told = list(&run["invocations"][0], "toolExecutionNotifications");
    assert!(told.iter().any(|one| one["message"]["text"].as_str().unwrap().contains(&left_out.to_string())));
}
