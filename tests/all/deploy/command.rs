//! `cutaway deploy`.

use serde_json::{Value, json};

use super::yaml::documents;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{file, tar};
use crate::schema::fits;
use crate::support::Place;

fn printed(place: &Place, arguments: &[&str]) -> Value {
    let outcome = place.run(&[arguments, &["--format", "json"]].concat());
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let document = serde_json::from_str(&outcome.stdout).unwrap();
    fits("deploy", &document);
    document
}

#[test]
fn an_image_is_judged_for_every_platform() {
    let place = Place::new();
    for profile in ["docker", "kubernetes", "gke", "azureml", "cerebrium", "eks", "sagemaker", "modal"] {
        let report = printed(&place, &["deploy", "sample:devel", "--profile", profile]);
        assert_eq!(report["profile"]["id"], profile);
        assert_eq!(report["file"], Value::Null);
        assert!(!report["machines"].as_array().unwrap().is_empty(), "{profile}");
        assert!(report["cold_start"].is_object() && report["cuda_graphs"].is_object(), "{profile}");
        assert!(!report["snippet"]["text"].as_str().unwrap().is_empty());
        let text = place.run(&["deploy", "sample:devel", "--profile", profile]);
        assert!(
            text.stdout.contains("The image runs on") && text.stdout.contains("CUDA Graphs"),
            "{}",
            text.stdout
        );
    }
    let unknown = place.run(&["deploy", "sample:devel", "--profile", "gkee"]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown.stderr.contains("unknown profile gkee") && unknown.stderr.contains("hint:"),
        "{}",
        unknown.stderr
    );
}

#[test]
fn a_file_is_judged_alone_or_with_its_image() {
    let place = Place::new();
    let pod = place.put(
        "pod.yaml",
        "apiVersion: v1\nkind: Pod\nspec:\n  nodeSelector:\n    kubernetes.io/arch: riscv64\n  containers:\n  - name: a\n    image: app:1\n",
    );
    let alone = printed(&place, &["deploy", &pod]);
    assert_eq!(
        (&alone["profile"]["id"], &alone["file"]["kind"]),
        (&"kubernetes".into(), &"kubernetes".into())
    );
    assert_eq!((&alone["image"], &alone["machines"]), (&Value::Null, &Value::Array(Vec::new())));
    assert_eq!(alone["file"]["findings"], Value::Array(Vec::new()));
    let read = printed(&place, &["deploy", &pod, "--image", "sample:devel"]);
    let lines: Vec<(&str, u64)> = read["file"]["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["rule"].as_str().unwrap(), one["line"].as_u64().unwrap()))
        .collect();
    assert!(lines.contains(&("architecture", 5)) && lines.contains(&("no-gpu", 8)), "{lines:?}");
    let text = place.run(&["deploy", &pod, "--image", "sample:devel"]).stdout;
    assert!(text.contains("Line 5, spec.nodeSelector.kubernetes.io/arch: high"), "{text}");
    // A sample is no download: the file's own reference is enough.
    let own = place.put(
        "own.yaml",
        "apiVersion: v1\nkind: Pod\nspec:\n  containers: [{name: a, image: 'sample:devel'}]\n",
    );
    assert_eq!(printed(&place, &["deploy", &own])["image"]["reference"], "sample:devel");
}

#[test]
fn broken_files_and_wrong_use_exit_with_2() {
    let place = Place::new();
    let broken = place.put("cerebrium.toml", "[cerebrium.deployment]\nname = \n");
    let failure = place.failure(&["deploy", &broken]);
    assert!(failure.contains("cerebrium.toml: line 2, column 8: "), "{failure}");
    let other = place.put("other.yml", "a: 1\n");
    let failure = place.failure(&["deploy", &other]);
    assert!(failure.contains("not a file of a known platform") && failure.contains("hint: "), "{failure}");
    let pod = place.put("pod.yml", "apiVersion: v1\nkind: Pod\nspec: {containers: []}\n");
    let failure = place.failure(&["deploy", &pod, "--snippet", "kubernetes"]);
    assert!(failure.contains("--snippet needs an image") && failure.contains("--image"), "{failure}");
    let failure = place.failure(&["deploy", "sample:devel", "--image", "sample:devel"]);
    assert!(failure.contains("--image needs a file"), "{failure}");
}

#[test]
fn secrets_of_the_image_are_not_in_the_lines() {
    let place = Place::new();
    let mut image = Image::of(Packing::Plain, [tar([file("app", b"x")])]);
    image.config = json!({
        "Cmd": ["serve", "--api-token", "hunter2-of-tests"],
        "Env": ["API_KEY=hunter3-of-tests", "PATH=/bin"],
    });
    let reference = format!("oci:{}", place.put_layout("layout", &Layout::of(&image, "a")));
    for format in ["cerebrium", "azureml", "kubernetes", "docker", "compose"] {
        let outcome = place.run(&["deploy", &reference, "--snippet", format]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        assert!(!outcome.stdout.contains("hunter"), "{}", outcome.stdout);
        assert!(outcome.stdout.contains("not copied"), "{}", outcome.stdout);
        if !matches!(format, "cerebrium" | "docker") {
            assert!(!documents(&outcome.stdout).is_empty());
        }
    }
}
