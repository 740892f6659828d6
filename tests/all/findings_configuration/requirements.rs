//! Devices, capabilities and requirements that the environment asks for.

use super::{TRIPLE, joined, library, none, of_rule, only, report, service};
use crate::fixtures::service::CudaBase;
use crate::fixtures::tarball::Member;

fn cudart(major: u32) -> Member {
    let name = format!("libcudart.so.{major}");
    library(&format!("{TRIPLE}/{name}"), &name, &[])
}

#[test]
fn devices_by_number_or_name_are_found() {
    for (pair, severity, verdict) in [
        ("NVIDIA_VISIBLE_DEVICES=0", "medium", "unsure"),
        ("NVIDIA_VISIBLE_DEVICES=GPU-5fd4f087-86f3-7a43-b711-4771313afc50", "high", "safe"),
        ("CUDA_VISIBLE_DEVICES=0,1", "medium", "unsure"),
        ("CUDA_VISIBLE_DEVICES=-1", "medium", "unsure"),
    ] {
        let report = report(&service(vec![], &[], &[pair]));
        let finding = only(&report, "visible-devices");
        assert_eq!(
            (&finding["severity"], &finding["verdict"]),
            (&severity.into(), &verdict.into()),
            "{pair}"
        );
        let name = pair.split('=').next().unwrap();
        assert_eq!(joined(&finding["subjects"]), format!("ENV {name}"));
    }
    for pair in ["NVIDIA_VISIBLE_DEVICES=all", "NVIDIA_VISIBLE_DEVICES=void", "PATH=/usr/bin"] {
        none(&report(&service(vec![], &[], &[pair])), "visible-devices");
    }
}

#[test]
fn missing_capabilities_are_found() {
    let of = |value: &str, needed: &[&str]| {
        let pair = format!("NVIDIA_DRIVER_CAPABILITIES={value}");
        report(&service(vec![], needed, &[&pair]))
    };
    let found = of("utility", &["libcuda.so.1"]);
    let finding = only(&found, "driver-capabilities");
    assert_eq!(finding["severity"], "high");
    assert!(finding["title"].as_str().unwrap().ends_with("lacks compute"), "{finding:#}");
    assert!(finding["fix"].as_str().unwrap().contains("compute,utility"), "{finding:#}");
    let found = of("compute,utility", &["libcuda.so.1", "libnvcuvid.so.1"]);
    assert!(only(&found, "driver-capabilities")["title"].as_str().unwrap().ends_with("lacks video"));
    none(&of("compute,utility", &["libcuda.so.1", "libnvidia-ml.so.1"]), "driver-capabilities");
    none(&of("compute,utility,video", &["libcuda.so.1", "libnvcuvid.so.1"]), "driver-capabilities");
    // What is not said is compute and utility.
    none(&report(&service(vec![], &["libcuda.so.1"], &[])), "driver-capabilities");
    only(&report(&service(vec![], &["libnvcuvid.so.1"], &[])), "driver-capabilities");
}

#[test]
fn capabilities_that_nothing_uses_are_found() {
    for value in ["all", "compute,utility,graphics"] {
        let pair = format!("NVIDIA_DRIVER_CAPABILITIES={value}");
        let report = report(&service(vec![], &["libcuda.so.1"], &[&pair]));
        let finding = only(&report, "driver-capabilities");
        assert_eq!(finding["severity"], "low");
        assert!(finding["reason"].as_str().unwrap().contains("graphics"), "{finding:#}");
    }
}

#[test]
fn a_requirement_is_missing_only_where_cuda_is_used() {
    let of = |members, needed: &[&str], environment: &[&str]| report(&service(members, needed, environment));
    let found = of(vec![cudart(13)], &["libcudart.so.13"], &[]);
    let finding = only(&found, "cuda-requirement");
    assert_eq!(finding["severity"], "info");
    assert!(finding["fix"].as_str().unwrap().contains("cuda>=13.0"), "{finding:#}");
    none(&of(vec![], &[], &[]), "cuda-requirement");
    none(
        &of(vec![cudart(13)], &["libcudart.so.13"], &["NVIDIA_REQUIRE_CUDA=cuda>=13.0"]),
        "cuda-requirement",
    );
    none(&of(vec![cudart(13)], &["libcudart.so.13"], &["CUDA_VERSION=13.0.2"]), "cuda-requirement");
}

#[test]
fn a_requirement_for_less_than_the_libraries_is_found() {
    let require = "NVIDIA_REQUIRE_CUDA=cuda>=12.4 brand=tesla,driver>=470,driver<471";
    let of = |major: u32| {
        let name = format!("libcudart.so.{major}");
        report(&service(vec![cudart(major)], &[&name], &[require]))
    };
    let found = of(13);
    let finding = only(&found, "cuda-requirement");
    assert_eq!(finding["severity"], "medium");
    assert!(joined(&finding["proof"]).contains("cuda>=12.4"), "{finding:#}");
    none(&of(12), "cuda-requirement");
}

#[test]
fn a_check_that_is_switched_off_is_found() {
    let found = report(&service(vec![], &[], &["NVIDIA_DISABLE_REQUIRE=true"]));
    assert_eq!(only(&found, "cuda-requirement")["severity"], "medium");
    none(&report(&service(vec![], &[], &["NVIDIA_DISABLE_REQUIRE=0"])), "cuda-requirement");
}

#[test]
fn nvidias_runtime_image_has_nothing_of_this() {
    let base =
        CudaBase { version: "13.0.2", flavor: "runtime", cudnn: None, distribution: ("ubuntu", "24.04") };
    let report = report(&base.image());
    for rule in [
        "visible-devices",
        "driver-capabilities",
        "cuda-requirement",
        "compat-on-loader-path",
        "secrets",
        "stubs-on-loader-path",
        "base-past-support",
        "devel-base",
        "missing-ptx",
        "mixed-majors",
    ] {
        assert!(of_rule(&report, rule).is_empty(), "{rule}: {:#?}", of_rule(&report, rule));
    }
}
