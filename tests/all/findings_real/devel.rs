//! A devel image with a program in C++: everything that only builds is found where it belongs, and nothing that
//! the program needs is called safe.

use super::scene::{
    COMPILERS, Judged, LIB, TRIPLE, compilers, devel_files, image, library, program, static_library, system,
    text, toolkit,
};
use crate::fixtures::tarball::{Member, file, hardlink, symlink};

fn application() -> Vec<Member> {
    vec![
        program("srv/app/bin/serve", &["libcublas.so.12", "libcudart.so.12", "libstdc++.so.6", "libown.so"]),
        library(&format!("{TRIPLE}/libown.so"), "libown.so", &["libcufft.so.11"]),
        file("srv/app/settings.yaml", "port: 8000\n"),
    ]
}

fn judged(more: Vec<Member>) -> Judged {
    let layers = [[system(), compilers()].concat(), toolkit(), [application(), more].concat()];
    Judged::of(&image(&layers, &["/srv/app/bin/serve"], &[]))
}

#[test]
fn what_only_builds_is_found_in_its_category() {
    let judged = judged(Vec::new());
    let wrong: Vec<String> = devel_files()
        .into_iter()
        .map(|(member, category)| (format!("/{}", String::from_utf8(member.name).unwrap()), category))
        .map(|(path, category)| (judged.of_path(&path), format!("{category} safe"), path))
        .filter(|(found, expected, _)| found != expected)
        .map(|(found, expected, path)| format!("{path}: {found}, not {expected}"))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    judged.all("safe", &COMPILERS);
    assert_eq!(judged.of_path("/usr/bin/x86_64-linux-gnu-gcc-13"), "compilers safe");
    assert_eq!(judged.of_path("/usr/include/stdio.h"), "headers safe");
}

#[test]
fn the_closure_of_the_program_is_never_safe() {
    let judged = judged(Vec::new());
    let libraries = ["libcublas.so.12", "libcublasLt.so.12", "libcudart.so.12", "libcufft.so.11"];
    let libraries = libraries.map(|name| format!("/{LIB}/{name}"));
    judged.never_safe(&libraries.each_ref().map(String::as_str));
    judged.never_safe(&[
        "/srv/app/bin/serve",
        "/srv/app/settings.yaml",
        "/lib64/ld-linux-x86-64.so.2",
        &format!("/{TRIPLE}/libown.so"),
        &format!("/{TRIPLE}/libc.so.6"),
        &format!("/{TRIPLE}/libstdc++.so.6"),
    ]);
}

#[test]
fn static_libraries_have_the_bytes_of_their_files() {
    let judged = judged(vec![static_library("usr/lib/x86_64-linux-gnu/libz.a", 9_000)]);
    let size = |name: &str, members: &[Member]| {
        members.iter().find(|member| member.name.ends_with(name.as_bytes())).unwrap().body.len() as u64
    };
    let of_toolkit = ["libcublas_static.a", "libcudart_static.a", "libcudadevrt.a"];
    let expected: u64 = of_toolkit.iter().map(|name| size(name, &toolkit())).sum();
    let found = judged.find(&format!("/{LIB}/libcublas_static.a")).unwrap();
    assert_eq!(found["bytes"].as_u64().unwrap(), expected, "{found:#}");
    assert_eq!(found["files"], 3);
    assert_eq!(found["layers"], serde_json::json!([1]));
    assert_eq!(judged.of_path("/usr/lib/x86_64-linux-gnu/libz.a"), "static-libraries safe");
}

#[test]
fn a_library_of_the_compiler_that_the_program_loads_is_needed() {
    let needs_nvvm = program("srv/app/bin/jit", &["libnvvm.so.4"]);
    let conf = file("etc/ld.so.conf.d/nvvm.conf", "/usr/local/cuda-12.8/nvvm/lib64\n");
    let link = symlink("usr/local/cuda-12.8/nvvm/lib64/libnvvm.so.4", "libnvvm.so.4.0.0");
    let judged = judged(vec![needs_nvvm, conf, link]);
    judged.all("needed", &["/usr/local/cuda-12.8/nvvm/lib64/libnvvm.so.4.0.0"]);
    judged.all("safe", &["/usr/local/cuda-12.8/bin/nvcc"]);
}

#[test]
fn a_profiler_library_that_the_program_loads_is_needed() {
    let judged = judged(vec![program("srv/app/bin/profile", &["libcupti.so.12"])]);
    judged.all("needed", &[&format!("/{LIB}/libcupti.so.12")]);
    judged.all("safe", &["/opt/nvidia/nsight-compute/2025.1.0/ncu"]);
}

#[test]
fn a_stub_that_the_program_would_load_is_not_safe() {
    let mut members = application();
    members.push(file("etc/ld.so.conf.d/stubs.conf", format!("/{LIB}/stubs\n")));
    members.push(program("srv/app/bin/linked", &["libcuda.so"]));
    let judged =
        Judged::of(&image(&[[system(), toolkit()].concat(), members], &["/srv/app/bin/linked"], &[]));
    judged.never_safe(&[&format!("/{LIB}/stubs/libcuda.so")]);
}

#[test]
fn a_file_with_another_name_elsewhere_frees_nothing() {
    let header = format!("{}/cuda_runtime.h", super::scene::INCLUDE);
    let judged = {
        let mut layer = [system(), toolkit()].concat();
        layer.push(hardlink("srv/app/kept.h", &header));
        Judged::of(&image(&[layer, application()], &["/srv/app/bin/serve"], &[]))
    };
    judged.never_safe(&[&format!("/{header}"), "/srv/app/kept.h"]);
}

#[test]
fn an_application_below_a_folder_named_include_is_no_header() {
    let judged = judged(vec![text("srv/app/include/model.json"), text("srv/app/share/labels.txt")]);
    judged.never_safe(&["/srv/app/include/model.json", "/srv/app/share/labels.txt"]);
}
