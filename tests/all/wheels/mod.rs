//! Real libraries: the wheels that NVIDIA publishes, judged by `readelf`, `cuobjdump` and a walk in Python.
//!
//! `tests/fetch_wheels.sh` puts the wheels of `tests/wheels.txt` into a cache outside the repository. The tests
//! build images of them and compare the report with `tests/oracle/cuda.py`, which shares nothing with it.

pub(crate) mod built;
pub(crate) mod cache;
mod compare;
mod pruning;
mod slimmed;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use cutaway::formats::binary::BinaryLimits;
use cutaway::formats::fatbin::{arch_name, entries};
use serde_json::{Value, json};

use self::built::Built;
use self::cache::{files_below, left_out, unpacked};
use self::compare::{judge, list, text};
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, dir, file, hardlink, symlink, whiteout};
use crate::support::Place;

const SITE: &str = "opt/venv/lib/python3.11/site-packages";
const TOOLKIT: &str = "usr/local/cuda-13.0/targets/x86_64-linux/lib";

/// The files below a folder as members of site-packages, read one at a time.
fn site_packages(folder: &Path) -> impl Iterator<Item = Member> {
    let read = |name: String| file(format!("{SITE}/{name}"), fs::read(folder.join(&name)).unwrap());
    files_below(folder).into_iter().map(read)
}

#[test]
fn wheels_in_gzip_layers_are_listed_to_the_byte() {
    let names = [
        "nvidia-nvjpeg",
        "nvidia-nvjpeg-cu12",
        "nvidia-cuda-runtime",
        "nvidia-cuda-runtime-cu12",
        "nvidia-curand",
    ];
    let Some(wheels) = unpacked(&names, &[]) else { return };
    let read = |name: &str| fs::read(wheels.path().join(name)).unwrap();
    let nvjpeg = read("nvidia/cu13/lib/libnvjpeg.so.13");
    let mut cudart = read("nvidia/cu13/lib/libcudart.so.13");
    // A byte of the ELF header that means nothing: another content of the same size.
    cudart[15] = 1;
    let toolkit = [
        dir("usr/local"),
        symlink("usr/local/cuda", "cuda-13.0"),
        symlink("usr/local/cuda-13.0/lib64", "targets/x86_64-linux/lib"),
        file(format!("{TOOLKIT}/libnvjpeg.so.13.0.1.86"), nvjpeg),
        symlink(format!("{TOOLKIT}/libnvjpeg.so.13"), "libnvjpeg.so.13.0.1.86"),
        symlink(format!("{TOOLKIT}/libnvjpeg.so"), "libnvjpeg.so.13"),
        file(format!("{TOOLKIT}/libcudart.so.13.0.96"), cudart),
        hardlink(format!("{TOOLKIT}/libcudart.so.13"), format!("{TOOLKIT}/libcudart.so.13.0.96")),
        file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n"),
        file("etc/ld.so.conf.d/cuda.conf", "/usr/local/cuda/lib64\n"),
    ];
    let gone = file("opt/old/libnvjpeg.so.12", read("nvidia/nvjpeg/lib/libnvjpeg.so.12"));
    let place = Place::new();
    let reference = Built::new(&place, &["PATH=/usr/bin"])
        .layer(Packing::Gzip, toolkit)
        .layer(Packing::Gzip, site_packages(wheels.path()).chain([gone]))
        .layer(Packing::Gzip, [whiteout("opt/old/libnvjpeg.so.12")])
        .finish();
    drop(wheels);
    let (report, expected) = judge(&place, &reference);

    // Of the walk itself: figures that were taken from these files by other means.
    let library = |table: &Value, end: &str| {
        let found = list(table).iter().find(|library| text(library, "path").ends_with(end));
        found.unwrap_or_else(|| panic!("no {end}: {table:#}")).clone()
    };
    let nvjpeg = library(&expected["libraries"], "nvjpeg/lib/libnvjpeg.so.12");
    assert_eq!(nvjpeg["gpu_section_bytes"], 6_140_960);
    assert_eq!((&nvjpeg["containers"], &nvjpeg["entries"]), (&json!(11), &json!(175)));
    assert_eq!(library(&expected["libraries"], "cu13/lib/libcurand.so.10")["bytes"], 132_698_328);

    // What the walk does not know: who brought them.
    for (end, supplier, package) in [
        ("nvidia/nvjpeg/lib/libnvjpeg.so.12", "wheel", Some(("nvidia-nvjpeg-cu12", "12.4.0.76"))),
        ("cu13/lib/libcurand.so.10", "wheel", Some(("nvidia-curand", "10.4.0.35"))),
        ("cu13/lib/libcudart.so.13", "wheel", Some(("nvidia-cuda-runtime", "13.0.96"))),
        ("lib/libnvjpeg.so.13.0.1.86", "toolkit", None),
    ] {
        let found = library(&report.json["cuda"]["libraries"], end);
        assert_eq!(found["supplier"], supplier, "{end}");
        let owner = found["package"].as_object();
        let owner =
            owner.map(|package| (package["name"].as_str().unwrap(), package["version"].as_str().unwrap()));
        assert_eq!(owner, package, "{end}");
    }
}

#[test]
fn large_libraries_in_a_plain_layer_are_listed_to_the_byte() {
    let names = ["nvidia-nccl-cu13", "nvidia-cudnn-cu13", "nvidia-cuda-nvrtc-cu12"];
    let parts = [
        "dist-info/",
        "libnccl.so",
        "libcudnn.so",
        "libcudnn_graph.so",
        "libcudnn_ops.so",
        "libcudnn_engines_precompiled.so",
        "libnvrtc-builtins",
    ];
    let Some(wheels) = unpacked(&names, &parts) else { return };
    let place = Place::new();
    let reference = Built::new(&place, &[]).layer(Packing::Plain, site_packages(wheels.path())).finish();
    drop(wheels);
    let (_, expected) = judge(&place, &reference);

    // The cases that these files are here for: relocatable code, and containers among other things.
    let sections: BTreeSet<&str> = list(&expected["libraries"])
        .iter()
        .flat_map(|library| list(&library["gpu_sections"]))
        .map(|section| text(section, "name"))
        .collect();
    assert_eq!(sections, BTreeSet::from([".cask_resource", ".nv_fatbin", "__nv_relfatbin"]));
}

/// The bytes of a section, where readelf says that it lies.
fn section(path: &Path, wanted: &str) -> Vec<u8> {
    let output =
        Command::new("readelf").arg("-SW").arg(path).env("LC_ALL", "C").output().expect("readelf runs");
    let table = String::from_utf8(output.stdout).unwrap();
    let row = table.lines().find_map(|line| line.split_once(']')?.1.trim_start().strip_prefix(wanted));
    let row: Vec<&str> = row.unwrap_or_else(|| panic!("no {wanted}: {table}")).split_whitespace().collect();
    let number = |text: &str| usize::from_str_radix(text, 16).unwrap();
    let (start, size) = (number(row[2]), number(row[3]));
    fs::read(path).unwrap()[start..start + size].to_vec()
}

/// The files that cuobjdump lists, as `sm_90` and `compute_90`; it leaves the `f` of families out.
fn listed(cuobjdump: &Path, options: &[&str], path: &Path) -> Vec<String> {
    let output = Command::new(cuobjdump).args(options).args(["-lelf", "-lptx"]).arg(path).output();
    let output = output.expect("cuobjdump runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let list = String::from_utf8(output.stdout).unwrap();
    let label = |line: &str| {
        let (name, kind) = line.rsplit_once('.')?;
        let arch = name.rsplit_once(".sm_")?.1.trim_end_matches('f');
        Some(format!("{}_{arch}", if kind == "cubin" { "sm" } else { "compute" }))
    };
    list.lines().filter_map(label).collect()
}

#[test]
fn entries_of_real_libraries_come_as_cuobjdump_lists_them() {
    if !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        left_out::<()>("cuobjdump is for Linux on x86-64");
        return;
    }
    let names =
        ["nvidia-nvjpeg", "nvidia-nvjpeg-cu12", "nvidia-curand", "nvidia-nccl-cu13", "nvidia-cudnn-cu13"];
    let parts = ["libnvjpeg.so", "libcurand.so", "libnccl.so", "libcudnn_ops.so", "libcudnn_engines_run"];
    let Some(tool) = unpacked(&["nvidia-cuda-cuobjdump"], &["/bin/"]) else { return };
    let Some(wheels) = unpacked(&names, &parts) else { return };
    let cuobjdump = tool.path().join("nvidia/cu13/bin/cuobjdump");
    fs::set_permissions(&cuobjdump, fs::Permissions::from_mode(0o755)).unwrap();
    let files = files_below(wheels.path());
    assert_eq!(files.len(), 6, "{files:?}");
    for name in files {
        let path = wheels.path().join(&name);
        let mut options: Vec<(&[&str], &[&str])> = vec![(&[], &[".nv_fatbin"])];
        if name.ends_with("libnccl.so.2") {
            options.push((&["-all"], &[".nv_fatbin", "__nv_relfatbin"]));
        }
        for (options, sections) in options {
            let mut found = Vec::new();
            for wanted in sections {
                entries(&section(&path, wanted), &BinaryLimits::default(), |entry| {
                    found.push(arch_name(entry.kind, entry.arch, entry.suffix));
                });
            }
            let found: Vec<&str> = found.iter().map(|label| label.trim_end_matches('f')).collect();
            assert!(found.len() > 80, "{name}: {}", found.len());
            assert_eq!(found, listed(&cuobjdump, options, &path), "{name} {options:?}");
        }
    }
}
