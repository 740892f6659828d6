//! Frameworks, the CUDA that they were built for, and where they get it from.

use serde_json::{Value, json};

use super::{configured, entry, executable, program, report_of, report_of_members};
use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{Coding, section};
use crate::fixtures::service::{SITE, debs, wheel};
use crate::fixtures::tarball::{Member, file};
use crate::support::Report;

const TOOLKIT: &str = "usr/local/cuda-13.0/targets/x86_64-linux/lib";

pub(super) fn with_code(soname: &str) -> Elf {
    Elf::library(soname).with_section(".nv_fatbin", section(&[90], None, 900, Coding::Zstd, soname))
}

/// torch in the version that its own file says, whose GPU side finds its libraries in wheels.
pub(super) fn torch(version: &str, cuda: &str, needed: &[&str]) -> Vec<Member> {
    let mut library = with_code("libtorch_cuda.so").needing(needed);
    library.rpath = Some("$ORIGIN/../../nvidia/cublas/lib:$ORIGIN/../../nvidia/cuda_runtime/lib".into());
    let mut module = Elf::default().needing(&["libtorch_cuda.so"]);
    module.rpath = Some("$ORIGIN/lib".into());
    let text =
        format!("__version__ = '{version}'\ndebug = False\ncuda: Optional[str] = {cuda}\nhip = None\n");
    let published = version.split('+').next().unwrap();
    wheel(
        SITE,
        "torch",
        published,
        &[
            ("torch/lib/libtorch_cuda.so", library.build()),
            ("torch/_C.cpython-312-x86_64-linux-gnu.so", module.build()),
            ("torch/version.py", text.into()),
        ],
    )
}

/// torch that brings its libraries along under names that auditwheel made.
fn bundled_torch() -> Vec<Member> {
    let hashed = "libcudart-d0da41ae.so.11.0";
    let mut members = torch("2.0.1+cu118", "'11.8'", &[hashed]);
    let mut library = with_code("libtorch_cuda.so").needing(&[hashed]);
    library.rpath = Some("$ORIGIN".into());
    let library = file(format!("{SITE}/torch/lib/libtorch_cuda.so"), library.build());
    members.extend([library, file(format!("{SITE}/torch/lib/{hashed}"), Elf::library(hashed).build())]);
    members
}

pub(super) fn wheels_of_cuda_12() -> Vec<Member> {
    let mut members = Vec::new();
    for (name, version, path, soname) in [
        ("nvidia-cublas-cu12", "12.8.4.1", "nvidia/cublas/lib/libcublas.so.12", "libcublas.so.12"),
        ("nvidia-cuda-runtime-cu12", "12.8.90", "nvidia/cuda_runtime/lib/libcudart.so.12", "libcudart.so.12"),
    ] {
        members.extend(wheel(SITE, name, version, &[(path, Elf::library(soname).build())]));
    }
    members
}

fn toolkit() -> Vec<Member> {
    let path = |name: &str| format!("{TOOLKIT}/{name}");
    let (cublas, cudart) = (path("libcublas.so.13"), path("libcudart.so.13"));
    let mut members = debs(&[
        ("libcublas-13-0", "13.1.0.3-1", &[(&cublas, Elf::library("libcublas.so.13").build())]),
        ("cuda-cudart-13-0", "13.0.96-1", &[(&cudart, Elf::library("libcudart.so.13").build())]),
    ]);
    members.push(file("etc/ld.so.conf", format!("/{TOOLKIT}\n")));
    members
}

fn onnxruntime(needed: &[&str]) -> Vec<Member> {
    let module = Elf { seed: "state".into(), ..Elf::default() };
    let provider = with_code("libonnxruntime_providers_cuda.so").needing(needed);
    wheel(
        SITE,
        "onnxruntime-gpu",
        "1.31.1",
        &[
            ("onnxruntime/capi/onnxruntime_pybind11_state.cpython-312-x86_64-linux-gnu.so", module.build()),
            ("onnxruntime/capi/libonnxruntime_providers_cuda.so", provider.build()),
        ],
    )
}

fn framework<'a>(report: &'a Report, name: &str) -> &'a Value {
    entry(&report.json["cuda"]["frameworks"], "name", name)
}

/// Version, CUDA version and strategy of a framework.
fn facts(report: &Report, name: &str) -> [Value; 3] {
    let framework = framework(report, name);
    assert_ne!(framework["evidence"], "", "{name}");
    ["version", "cuda_version", "strategy"].map(|field| framework[field].clone())
}

#[test]
fn each_framework_says_where_its_cuda_comes_from() {
    let cuda_12: &[&str] = &["libcublas.so.12", "libcudart.so.12", "libcuda.so.1"];
    let cuda_13: &[&str] = &["libcublas.so.13", "libcudart.so.13"];
    let both = |a: Vec<Member>, b: Vec<Member>| -> Vec<Member> { a.into_iter().chain(b).collect() };
    let xgboost =
        wheel(SITE, "xgboost", "3.2.0", &[("xgboost/lib/libxgboost.so", with_code("libxgboost.so").build())]);
    let jax = wheel(SITE, "jax", "0.12.0", &[("jax/__init__.py", b"x = 1\n".to_vec())]);
    let mut by_hand = with_code("libggml-cuda.so").needing(&["libcudart.so.12"]);
    by_hand.runpath = Some("$ORIGIN".into());
    let llama = vec![
        file("opt/llama/libggml-cuda.so", by_hand.build()),
        file("opt/llama/libcudart.so.12", Elf::library("libcudart.so.12").build()),
    ];
    let mut llama_module = Elf::default().needing(&["libggml-cuda.so"]);
    llama_module.rpath = Some("/opt/llama".into());
    let llama_wheel = wheel(
        SITE,
        "llama-cpp-python",
        "0.3.16",
        &[
            ("llama_cpp/_l.cpython-312-x86_64-linux-gnu.so", llama_module.build()),
            ("llama_cpp/lib/libggml-cuda.so", {
                let mut library = with_code("libggml-cuda.so").needing(&["libcudart.so.12"]);
                library.rpath = Some("/opt/llama".into());
                library.build()
            }),
        ],
    );
    let cases = [
        (
            "torch",
            both(torch("2.9.1+cu128", "'12.8'", cuda_12), wheels_of_cuda_12()),
            json!(["2.9.1+cu128", "12.8", "wheel-bundled"]),
        ),
        ("torch", bundled_torch(), json!(["2.0.1+cu118", "11.8", "wheel-bundled"])),
        ("torch", torch("2.9.1+cpu", "None", &[]), json!(["2.9.1+cpu", null, "none"])),
        ("torch", torch("2.9.1+rocm6.4", "None", &[]), json!(["2.9.1+rocm6.4", null, "none"])),
        ("torch", torch("2.9.1+cu128", "'12.8'", cuda_12), json!(["2.9.1+cu128", "12.8", "unknown"])),
        (
            "torch",
            both(torch("2.10.0+cu130", "'13.0'", cuda_13), toolkit()),
            json!(["2.10.0+cu130", "13.0", "base-image"]),
        ),
        (
            "torch",
            {
                let some = torch("2.9.1+cu128", "'12.8'", &["libcublas.so.12", "libcudart.so.13"]);
                both(some, both(wheels_of_cuda_12(), toolkit()))
            },
            json!(["2.9.1+cu128", "12.8", "mixed"]),
        ),
        ("onnxruntime", both(onnxruntime(cuda_13), toolkit()), json!(["1.31.1", "13", "base-image"])),
        ("onnxruntime", onnxruntime(cuda_13), json!(["1.31.1", "13", "unknown"])),
        ("xgboost", xgboost, json!(["3.2.0", null, "by-hand"])),
        ("jax", jax, json!(["0.12.0", null, "none"])),
        ("llama-cpp", both(llama, llama_wheel), json!(["0.3.16", "12", "by-hand"])),
    ];
    for (name, members, expected) in cases {
        let report = report_of_members(members);
        assert_eq!(json!(facts(&report, name)), expected, "{:#}", framework(&report, name));
    }
}

#[test]
fn two_environments_have_their_own_torch() {
    let mut members = torch("2.9.1+cu128", "'12.8'", &["libcublas.so.12"]);
    members.extend(wheels_of_cuda_12());
    members.extend(wheel(
        "opt/other/site-packages",
        "torch",
        "2.0.0",
        &[("torch/version.py", b"__version__ = '2.0.0+cpu'\ncuda = None\n".to_vec())],
    ));
    let report = report_of_members(members);
    let found: Vec<(&Value, &Value)> = super::items(&report.json["cuda"]["frameworks"])
        .iter()
        .map(|framework| (&framework["path"], &framework["strategy"]))
        .collect();
    let expected = [
        (json!("/opt/other/site-packages"), json!("none")),
        (json!(format!("/{SITE}")), json!("wheel-bundled")),
    ];
    assert_eq!(found, expected.each_ref().map(|(path, strategy)| (path, strategy)));
}

#[test]
fn a_server_without_a_package_is_told_by_its_files() {
    let members = vec![executable("opt/tritonserver/bin/tritonserver", &program("tritonserver", &[]))];
    let report = report_of(&configured(members, json!({"Cmd": ["/opt/tritonserver/bin/tritonserver"]})));
    let server = framework(&report, "tritonserver");
    assert_eq!(server["path"], "/opt/tritonserver");
}
