//! Code that no target uses, and targets without code.

use super::{joined, library_with_code, none, of_rule, only, report_with, service};
use crate::fixtures::image::Image;
use crate::fixtures::service::{SITE, wheel};

const OWN: &str = "usr/local/lib/libkernels.so.1";

fn image(sass: &[u32], ptx: Option<u32>) -> Image {
    service(vec![library_with_code(OWN, "libkernels.so.1", sass, ptx)], &["libkernels.so.1"], &[])
}

fn on(image: &Image, targets: &[&str]) -> crate::support::Report {
    let options: Vec<&str> = targets.iter().flat_map(|target| ["--target", target]).collect();
    report_with(image, &options)
}

#[test]
fn code_for_other_gpus_is_potential() {
    let image = image(&[70, 75, 80, 86, 90], Some(90));
    let report = on(&image, &["gpu:a100-80", "gpu:h100"]);
    let finding = only(&report, "unused-gpu-code");
    assert_eq!(finding["verdict"], "unsure");
    assert_eq!(finding["category"], "unused-gpu-code");
    let title = finding["title"].as_str().unwrap();
    assert!(title.contains("A100 80GB (8.0)") && title.contains("H100"), "{title}");
    let proof = joined(&finding["proof"]);
    for arch in ["sm_70", "sm_75", "sm_86"] {
        assert!(proof.contains(arch), "{arch}: {proof}");
    }
    // PTX stays: its container has no SASS.
    for arch in ["sm_80", "sm_90", "compute_90"] {
        assert!(!proof.contains(arch), "{arch}: {proof}");
    }
    assert!(finding["fix"].as_str().unwrap().contains("code=sm_80"), "{finding:#}");
    let library = report.json["cuda"]["libraries"].as_array().unwrap().iter();
    let library = library.clone().find(|library| library["path"] == format!("/{OWN}")).unwrap();
    let unused: u64 = library["gpu_code"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| !["sm_80", "sm_90", "compute_90"].contains(&row["arch"].as_str().unwrap()))
        .map(|row| row["bytes"].as_u64().unwrap())
        .sum();
    assert_eq!(finding["potential_bytes"], unused);
    assert_eq!(report.json["reclaimable"]["potential_bytes"], unused);
    assert_eq!(finding["paths"][0], format!("/{OWN}"));
    let fix = finding["fix"].as_str().unwrap();
    assert!(fix.contains("cutaway slim IMAGE --target gpu:a100-80 --target gpu:h100 -o"), "{fix}");
    // Too small for a sample.
    assert_eq!(finding["potential_compressed_bytes"], serde_json::Value::Null);
    assert!(finding["reason"].as_str().unwrap().contains("unknown"), "{finding:#}");
}

#[test]
fn lower_minors_of_the_same_major_stay() {
    let report = on(&image(&[80, 86, 90], Some(90)), &["gpu:a10"]);
    let proof = joined(&only(&report, "unused-gpu-code")["proof"]);
    for removed in ["sm_90 ", "compute_90", "--keep-ptx"] {
        assert!(proof.contains(removed), "{removed}: {proof}");
    }
    assert!(!proof.contains("sm_80") && !proof.contains("sm_86"), "{proof}");
}

#[test]
fn code_that_every_target_takes_is_none() {
    let report = on(&image(&[80, 90], None), &["gpu:a100-80", "gpu:h100"]);
    none(&report, "unused-gpu-code");
    // PTX stays for the target that has no better.
    let report = on(&image(&[80], Some(80)), &["gpu:a100-80", "gpu:h100"]);
    none(&report, "unused-gpu-code");
}

#[test]
fn libraries_of_vendors_are_told_apart_and_for_information() {
    let inside = "libfoo.libs/libkernels.so.1";
    let code = library_with_code("x", "libkernels.so.1", &[80, 90], None).body;
    let members = wheel(SITE, "foo", "1.0", &[(inside, code)]);
    let report = on(&service(members, &[], &[]), &["gpu:a100-80"]);
    let finding = only(&report, "unused-gpu-code");
    assert_eq!(finding["severity"], "info");
    assert!(finding["title"].as_str().unwrap().contains("Python packages"), "{finding:#}");
}

#[test]
fn a_target_without_code_fails() {
    let report = on(&image(&[90], None), &["gpu:a100-80", "gpu:h100"]);
    let found = of_rule(&report, "missing-ptx");
    let fails = found.iter().find(|finding| finding["title"].as_str().unwrap().starts_with("No GPU code"));
    let fails = fails.unwrap_or_else(|| panic!("{found:#?}"));
    assert_eq!(fails["severity"], "high");
    assert_eq!(joined(&fails["subjects"]), "gpu:a100-80");
    assert!(joined(&fails["proof"]).contains(&format!("/{OWN}")), "{fails:#}");
    assert!(fails["fix"].as_str().unwrap().contains("code=sm_80"), "{fails:#}");
    let info = found.iter().find(|finding| finding["severity"] == "info").unwrap();
    assert!(info["title"].as_str().unwrap().contains("9.x"), "{info:#}");
    assert_eq!(found.len(), 2, "{found:#?}");
}

#[test]
fn ptx_alone_is_compiled_at_the_first_start() {
    let report = on(&image(&[80], Some(80)), &["gpu:a100-80", "gpu:h100"]);
    let finding = only(&report, "missing-ptx");
    assert_eq!(finding["severity"], "low");
    assert_eq!(joined(&finding["subjects"]), "gpu:h100");
}

#[test]
fn targets_with_code_and_libraries_that_nothing_uses_are_fine() {
    none(&on(&image(&[80, 90], Some(90)), &["gpu:a100-80", "gpu:h100"]), "missing-ptx");
    let cufft = "usr/local/cuda-13.0/targets/x86_64-linux/lib/libcufft.so.12";
    let unused = service(vec![library_with_code(cufft, "libcufft.so.12", &[90], None)], &[], &[]);
    let unused = on(&unused, &["gpu:a100-80"]);
    assert_eq!(unused.json["cuda"]["libraries"][0]["use"], "unreferenced");
    none(&unused, "missing-ptx");
}
