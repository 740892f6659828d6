//! CUDA toolkits: which there are, in which version, and what they are good for.

use serde_json::{Value, json};

use super::{entry, items, report_of_members};
use crate::fixtures::elf::Elf;
use crate::fixtures::service::debs;
use crate::fixtures::tarball::{Member, file, symlink};

const LIB: &str = "targets/x86_64-linux/lib";

fn put(root: &str, path: &str) -> Member {
    file(format!("{root}/{path}"), Elf::library(path.rsplit('/').next().unwrap()).build())
}

/// Version, flavour and cuDNN of the only toolkit.
fn facts(members: Vec<Member>) -> [Value; 3] {
    let report = report_of_members(members);
    let toolkits = &report.json["cuda"]["toolkits"];
    assert_eq!(items(toolkits).len(), 1, "{toolkits:#}");
    assert_eq!(report.json["cuda"]["toolkit"], toolkits[0], "/usr/local/cuda names it");
    assert_ne!(toolkits[0]["evidence"], "");
    ["version", "flavor", "cudnn_version"].map(|field| toolkits[0][field].clone())
}

#[test]
fn the_flavour_of_a_toolkit_is_told_by_what_is_there() {
    let root = "usr/local/cuda-12.4";
    let cases = [
        (vec![format!("{LIB}/libcudart.so.12")], "base"),
        (vec!["compat/libcuda.so.1".to_owned()], "base"),
        (vec![format!("{LIB}/libcudart.so.12"), format!("{LIB}/libcublas.so.12")], "runtime"),
        (vec!["lib64/libnppc.so.12".to_owned()], "runtime"),
        (vec![format!("{LIB}/libcublas.so.12"), "bin/nvcc".to_owned()], "devel"),
        (vec![format!("{LIB}/libcublas.so.12"), "targets/x86_64-linux/include/x.h".to_owned()], "runtime"),
        (vec!["include/cuda_runtime.h".to_owned()], "devel"),
        (vec![format!("{LIB}/libcudart_static.a")], "devel"),
    ];
    for (paths, flavor) in cases {
        let mut members: Vec<Member> = paths.iter().map(|path| put(root, path)).collect();
        members.push(symlink("usr/local/cuda", "cuda-12.4"));
        assert_eq!(facts(members), [json!("12.4"), json!(flavor), Value::Null], "{paths:?}");
    }
}

#[test]
fn the_version_is_read_where_it_is_told_best() {
    let (cudart, cublas) = ("13.0.96-1", "13.1.0.3-1");
    let path = |name: &str| format!("usr/local/cuda-13.0/{LIB}/{name}");
    let (cudart_path, cublas_path) = (path("libcudart.so.13.0.96"), path("libcublas.so.13.1.0.3"));
    let cudnn_path = "usr/lib/x86_64-linux-gnu/libcudnn.so.9.14.0";
    let library = |soname: &str| Elf::library(soname).build();
    let link = symlink("usr/local/cuda", "cuda-13.0");
    let mut with_packages = debs(&[
        ("cuda-cudart-13-0", cudart, &[(&cudart_path, library("libcudart.so.13"))]),
        ("libcublas-13-0", cublas, &[(&cublas_path, library("libcublas.so.13"))]),
        ("libcudnn9-cuda-13", "9.14.0.64-1", &[(cudnn_path, library("libcudnn.so.9"))]),
    ]);
    with_packages.push(link.clone());
    assert_eq!(facts(with_packages.clone()), [json!("13.0.2"), json!("runtime"), json!("9.14.0.64")]);
    let version =
        r#"{"cuda": {"name": "CUDA SDK", "version": "13.0.3"}, "cuda_cudart": {"version": "13.0.96"}}"#;
    with_packages.push(file("usr/local/cuda-13.0/version.json", version));
    assert_eq!(facts(with_packages)[0], "13.0.3");
    let folder_only = vec![file(&cudart_path, library("libcudart.so.13")), link];
    assert_eq!(facts(folder_only)[0], "13.0");
}

#[test]
fn of_two_toolkits_each_has_its_own_cudnn() {
    let mut members = debs(&[
        (
            "libcudnn8",
            "8.9.7.29-1+cuda12.2",
            &[("usr/lib/x86_64-linux-gnu/libcudnn.so.8.9.7", Elf::library("libcudnn.so.8").build())],
        ),
        (
            "libcudnn9-cuda-13",
            "9.14.0.64-1",
            &[("usr/lib/x86_64-linux-gnu/libcudnn.so.9.14.0", Elf::library("libcudnn.so.9").build())],
        ),
    ]);
    members.extend([
        put("usr/local/cuda-12.2", &format!("{LIB}/libcublas.so.12")),
        put("usr/local/cuda-13.0", &format!("{LIB}/libcudart.so.13")),
        file("usr/local/cuda-11.8/README", "nothing of a toolkit"),
        symlink("usr/local/cuda", "/usr/local/cuda-13.0"),
        // An environment's folder of the same name is none.
        file("opt/app/cuda-12.0/lib64/libcudart.so.12", Elf::library("libcudart.so.12").build()),
    ]);
    let report = report_of_members(members);
    let toolkits = &report.json["cuda"]["toolkits"];
    assert_eq!(items(toolkits).len(), 2, "{toolkits:#}");
    for (root, cudnn) in [("/usr/local/cuda-12.2", "8.9.7.29"), ("/usr/local/cuda-13.0", "9.14.0.64")] {
        assert_eq!(entry(toolkits, "root", root)["cudnn_version"], cudnn);
    }
    assert_eq!(report.json["cuda"]["toolkit"]["root"], "/usr/local/cuda-13.0");
}
