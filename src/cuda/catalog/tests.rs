use std::collections::BTreeSet;

use super::document::Document;
use super::names::library_stem;
use super::*;
use crate::formats::glob::glob_match;

mod rules;
mod targets;

/// The components that may occur in the report, except `other`.
const COMPONENTS: [&str; 28] = [
    "cudart",
    "cublas",
    "cudnn",
    "cufft",
    "curand",
    "cusolver",
    "cusparse",
    "cusparselt",
    "cufile",
    "nccl",
    "npp",
    "nvjpeg",
    "nvrtc",
    "nvjitlink",
    "nvfatbin",
    "nvvm",
    "cupti",
    "nvtx",
    "nvshmem",
    "cutensor",
    "tensorrt",
    "torch",
    "tensorflow",
    "jax",
    "onnxruntime",
    "triton",
    "opencl",
    "driver",
];

/// The categories that development files may have.
const CATEGORIES: [&str; 11] = [
    "package-caches",
    "build-artifacts",
    "stubs",
    "static-libraries",
    "headers",
    "profilers",
    "debuggers",
    "compilers",
    "build-metadata",
    "docs-samples",
    "build-tools",
];

/// Values of `reads_devel` in rules for paths and packages.
const READ: [&str; 13] = [
    "cmake",
    "compiler",
    "headers",
    "headers-numpy",
    "headers-torch",
    "nvcc",
    "ptxas",
    "libdevice",
    "libnvvm",
    "cudadevrt",
    "ninja",
    "builder-resources",
    "cupti",
];

fn catalog() -> &'static Catalog {
    Catalog::builtin()
}

fn component(name: &str) -> Option<&'static str> {
    catalog().component_of(name.as_bytes()).map(|component| component.name.as_str())
}

#[test]
fn every_builtin_file_is_sound() {
    for (name, text) in BUILTIN {
        if let Err(error) = Document::checked(name, text) {
            panic!("{error}");
        }
    }
    assert_eq!(catalog().fault(), None);
    let mut keys = BTreeSet::new();
    for (table, key, source) in catalog().document.entries() {
        assert!(!key.is_empty(), "{table}");
        assert!(keys.insert((table, key.clone())), "{table} {key} stands in two files");
        assert!(!source.starts_with('/') && !source.contains("/tmp"), "{table} {key}: a private source");
    }
    assert!(keys.len() > 400, "{}", keys.len());
}

#[test]
fn the_components_are_those_of_the_report() {
    let names: Vec<&str> = catalog().components().iter().map(|component| component.name.as_str()).collect();
    assert_eq!(names, COMPONENTS);
    let mut stems = BTreeSet::new();
    for component in catalog().components() {
        assert!(!component.libraries.is_empty() || !component.patterns.is_empty(), "{}", component.name);
        for stem in &component.libraries {
            assert!(stems.insert(stem), "{stem} stands twice");
        }
        for rule in &component.sonames {
            let found = catalog().component_of(rule.name.as_bytes()).map(|found| &found.name);
            assert_eq!(found, Some(&component.name), "{}", rule.name);
        }
    }
}

#[test]
fn libraries_belong_to_their_components() {
    for (name, expected) in [
        ("libcudart.so.13", "cudart"),
        ("libcudart-d0da41ae.so.11.0", "cudart"),
        ("libcublasLt-b6d14a74.so.11", "cublas"),
        ("libnvblas.so.12", "cublas"),
        ("libcudnn.so.9", "cudnn"),
        ("libcudnn_engines_precompiled.so.9.14.0", "cudnn"),
        ("libcudnn_ops_infer.so.8", "cudnn"),
        ("libcufftw.so.11", "cufft"),
        ("libcusolverMg.so.11", "cusolver"),
        ("libcusparse.so.12", "cusparse"),
        ("libcusparseLt.so.0", "cusparselt"),
        ("libcufile_rdma.so.1", "cufile"),
        ("libnppist.so.13.0.1.2", "npp"),
        ("libnvrtc-builtins.so.12.9", "nvrtc"),
        ("libnvrtc.alt.so.13", "nvrtc"),
        ("libnvrtc-builtins.alt.so.13.0", "nvrtc"),
        ("libnvJitLink.so.13", "nvjitlink"),
        ("libnvperf_host.so", "cupti"),
        ("libpcsamplingutil.so", "cupti"),
        ("libnvToolsExt.so.1", "nvtx"),
        ("nvshmem_transport_ibrc.so.3", "nvshmem"),
        ("libnvshmem_host.so.3", "nvshmem"),
        ("libnvinfer_builder_resource_sm89.so.10.3.0", "tensorrt"),
        ("libtorch_cuda_linalg.so", "torch"),
        ("libc10_cuda.so", "torch"),
        ("libtensorflow_cc.so.2", "tensorflow"),
        ("_pywrap_tensorflow_internal.so", "tensorflow"),
        ("xla_cuda_plugin.so", "jax"),
        ("onnxruntime_pybind11_state.cpython-312-x86_64-linux-gnu.so", "onnxruntime"),
        ("libonnxruntime_providers_cuda.so", "onnxruntime"),
        ("libOpenCL.so.1.0.0", "opencl"),
        ("libcuda.so.580.95.05", "driver"),
        ("libnvidia-ml.so.1", "driver"),
        ("libnvidia-compiler.so.470.1", "driver"),
        ("libnvidia-ptxjitcompiler.so.1", "driver"),
    ] {
        assert_eq!(component(name), Some(expected), "{name}");
    }
    for name in
        ["libtritonserver.so", "libnvidia-container.so.1", "libc.so.6", "libcudart_static.a", "libcudart", ""]
    {
        assert_eq!(component(name), None, "{name}");
    }
}

#[test]
fn names_are_taken_apart() {
    let name = split_library_name(b"libcudart-d0da41ae.so.11.0").unwrap();
    assert_eq!(
        (name.stem, name.hash, name.suffix),
        (&b"libcudart"[..], Some(&b"d0da41ae"[..]), &b"11.0"[..])
    );
    assert_eq!(name.version, [11, 0]);
    // Only the last hash is removed; auditwheel adds one.
    assert_eq!(
        split_library_name(b"libgfortran-040039e1-0352e75f.so.5").unwrap().stem,
        b"libgfortran-040039e1"
    );
    assert_eq!(split_library_name(b"libcuda.so.580.95.05").unwrap().version, [580, 95, 5]);
    assert_eq!(split_library_name(b"libfoo.so").unwrap().version, [0_u32; 0]);
    assert_eq!(split_library_name(b"libfoo.so.bak").unwrap().version, [0_u32; 0]);
    assert!(split_library_name(b"libc.so.6-gdb.py").is_none());
    assert_eq!(split_library_name(b"libfoo.so.99999999999.1").unwrap().version, [0_u32; 0]);
    // Too few digits, other characters, no name before the hash.
    for name in [&b"libfoo-1234567.so"[..], b"libfoo-1234567G.so", b"lib-12345678.so", b"foo-12345678.so"] {
        assert_eq!(split_library_name(name).unwrap().hash, None, "{name:?}");
    }
    assert_eq!(split_library_name(b"libfoo.some.so.1").unwrap().stem, b"libfoo.some");
    assert_eq!(split_library_name(b".so.so.1").unwrap().stem, b".so");
    for name in [&b""[..], b".so", b"so", b"libfoo.sox", b"libfoo.a", b"lib\xff"] {
        assert_eq!(split_library_name(name), None, "{name:?}");
    }
    assert_eq!(normalized_python_name("Nvidia__CuBLAS.-cu12"), "nvidia-cublas-cu12");
}

#[test]
fn sonames_tell_the_cuda_version_as_far_as_they_do() {
    for (name, cuda) in [
        ("libcufft.so.11", &[12][..]),
        ("libcufft.so.12", &[13]),
        ("libcufft.so.11.2.1.3", &[12]),
        ("libcusparse.so.12", &[12, 13]),
        ("libcurand.so.10", &[10, 11, 12, 13]),
        ("libcusolver.so.11", &[11, 12]),
        ("libcudart.so.11.0", &[11]),
        ("libcudart-d0da41ae.so.11.0", &[11]),
        ("libcublas.so.13", &[13]),
        ("libnppc.so.12", &[12]),
        ("libcudart.so", &[]),
        ("libnccl.so.2", &[]),
    ] {
        let component = catalog().component_of(name.as_bytes()).unwrap();
        assert_eq!(component.cuda_of_soname(name.as_bytes()), cuda, "{name}");
    }
}

#[test]
fn the_host_supplies_the_driver() {
    for (name, capability) in [
        ("libcuda.so.1", "compute"),
        ("libnvidia-ml.so.1", "utility"),
        ("libnvcuvid.so.1", "video"),
        ("libnvidia-encode.so.580.95.05", "video"),
        ("libGLX_nvidia.so.0", "graphics"),
        ("libnvidia-ngx.so.1", "ngx"),
        ("libnvidia-sandboxutils.so.1", "any"),
    ] {
        assert_eq!(catalog().driver_capability(name.as_bytes()), Some(capability), "{name}");
    }
    for name in ["libnvidia-container.so.1", "libcudart.so.12", "libcuda", "libGL.so.1"] {
        assert!(!catalog().is_driver(name.as_bytes()), "{name}");
    }
    let driver = catalog().components().iter().find(|component| component.driver).unwrap();
    assert_eq!(driver.name, "driver");
    for stem in &driver.libraries {
        let name = format!("{stem}.so.1");
        assert!(catalog().is_driver(name.as_bytes()) || stem == "libnvcucompat", "{stem}");
    }
}

fn opened(name: &str) -> Vec<String> {
    let opens = catalog().opens_of(name.as_bytes());
    opens.flat_map(|open| open.names_for(name.as_bytes())).collect()
}

#[test]
fn libraries_open_what_the_table_says() {
    assert!(opened("libcudnn.so.9").contains(&"libcudnn_heuristic.so.9".to_owned()));
    assert!(!opened("libcudnn.so.9.14.0").contains(&"libcudnn_ops_infer.so.8".to_owned()));
    assert!(opened("libcudnn.so.8").contains(&"libcudnn_ops_infer.so.8".to_owned()));
    assert_eq!(opened("libnvrtc.so.12"), ["libnvrtc-builtins.so.12.*"]);
    assert_eq!(opened("libnvrtc.alt.so.13"), ["libnvrtc-builtins.alt.so.13.*"]);
    assert_eq!(opened("libcublasLt-b6d14a74.so.11"), ["libcuda.so.1", "libnvrtc.so.11"]);
    assert_eq!(opened("libcudart.so.12"), ["libcuda.so.1"]);
    assert!(opened("onnxruntime_pybind11_state.cpython-312-x86_64-linux-gnu.so").len() > 2);
    assert_eq!(opened("libnothing.so.1"), [""; 0]);
    let name = split_library_name(b"libnvrtc.so.12").unwrap();
    assert_eq!(name.version, [12]);
    let open = catalog().opens_of(b"libnvrtc.so.12").next().unwrap();
    assert_eq!(open.search, Search::SameFolder);
    let names = open.names_for(b"libnvrtc.so.12");
    assert!(glob_match(names[0].as_bytes(), b"libnvrtc-builtins.so.12.9"));
    assert!(!glob_match(names[0].as_bytes(), b"libnvrtc-builtins.so.13.0"));
    let packages: Vec<_> = catalog().opens_of_package("jax_cuda12_pjrt").collect();
    assert!(packages.len() == 1 && packages[0].names.contains(&"libcusolver.so.11".to_owned()));
    assert_eq!(catalog().opens_of_package("torch").next().unwrap().names[0], "libcublasLt.so.*");
    assert_eq!(catalog().opens_of_package("requests").count(), 0);
    // The opened libraries belong to the opener's CUDA version.
    assert_eq!(opened("libcufft.so.11"), ["libnvJitLink.so.12", "libnvrtc.so.12"]);
    assert_eq!(opened("libcufft.so.12"), ["libnvJitLink.so.13", "libnvrtc.so.13"]);
    assert_eq!(opened("libcufft.so.10"), [""; 0]);
    for (package, major) in [("cupy-cuda11x", "11.2"), ("cupy-cuda12x", "12"), ("cupy-cuda13x", "13")] {
        let opens = catalog().opens_of_package(package).filter(|open| !open.needed_only);
        let names: Vec<&String> = opens.flat_map(|open| &open.names).collect();
        assert!(names.contains(&&format!("libnvrtc.so.{major}")), "{names:?}");
        assert_eq!(names.iter().filter(|name| name.starts_with("libnvrtc")).count(), 1, "{names:?}");
        assert!(!names.iter().any(|name| name.starts_with("libcudnn")), "{names:?}");
    }
}

#[test]
fn every_opened_name_has_a_supplier() {
    for open in catalog().opens() {
        assert!(open.opener.is_some() != open.package.is_some(), "{open:?}");
        assert_eq!(open.search == Search::SitePackages, !open.folders.is_empty(), "{open:?}");
        for name in &open.names {
            let plain = name.replace("{major}", "12");
            let stem = library_stem(plain.replace(".so*", ".so").as_bytes()).unwrap().to_vec();
            // A star may match any text that belongs to the component.
            let filled = String::from_utf8(stem).unwrap().replace('*', "_x");
            let known = catalog().component_of(format!("{filled}.so").as_bytes()).is_some()
                || catalog().is_driver(plain.as_bytes())
                || catalog()
                    .document
                    .external_libraries
                    .iter()
                    .any(|external| glob_match(external.name.as_bytes(), filled.as_bytes()));
            assert!(known, "{name} of {open:?}");
        }
    }
}
