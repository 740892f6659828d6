//! `gpu --image`: the GPU code of an image in the driver, which refuses some of it, crashes and hangs.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Machine;
use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{Coding, Entry, container};
use crate::fixtures::image::Image;
use crate::fixtures::layout::{Layout, write_files};
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, hardlink, tar};
use crate::schema;
use crate::support::Outcome;

/// Architectures at which the stand-in crashes, hangs, and breaks its context.
const CRASHES: u32 = 9001;
const HANGS: u32 = 9002;
const BREAKS: u32 = 9003;
/// Added to an architecture: PTX for it.
const PTX: u32 = 10_000;

fn code(archs: &[u32]) -> Vec<u8> {
    let entry = |arch: &u32| match arch.checked_sub(PTX) {
        Some(arch) => Entry::ptx(arch, (8, 0), 600, Coding::Stored, "load"),
        None => Entry::cubin(*arch, None, 600, Coding::Stored, "load"),
    };
    container(&archs.iter().map(entry).collect::<Vec<_>>())
}

fn library(name: &str, containers: &[&[u32]]) -> Member {
    let section = containers.iter().flat_map(|archs| code(archs)).collect();
    let elf = Elf::library(name).with_section(".nv_fatbin", section).build();
    file(format!("usr/lib/{name}"), elf).mode(0o755)
}

/// A program with code of its own, which needs `libkernels.so`, in the layer below; nothing needs `libspare.so`.
fn image(packing: Packing, containers: &[&[u32]]) -> Image {
    let app = Elf::program("app").needing(&["libkernels.so"]).with_section(".nv_fatbin", code(&[90, 100]));
    let below = [library("libkernels.so", containers), library("libspare.so", &[&[90]])];
    let above = [
        file("usr/bin/app", app.build()).mode(0o755),
        hardlink("usr/bin/again", "usr/bin/app"),
        file("usr/bin/text", b"#!/bin/sh\n".to_vec()).mode(0o755),
    ];
    let mut image = Image::of(packing, [tar(below), tar(above)]);
    image.config = json!({"Entrypoint": ["/usr/bin/app"], "Env": ["PATH=/usr/bin"]});
    image
}

/// Runs the check with the layout of an image.
fn run(machine: &Machine, image: &Image, options: &[&str]) -> Outcome {
    write_files(&Layout::of(image, "latest").files(), machine.place.path("image").as_ref());
    let reference = format!("oci:{}", machine.place.path("image"));
    let mut arguments = vec!["--image", &reference, "--platform", "linux/amd64", "--no-cache"];
    arguments.extend(options);
    machine.text(&arguments)
}

fn document(outcome: &Outcome) -> Value {
    let value = serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| {
        panic!("no JSON ({error}): status {}\n{}\n{}", outcome.code, outcome.stdout, outcome.stderr)
    });
    schema::fits("gpu", &value);
    value
}

const COUNTS: [&str; 6] = ["containers", "loaded", "no_code", "refused", "crashed", "timed_out"];

fn counts(value: &Value) -> [u64; 6] {
    COUNTS.map(|name| value[name].as_u64().unwrap())
}

#[test]
fn every_container_that_something_reaches_is_loaded() {
    for packing in [Packing::Plain, Packing::Gzip, Packing::Zstd] {
        let machine = Machine::new().listening();
        let image = image(packing, &[&[80, 90], &[80], &[90]]);
        let outcome = run(&machine, &image, &["--format", "json"]);
        assert_eq!(outcome.code, 0, "{}", outcome.stderr);
        let loads = &document(&outcome)["image"];
        assert_eq!(counts(loads), [4, 3, 1, 0, 0, 0], "{loads:#}");
        assert_eq!(loads["unreferenced_libraries"], 1);
        let libraries = loads["libraries"].as_array().unwrap();
        let paths: Vec<&str> = libraries.iter().map(|one| one["path"].as_str().unwrap()).collect();
        assert_eq!(paths, ["/usr/lib/libkernels.so", "/usr/bin/again"]);
        assert_eq!(counts(&libraries[0]), [3, 2, 1, 0, 0, 0]);
        assert_eq!((&loads["faults"], &loads["notes"]), (&json!([]), &json!([])));
        assert!(loads["device"].as_str().is_some_and(|name| !name.is_empty()));
        let calls = machine.calls();
        let count = |name: &str| calls.iter().filter(|call| *call == name).count();
        assert_eq!(count("cuLibraryLoadData"), 3, "modules that load are loaded as libraries too");
        assert_eq!(count("cuLibraryUnload"), 3);
    }
}

#[test]
fn ptx_is_counted_and_not_compiled() {
    let machine = Machine::new();
    let containers: [&[u32]; 4] = [&[90, PTX + 90], &[80, PTX + 80], &[PTX + 80], &[PTX + 100]];
    let outcome = run(&machine, &image(Packing::Gzip, &containers), &["--format", "json"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let loads = &document(&outcome)["image"];
    assert_eq!(counts(loads), [5, 2, 1, 0, 0, 0], "{loads:#}");
    assert_eq!((&loads["jit"], &loads["faults"]), (&json!(2), &json!([])));
}

#[test]
fn another_gpu_loads_other_containers() {
    let machine = Machine::new().with("CC", "8.0");
    let outcome = run(&machine, &image(Packing::Gzip, &[&[80, 90], &[80], &[90]]), &["--format", "json"]);
    assert_eq!(counts(&document(&outcome)["image"]), [4, 2, 2, 0, 0, 0]);
}

#[test]
fn a_crash_a_hang_and_a_broken_context_are_named_and_do_not_end_the_rest() {
    let machine = Machine::new();
    let containers: [&[u32]; 7] = [&[90], &[CRASHES], &[90], &[HANGS], &[BREAKS], &[80], &[90]];
    let begun = Instant::now();
    let image = image(Packing::Plain, &containers);
    let outcome = run(&machine, &image, &["--load-limit", "2", "--format", "json"]);
    assert!(begun.elapsed() < Duration::from_mins(1), "it took {:?}", begun.elapsed());
    assert_eq!(outcome.code, 2, "a driver that crashes is no success: {}", outcome.stderr);
    let loads = &document(&outcome)["image"];
    assert_eq!(counts(loads), [8, 4, 1, 1, 1, 1], "{loads:#}");
    let faults = loads["faults"].as_array().unwrap();
    let told: Vec<_> =
        faults.iter().map(|one| (one["container"].as_u64(), one["outcome"].as_str())).collect();
    assert_eq!(told, [(Some(1), Some("crashed")), (Some(3), Some("timed-out")), (Some(4), Some("refused"))]);
    assert!(faults.iter().all(|one| one["path"] == "/usr/lib/libkernels.so"), "{faults:#?}");
    assert!(faults[0]["detail"].as_str().unwrap().contains("SIGSEGV"), "{faults:#?}");
    assert_eq!(faults[2]["detail"], "cuModuleLoadData returned error 700");
    for pid in machine.pids() {
        assert!(!std::path::Path::new(&format!("/proc/{pid}")).exists(), "{pid} is still there");
    }

    let text = run(&machine, &image, &["--load-limit", "2"]);
    for part in [
        "8 containers: 4 loaded, 1 without code for this GPU, 1 refused, 1 crashed the driver, 1 timed out",
        "Not tried: 1 library that nothing known loads",
        "/usr/lib/libkernels.so at",
    ] {
        let flat = text.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(part), "no `{part}` in\n{}", text.stdout);
    }
}

#[test]
fn without_a_usable_gpu_the_image_is_not_read_and_an_error_says_so() {
    for machine in [Machine::new().with("FAIL", "cuInit:100"), Machine::new().with("DEVICES", "0")] {
        let outcome = run(&machine, &image(Packing::Plain, &[&[90]]), &["--format", "json"]);
        assert_eq!(outcome.code, 2);
        assert!(document(&outcome)["image"].is_null());
        assert!(outcome.stderr.contains("was not loaded: no usable GPU"), "{}", outcome.stderr);
    }
    let broken = Machine::new();
    let outcome = broken.text(&["--image", "oci:/nowhere"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("/nowhere"), "{}", outcome.stderr);
}

/// `slim --target --verify-gpu` of an image, to a layout elsewhere.
fn slim(machine: &Machine, image: &Image, target: &str) -> (Outcome, bool) {
    slim_with(machine, image, &["--target", target])
}

fn slim_with(machine: &Machine, image: &Image, how: &[&str]) -> (Outcome, bool) {
    write_files(&Layout::of(image, "latest").files(), machine.place.path("image").as_ref());
    let reference = format!("oci:{}", machine.place.path("image"));
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let to = format!("oci:{}:new", out.display());
    let library = machine.library.clone().unwrap();
    let options = ["--verify-gpu", "--gpu-library", &library, "-o", &to, "--format", "json"];
    let arguments = [&["slim", &reference][..], how, &options].concat();
    let outcome = machine.place.run_in(&machine.environment, &arguments);
    (outcome, out.exists())
}

#[test]
fn a_slim_image_loads_what_the_image_loaded() {
    let machine = Machine::new();
    let image = image(Packing::Gzip, &[&[80, 90], &[80], &[90]]);
    let (outcome, _) = slim(&machine, &image, "cc=9.0");
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
    schema::fits("slim", &document);
    let gpu = &document["verification"]["gpu"];
    let counts = ["containers", "loaded_before", "loaded_after"].map(|name| gpu[name].as_u64().unwrap());
    assert_eq!(counts, [4, 3, 3], "{gpu}");

    // For another GPU than that of this machine, the driver no longer loads what it did.
    let (outcome, _) = slim(&machine, &image, "cc=8.0");
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("/usr/lib/libkernels.so, container 2"), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("3 containers"), "{}", outcome.stderr);
}

#[test]
fn containers_that_cross_the_holes_of_a_shortened_library_load_whole() {
    let machine = Machine::new();
    let entry = |arch, bytes| Entry::cubin(arch, None, bytes, Coding::Stored, "load");
    // At the end of a container, in the middle, the whole of one, at the end of the section; and small ones beside.
    let containers = [
        container(&[entry(90, 600), entry(80, 300_000)]),
        container(&[entry(90, 600)]),
        container(&[entry(80, 200_000), entry(90, 70_000), entry(75, 300_000), entry(90, 500)]),
        container(&[entry(75, 400_000)]),
        container(&[entry(90, 900)]),
        container(&[entry(90, 600), entry(120, 300_000)]),
    ];
    let library = Elf::library("libkernels.so").with_section(".nv_fatbin", containers.concat()).build();
    let mut image = image(Packing::Gzip, &[&[90]]);
    let above = file("usr/lib/libkernels.so", library).mode(0o755);
    image.layers.push(Image::of(Packing::Gzip, [tar([above])]).layers.remove(0));
    let (outcome, _) = slim_with(&machine, &image, &["--target", "cc=9.0", "--shrink"]);
    assert_eq!(outcome.code, 0, "{}", outcome.stderr);
    let document: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let lines = document["gpu_code"]["libraries"].as_array().unwrap();
    let line = lines.iter().find(|line| line["path"] == "/usr/lib/libkernels.so").unwrap();
    let [before, after] = ["file_bytes_before", "file_bytes_after"].map(|name| line[name].as_u64().unwrap());
    assert!(after + 1_000_000 < before, "{before} and {after}");
    let gpu = &document["verification"]["gpu"];
    let counts = ["containers", "loaded_before", "loaded_after"].map(|name| gpu[name].as_u64().unwrap());
    assert_eq!(counts, [7, 6, 6], "{gpu}");
}

#[test]
fn without_a_usable_gpu_no_slim_image_is_written() {
    let machine = Machine::new().with("DEVICES", "0");
    let (outcome, exists) = slim(&machine, &image(Packing::Gzip, &[&[80, 90]]), "cc=9.0");
    assert_eq!((outcome.code, exists), (2, false), "{}", outcome.stderr);
    assert!(outcome.stderr.contains("GPU"), "{}", outcome.stderr);
}
