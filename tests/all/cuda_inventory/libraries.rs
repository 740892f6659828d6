//! What each library is: component, version, soname, supplier, role, CUDA version and package.

use serde_json::Value;

use super::{column, image, library, number, only_warns_of, report_of, report_of_members};
use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{Coding, section};
use crate::fixtures::packages::dpkg_status;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, conda, debs, files, wheel};
use crate::fixtures::tarball::{Member, file, hardlink, whiteout};

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

/// A path with its folder written out: `LIB` of a toolkit, `SYS` of the system, `SITE` of Python packages.
fn full(short: &str) -> String {
    let (folder, rest) = short.split_once('/').unwrap();
    match folder {
        "LIB" => format!("{CUDA}/targets/x86_64-linux/lib/{rest}"),
        "SYS" => format!("{SYSTEM}/{rest}"),
        "SITE" => format!("{SITE}/{rest}"),
        _ => short.to_owned(),
    }
}

fn put(short: &str, soname: &str) -> Member {
    file(full(short), built(soname))
}

/// What a report says of a library: component, version, soname, supplier, role, CUDA, machine; its package.
fn facts(library: &Value) -> (String, String) {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    };
    let fields = ["component", "version", "soname", "supplier", "role", "cuda_major", "foreign"];
    let owner = match &library["package"] {
        Value::Null => "-".to_owned(),
        package => ["manager", "name", "version"].map(|field| text(&package[field])).join(" "),
    };
    (fields.map(|field| text(&library[field])).join(" "), owner)
}

/// The libraries of these files are those that are expected, and no others.
fn check(members: Vec<Member>, expected: &[(&str, &str, &str)]) {
    let report = report_of_members(members);
    only_warns_of(&report, &[]);
    for (path, line, owner) in expected {
        let found = facts(library(&report, &format!("/{}", full(path))));
        assert_eq!((found.0.as_str(), found.1.as_str()), (*line, *owner), "{path}");
    }
    let mut paths: Vec<String> = expected.iter().map(|(path, ..)| format!("/{}", full(path))).collect();
    paths.sort();
    assert_eq!(column(&report.json["cuda"]["libraries"], "path"), paths);
}

#[test]
fn libraries_of_the_system_are_told_by_their_packages() {
    // Package, version, file and soname.
    let packages = [
        ("libcublas-13-0", "13.1.0.3-1", "LIB/libcublas.so.13.1.0.3", "libcublas.so.13"),
        (
            "cuda-compat-13-0",
            "580.95.05-0ubuntu1",
            "usr/local/cuda-13.0/compat/libcuda.so.580.95.05",
            "libcuda.so.1",
        ),
        ("libcudnn8", "8.9.7.29-1+cuda12.2", "SYS/libcudnn_ops_infer.so.8.9.7", "libcudnn_ops_infer.so.8"),
        ("libcudnn9-cuda-13", "9.14.0.64-1", "SYS/libcudnn.so.9.14.0", "libcudnn.so.9"),
        ("libnvinfer10", "10.8.0.43-1+cuda12.8", "SYS/libnvinfer.so.10.8.0", "libnvinfer.so.10"),
        ("libnccl2", "2.28.3-1+cuda13.0", "SYS/libnccl.so.2.28.3", "libnccl.so.2"),
        ("ocl-icd-libopencl1", "2.3.2-1build1", "SYS/libOpenCL.so.1.0.0", "libOpenCL.so.1"),
    ];
    let mut members = Vec::new();
    let mut status = Vec::new();
    for (name, version, path, soname) in packages {
        let path = full(path);
        for member in debs(&[(name, version, &[(&path, built(soname))])]) {
            if member.name == b"var/lib/dpkg/status" {
                status.extend(member.body);
            } else {
                members.push(member);
            }
        }
    }
    members.push(file("var/lib/dpkg/status", status));
    // The distribution's own build, with a list that names its architecture.
    let own = "SYS/libcudart.so.12";
    let stanza = dpkg_status("libcudart12", "12.0.146~12.0.1-4", 1, &[]);
    members.extend([
        put(own, "libcudart.so.12"),
        file("var/lib/dpkg/status.d/libcudart12", stanza),
        file("var/lib/dpkg/info/libcudart12:amd64.list", format!("/.\n/{}\n", full(own))),
        put("opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/12.4/lib64/libcudart.so.12", "libcudart.so.12"),
        put("LIB/stubs/libcublas.so", "libcublas.so.13"),
        put("SYS/libcuda.so.550.54.15", "libcuda.so.1"),
    ]);
    check(
        members,
        &[
            (
                "LIB/libcublas.so.13.1.0.3",
                "cublas 13.1.0.3 libcublas.so.13 toolkit runtime 13 -",
                "dpkg libcublas-13-0 13.1.0.3-1",
            ),
            ("LIB/stubs/libcublas.so", "cublas - libcublas.so.13 toolkit stub 13 -", "-"),
            (
                "usr/local/cuda-13.0/compat/libcuda.so.580.95.05",
                "driver 580.95.05 libcuda.so.1 toolkit compat 13 -",
                "dpkg cuda-compat-13-0 580.95.05-0ubuntu1",
            ),
            (
                "SYS/libcudnn_ops_infer.so.8.9.7",
                "cudnn 8.9.7 libcudnn_ops_infer.so.8 toolkit runtime 12 -",
                "dpkg libcudnn8 8.9.7.29-1+cuda12.2",
            ),
            (
                "SYS/libcudnn.so.9.14.0",
                "cudnn 9.14.0 libcudnn.so.9 toolkit runtime 13 -",
                "dpkg libcudnn9-cuda-13 9.14.0.64-1",
            ),
            (
                "SYS/libnvinfer.so.10.8.0",
                "tensorrt 10.8.0 libnvinfer.so.10 toolkit runtime 12 -",
                "dpkg libnvinfer10 10.8.0.43-1+cuda12.8",
            ),
            (
                "SYS/libnccl.so.2.28.3",
                "nccl 2.28.3 libnccl.so.2 toolkit runtime 13 -",
                "dpkg libnccl2 2.28.3-1+cuda13.0",
            ),
            (
                "SYS/libOpenCL.so.1.0.0",
                "opencl 1.0.0 libOpenCL.so.1 distro runtime - -",
                "dpkg ocl-icd-libopencl1 2.3.2-1build1",
            ),
            (own, "cudart - libcudart.so.12 distro runtime 12 -", "dpkg libcudart12 12.0.146~12.0.1-4"),
            (
                "opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/12.4/lib64/libcudart.so.12",
                "cudart - libcudart.so.12 toolkit runtime 12 -",
                "-",
            ),
            ("SYS/libcuda.so.550.54.15", "driver 550.54.15 libcuda.so.1 distro runtime - -", "-"),
        ],
    );
}

#[test]
fn libraries_of_python_and_conda_are_told_by_their_packages() {
    // Distribution, version, folder and name, and what is to be said before and after "wheel runtime".
    let wheels = [
        ("nvidia-cublas-cu12", "12.8.4.1", "nvidia/cublas/lib/libcublasLt.so.12", "cublas 12.8.4.1", "12 -"),
        (
            "nvidia-cusparse-cu12",
            "12.5.4.2",
            "nvidia/cusparse/lib/libcusparse.so.12",
            "cusparse 12.5.4.2",
            "12 -",
        ),
        ("nvidia-cusparse", "12.6.3.3", "nvidia/cu13/lib/libcusparse.so.12", "cusparse 12.6.3.3", "13 -"),
        ("nvidia-cudnn-cu12", "9.10.2.21", "nvidia/cudnn/lib/libcudnn_graph.so.9", "cudnn 9.10.2.21", "12 -"),
        (
            "nvidia-cusparselt-cu12",
            "0.7.1",
            "nvidia/cusparselt/lib/libcusparseLt.so.0",
            "cusparselt 0.7.1",
            "12 -",
        ),
        ("tensorrt-cu12-libs", "10.8.0.43", "tensorrt_libs/libnvinfer.so.10", "tensorrt 10.8.0.43", "12 -"),
        // The version of a package says nothing of a library of another thing in it.
        ("torch", "2.0.1+cu118", "torch/lib/libcudart-d0da41ae.so.11.0", "cudart -", "11 -"),
        ("onnxruntime-gpu", "1.31.1", "onnxruntime/capi/libonnxruntime.so.1", "onnxruntime 1.31.1", "- -"),
    ];
    let mut members = Vec::new();
    let mut lines: Vec<(String, String, String)> = Vec::new();
    for (name, version, path, before, after) in wheels {
        let soname = path.rsplit('/').next().unwrap();
        members.extend(wheel(SITE, name, version, &[(path, built(soname))]));
        let line = format!("{before} {soname} wheel runtime {after}");
        lines.push((format!("SITE/{path}"), line, format!("pip {name} {version}")));
    }
    let cupti =
        ["libcupti.so", "libcupti.so.12", "libcupti.so.2025.1.1"].map(|name| format!("{CUPTI}/{name}"));
    let copies = cupti.each_ref().map(|path| (path.as_str(), built("libcupti.so.12")));
    members.extend(wheel(SITE, "triton", "3.9.0", &copies));
    for (path, version) in cupti.iter().zip(["-", "-", "2025.1.1"]) {
        let line = format!("cupti {version} libcupti.so.12 wheel runtime 12 -");
        lines.push((format!("SITE/{path}"), line, "pip triton 3.9.0".into()));
    }
    let cufft = "lib/libcufft.so.11.3.0.4";
    members.extend(conda("opt/conda", "libcufft", "11.3.0.4", &[(cufft, built("libcufft.so.11"))]));
    members.push(put("opt/conda/lib/libnppc.so.12", "libnppc.so.12"));
    let owned = "cufft 11.3.0.4 libcufft.so.11 conda runtime 12 -";
    lines.push((format!("opt/conda/{cufft}"), owned.into(), "conda libcufft 11.3.0.4".into()));
    let stray = "npp - libnppc.so.12 conda runtime 12 -";
    lines.push(("opt/conda/lib/libnppc.so.12".into(), stray.into(), "-".into()));
    let expected: Vec<(&str, &str, &str)> =
        lines.iter().map(|(path, line, owner)| (path.as_str(), line.as_str(), owner.as_str())).collect();
    check(members, &expected);
}

#[test]
fn libraries_without_a_package_are_told_by_what_they_are() {
    let code = section(&[90], None, 900, Coding::Zstd, "k");
    let kernels = Elf::library("libkernels.so").with_section(".nv_fatbin", code);
    let members = files(
        "opt/app",
        &[
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
        ],
    );
    check(
        members,
        &[
            ("opt/app/lib/libcurand.so.10", "curand - libcurand.so.10 application runtime - -", "-"),
            ("opt/app/lib/renamed.so", "cufft - libcufft.so.12 application runtime 13 -", "-"),
            ("opt/app/lib/libkernels.so", "other - libkernels.so application runtime - -", "-"),
            ("opt/app/arm/libcudart.so.13", "cudart - libcudart.so.13 application runtime 13 aarch64", "-"),
            ("opt/app/small/libcudart.so.12", "cudart - - application runtime - i386", "-"),
        ],
    );
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
fn only_what_a_container_sees_is_listed() {
    let body = |seed: &str| Elf { seed: seed.into(), ..Elf::library("libnccl.so.2") }.sized(9_000);
    let layers = [
        vec![
            put("opt/gone/libcudart.so.13", "libcudart.so.13"),
            file("opt/new/libnccl.so.2", body("old")),
            put("opt/kept/libcufft.so.12", "libcufft.so.12"),
        ],
        vec![
            whiteout("opt/gone/libcudart.so.13"),
            file("opt/new/libnccl.so.2", [body("new"), vec![0; 8]].concat()),
        ],
        // A change of the owner copies the bytes into a layer of its own.
        vec![put("opt/kept/libcufft.so.12", "libcufft.so.12").owned_by(7, 7)],
    ];
    let report = report_of(&image(Packing::Gzip, &layers));
    let found: Vec<(&str, u64, u64)> = report.json["cuda"]["libraries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["path"].as_str().unwrap(), number(&one["layer"]), number(&one["bytes"])))
        .collect();
    let cufft = built("libcufft.so.12").len() as u64;
    let nccl = body("new").len() as u64 + 8;
    assert_eq!(found, [("/opt/kept/libcufft.so.12", 2, cufft), ("/opt/new/libnccl.so.2", 1, nccl)]);
}

#[test]
fn a_library_of_the_platform_is_not_foreign() {
    let arm = for_machine(built("libcudart.so.13"), 183);
    let members =
        vec![file("opt/a/libcudart.so.13", arm), file("opt/b/libcudart.so.13", built("libcudart.so.13"))];
    let image = image(Packing::Gzip, &[members]);
    let place = crate::support::Place::new();
    let layout = crate::fixtures::layout::Layout::of(&image.for_platform("linux", "arm64", None), "t");
    let path = place.put_layout("image", &layout);
    let report = place.report_with(&path, &["--platform", "linux/arm64"]);
    assert_eq!(library(&report, "/opt/a/libcudart.so.13")["foreign"], Value::Null);
    assert_eq!(library(&report, "/opt/b/libcudart.so.13")["foreign"], "x86_64");
    assert_eq!(column(&report.json["cuda"]["duplicates"], "soname"), Vec::<&str>::new());
}
