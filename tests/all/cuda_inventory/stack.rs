//! The levels from the server down to the GPU.

use serde_json::{Value, json};

use super::frameworks::{torch, wheels_of_cuda_12, with_code};
use super::{configured, entry, executable, items, program, report_of, report_of_members, starting, texts};
use crate::fixtures::elf::Elf;
use crate::fixtures::service::{SITE, wheel};
use crate::fixtures::tarball::{Member, file};
use crate::support::Report;

const LEVELS: [&str; 10] = [
    "server",
    "model",
    "framework",
    "kernels",
    "libraries",
    "runtime",
    "driver",
    "kernel-driver",
    "system",
    "gpu",
];

fn level<'a>(report: &'a Report, name: &str) -> &'a Value {
    entry(&report.json["cuda"]["stack"], "level", name)
}

/// Who supplies each level, in their order.
fn supplied(report: &Report) -> Vec<(&str, &str)> {
    let text = |level: &'static str| level;
    let stack = items(&report.json["cuda"]["stack"]);
    let names: Vec<&str> = stack.iter().map(|level| level["level"].as_str().unwrap()).collect();
    assert_eq!(names, LEVELS);
    LEVELS
        .map(text)
        .into_iter()
        .zip(stack.iter().map(|level| level["supplied_by"].as_str().unwrap()))
        .collect()
}

fn service() -> Vec<Member> {
    let mut members = torch("2.9.1+cu128", "'12.8'", &["libcublas.so.12", "libcudart.so.12"]);
    members.extend(wheels_of_cuda_12());
    let empty = |name: &str| (format!("{name}/__init__.py"), b"x = 1\n".to_vec());
    for (name, version) in [("uvicorn", "0.38.0"), ("triton", "3.5.1"), ("transformers", "4.57.0")] {
        let (path, body) = empty(name);
        members.extend(wheel(SITE, name, version, &[(&path, body)]));
    }
    members.extend([
        file("app/main.py", "import uvicorn\n"),
        file("app/model.safetensors", vec![1; 5_000]),
        file("etc/os-release", "ID=debian\nVERSION_ID=\"12\"\nPRETTY_NAME=\"Debian 12\"\n"),
    ]);
    members
}

#[test]
fn the_levels_of_a_service_say_who_supplies_them() {
    let report = report_of_members(service());
    let expected = [
        ("server", "wheel"),
        ("model", "wheel, by-hand"),
        ("framework", "wheel"),
        ("kernels", "wheel"),
        ("libraries", "wheel"),
        ("runtime", "wheel"),
        ("driver", "host"),
        ("kernel-driver", "host"),
        ("system", "host"),
        ("gpu", "host"),
    ];
    assert_eq!(supplied(&report), expected);
    let name = |of: &str| level(&report, of)["name"].as_str().unwrap();
    assert_eq!(name("server"), "uvicorn 0.38.0");
    assert!(
        name("model").contains("transformers 4.57.0") && name("model").contains("weights"),
        "{}",
        name("model")
    );
    assert_eq!(name("framework"), "torch 2.9.1+cu128");
    assert_eq!(name("kernels"), "triton 3.5.1");
    assert_eq!(name("libraries"), "cublas");
    assert_eq!(name("runtime"), "libcudart.so.12");
    assert_eq!(texts(&level(&report, "model")["paths"]), ["/app/model.safetensors"]);
    let runtime = format!("/{SITE}/nvidia/cuda_runtime/lib/libcudart.so.12");
    assert_eq!(texts(&level(&report, "runtime")["paths"]), [runtime]);
    assert!(level(&report, "system")["note"].as_str().unwrap().contains("Debian 12"));
    assert_eq!(texts(&level(&report, "driver")["paths"]), Vec::<&str>::new());
}

#[test]
fn a_driver_baked_into_the_image_is_told() {
    let mut members = service();
    let before = level(&report_of_members(members.clone()), "driver")["note"].clone();
    let driver = "usr/lib/x86_64-linux-gnu/libcuda.so.550.54.15";
    members.push(file(driver, Elf::library("libcuda.so.1").build()));
    let report = report_of_members(members);
    let level = level(&report, "driver");
    assert_eq!(level["supplied_by"], "host");
    assert_eq!(texts(&level["paths"]), [format!("/{driver}")]);
    assert_ne!(level["note"], before);
    assert!(level["note"].as_str().unwrap().contains("in the image"), "{level:#}");
}

#[test]
fn the_compatibility_driver_is_no_baked_driver() {
    let mut members = service();
    members
        .push(file("usr/local/cuda-12.8/compat/libcuda.so.570.86.15", Elf::library("libcuda.so.1").build()));
    let report = report_of_members(members);
    let level = level(&report, "driver");
    assert_eq!(texts(&level["paths"]), Vec::<&str>::new());
    assert!(level["note"].as_str().unwrap().contains("forward-compatibility"), "{level:#}");
}

#[test]
fn an_image_without_cuda_uses_none_of_it() {
    let members = vec![executable("app/server", &program("server", &[]))];
    let report = report_of(&configured(members, starting("/app/server")));
    let expected = [
        ("server", "unknown"),
        ("model", "by-hand"),
        ("framework", "not-used"),
        ("kernels", "not-used"),
        ("libraries", "not-used"),
        ("runtime", "not-used"),
        ("driver", "not-used"),
    ];
    assert_eq!(supplied(&report)[..7], expected);
    assert!(level(&report, "server")["note"].as_str().unwrap().contains("/app/server"));
}

#[test]
fn a_runtime_that_is_linked_in_or_missing_is_told() {
    let static_code =
        wheel(SITE, "xgboost", "3.2.0", &[("xgboost/lib/libxgboost.so", with_code("libxgboost.so").build())]);
    assert_eq!(level(&report_of_members(static_code), "runtime")["supplied_by"], "static");
    let needs = with_code("libserve.so").needing(&["libcudart.so.13", "libcufft.so.12"]);
    let members = vec![
        executable("app/server", &program("server", &["libserve.so"])),
        file("usr/lib/libserve.so", needs.build()),
    ];
    let report = report_of(&configured(members, json!({"Entrypoint": ["/app/server"]})));
    for (of, soname) in [("runtime", "libcudart.so.13"), ("libraries", "libcufft.so.12")] {
        let level = level(&report, of);
        assert_eq!(level["supplied_by"], "missing", "{level:#}");
        assert!(level["note"].as_str().unwrap().contains(soname), "{level:#}");
    }
}
