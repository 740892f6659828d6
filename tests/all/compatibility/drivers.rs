//! The driver: what asks for it, what mounts it, and what lies in the image in its place.

use super::{SITE, TRIPLE, expect, image, runtime, server, verdicts};
use crate::fixtures::elf::Elf;
use crate::fixtures::layout::Layout;
use crate::fixtures::tarball::{Member, file, symlink};
use crate::support::Place;

const COMPAT: &str = "usr/local/cuda-12.9/compat/libcuda.so.575.57.08";

#[test]
fn where_the_driver_is_mounted_the_loader_must_look() {
    let gke = "gke:a2-highgpu-1g,driver=580";
    let needs_driver = || server().needing(&["libcuda.so.1"]);
    let without = image(needs_driver(), vec![], &["LD_LIBRARY_PATH=/usr/lib"]);
    expect(&without, &[(gke, "fails", "driver-path"), ("gpu:a100-40,driver=580", "runs", "driver-version")]);
    let with = image(needs_driver(), vec![], &["LD_LIBRARY_PATH=/opt:/usr/local/nvidia/lib64/"]);
    assert_eq!(verdicts(&with, &[gke])[0].0, "runs");
}

#[test]
fn requirements_of_the_environment_count() {
    let of = |environment: &[&str]| image(server().needing(&["libcuda.so.1"]), vec![], environment);
    let old = "gpu:l4,driver=535";
    expect(&of(&["CUDA_VERSION=12.8.1"]), &[(old, "fails", "requirement")]);
    expect(&of(&["NVIDIA_REQUIRE_CUDA=cuda>=12.8"]), &[(old, "fails", "requirement")]);
    let clauses = "NVIDIA_REQUIRE_CUDA=cuda>=12.8 brand=tesla,driver>=535,driver<536";
    assert_ne!(verdicts(&of(&[clauses]), &[old])[0].0, "fails");
    // The last of a name counts, and a switch takes all of them off.
    let twice = ["NVIDIA_REQUIRE_CUDA=cuda>=12.8", "NVIDIA_REQUIRE_CUDA=cuda>=12.0"];
    assert_eq!(verdicts(&of(&twice), &[old])[0].0, "runs");
    let off = ["NVIDIA_REQUIRE_CUDA=cuda>=12.8", "NVIDIA_DISABLE_REQUIRE=1"];
    assert_eq!(verdicts(&of(&off), &[old])[0].0, "runs");
}

#[test]
fn secrets_of_the_environment_are_not_shown() {
    let place = Place::new();
    let environment = &["NVIDIA_REQUIRE_TOKEN=hunter2", "NVIDIA_REQUIRE_X=https://me:hunter2@host"];
    let image = image(server().needing(&["libcuda.so.1"]), vec![], environment);
    let reference = format!("oci:{}", place.put_layout("image", &Layout::of(&image, "t")));
    for format in ["json", "text"] {
        let output = place.run(&["report", &reference, "--format", format, "--target", "gpu:l4,driver=580"]);
        assert!(!output.stdout.contains("hunter2"), "{}", output.stdout);
        assert_eq!(output.code, 0, "{}", output.stderr);
    }
}

/// A compatibility driver with its note.
fn compat(note: &str) -> Member {
    let owner = b"NVIDIA Corporation\0";
    let mut bytes = Vec::new();
    for word in [owner.len(), note.len(), 1] {
        bytes.extend(u32::try_from(word).unwrap().to_le_bytes());
    }
    bytes.extend(owner);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes.extend(note.as_bytes());
    let elf = Elf::library("libcuda.so.1").with_section(".note.cuda.fwd_compatibility", bytes);
    file(COMPAT, elf.build())
}

#[test]
fn the_compatibility_driver_helps_where_its_note_says_so() {
    let note = r#"{"format":1,"CUDA version":"12.9","driver":[470,535,550],"device":[1,2]}"#;
    let of = |environment: &[&str]| {
        let mut members = runtime("12.8.90");
        members.push(compat(note));
        let path = format!("/{SITE}/nvidia/cuda_runtime/lib");
        let server = Elf { runpath: Some(path), ..server() };
        image(server.needing(&["libcudart.so.12"]), members, environment)
    };
    expect(
        &of(&[]),
        &[
            ("gpu:a100-80,driver=470", "runs-with-compat", "forward-compatibility"),
            ("gpu:rtx-3090,driver=470", "fails", "forward-compatibility"),
            ("gpu:a100-80,driver=460", "fails", "forward-compatibility"),
            ("gpu:a100-80,driver=580", "runs", "driver-version"),
        ],
    );
    // On the loader's path every machine gets it.
    let forced = of(&["LD_LIBRARY_PATH=/usr/local/cuda-12.9/compat"]);
    expect(&forced, &[("gpu:a100-80,driver=580", "fails", "forward-compatibility")]);
}

#[test]
fn a_stub_in_the_drivers_place_fails_everywhere() {
    let stub = || Elf::library("libcuda.so.1").build();
    let stubs = file("usr/local/cuda/lib64/stubs/libcuda.so", stub());
    let needs_driver = || server().needing(&["libcuda.so.1"]);
    let target = "gpu:l4,driver=580";
    expect(&image(needs_driver(), vec![stubs.clone()], &[]), &[(target, "runs", "driver-version")]);
    for driver in [
        file(format!("{TRIPLE}/libcuda.so.1"), stub()),
        symlink(format!("{TRIPLE}/libcuda.so.1"), "/usr/local/cuda/lib64/stubs/libcuda.so"),
        file("etc/ld.so.conf.d/stubs.conf", "/usr/local/cuda/lib64/stubs\n"),
    ] {
        let name = String::from_utf8_lossy(&driver.name).into_owned();
        let found = verdicts(&image(needs_driver(), vec![stubs.clone(), driver], &[]), &[target]);
        assert_eq!(found[0].1, "own-driver", "{name}: {found:?}");
        assert_ne!(found[0].0, "runs", "{name}");
    }
    // What a container toolkit left in a container that was committed is no driver.
    let empty = file(format!("{TRIPLE}/libcuda.so.1"), "");
    expect(&image(needs_driver(), vec![empty], &[]), &[(target, "runs", "driver-version")]);
}
