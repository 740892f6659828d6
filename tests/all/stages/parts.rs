//! What the images of these tests are made from: NVIDIA's image with some libraries, compilers and settings, and
//! programs that are built on it.

use crate::fixtures::elf::{Elf, archive};
use crate::fixtures::filler;
use crate::fixtures::service::CudaBase;
use crate::fixtures::tarball::{Member, file, symlink};

use super::scene::{Deb, Scene, deb};

pub(super) const LIB: &str = "usr/local/cuda-12.4/targets/x86_64-linux/lib";
pub(super) const INCLUDE: &str = "usr/local/cuda-12.4/targets/x86_64-linux/include";
pub(super) const TRIPLE: &str = "usr/lib/x86_64-linux-gnu";
pub(super) const DEVEL: &str = "nvidia/cuda:12.4.1-devel-ubuntu22.04";
pub(super) const BASE: &str = "nvidia/cuda:12.4.1-base-ubuntu22.04";

/// The path of a library of the toolkit.
pub(super) fn lib(name: &str) -> String {
    format!("{LIB}/{name}")
}

pub(super) fn program(path: &str, needed: &[&str]) -> Member {
    file(path, Elf::program(path).needing(needed).build()).mode(0o755)
}

/// A library and the link by its soname, as packages have them.
pub(super) fn library(folder: &str, soname: &str, version: &str, needed: &[&str]) -> Vec<Member> {
    let name = format!("{soname}{version}");
    let body = Elf::library(soname).needing(needed).build();
    let mut members = vec![file(format!("{folder}/{name}"), body)];
    if !version.is_empty() {
        members.push(symlink(format!("{folder}/{soname}"), name));
    }
    members
}

pub(super) fn static_library(path: &str, size: usize) -> Member {
    file(path, archive(&[("part.o".to_owned(), filler::code(path, size))]))
}

pub(super) fn text(path: &str, size: usize) -> Member {
    let line = format!("/* {path} */\n");
    file(path, line.bytes().cycle().take(size).collect::<Vec<u8>>())
}

pub(super) fn libc() -> Deb {
    let mut files = library(TRIPLE, "libc.so.6", "", &[]);
    files.extend(library("usr/lib64", "ld-linux-x86-64.so.2", "", &[]));
    files.push(program("usr/sbin/ldconfig", &[]));
    Deb { version: "2.35-0ubuntu3", ..deb("libc6", "", files) }
}

/// The distribution's own layer.
fn distribution(release: &str) -> (Vec<Member>, Vec<Deb>) {
    let members = vec![
        file("etc/os-release", release),
        file("etc/passwd", "root:x:0:0:root:/root:/bin/bash\n"),
        file("etc/group", "root:x:0:\n"),
        file("etc/apt/sources.list", "deb http://archive.example.org/ubuntu jammy main\n"),
        file("etc/apt/sources.list.d/.keep", ""),
        file("usr/share/keyrings/archive.gpg", "a key\n"),
        file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
        symlink("lib64", "usr/lib64"),
        symlink("bin", "usr/bin"),
    ];
    let shells = vec![program("usr/bin/dash", &[]), symlink("usr/bin/sh", "dash")];
    let gcc = library(TRIPLE, "libstdc++.so.6", ".0.30", &["libc.so.6"]);
    let debs = vec![
        libc(),
        deb("dash", "libc6", shells),
        deb("bash", "libc6", vec![program("usr/bin/bash", &[])]),
        deb("coreutils", "libc6", vec![program("usr/bin/ls", &[])]),
        deb("libstdc++6", "libc6", gcc),
    ];
    (members, debs)
}

fn of_toolkit(soname: &str, version: &str, needed: &[&str]) -> Vec<Member> {
    library(LIB, soname, version, needed)
}

/// NVIDIA's image of CUDA 12.4.1 on Ubuntu 22.04, with devel packages and perhaps cuDNN.
pub(super) fn devel() -> Scene {
    cuda("12.4.1", None)
}

/// The same with so much in its base flavor that the distribution's image is worth a proposal.
pub(super) fn weighty() -> Scene {
    scene("12.4.1", None, vec![text("NGC-DL-CONTAINER-LICENSE", 30_000)])
}

pub(super) fn cuda(version: &str, cudnn: Option<&str>) -> Scene {
    scene(version, cudnn, vec![file("NGC-DL-CONTAINER-LICENSE", "words\n")])
}

fn scene(version: &str, cudnn: Option<&str>, licence: Vec<Member>) -> Scene {
    let base = CudaBase { version, flavor: "devel", cudnn, distribution: ("ubuntu", "22.04") };
    let tag = match (cudnn, version) {
        (None, _) => "devel".to_owned(),
        (Some(_), "12.1.1") => "cudnn8-devel".to_owned(),
        _ => "cudnn-devel".to_owned(),
    };
    let from = format!("nvidia/cuda:{version}-{tag}-ubuntu22.04");
    let below = [
        ("ubuntu:22.04".to_owned(), 1),
        (format!("nvidia/cuda:{version}-base-ubuntu22.04"), 5),
        (format!("nvidia/cuda:{version}-runtime-ubuntu22.04"), 9),
    ];
    let below: Vec<(&str, usize)> = below.iter().map(|(name, layers)| (name.as_str(), *layers)).collect();
    let mut layers = toolkit_layers(licence);
    if let Some(version) = cudnn {
        layers.push((Vec::new(), cudnn_debs(version)));
    }
    Scene::on(&from, base.image(), &below, layers)
}

fn toolkit_layers(licence: Vec<Member>) -> Vec<(Vec<Member>, Vec<Deb>)> {
    let conf = vec![
        file("etc/ld.so.conf.d/000_cuda.conf", format!("/{LIB}\n")),
        symlink("usr/local/cuda", "cuda-12.4"),
        symlink("usr/local/cuda-12.4/lib64", "targets/x86_64-linux/lib"),
    ];
    let nothing = || (Vec::new(), Vec::new());
    let cudart = of_toolkit("libcudart.so.12", ".4.127", &["libc.so.6"]);
    let libraries = vec![
        deb("libcurand-12-4", "", of_toolkit("libcurand.so.10", ".3.5.147", &["libc.so.6"])),
        deb(
            "libcublas-12-4",
            "",
            [
                of_toolkit("libcublas.so.12", ".4.5.8", &["libcublasLt.so.12"]),
                of_toolkit("libcublasLt.so.12", ".4.5.8", &["libc.so.6"]),
            ]
            .concat(),
        ),
        deb(
            "cuda-nvrtc-12-4",
            "",
            [
                of_toolkit("libnvrtc.so.12", ".4.127", &["libc.so.6"]),
                of_toolkit("libnvrtc-builtins.so.12.4", ".127", &["libc.so.6"]),
            ]
            .concat(),
        ),
    ];
    let script = file("opt/nvidia/nvidia_entrypoint.sh", "#!/bin/bash\nexec \"$@\"\n").mode(0o755);
    vec![
        distribution("ID=ubuntu\nVERSION_ID=\"22.04\"\n"),
        nothing(),
        (conf, vec![deb("cuda-cudart-12-4", "", cudart)]),
        (vec![file("etc/ld.so.conf.d/nvidia.conf", "/usr/local/nvidia/lib\n")], Vec::new()),
        (licence, Vec::new()),
        (Vec::new(), libraries),
        nothing(),
        (vec![file("opt/nvidia/entrypoint.d/10-banner.sh", "echo\n")], Vec::new()),
        (vec![script], Vec::new()),
        (Vec::new(), devel_debs()),
        nothing(),
    ]
}

fn devel_debs() -> Vec<Deb> {
    let gcc = "usr/lib/gcc/x86_64-linux-gnu/11";
    vec![
        deb(
            "gcc-11",
            "libc6",
            vec![
                program("usr/bin/x86_64-linux-gnu-gcc-11", &[]),
                symlink("usr/bin/gcc-11", "x86_64-linux-gnu-gcc-11"),
                program(&format!("{gcc}/cc1"), &[]),
            ],
        ),
        deb("gcc", "gcc-11", vec![symlink("usr/bin/gcc", "gcc-11")]),
        deb("libc6-dev", "libc6", vec![text("usr/include/stdio.h", 4_000)]),
        deb("build-essential", "gcc, libc6-dev", vec![]),
        deb(
            "cuda-nvcc-12-4",
            "build-essential",
            vec![
                program("usr/local/cuda-12.4/bin/nvcc", &[]),
                program("usr/local/cuda-12.4/bin/ptxas", &[]),
                file("usr/local/cuda-12.4/nvvm/libdevice/libdevice.10.bc", b"BC\xc0\xde rest".to_vec()),
            ],
        ),
        deb(
            "cuda-cudart-dev-12-4",
            "cuda-cudart-12-4",
            vec![
                static_library(&lib("libcudart_static.a"), 6_000),
                text(&format!("{INCLUDE}/cuda_runtime.h"), 3_000),
                text(&format!("{INCLUDE}/cuda_fp16.h"), 3_000),
            ],
        ),
        deb(
            "libcurand-dev-12-4",
            "libcurand-12-4",
            vec![
                static_library(&lib("libcurand_static.a"), 200_000),
                text(&format!("{INCLUDE}/curand.h"), 5_000),
                symlink(lib("libcurand.so"), "libcurand.so.10"),
            ],
        ),
    ]
}

fn cudnn_debs(version: &str) -> Vec<Deb> {
    let major = version.split('.').next().unwrap();
    let (name, devel): (&'static str, &'static str) = match major {
        "8" => ("libcudnn8", "libcudnn8-dev"),
        _ => ("libcudnn9-cuda-12", "libcudnn9-dev-cuda-12"),
    };
    let part = |name: &str, needed: &[&str]| library(TRIPLE, &format!("{name}.so.{major}"), ".1.0", needed);
    let soname = format!("libcudnn_graph.so.{major}");
    vec![
        deb(
            name,
            "libc6",
            [
                part("libcudnn", &[&soname]),
                part("libcudnn_graph", &["libc.so.6"]),
                part("libcudnn_ops", &["libc.so.6"]),
            ]
            .concat(),
        ),
        deb(
            devel,
            name,
            vec![
                text("usr/include/cudnn.h", 2_000),
                static_library(&format!("{TRIPLE}/libcudnn_ops_static.a"), 50_000),
            ],
        ),
    ]
}

/// cmake and git, as apt brings them: programs for building, and what they depend on.
pub(super) fn tools() -> Vec<Deb> {
    vec![
        deb("libarchive13", "libc6", library(TRIPLE, "libarchive.so.13", ".6.0", &["libc.so.6"])),
        deb("cmake", "libarchive13, libc6", vec![program("usr/bin/cmake", &["libarchive.so.13"])]),
        deb("git", "libc6", vec![program("usr/bin/git", &[]), text("usr/lib/git-core/git-merge", 9_000)]),
    ]
}

/// Python 3.10 of the distribution.
pub(super) fn python() -> Vec<Deb> {
    vec![
        deb("libpython3.10-stdlib", "libc6", vec![text("usr/lib/python3.10/os.py", 3_000)]),
        deb("python3.10", "libpython3.10-stdlib, libc6", vec![program("usr/bin/python3.10", &[])]),
        deb("python3", "python3.10", vec![symlink("usr/bin/python3", "python3.10")]),
    ]
}

/// The simplest service: a program that is built from a copied tree.
pub(super) fn built(scene: Scene, needed: &[&str]) -> Scene {
    scene
        .workdir("/src", "/src")
        .copy(". /src", vec![text("src/main.cu", 3_000), text("src/CMakeLists.txt", 300)])
        .run(
            "cmake -B build && make -C build && cp build/serve /usr/local/bin/serve",
            vec![
                file("src/build/main.o", filler::code("main.o", 20_000)),
                text("src/build/CMakeCache.txt", 2_000),
                program("src/build/serve", needed),
                program("usr/local/bin/serve", needed),
            ],
        )
}
