//! What each library is: component, version, soname, supplier, role, CUDA version and package.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{column, library, number, only_warns_of, report_of_members};
use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{Coding, section};
use crate::fixtures::service::{SITE, conda, debs, files, wheel};
use crate::fixtures::tarball::{file, hardlink};

const CUDA: &str = "usr/local/cuda-13.0";
const SYSTEM: &str = "usr/lib/x86_64-linux-gnu";
const CUPTI: &str = "triton/backends/nvidia/lib/cupti";

fn built(soname: &str) -> Vec<u8> {
    Elf::library(soname).build()
}

/// The same file for another machine.
fn for_machine(mut elf: Vec<u8>, machine: u16) -> Vec<u8> {
    elf[18..20].copy_from_slice(&machine.to_le_bytes());
    elf
}

/// A 32-bit shared object that has a header and nothing else.
fn small_elf() -> Vec<u8> {
    let mut elf = b"\x7fELF\x01\x01\x01".to_vec();
    elf.resize(52, 0);
    elf[16..18].copy_from_slice(&3_u16.to_le_bytes());
    elf[18..20].copy_from_slice(&3_u16.to_le_bytes());
    elf[20] = 1;
    elf[40..42].copy_from_slice(&52_u16.to_le_bytes());
    elf
}

/// Facts of all libraries in one line each: component, version, soname, supplier, role, CUDA, package, machine.
fn facts(libraries: &Value) -> BTreeMap<&str, String> {
    let text = |value: &Value| value.as_str().map_or_else(|| "-".to_owned(), str::to_owned);
    let line = |library: &Value| {
        let cuda = library["cuda_major"].as_u64().map_or_else(|| "-".to_owned(), |major| major.to_string());
        let owner = &library["package"];
        let package = match owner["name"].as_str() {
            Some(name) => format!("{} {name} {}", text(&owner["manager"]), text(&owner["version"])),
            None => "-".to_owned(),
        };
        [
            text(&library["component"]),
            text(&library["version"]),
            text(&library["soname"]),
            text(&library["supplier"]),
            text(&library["role"]),
            cuda,
            package,
            text(&library["foreign"]),
        ]
        .join(" | ")
    };
    let list = library_list(libraries);
    list.iter().map(|library| (library["path"].as_str().unwrap(), line(library))).collect()
}

fn library_list(libraries: &Value) -> &[Value] {
    libraries.as_array().unwrap()
}

#[test]
fn each_library_is_told_by_its_name_its_place_and_its_package() {
    let path = |folder: &str, name: &str| format!("{folder}/{name}");
    let lib = format!("{CUDA}/targets/x86_64-linux/lib");
    let cublas = path(&lib, "libcublas.so.13.1.0.3");
    let compat = format!("{CUDA}/compat/libcuda.so.580.95.05");
    let cudnn8 = path(SYSTEM, "libcudnn_ops_infer.so.8.9.7");
    let cudnn9 = path(SYSTEM, "libcudnn.so.9.14.0");
    let nvinfer = path(SYSTEM, "libnvinfer.so.10.8.0");
    let nccl = path(SYSTEM, "libnccl.so.2.28.3");
    let opencl = path(SYSTEM, "libOpenCL.so.1.0.0");
    let mut members = debs(&[
        ("libcublas-13-0", "13.1.0.3-1", &[(&cublas, built("libcublas.so.13"))]),
        ("cuda-compat-13-0", "580.95.05-0ubuntu1", &[(&compat, built("libcuda.so.1"))]),
        ("libcudnn8", "8.9.7.29-1+cuda12.2", &[(&cudnn8, built("libcudnn_ops_infer.so.8"))]),
        ("libcudnn9-cuda-13", "9.14.0.64-1", &[(&cudnn9, built("libcudnn.so.9"))]),
        ("libnvinfer10", "10.8.0.43-1+cuda12.8", &[(&nvinfer, built("libnvinfer.so.10"))]),
        ("libnccl2", "2.28.3-1+cuda13.0", &[(&nccl, built("libnccl.so.2"))]),
        ("ocl-icd-libopencl1", "2.3.2-1build1", &[(&opencl, built("libOpenCL.so.1"))]),
    ]);
    members.push(file(format!("{lib}/stubs/libcublas.so"), built("libcublas.so.13")));
    members.push(file(format!("{SYSTEM}/libcuda.so.550.54.15"), built("libcuda.so.1")));
    for (name, version, place, soname) in [
        ("nvidia-cublas-cu12", "12.8.4.1", "nvidia/cublas/lib", "libcublasLt.so.12"),
        ("nvidia-cusparse-cu12", "12.5.4.2", "nvidia/cusparse/lib", "libcusparse.so.12"),
        ("nvidia-cusparse", "12.6.3.3", "nvidia/cu13/lib", "libcusparse.so.12"),
        ("nvidia-cudnn-cu12", "9.10.2.21", "nvidia/cudnn/lib", "libcudnn_graph.so.9"),
        ("torch", "2.0.1+cu118", "torch/lib", "libcudart-d0da41ae.so.11.0"),
    ] {
        members.extend(wheel(SITE, name, version, &[(&path(place, soname), built(soname))]));
    }
    members.extend(wheel(SITE, "triton", "3.9.0", &[
        (&path(CUPTI, "libcupti.so"), built("libcupti.so.12")),
        (&path(CUPTI, "libcupti.so.12"), built("libcupti.so.12")),
        (&path(CUPTI, "libcupti.so.2025.1.1"), built("libcupti.so.12")),
    ]));
    members.extend(conda("opt/conda", "libcufft", "11.3.0.4", &[("lib/libcufft.so.11.3.0.4", built("libcufft.so.11"))]));
    let kernels = Elf::library("libkernels.so").with_section(".nv_fatbin", section(&[90], None, 900, Coding::Zstd, "k"));
    members.extend(files("opt/conda", &[("lib/libnppc.so.12", built("libnppc.so.12"))]));
    members.extend(files("opt/app", &[
        ("lib/libcurand.so.10", built("libcurand.so.10")),
        ("lib/renamed.so", built("libcufft.so.12")),
        ("lib/libkernels.so", kernels.build()),
        ("arm/libcudart.so.13", for_machine(built("libcudart.so.13"), 183)),
        ("small/libcudart.so.12", small_elf()),
        // None of these is a CUDA library.
        ("lib/libother.so", built("libother.so")),
        ("lib/libcublas.so.99", [b"MZ".as_slice(), &[0; 400]].concat()),
        ("lib/libnvrtc.so.12", b"INPUT(-lnvrtc) and some more text in it\n".to_vec()),
        ("lib/libcudart.txt", built("libcudart.so.12")),
    ]));
    let report = report_of_members(members);
    only_warns_of(&report, &[]);
    let expected = [
        (format!("/{lib}/libcublas.so.13.1.0.3"), "cublas | 13.1.0.3 | libcublas.so.13 | toolkit | runtime | 13 | dpkg libcublas-13-0 13.1.0.3-1 | -"),
        (format!("/{lib}/stubs/libcublas.so"), "cublas | - | libcublas.so.13 | toolkit | stub | 13 | - | -"),
        (format!("/{compat}"), "driver | 580.95.05 | libcuda.so.1 | toolkit | compat | 13 | dpkg cuda-compat-13-0 580.95.05-0ubuntu1 | -"),
        (format!("/{cudnn8}"), "cudnn | 8.9.7 | libcudnn_ops_infer.so.8 | toolkit | runtime | 12 | dpkg libcudnn8 8.9.7.29-1+cuda12.2 | -"),
        (format!("/{cudnn9}"), "cudnn | 9.14.0 | libcudnn.so.9 | toolkit | runtime | 13 | dpkg libcudnn9-cuda-13 9.14.0.64-1 | -"),
        (format!("/{nvinfer}"), "tensorrt | 10.8.0 | libnvinfer.so.10 | toolkit | runtime | 12 | dpkg libnvinfer10 10.8.0.43-1+cuda12.8 | -"),
        (format!("/{nccl}"), "nccl | 2.28.3 | libnccl.so.2 | toolkit | runtime | 13 | dpkg libnccl2 2.28.3-1+cuda13.0 | -"),
        (format!("/{opencl}"), "opencl | 1.0.0 | libOpenCL.so.1 | distro | runtime | - | dpkg ocl-icd-libopencl1 2.3.2-1build1 | -"),
        (format!("/{SYSTEM}/libcuda.so.550.54.15"), "driver | 550.54.15 | libcuda.so.1 | distro | runtime | - | - | -"),
        (format!("/{SITE}/nvidia/cublas/lib/libcublasLt.so.12"), "cublas | 12.8.4.1 | libcublasLt.so.12 | wheel | runtime | 12 | pip nvidia-cublas-cu12 12.8.4.1 | -"),
        (format!("/{SITE}/nvidia/cusparse/lib/libcusparse.so.12"), "cusparse | 12.5.4.2 | libcusparse.so.12 | wheel | runtime | 12 | pip nvidia-cusparse-cu12 12.5.4.2 | -"),
        (format!("/{SITE}/nvidia/cu13/lib/libcusparse.so.12"), "cusparse | 12.6.3.3 | libcusparse.so.12 | wheel | runtime | 13 | pip nvidia-cusparse 12.6.3.3 | -"),
        (format!("/{SITE}/nvidia/cudnn/lib/libcudnn_graph.so.9"), "cudnn | 9.10.2.21 | libcudnn_graph.so.9 | wheel | runtime | 12 | pip nvidia-cudnn-cu12 9.10.2.21 | -"),
        (format!("/{SITE}/torch/lib/libcudart-d0da41ae.so.11.0"), "cudart | - | libcudart-d0da41ae.so.11.0 | wheel | runtime | 11 | pip torch 2.0.1+cu118 | -"),
        (format!("/{SITE}/{CUPTI}/libcupti.so"), "cupti | - | libcupti.so.12 | wheel | runtime | 12 | pip triton 3.9.0 | -"),
        (format!("/{SITE}/{CUPTI}/libcupti.so.12"), "cupti | - | libcupti.so.12 | wheel | runtime | 12 | pip triton 3.9.0 | -"),
        (format!("/{SITE}/{CUPTI}/libcupti.so.2025.1.1"), "cupti | 2025.1.1 | libcupti.so.12 | wheel | runtime | 12 | pip triton 3.9.0 | -"),
        ("/opt/conda/lib/libcufft.so.11.3.0.4".into(), "cufft | 11.3.0.4 | libcufft.so.11 | conda | runtime | 12 | conda libcufft 11.3.0.4 | -"),
        ("/opt/conda/lib/libnppc.so.12".into(), "npp | - | libnppc.so.12 | conda | runtime | 12 | - | -"),
        ("/opt/app/lib/libcurand.so.10".into(), "curand | - | libcurand.so.10 | application | runtime | - | - | -"),
        ("/opt/app/lib/renamed.so".into(), "cufft | - | libcufft.so.12 | application | runtime | 13 | - | -"),
        ("/opt/app/lib/libkernels.so".into(), "other | - | libkernels.so | application | runtime | - | - | -"),
        ("/opt/app/arm/libcudart.so.13".into(), "cudart | - | libcudart.so.13 | application | runtime | 13 | - | aarch64"),
        ("/opt/app/small/libcudart.so.12".into(), "cudart | - | - | application | runtime | - | - | i386"),
    ];
    let found = facts(&report.json["cuda"]["libraries"]);
    for (path, line) in &expected {
        assert_eq!(found.get(path.as_str()).map(String::as_str), Some(*line), "{path}");
    }
    let unexpected: Vec<&&str> =
        found.keys().filter(|path| !expected.iter().any(|(known, _)| known == **path)).collect();
    assert!(unexpected.is_empty(), "{unexpected:?}");
}

#[test]
fn copies_count_each_and_hard_links_once() {
    let names = ["libcupti.so", "libcupti.so.12", "libcupti.so.2025.1.1"];
    let body = Elf::library("libcupti.so.12").sized(40_000);
    let at = |name: &str| format!("{SITE}/{CUPTI}/{name}");
    let copies: Vec<_> = names.iter().map(|name| file(at(name), body.clone())).collect();
    let links = vec![
        file(at(names[2]), body.clone()),
        hardlink(at(names[0]), at(names[2])),
        hardlink(at(names[1]), at(names[2])),
    ];
    for (members, count) in [(copies, 3_u64), (links, 1)] {
        let report = report_of_members(members);
        let libraries = &report.json["cuda"]["libraries"];
        assert_eq!(column(libraries, "path").len(), 3);
        let component = &report.json["cuda"]["components"][0];
        assert_eq!(component["name"], "cupti");
        assert_eq!(number(&component["libraries"]), count);
        assert_eq!(number(&component["bytes"]), count * body.len() as u64);
        let first = format!("/{}", at(names[0]));
        for name in names {
            let one = library(&report, &format!("/{}", at(name)));
            assert_eq!(number(&one["bytes"]), body.len() as u64);
            if count == 1 {
                assert_eq!(one["version"], "2025.1.1", "{name} is the file of that version");
                let link_of = if name == names[0] { Value::Null } else { first.clone().into() };
                assert_eq!(one["hardlink_of"], link_of, "{name}");
            } else {
                assert_eq!(one["hardlink_of"], Value::Null);
            }
        }
    }
}

#[test]
fn a_library_of_the_platform_is_not_foreign() {
    let arm = for_machine(built("libcudart.so.13"), 183);
    let members = vec![file("opt/a/libcudart.so.13", arm), file("opt/b/libcudart.so.13", built("libcudart.so.13"))];
    let image = super::image(crate::fixtures::packing::Packing::Gzip, &[members]);
    let place = crate::support::Place::new();
    let layout = crate::fixtures::layout::Layout::of(&image.for_platform("linux", "arm64", None), "t");
    let path = place.put_layout("image", &layout);
    let report = place.report_with(&path, &["--platform", "linux/arm64"]);
    assert_eq!(library(&report, "/opt/a/libcudart.so.13")["foreign"], Value::Null);
    assert_eq!(library(&report, "/opt/b/libcudart.so.13")["foreign"], "x86_64");
    assert_eq!(column(&report.json["cuda"]["duplicates"], "soname"), Vec::<&str>::new());
}
