//! Statements that must not be made: each was once wrong.

use serde_json::{Value, json};

use super::{
    configured, entry, executable, image, items, library, number, program, report_of, report_of_members,
    starting, texts,
};
use crate::fixtures::elf::Elf;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, wheel};
use crate::fixtures::tarball::file;
use crate::fixtures::{fatbin, filler};

#[test]
fn a_command_line_in_one_word_keeps_its_secrets() {
    let members = vec![file("etc/motd", "hello")];
    let config = json!({"Cmd": ["python serve.py --api-key sk-SECRET123 --token=TOK456"]});
    let report = report_of(&configured(members, config));
    let text = report.json.to_string();
    assert!(text.contains("the image's command python is not a file"), "{:#}", report.json["warnings"]);
    assert!(!text.contains("SECRET123") && !text.contains("TOK456"));
}

#[test]
fn zeros_of_two_sizes_are_two_contents() {
    let members =
        vec![file("a", vec![0; 128 << 10]), file("b", vec![0; 256 << 10]), file("c", vec![0; 256 << 10])];
    let other = vec![file("d", [filler::code("d", 64 << 10), vec![0; 64 << 10]].concat())];
    for packing in [Packing::Plain, Packing::Gzip] {
        let report = report_of(&image(packing, &[members.clone(), other.clone()]));
        let identical = items(&report.json["cuda"]["identical"]);
        assert_eq!(identical.len(), 1, "{identical:#?}");
        assert_eq!(texts(&identical[0]["paths"]), ["/b", "/c"]);
    }
}

/// Duplicates of cuSPARSE from a wheel of CUDA 12 and one of CUDA 13, which have one soname.
fn two_majors(third: &[(&str, &str)]) -> Value {
    let sparse = |seed: &str| Elf { seed: seed.into(), ..Elf::library("libcusparse.so.12") }.sized(20_000);
    let mut members = wheel(
        SITE,
        "nvidia-cusparse-cu12",
        "12.5.8.93",
        &[("nvidia/cusparse/lib/libcusparse.so.12", sparse("12"))],
    );
    members.extend(wheel(
        SITE,
        "nvidia-cusparse",
        "12.6.3.3",
        &[("nvidia/cu13/lib/libcusparse.so.12", sparse("13"))],
    ));
    for (path, seed) in third {
        members.push(file(*path, sparse(seed)));
    }
    let mut service = program("service", &["libcusparse.so.12"]);
    service.rpath = Some(format!("/{SITE}/nvidia/cu13/lib"));
    members.push(executable("usr/bin/service", &service));
    let report = report_of(&configured(members, starting("/usr/bin/service")));
    entry(&report.json["cuda"]["duplicates"], "soname", "libcusparse.so.12").clone()
}

#[test]
fn a_copy_for_another_cuda_is_not_in_the_place_of_the_loaded_one() {
    let duplicate = two_majors(&[]);
    assert_eq!((items(&duplicate["paths"]).len(), number(&duplicate["reclaimable_bytes"])), (2, 0));
    // One of which nothing says for which CUDA it is may be either.
    let duplicate = two_majors(&[("opt/lib/libcusparse.so.12", "by hand")]);
    assert_eq!(items(&duplicate["paths"]).len(), 3);
    assert!(number(&duplicate["reclaimable_bytes"]) >= 19_000);
}

#[test]
fn a_copy_that_stands_for_itself_does_not_go() {
    // The module of the application has the name of a library that a program loads from elsewhere.
    let code = fatbin::section(&[90], None, 2_000, fatbin::Coding::Zstd, "ops");
    let ops = |seed: &str| {
        let library = Elf { seed: seed.into(), ..Elf::library("libops.so") };
        library.with_section(".nv_fatbin", code.clone()).sized(9_000)
    };
    let mut service = program("service", &["libops.so"]);
    service.rpath = Some("/opt/one".into());
    let members = vec![
        file("opt/one/libops.so", ops("one")),
        file("opt/two/libops.so", ops("two")),
        executable("usr/bin/service", &service),
    ];
    let report = report_of(&configured(members, starting("/usr/bin/service")));
    assert_eq!(library(&report, "/opt/two/libops.so")["use"], "needed");
    let duplicate = entry(&report.json["cuda"]["duplicates"], "soname", "libops.so");
    assert_eq!(number(&duplicate["reclaimable_bytes"]), 0);
}

#[test]
fn folders_tell_no_more_than_they_say() {
    let cublas = || Elf::library("libcublas.so.13").sized(5_000);
    let cudart = || Elf::library("libcudart.so.12").sized(2_000);
    let report = report_of_members(vec![
        file("opt/envs/cu12/lib/python3.12/site-packages/torch/lib/libcublas.so.13", cublas()),
        file("app/stubs/libcudart.so.12", cudart()),
        file("usr/local/cuda-12.8/targets/x86_64-linux/lib/stubs/libcublas.so", cublas()),
        file("opt/drivers/stubs/libcuda.so", Elf::library("libcuda.so.1").sized(2_000)),
    ]);
    let of = |path: &str, key: &str| library(&report, path)[key].clone();
    assert_eq!(of("/opt/envs/cu12/lib/python3.12/site-packages/torch/lib/libcublas.so.13", "cuda_major"), 13);
    assert_eq!(of("/app/stubs/libcudart.so.12", "role"), "runtime");
    assert_eq!(of("/usr/local/cuda-12.8/targets/x86_64-linux/lib/stubs/libcublas.so", "role"), "stub");
    assert_eq!(of("/opt/drivers/stubs/libcuda.so", "role"), "stub");
}

#[test]
fn code_that_no_program_holds_is_not_linked_in() {
    let ptx = ".version 8.7\n.target sm_90\n.address_size 64\n";
    let report = report_of_members(vec![file("app/kernel.ptx", ptx)]);
    let runtime = entry(&report.json["cuda"]["stack"], "level", "runtime");
    assert_eq!(runtime["supplied_by"], "unknown", "{runtime:#}");
}

#[test]
fn a_document_is_no_binary_whatever_it_begins_with() {
    let status = "MZ: x\nPackage: tool\nStatus: install ok installed\nVersion: 1.0\n\n";
    let metadata = "!<arch>\nName: torch\nVersion: 2.9.1\n";
    let folder = format!("{SITE}/torch-2.9.1.dist-info");
    let members = vec![file("var/lib/dpkg/status", status), file(format!("{folder}/METADATA"), metadata)];
    let packages = [Packing::Gzip, Packing::Plain]
        .map(|packing| report_of(&image(packing, std::slice::from_ref(&members))).json["packages"].clone());
    assert_eq!(packages[0], packages[1]);
    assert!(items(&packages[0]).iter().any(|package| package["name"] == "tool"), "{packages:#?}");
}

#[test]
fn holes_are_not_read() {
    use std::fs;
    let place = crate::support::Place::new();
    for name in ["a/libx.so", "b/libx.so"] {
        let path = place.path(&format!("root/{name}"));
        fs::create_dir_all(std::path::Path::new(&path).parent().unwrap()).unwrap();
        let file = fs::File::create(&path).unwrap();
        // As large as the file system of the folder allows.
        if file.set_len(8 << 40).is_err() {
            file.set_len(1 << 40).unwrap();
        }
    }
    let report = place.report(&format!("rootfs:{}", place.path("root")));
    assert_eq!(report.json["cuda"]["identical"], json!([]));
}
