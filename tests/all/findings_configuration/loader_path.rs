//! Stubs and the compatibility driver where the loader looks.

use super::{TRIPLE, joined, library, none, of_rule, only, report, service};
use crate::fixtures::elf::Elf;
use crate::fixtures::tarball::{Member, file, symlink};

const STUBS: &str = "usr/local/cuda/lib64/stubs";
const COMPAT: &str = "usr/local/cuda/compat";

fn stub() -> Member {
    library(&format!("{STUBS}/libcuda.so"), "libcuda.so.1", &[])
}

#[test]
fn stubs_in_the_environment_are_found() {
    let path = format!("LD_LIBRARY_PATH=/usr/local/lib:/{STUBS}");
    let report_of = |members| report(&service(members, &[], &[&path]));
    let report = report_of(vec![stub()]);
    let finding = only(&report, "stubs-on-loader-path");
    assert_eq!((&finding["severity"], &finding["verdict"]), (&"medium".into(), &"safe".into()));
    assert_eq!(joined(&finding["subjects"]), "ENV LD_LIBRARY_PATH");
    assert!(finding["fix"].as_str().unwrap().contains(&format!("/{STUBS}")), "{finding:#}");
    // With the name that is opened, every program gets it.
    let named = symlink(format!("{STUBS}/libcuda.so.1"), "libcuda.so");
    let report = report_of(vec![stub(), named]);
    assert_eq!(of_rule(&report, "stubs-on-loader-path")[0]["severity"], "high");
    // The folder is not there.
    assert_eq!(only(&report_of(vec![]), "stubs-on-loader-path")["severity"], "low");
}

#[test]
fn stubs_in_the_loaders_configuration_are_found() {
    let conf = file("etc/ld.so.conf.d/cuda.conf", format!("/usr/local/cuda/lib64\n/{STUBS}\n"));
    let report = report(&service(vec![stub(), conf], &[], &[]));
    let found = of_rule(&report, "stubs-on-loader-path");
    assert!(
        found.iter().any(|finding| finding["severity"] == "high"
            && joined(&finding["subjects"]) == "/etc/ld.so.conf.d/cuda.conf"),
        "{found:#?}"
    );
}

#[test]
fn a_stub_under_the_name_of_the_driver_is_found() {
    for driver in [
        symlink(format!("{TRIPLE}/libcuda.so.1"), format!("/{STUBS}/libcuda.so")),
        Member { name: format!("{TRIPLE}/libcuda.so.1").into(), ..stub() },
    ] {
        let report = report(&service(vec![stub(), driver], &[], &[]));
        let found = of_rule(&report, "stubs-on-loader-path");
        let subjects: Vec<String> = found.iter().map(|finding| joined(&finding["subjects"])).collect();
        assert_eq!(subjects, [format!("/{TRIPLE}/libcuda.so.1")], "{found:#?}");
    }
}

#[test]
fn a_run_path_into_the_stubs_is_found() {
    let elf = Elf { runpath: Some(format!("/{STUBS}")), ..Elf::library("libone.so.1") };
    let members = vec![stub(), file(format!("{TRIPLE}/libone.so.1"), elf.build())];
    let report = report(&service(members, &["libone.so.1"], &[]));
    let finding = only(&report, "stubs-on-loader-path");
    assert!(
        joined(&finding["proof"]).starts_with(&format!("RUNPATH of /{TRIPLE}/libone.so.1")),
        "{finding:#}"
    );
}

#[test]
fn the_linkers_path_and_stubs_where_nobody_looks_do_no_harm() {
    let named = symlink(format!("{STUBS}/libcuda.so.1"), "libcuda.so");
    let path = format!("LIBRARY_PATH=/{STUBS}");
    none(&report(&service(vec![stub(), named], &[], &[&path])), "stubs-on-loader-path");
}

fn compat() -> Member {
    library(&format!("{COMPAT}/libcuda.so.580.95.05"), "libcuda.so.1", &[])
}

#[test]
fn the_compatibility_driver_on_the_path_is_found() {
    let path = format!("LD_LIBRARY_PATH=/{COMPAT}:/usr/local/nvidia/lib64");
    let found = report(&service(vec![compat()], &[], &[&path]));
    let finding = only(&found, "compat-on-loader-path");
    assert_eq!((&finding["severity"], &finding["verdict"]), (&"high".into(), &"unsure".into()));
    assert!(finding["reason"].as_str().unwrap().contains("803"), "{finding:#}");
    let conf = file("etc/ld.so.conf.d/00-compat-1234.conf", format!("/{COMPAT}\n"));
    let found = report(&service(vec![compat(), conf], &[], &[]));
    assert_eq!(
        joined(&only(&found, "compat-on-loader-path")["subjects"]),
        "/etc/ld.so.conf.d/00-compat-1234.conf"
    );
}

#[test]
fn what_nvidias_images_ship_is_fine() {
    let conf = file("etc/ld.so.conf.d/nvidia.conf", "/usr/local/nvidia/lib\n/usr/local/nvidia/lib64\n");
    let path = "LD_LIBRARY_PATH=/usr/local/nvidia/lib:/usr/local/nvidia/lib64:/usr/local/cuda/lib64";
    let report = report(&service(vec![compat(), stub(), conf], &[], &[path]));
    none(&report, "compat-on-loader-path");
    none(&report, "stubs-on-loader-path");
}
