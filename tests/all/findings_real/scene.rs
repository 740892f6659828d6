//! The parts that the images of these tests are put together from, and what is asked of their reports.

use serde_json::{Value, json};

use crate::fixtures::elf::{Elf, archive};
use crate::fixtures::filler;
use crate::fixtures::image::Image;
use crate::fixtures::layout::Layout;
use crate::fixtures::packages::dpkg_status;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, wheel};
use crate::fixtures::tarball::{Member, file, symlink, tar};
use crate::support::{Place, Report};

pub(super) const ROOT: &str = "usr/local/cuda-12.8";
pub(super) const LIB: &str = "usr/local/cuda-12.8/targets/x86_64-linux/lib";
pub(super) const INCLUDE: &str = "usr/local/cuda-12.8/targets/x86_64-linux/include";
pub(super) const TRIPLE: &str = "usr/lib/x86_64-linux-gnu";
pub(super) const PYTHON: &str = "/opt/venv/bin/python3.12";

/// A program at a path, which needs these libraries.
pub(super) fn program(path: &str, needed: &[&str]) -> Member {
    let name = path.rsplit('/').next().unwrap();
    file(path, Elf::program(name).needing(needed).build()).mode(0o755)
}

/// A library at a path, whose file name up to the first number is its soname.
pub(super) fn library(path: &str, soname: &str, needed: &[&str]) -> Member {
    file(path, Elf { runpath: Some("$ORIGIN".into()), ..Elf::library(soname) }.needing(needed).build())
}

/// A static library with one object.
pub(super) fn static_library(path: &str, size: usize) -> Member {
    file(path, archive(&[("part.o".to_owned(), filler::code(path, size))]))
}

pub(super) fn text(path: &str) -> Member {
    file(path, format!("/* {path} */\n"))
}

/// A script or program text of the application.
pub(super) fn script(path: &str, body: &str) -> Member {
    file(path, body)
}

/// The loader, the C library and the interpreter in a virtual environment.
pub(super) fn system() -> Vec<Member> {
    vec![
        library("lib64/ld-linux-x86-64.so.2", "ld-linux-x86-64.so.2", &[]),
        library(&format!("{TRIPLE}/libc.so.6"), "libc.so.6", &[]),
        library(&format!("{TRIPLE}/libstdc++.so.6"), "libstdc++.so.6", &["libc.so.6"]),
        file("etc/os-release", "ID=ubuntu\nVERSION_ID=\"24.04\"\n"),
        file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
        file("etc/ld.so.conf.d/cuda.conf", format!("/{LIB}\n")),
        program("opt/venv/bin/python3.12", &[]),
    ]
}

/// A compiler of C and what belongs to it.
pub(super) fn compilers() -> Vec<Member> {
    let gcc = "usr/lib/gcc/x86_64-linux-gnu/13";
    let programs = COMPILERS.iter().filter(|path| path.strip_suffix(".h").is_none());
    let sums = programs
        .chain(&["/usr/bin/x86_64-linux-gnu-ld.bfd"])
        .fold(String::new(), |sums, path| sums + &format!("{:032}  {}\n", 0, &path[1..]));
    vec![
        // As distroless images have it, so that tests can bring a database of their own.
        file("var/lib/dpkg/status.d/gcc-13", dpkg_status("gcc-13", "13.2", 100, &[])),
        file("var/lib/dpkg/status.d/gcc-13.md5sums", sums),
        program("usr/bin/x86_64-linux-gnu-gcc-13", &[]),
        symlink("usr/bin/gcc", "x86_64-linux-gnu-gcc-13"),
        program(&format!("{gcc}/cc1"), &[]),
        program(&format!("{gcc}/cc1plus"), &[]),
        text(&format!("{gcc}/include/stddef.h")),
        program("usr/bin/x86_64-linux-gnu-ld.bfd", &[]),
        text("usr/include/stdio.h"),
        text("usr/include/python3.12/Python.h"),
    ]
}

pub(super) const COMPILERS: [&str; 6] = [
    "/usr/bin/x86_64-linux-gnu-gcc-13",
    "/usr/lib/gcc/x86_64-linux-gnu/13/cc1",
    "/usr/lib/gcc/x86_64-linux-gnu/13/cc1plus",
    "/usr/lib/gcc/x86_64-linux-gnu/13/include/stddef.h",
    "/usr/include/stdio.h",
    "/usr/include/python3.12/Python.h",
];

/// Files of a toolkit for development, with the category of each.
pub(super) fn devel_files() -> Vec<(Member, &'static str)> {
    let at = |path: &str| format!("{ROOT}/{path}");
    vec![
        (static_library(&format!("{LIB}/libcublas_static.a"), 40_000), "static-libraries"),
        (static_library(&format!("{LIB}/libcudart_static.a"), 3_000), "static-libraries"),
        (static_library(&format!("{LIB}/libcudadevrt.a"), 2_000), "static-libraries"),
        (library(&format!("{LIB}/stubs/libcuda.so"), "libcuda.so.1", &[]), "stubs"),
        (text(&format!("{INCLUDE}/cuda_runtime.h")), "headers"),
        (text(&format!("{INCLUDE}/cuda_fp16.h")), "headers"),
        (text(&format!("{INCLUDE}/cccl/cub/cub.cuh")), "headers"),
        (program(&at("bin/nvcc"), &[]), "compilers"),
        (program(&at("bin/ptxas"), &[]), "compilers"),
        (program(&at("bin/fatbinary"), &[]), "compilers"),
        (program(&at("bin/cuobjdump"), &[]), "compilers"),
        (program(&at("nvvm/bin/cicc"), &[]), "compilers"),
        (library(&at("nvvm/lib64/libnvvm.so.4.0.0"), "libnvvm.so.4", &[]), "compilers"),
        (file(at("nvvm/libdevice/libdevice.10.bc"), b"BC\xc0\xde and so on".to_vec()), "compilers"),
        (program(&at("bin/cuda-gdb"), &[]), "debuggers"),
        (program(&at("compute-sanitizer/compute-sanitizer"), &[]), "debuggers"),
        (program(&at("bin/nsys"), &[]), "profilers"),
        (library(&format!("{LIB}/libcupti.so.12"), "libcupti.so.12", &[]), "profilers"),
        (text(&at("extras/CUPTI/samples/common/helper.h")), "profilers"),
        (program("opt/nvidia/nsight-compute/2025.1.0/ncu", &[]), "profilers"),
        (text(&format!("{LIB}/cmake/cub/cub-config.cmake")), "build-metadata"),
        (text("usr/lib/pkgconfig/cublas-12.8.pc"), "build-metadata"),
        (text(&at("doc/man/man3/cufile.h.3")), "docs-samples"),
        (text(&at("nvml/example/example.c")), "docs-samples"),
    ]
}

/// A toolkit for development: what only builds, and libraries of the run time.
pub(super) fn toolkit() -> Vec<Member> {
    let mut members = vec![
        symlink("usr/local/cuda", "cuda-12.8"),
        symlink(format!("{ROOT}/lib64"), "targets/x86_64-linux/lib"),
        symlink(format!("{ROOT}/include"), "targets/x86_64-linux/include"),
        file(format!("{ROOT}/version.json"), json!({"cuda": {"version": "12.8.1"}}).to_string()),
    ];
    members.extend(devel_files().into_iter().map(|(member, _)| member));
    for (name, needed) in [
        ("libcudart.so.12", &[][..]),
        ("libcublasLt.so.12", &[]),
        ("libcublas.so.12", &["libcublasLt.so.12"]),
        ("libnvrtc.so.12", &[]),
        ("libcufft.so.11", &[]),
    ] {
        members.push(library(&format!("{LIB}/{name}"), name, needed));
    }
    members
}

/// A Python package without any CUDA of its own.
pub(super) fn package(name: &str, version: &str) -> Vec<Member> {
    let module = format!("{}/__init__.py", name.replace('-', "_"));
    wheel(SITE, name, version, &[(&module, b"pass\n".to_vec())])
}

/// The image of these layers, which starts `command`.
pub(super) fn image(layers: &[Vec<Member>], command: &[&str], environment: &[&str]) -> Image {
    let mut image = Image::of(Packing::Gzip, layers.iter().map(|members| tar(members.clone())));
    image.config = json!({"Cmd": command, "Env": environment});
    image
}

/// The findings of an image, whose sums must come out.
pub(super) struct Judged {
    pub(super) report: Report,
}

impl Judged {
    pub(super) fn of(image: &Image) -> Self {
        let place = Place::new();
        let reference = format!("oci:{}", place.put_layout("image", &Layout::of(image, "t")));
        let judged = Self { report: place.report(&reference) };
        super::sums::check(&judged.report);
        judged
    }

    /// A service in Python with these packages, on the whole devel toolkit and with compilers.
    pub(super) fn python(members: Vec<Member>, environment: &[&str]) -> Self {
        let base = [system(), compilers(), toolkit()].concat();
        let app = vec![script("srv/app/serve.py", "import json\nprint(json.dumps({}))\n")];
        Self::of(&image(&[base, members, app], &[PYTHON, "/srv/app/serve.py"], environment))
    }

    pub(super) fn findings(&self) -> &[Value] {
        self.report.json["findings"].as_array().expect("findings")
    }

    /// The finding with bytes that has this path; at most one may.
    pub(super) fn find(&self, path: &str) -> Option<&Value> {
        let has = |finding: &&Value| {
            finding["bytes"] != 0 && finding["paths"].as_array().unwrap().iter().any(|one| one == path)
        };
        let found: Vec<&Value> = self.findings().iter().filter(has).collect();
        assert!(found.len() < 2, "{path} in {} findings", found.len());
        found.first().copied()
    }

    /// `category verdict` of a path, or `-` when it is in no finding.
    pub(super) fn of_path(&self, path: &str) -> String {
        self.find(path).map_or_else(
            || "-".to_owned(),
            |one| format!("{} {}", one["category"].as_str().unwrap(), one["verdict"].as_str().unwrap()),
        )
    }

    /// The verdict on a path, or `-`.
    pub(super) fn verdict(&self, path: &str) -> &str {
        self.find(path).map_or("-", |one| one["verdict"].as_str().unwrap())
    }

    /// Each of these must have this verdict.
    pub(super) fn all(&self, verdict: &str, paths: &[&str]) {
        let wrong: Vec<String> = (paths.iter())
            .filter(|path| self.verdict(path) != verdict)
            .map(|path| {
                let reason = self.find(path).map_or(&Value::Null, |one| &one["reason"]);
                format!("{path} is {}: {reason}", self.of_path(path))
            })
            .collect();
        assert!(wrong.is_empty(), "not {verdict}:\n{}", wrong.join("\n"));
    }

    /// None of these may be called safe.
    pub(super) fn never_safe(&self, paths: &[&str]) {
        for path in paths {
            assert_ne!(self.verdict(path), "safe", "{path}: {:#}", self.find(path).unwrap()["reason"]);
        }
    }
}

/// An absolute path in the toolkit, its libraries and its headers.
pub(super) fn in_toolkit(path: &str) -> String {
    format!("/{ROOT}/{path}")
}

/// The links that every toolkit has.
pub(super) fn symlinks_of_toolkit(root: &str) -> Vec<Member> {
    vec![
        symlink("usr/local/cuda", root.rsplit('/').next().unwrap()),
        symlink(format!("{root}/lib64"), "targets/x86_64-linux/lib"),
        symlink(format!("{root}/include"), "targets/x86_64-linux/include"),
    ]
}
