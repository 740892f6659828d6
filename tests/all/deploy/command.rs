//! `cutaway deploy`.

use serde_json::{Value, json};

use super::yaml::documents;
use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{Coding, section};
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

/// The lines of a format.
fn lines(place: &Place, image: &str, format: &str) -> String {
    let outcome = place.run(&["deploy", image, "--snippet", format]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    outcome.stdout
}

#[test]
fn what_another_package_requires_is_not_listed_again() {
    let text = lines(&Place::new(), "sample:devel", "cerebrium");
    let made: toml::Table = text.parse().unwrap();
    let pip = made["cerebrium"]["dependencies"]["pip"].as_table().unwrap();
    let names: Vec<&str> = pip.keys().map(String::as_str).collect();
    // torch requires the wheels of CUDA; the stand-ins of the others require nothing.
    let wanted = ["click", "fastapi", "pydantic", "starlette", "torch", "typing-extensions", "uvicorn"];
    assert_eq!(names, wanted);
}

/// A program for CUDA 12 with code for all GPUs since Maxwell.
fn for_many_gpus() -> Image {
    const LIB: &str = "usr/lib/x86_64-linux-gnu";
    let code = section(&[52, 60, 61, 70, 75, 80, 86, 90], None, 4_000, Coding::Stored, "ops");
    let program = Elf::program("serve").needing(&["libops.so", "libcudart.so.12"]);
    let mut image = Image::of(
        Packing::Gzip,
        [tar([
            file("app/serve", program.build()).mode(0o755),
            file(
                format!("{LIB}/libops.so"),
                Elf::library("libops.so").with_section(".nv_fatbin", code).build(),
            ),
            file(format!("{LIB}/libcudart.so.12"), Elf::library("libcudart.so.12").build()),
        ])],
    );
    image.config = json!({"Entrypoint": ["/app/serve"], "ExposedPorts": {"80/tcp": {}}});
    image
}

#[test]
fn machines_that_are_usual_come_first_and_retired_ones_never() {
    let place = Place::new();
    let image = format!("oci:{}", place.put_layout("old", &Layout::of(&for_many_gpus(), "t")));
    let azure = lines(&place, &image, "azureml");
    assert!(azure.contains("instance_type: \"Standard_NC4as_T4_v3\""), "{azure}");
    assert!(azure.contains("Standard_ND96isr_H100_v5"), "{azure}");
    for retired in ["Standard_NC6s_v3", "Standard_ND40rs_v2", "Standard_NV12s_v3"] {
        assert!(!azure.contains(retired), "{retired} is retired:\n{azure}");
    }
    let gke = place.run(&["deploy", &image, "--profile", "gke", "--snippet", "kubernetes"]).stdout;
    assert!(gke.contains("cloud.google.com/gke-accelerator: \"nvidia-tesla-t4\""), "{gke}");
    assert!(gke.contains("# It also runs on: nvidia-l4, ") && !gke.contains("k80"), "{gke}");
}

#[test]
fn the_rates_of_this_machine_are_used() {
    let place = Place::new();
    let missing = place.failure(&["deploy", "sample:devel", "--rates", "calibrated"]);
    assert!(missing.contains("no measured rates"), "{missing}");
    let folder = place.path("disk");
    std::fs::create_dir(&folder).unwrap();
    assert_eq!(place.run(&["calibrate", "--quick", "--dir", &folder]).code, 0);
    let report = printed(&place, &["deploy", "sample:devel", "--rates", "calibrated"]);
    assert_eq!(report["cold_start"]["rates"], "calibrated");
}
