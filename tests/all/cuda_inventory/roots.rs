//! What runs or is opened on its own account: plugins, libraries of Python packages, programs in folders that
//! look like a toolkit; and what is missing only for those that do without.

use serde_json::json;

use super::{configured, entry, executable, items, library, program, report_of, report_of_members, starting};
use crate::fixtures::elf::Elf;
use crate::fixtures::service::{SITE, debs, wheel};
use crate::fixtures::tarball::{Member, file, symlink};
use crate::support::Report;

const SERVER: &str = "/usr/bin/server";

/// A library at a path, which has its file name as its soname.
fn put(path: &str, needed: &[&str]) -> Member {
    file(path, built(path, needed))
}

fn built(path: &str, needed: &[&str]) -> Vec<u8> {
    let elf = Elf { runpath: Some("$ORIGIN".into()), ..Elf::library(path.rsplit('/').next().unwrap()) };
    elf.needing(needed).build()
}

fn usage(report: &Report, path: &str) -> String {
    library(report, path)["use"].as_str().unwrap().to_owned()
}

fn python() -> Member {
    executable("opt/venv/bin/python3.12", &program("python3.12", &[]))
}

/// What the stack says of a level.
fn note(report: &Report, level: &str) -> String {
    entry(&report.json["cuda"]["stack"], "level", level)["note"].to_string()
}

#[test]
fn a_program_for_musl_leaves_the_configuration_of_glibc_in_use() {
    let cudart = "usr/local/cuda-12.4/lib64/libcudart.so.12";
    let loader = |path: &str, soname: &str| file(path, Elf::library(soname).build());
    let of_musl = Elf { interpreter: Some("/lib/ld-musl-x86_64.so.1".into()), ..program("sh", &[]) };
    let glibc = loader("lib64/ld-linux-x86-64.so.2", "ld-linux-x86-64.so.2");
    let musl = loader("lib/ld-musl-x86_64.so.1", "libc.musl-x86_64.so.1");
    let conf = file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
    let cuda = file("etc/ld.so.conf.d/cuda.conf", "/usr/local/cuda-12.4/lib64\n");
    let server = executable("usr/bin/server", &program("server", &["libcudart.so.12"]));
    let own = put("opt/own/libcufft.so.11", &[]);
    let other = Elf { needed: vec!["libcufft.so.11".into()], ..of_musl };
    let members = vec![
        glibc,
        musl,
        conf,
        cuda,
        server,
        own,
        put(cudart, &[]),
        file("etc/ld-musl-x86_64.path", "/opt/own\n"),
        executable("bin/other", &other),
    ];
    let report = report_of(&configured(members, starting(SERVER)));
    assert_eq!(usage(&report, &format!("/{cudart}")), "needed");
    assert_eq!(usage(&report, "/opt/own/libcufft.so.11"), "needed");
    assert_eq!(items(&report.json["cuda"]["unresolved"]).len(), 0);
}

#[test]
fn a_configuration_that_includes_itself_is_read_once() {
    let members = vec![
        file("etc/ld.so.conf", "include ld.so.conf\n".repeat(9_000) + "/opt/cuda-libs\n"),
        put("opt/cuda-libs/libcudart.so.12", &[]),
        executable("usr/bin/server", &program("server", &["libcudart.so.12"])),
    ];
    let report = report_of(&configured(members, starting(SERVER)));
    assert_eq!(usage(&report, "/opt/cuda-libs/libcudart.so.12"), "needed");
}

#[test]
fn a_package_without_modules_opens_what_the_table_says() {
    let cublas = "nvidia/cublas/lib/libcublas.so.12";
    let libpaddle = "paddle/base/libpaddle.so";
    let mut members =
        wheel(SITE, "nvidia-cublas-cu12", "12.4.5.8", &[(cublas, built("libcublas.so.12", &[]))]);
    members.extend(wheel(SITE, "paddlepaddle-gpu", "3.0.0", &[(libpaddle, built("libpaddle.so", &[]))]));
    members.push(python());
    let report = report_of_members(members);
    assert_eq!(usage(&report, &format!("/{SITE}/{cublas}")), "dlopen");
}

#[test]
fn the_libraries_of_tensorrt_are_loaded_by_its_package() {
    let names = [
        "libnvinfer.so.10",
        "libnvinfer_plugin.so.10",
        "libnvonnxparser.so.10",
        "libnvinfer_builder_resource_sm90.so.10.9.0",
    ];
    let paths = names.map(|name| format!("tensorrt_libs/{name}"));
    let content: Vec<(&str, Vec<u8>)> = paths.iter().map(|path| (path.as_str(), built(path, &[]))).collect();
    let mut members = wheel(SITE, "tensorrt-cu12-libs", "10.9.0", &content);
    let bindings = [("tensorrt_bindings/tensorrt.so", Elf::library("tensorrt.so").build())];
    members.extend(wheel(SITE, "tensorrt-cu12-bindings", "10.9.0", &bindings));
    members.push(python());
    let report = report_of_members(members);
    for path in paths {
        assert_eq!(usage(&report, &format!("/{SITE}/{path}")), "dlopen", "{path}");
    }
}

#[test]
fn plugins_below_the_folders_of_the_system_are_roots() {
    let system = "usr/lib/x86_64-linux-gnu";
    let ollama = "usr/lib/ollama/cuda_v12";
    let node = "usr/lib/node_modules/inference/build";
    let members = vec![
        put(&format!("{ollama}/libggml-cuda.so"), &["libcublas.so.12"]),
        put(&format!("{ollama}/libcublas.so.12"), &[]),
        put(&format!("{system}/gstreamer-1.0/libgstinfer.so"), &["libnvinfer.so.10"]),
        put(&format!("{system}/libnvinfer.so.10"), &[]),
        put(&format!("{node}/binding.node"), &["libcufft.so.11"]),
        put(&format!("{node}/libcufft.so.11"), &[]),
        // Right in a folder of the loader something has to ask for it.
        put("usr/lib64/libleft.so", &["libcusparse.so.12"]),
        put("usr/lib64/libcusparse.so.12", &[]),
    ];
    let report = report_of_members(members);
    for path in [
        &format!("/{ollama}/libcublas.so.12"),
        &format!("/{system}/libnvinfer.so.10"),
        &format!("/{node}/libcufft.so.11"),
    ] {
        assert_eq!(usage(&report, path), "needed", "{path}");
    }
    assert_eq!(usage(&report, "/usr/lib64/libcusparse.so.12"), "unreferenced");
}

#[test]
fn plugins_that_a_package_brings_are_roots_in_known_folders_only() {
    let system = "usr/lib/x86_64-linux-gnu";
    let deepstream = "opt/nvidia/deepstream/deepstream-7.0/lib";
    let cases = [
        (format!("{system}/gstreamer-1.0/libgstinfer.so"), "needed"),
        (format!("{deepstream}/gst-plugins/libnvdsgst_infer.so"), "needed"),
        ("usr/lib/ollama/libggml-cuda.so".to_owned(), "needed"),
        (format!("{system}/ucx/libuct_cuda.so"), "unreferenced"),
    ];
    for (plugin, expected) in cases {
        let content = [(plugin.as_str(), built(&plugin, &["libcudart.so.12"]))];
        let mut members = debs(&[("plugins", "1.0", &content)]);
        members.push(put(&format!("{system}/libcudart.so.12"), &[]));
        let report = report_of_members(members);
        assert_eq!(usage(&report, &format!("/{system}/libcudart.so.12")), expected, "{plugin}");
    }
}

#[test]
fn an_application_is_no_toolkit_for_its_name() {
    let bin = Elf { runpath: Some("$ORIGIN/../lib".into()), ..program("server", &["libcublas.so.12"]) };
    let members =
        vec![executable("opt/cuda-server/bin/server", &bin), put("opt/cuda-server/lib/libcublas.so.12", &[])];
    let report = report_of_members(members);
    assert_eq!(items(&report.json["cuda"]["toolkits"]).len(), 0);
    let cublas = library(&report, "/opt/cuda-server/lib/libcublas.so.12");
    assert_eq!((&cublas["use"], &cublas["supplier"]), (&"needed".into(), &"application".into()));
}

#[test]
fn toolkits_of_the_hpc_sdk_and_of_debian_are_found() {
    let hpc = "opt/nvidia/hpc_sdk/Linux_x86_64/24.5/cuda/12.4";
    let nvcc = "usr/lib/nvidia-cuda-toolkit/bin/nvcc";
    let content = [(nvcc, program("nvcc", &[]).build())];
    let mut members = debs(&[("nvidia-cuda-toolkit", "11.5.1-1ubuntu1", &content)]);
    members.extend([
        put(&format!("{hpc}/lib64/libcudart.so.12"), &[]),
        executable(&format!("{hpc}/bin/nvcc"), &program("nvcc", &[])),
    ]);
    let toolkits = |members: Vec<Member>| {
        let report = report_of_members(members);
        let lines = items(&report.json["cuda"]["toolkits"]).iter();
        let field = |line: &serde_json::Value, key: &str| line[key].as_str().unwrap().to_owned();
        lines
            .map(|line| (field(line, "root"), field(line, "version"), field(line, "flavor")))
            .collect::<Vec<_>>()
    };
    let expected = |version: &str| {
        [(format!("/{hpc}"), version), ("/usr/lib/nvidia-cuda-toolkit".to_owned(), "11.5.1")]
            .map(|(root, version)| (root, version.to_owned(), "devel".to_owned()))
            .to_vec()
    };
    assert_eq!(toolkits(members.clone()), expected("12.4"));
    let version = json!({"cuda": {"name": "CUDA SDK", "version": "12.4.1"}});
    members.push(file(format!("{hpc}/version.json"), version.to_string()));
    members.push(symlink("usr/local/cuda", format!("/{hpc}")));
    assert_eq!(toolkits(members), expected("12.4.1"));
}

#[test]
fn what_one_process_finds_is_not_unresolved() {
    let server = Elf { rpath: Some("/app/lib:/app/private".into()), ..program("server", &["libmid.so"]) };
    let mid = Elf::library("libmid.so").needing(&["libcublas.so.12", "libcufft.so.11"]);
    let members = vec![
        executable("app/bin/server", &server),
        file("app/lib/libmid.so", mid.build()),
        put("app/private/libcublas.so.12", &[]),
    ];
    let report = report_of(&configured(members, starting("/app/bin/server")));
    let names: Vec<&str> = super::column(&report.json["cuda"]["unresolved"], "name");
    assert_eq!(names, ["libcufft.so.11"]);
    let note = note(&report, "libraries");
    assert!(note.contains("libcufft.so.11") && !note.contains("libcublas"), "{note}");
}

#[test]
fn a_provider_that_is_not_asked_for_may_lack_its_libraries() {
    let capi = "onnxruntime/capi";
    let state = format!("{capi}/onnxruntime_pybind11_state.so");
    let cuda = format!("{capi}/libonnxruntime_providers_cuda.so");
    let tensorrt = format!("{capi}/libonnxruntime_providers_tensorrt.so");
    let content = [
        (state.as_str(), Elf::library("onnxruntime_pybind11_state.so").build()),
        (cuda.as_str(), built(&cuda, &["libcublas.so.12", "libcudnn.so.9"])),
        (tensorrt.as_str(), built(&tensorrt, &["libnvinfer.so.10"])),
    ];
    let mut members = wheel(SITE, "onnxruntime-gpu", "1.22.0", &content);
    let cublas = "nvidia/cublas/lib/libcublas.so.12";
    members.extend(wheel(SITE, "nvidia-cublas-cu12", "12.4.5.8", &[(cublas, built("libcublas.so.12", &[]))]));
    members.push(python());
    let report = report_of_members(members.clone());
    let note = |report: &Report| note(report, "libraries");
    assert!(!note(&report).contains("libnvinfer"), "{}", note(&report));
    // The CUDA provider is what the package is for.
    assert!(note(&report).contains("libcudnn.so.9"), "{}", note(&report));
    let names = super::column(&report.json["cuda"]["unresolved"], "name");
    assert!(names.contains(&"libnvinfer.so.10"), "the list of names has it: {names:?}");
    assert_eq!(usage(&report, &format!("/{SITE}/{tensorrt}")), "dlopen", "no root of its own");
    let cudnn = "nvidia/cudnn/lib/libcudnn.so.9";
    members.extend(wheel(SITE, "nvidia-cudnn-cu12", "9.1.0.70", &[(cudnn, built("libcudnn.so.9", &[]))]));
    assert!(!note(&report_of_members(members)).contains("needed and missing"));
}
