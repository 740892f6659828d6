//! The base image: past its support, or for building.

use serde_json::json;

use super::{joined, none, only, program, report, report_with};
use crate::fixtures::image::Image;
use crate::fixtures::service::CudaBase;
use crate::fixtures::tarball::{file, tar};

const FLASHINFER: &str = "opt/venv/lib/python3.12/site-packages/flashinfer_python-0.6.0.dist-info/METADATA";

fn cuda(version: &'static str, flavor: &'static str, release: &'static str) -> Image {
    CudaBase { version, flavor, cudnn: None, distribution: ("ubuntu", release) }.image()
}

#[test]
fn a_release_past_its_support_is_found() {
    let found = report(&cuda("13.0.2", "runtime", "20.04"));
    let finding = only(&found, "base-past-support");
    assert_eq!(finding["verdict"], "safe");
    assert_eq!(finding["title"], "Ubuntu 20.04 is past end of support");
    assert!(finding["reason"].as_str().unwrap().contains("2025-05-31"), "{finding:#}");
    none(&report(&cuda("13.0.2", "runtime", "24.04")), "base-past-support");
    // On its last day it is not past it.
    let on = |day| report_with(&cuda("13.0.2", "runtime", "20.04"), &["--today", day]);
    none(&on("2025-05-31"), "base-past-support");
    only(&on("2025-06-01"), "base-past-support");
}

#[test]
fn debian_with_long_term_updates_matters_less() {
    let release = |version: &str| {
        let image = super::configured(
            vec![file("etc/os-release", format!("ID=debian\nVERSION_ID=\"{version}\"\n"))],
            json!({}),
        );
        report(&image)
    };
    assert_eq!(only(&release("10"), "base-past-support")["verdict"], "safe");
    let found = release("11");
    let finding = only(&found, "base-past-support");
    assert_eq!((&finding["severity"], &finding["verdict"]), (&"low".into(), &"unsure".into()));
    none(&release("12"), "base-past-support");
}

#[test]
fn tags_that_nvidia_has_ended_are_found() {
    let found = report(&cuda("11.8.0", "runtime", "22.04"));
    let finding = only(&found, "base-past-support");
    assert_eq!(joined(&finding["subjects"]), "nvidia/cuda:11.8.0-runtime-ubuntu22.04");
    assert_eq!(finding["severity"], "medium");
    let found = report(&cuda("12.1.0", "runtime", "22.04"));
    let finding = only(&found, "base-past-support");
    assert!(finding["fix"].as_str().unwrap().contains("12.1.1"), "{finding:#}");
    none(&report(&cuda("12.4.1", "runtime", "22.04")), "base-past-support");
}

#[test]
fn a_devel_image_as_final_stage_is_found() {
    let on = |flavor| {
        cuda("13.0.2", flavor, "24.04")
            .layer("COPY service /usr/bin/", &tar([program("usr/bin/service", &[])]))
    };
    let found = report(&on("devel"));
    let finding = only(&found, "devel-base");
    assert_eq!(finding["verdict"], "safe");
    assert_eq!(joined(&finding["subjects"]), "nvidia/cuda:13.0.2-devel-ubuntu24.04");
    assert!(finding["reason"].as_str().unwrap().contains("layers"), "{finding:#}");
    none(&report(&on("runtime")), "devel-base");
    none(&report(&on("base")), "devel-base");
}

#[test]
fn who_runs_nvcc_needs_the_devel_image() {
    let metadata = "Metadata-Version: 2.1\nName: flashinfer-python\nVersion: 0.6.0\n";
    let image = cuda("13.0.2", "devel", "24.04").layer("RUN pip install", &tar([file(FLASHINFER, metadata)]));
    let found = report(&image);
    let finding = only(&found, "devel-base");
    assert_eq!((&finding["verdict"], &finding["severity"]), (&"needed".into(), &"info".into()));
    assert!(joined(&finding["proof"]).contains("flashinfer"), "{finding:#}");
    // Something that only names nvcc asks.
    let mut image = cuda("13.0.2", "devel", "24.04");
    image = image
        .layer("COPY app /app", &tar([file("app/main.py", "import subprocess\nsubprocess.run(['nvcc'])\n")]));
    let found = report(&image);
    let finding = only(&found, "devel-base");
    assert_eq!(finding["verdict"], "unsure");
    assert!(finding["question"].as_str().unwrap().contains("/app/main.py"), "{finding:#}");
}
