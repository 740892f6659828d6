//! The steps of the manual's chapter on pipelines, run as they stand there.

use std::fs;
use std::path::Path;
use std::process::Command;

use cutaway::findings::chapter;
use serde_json::Value;

use crate::fixtures::sample;
use crate::support::Place;

/// Lines of the fenced blocks that run the program, without what YAML puts around them.
fn steps(text: &str) -> Vec<String> {
    let mut fenced = false;
    let mut steps = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            fenced = !fenced;
        } else if fenced {
            let line = line.trim().trim_start_matches("- ").trim_start_matches("run: ");
            steps.extend(line.starts_with("cutaway ").then(|| line.to_owned()));
        }
    }
    steps
}

/// Runs a line as the shell of a pipeline does.
fn sh(place: &Place, line: &str) -> (i32, String) {
    let program = Path::new(env!("CARGO_BIN_EXE_cutaway")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let output = Command::new("bash")
        .args(["-e", "-c", line])
        .current_dir(place.path("."))
        .env("PATH", path)
        .env("CUTAWAY_NO_CACHE", "1")
        .env("GITHUB_STEP_SUMMARY", place.path("step.md"))
        .output()
        .unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_steps_of_the_manual_run_as_they_stand() {
    let place = Place::new();
    place.put("image.tar", sample::devel());
    place.put("main.tar", sample::runtime());
    place.put("cutaway.toml", "[rules]\ndeny = [\"static-libraries\"]\n");
    // A Dockerfile that fits the image: the one that its history tells.
    let told = place.run(&["dockerfile", &place.path("image.tar"), "--format", "json"]);
    let told: Value = serde_json::from_str(&told.stdout).unwrap();
    place.put("Dockerfile", told["recipe"]["dockerfile"].as_str().unwrap());

    let steps = steps(chapter("ci").unwrap());
    assert!(steps.len() >= 8, "the chapter has lost its steps: {steps:?}");
    for step in &steps {
        let (code, told) = sh(&place, step);
        let wanted = i32::from(step.starts_with("cutaway check"));
        assert_eq!(code, wanted, "{step}: {told}");
    }
    for name in
        ["step.md", "summary.md", "compare.md", "cutaway.json", "cutaway.html", "cutaway.md", "cutaway.sarif"]
    {
        let text = fs::read_to_string(place.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(text.len() > 500, "{name} says next to nothing: {text}");
    }
    let summary = fs::read_to_string(place.path("step.md")).unwrap();
    assert!(summary.contains("**fail**") && summary.contains("static-libraries"), "{summary}");
    let sarif: Value =
        serde_json::from_str(&fs::read_to_string(place.path("cutaway.sarif")).unwrap()).unwrap();
    let regions = sarif["runs"][0]["results"].as_array().unwrap().iter().filter(|result| {
        result["locations"][0]["physicalLocation"]["region"]["startLine"].as_u64().is_some()
    });
    assert!(regions.count() > 10, "findings stand at lines of the Dockerfile");
}

#[test]
fn the_workflows_of_the_manual_keep_every_file_that_they_make() {
    let text = chapter("ci").unwrap();
    let made: Vec<&str> = text
        .lines()
        .filter_map(|line| line.split_once(" -o ").or_else(|| line.split_once("--summary ")))
        .map(|(_, name)| name.trim())
        .filter(|name| name.starts_with("cutaway.") || name.starts_with("summary"))
        .collect();
    assert!(made.len() >= 7, "{made:?}");
    for name in made {
        let kept = text.lines().any(|line| {
            let line = line.trim();
            line == "path: cutaway.*" && name.starts_with("cutaway.")
                || line.starts_with("paths: [") && line.contains(name)
        });
        assert!(kept, "{name} is made and not kept");
    }
}
