//! Real CUDA content: wheels laid out as a toolkit and as a virtual environment.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::oracle::judge;
use super::scene::{compilers, package, program, static_library, symlinks_of_toolkit, system};
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, symlink};
use crate::support::Place;
use crate::wheels::built::Built;
use crate::wheels::cache::{files_below, unpacked};

const SITE: &str = "opt/venv/lib/python3.12/site-packages";
const ROOT: &str = "usr/local/cuda-13.0";
const LIB: &str = "usr/local/cuda-13.0/targets/x86_64-linux/lib";
const INCLUDE: &str = "usr/local/cuda-13.0/targets/x86_64-linux/include";

/// Small wheels, so that an image of them is made in a second.
const SMALL: [&str; 3] = ["nvidia-cuda-runtime", "nvidia-nvjpeg", "nvidia-curand"];

/// The files of wheels as the packages of the toolkit lay them out.
fn as_toolkit(folder: &Path) -> Vec<Member> {
    let mut members = symlinks_of_toolkit(ROOT);
    for name in files_below(folder) {
        let Some(rest) = name.strip_prefix("nvidia/cu13/") else { continue };
        let path = match rest.split_once('/') {
            Some(("lib", base)) => format!("{LIB}/{base}"),
            Some(("include", base)) => format!("{INCLUDE}/{base}"),
            _ => format!("{ROOT}/{rest}"),
        };
        if let Some((stem, _)) = path.split_once(".so.") {
            members.push(symlink(format!("{stem}.so"), path.rsplit('/').next().unwrap()));
        }
        members.push(file(path, fs::read(folder.join(&name)).unwrap()));
    }
    members.push(file("etc/ld.so.conf.d/cuda.conf", format!("/{LIB}\n")));
    members
}

/// Lines of a listing by hand: static libraries and headers, told by folder and ending.
fn listing(members: &[Member]) -> String {
    let mut lines = String::new();
    for member in members.iter().filter(|member| member.kind == b'0') {
        let path = format!("/{}", str::from_utf8(&member.name).unwrap());
        let category = if path.as_bytes().ends_with(b".a") {
            "static-libraries"
        } else if path.contains("/include/") {
            "headers"
        } else {
            continue;
        };
        writeln!(lines, "{category}\t{}\t{path}", member.body.len()).unwrap();
    }
    lines
}

#[test]
fn real_headers_and_static_libraries_of_a_toolkit_are_found_to_the_byte() {
    let Some(wheels) = unpacked(&SMALL, &[]) else { return };
    let (place, beside) = (Place::new(), Place::new());
    let mut toolkit = as_toolkit(wheels.path());
    toolkit.push(static_library(&format!("{LIB}/libcurand_static.a"), 100_000));
    let listing = beside.put("listing.tsv", listing(&toolkit));
    let app = [program("srv/app/serve", &["libcurand.so.10", "libcudart.so.13"])];
    let reference = Built::new(&place, &["LD_LIBRARY_PATH=/usr/local/cuda/lib64"])
        .layer(Packing::Gzip, system())
        .layer(Packing::Gzip, toolkit)
        .layer(Packing::Gzip, app)
        .finish();
    let root = ["--listing", listing.as_str(), "--coverage", "100", "--root", "/srv/app/serve"];
    let (report, said) = judge(&place, &beside, &reference, &root);
    assert_eq!(said["listing"]["coverage_percent"], 100.0, "{said:#}");
    assert!(said["closure"].as_u64().unwrap() >= 4, "{said:#}");
    let safe = &report.json["reclaimable"]["by_category"];
    assert_eq!(said["listing"]["categories"]["headers"]["safe"], safe["headers"], "{safe:#}");
}

#[test]
fn wheels_of_a_runtime_image_have_nothing_safe_that_is_loaded() {
    let Some(wheels) = unpacked(&SMALL, &[]) else { return };
    let (place, beside) = (Place::new(), Place::new());
    let read = |name: String| file(format!("{SITE}/{name}"), fs::read(wheels.path().join(&name)).unwrap());
    let venv: Vec<Member> = files_below(wheels.path()).into_iter().map(read).collect();
    // A module of torch's making: what it needs lies in the wheels beside it.
    let mut torch = package("torch", "2.9.1");
    let module = crate::fixtures::elf::Elf {
        rpath: Some("$ORIGIN/../../nvidia/cu13/lib".into()),
        ..crate::fixtures::elf::Elf::library("libtorch_cuda.so")
    };
    let needed = ["libcurand.so.10", "libcudart.so.13", "libnvjpeg.so.13"];
    let path = "torch/lib/libtorch_cuda.so";
    torch.push(file(format!("{SITE}/{path}"), module.needing(&needed).build()));
    let reference = Built::new(&place, &[])
        .layer(Packing::Gzip, [system(), compilers()].concat())
        .layer(Packing::Gzip, venv.into_iter().chain(torch))
        .finish();
    let root = format!("/{SITE}/{path}");
    let (report, said) = judge(&place, &beside, &reference, &["--root", &root]);
    assert!(said["closure"].as_u64().unwrap() >= 4, "{said:#}");
    for finding in report.json["findings"].as_array().unwrap() {
        let paths = || finding["paths"].as_array().unwrap().iter().map(|path| path.as_str().unwrap());
        if finding["verdict"] == "safe" {
            assert!(!paths().any(|path| path.starts_with("/usr/")), "torch compiles: {finding:#}");
            assert!(!paths().any(|path| path.contains(".so")), "{finding:#}");
        }
    }
}
