//! One image in every form gives one inventory.

use std::fs;

use serde_json::Value;

use super::{image, items, only_warns_of, program};
use crate::fixtures::docker::{save_classic, save_modern};
use crate::fixtures::elf::Elf;
use crate::fixtures::fatbin::{Coding, section, wrapper};
use crate::fixtures::layout::Layout;
use crate::fixtures::packing::{Packing, gzip};
use crate::fixtures::service::{SITE, debs, unpack, wheel};
use crate::fixtures::tarball::{Member, file, symlink, tar};
use crate::support::{Place, Report};

const TARGET: &str = "usr/local/cuda-13.0/targets/x86_64-linux/lib";

fn with_code(soname: &str, seed: &str, size: usize) -> Vec<u8> {
    let code = section(&[80, 90], Some(90), 6_000, Coding::Zstd, seed);
    let library = Elf { seed: seed.into(), ..Elf::library(soname) };
    library.with_section(".nv_fatbin", code).with_section(".nvFatBinSegment", wrapper()).sized(size)
}

/// A toolkit for building, a Python with torch and its wheels, a service, and a fix on top.
fn layers() -> Vec<Vec<Member>> {
    let cublas = with_code("libcublas.so.13", "cublas", 90_000);
    let cudart = Elf::library("libcudart.so.13").sized(70_000);
    let (cublas_path, cudart_path) =
        (format!("{TARGET}/libcublas.so.13.1.0.3"), format!("{TARGET}/libcudart.so.13.0.96"));
    let (archive_path, header) = (
        format!("{TARGET}/libcudart_static.a"),
        "usr/local/cuda-13.0/targets/x86_64-linux/include/cuda_runtime.h",
    );
    let objects = crate::fixtures::elf::archive(&[("a.o".into(), {
        let code = section(&[75], None, 2_000, Coding::Stored, "static");
        crate::fixtures::elf::object(1, 62, 0, (0, 0), &[(".nv_fatbin", &code)])
    })]);
    let mut base = debs(&[
        (
            "libc6",
            "2.39-0ubuntu8",
            &[("usr/lib/x86_64-linux-gnu/libc.so.6", Elf::library("libc.so.6").build())],
        ),
        ("cuda-cudart-13-0", "13.0.96-1", &[(&cudart_path, cudart.clone())]),
        (
            "cuda-cudart-dev-13-0",
            "13.0.96-1",
            &[(&archive_path, objects), (header, b"#pragma once\n".to_vec())],
        ),
        ("libcublas-13-0", "13.1.0.3-1", &[(&cublas_path, cublas.clone())]),
    ]);
    base.extend([
        file("etc/os-release", "ID=ubuntu\nVERSION_ID=\"24.04\"\n"),
        file("etc/ld.so.conf", "/usr/local/cuda-13.0/targets/x86_64-linux/lib\n"),
        symlink("usr/local/cuda", "cuda-13.0"),
        symlink(format!("{TARGET}/libcublas.so.13"), "libcublas.so.13.1.0.3"),
        symlink(format!("{TARGET}/libcudart.so.13"), "libcudart.so.13.0.96"),
    ]);
    let mut torch = Elf::library("libtorch_cuda.so").needing(&["libcublas.so.13", "libcudart.so.13"]);
    torch.rpath = Some("$ORIGIN/../../nvidia/cu13/lib".into());
    let torch = torch.with_section(".nv_fatbin", section(&[80, 90, 100], None, 9_000, Coding::Zstd, "torch"));
    let mut module = Elf::default().needing(&["libtorch_cuda.so"]);
    module.rpath = Some("$ORIGIN/lib".into());
    let version = "__version__ = '2.10.0+cu130'\ncuda = '13.0'\n";
    let mut venv = wheel(
        SITE,
        "torch",
        "2.10.0",
        &[
            ("torch/lib/libtorch_cuda.so", torch.build()),
            ("torch/_C.cpython-312-x86_64-linux-gnu.so", module.build()),
            ("torch/version.py", version.into()),
        ],
    );
    venv.extend(wheel(SITE, "nvidia-cublas", "13.1.0.3", &[("nvidia/cu13/lib/libcublas.so.13", cublas)]));
    venv.extend(wheel(
        SITE,
        "nvidia-cuda-runtime",
        "13.0.96",
        &[("nvidia/cu13/lib/libcudart.so.13", [cudart, vec![0; 16]].concat())],
    ));
    venv.extend(wheel(SITE, "uvicorn", "0.38.0", &[("uvicorn/__init__.py", b"x = 1\n".to_vec())]));
    let python = program("python", &["libc.so.6"]).build();
    venv.extend([
        file("usr/bin/python3.12", python).mode(0o755),
        symlink("opt/venv/bin/python3.12", "/usr/bin/python3.12"),
    ]);
    let service = vec![
        file("app/service", program("service", &["libcudart.so.13", "libc.so.6"]).build()).mode(0o755),
        file("app/weights/model.safetensors", vec![7; 200_000]),
        file("app/copy/model.safetensors", vec![7; 200_000]),
        file("app/old.txt", "gone soon"),
    ];
    let fix = vec![
        file("app/.wh.old.txt", ""),
        file("app/service", program("service, fixed", &["libcudart.so.13", "libc.so.6"]).build()).mode(0o755),
    ];
    vec![base, venv, service, fix]
}

/// What a report says of CUDA and packages; without the layers' numbers when it is of a folder.
fn inventory(report: &Report, with_layers: bool) -> (Value, Value) {
    let mut cuda = report.json["cuda"].clone();
    let mut packages = report.json["packages"].clone();
    if !with_layers {
        for list in [&mut cuda["libraries"], &mut packages] {
            for entry in list.as_array_mut().unwrap() {
                entry.as_object_mut().unwrap().remove("layer").unwrap();
            }
        }
    }
    (cuda, packages)
}

/// Both are the same, part by part, so that a difference can be seen.
fn same((cuda, packages): &(Value, Value), expected: &(Value, Value), form: &str) {
    assert_eq!(packages, &expected.1, "{form}");
    for (part, value) in expected.0.as_object().unwrap() {
        assert_eq!(&cuda[part], value, "{form}: {part}");
    }
    assert_eq!(cuda, &expected.0, "{form}");
}

#[test]
fn every_form_of_one_image_gives_the_same_inventory() {
    let place = Place::new();
    let layers = layers();
    let of = |packing: Packing| image(packing, &layers);
    let layout = |name: &str, packing: Packing| place.put_layout(name, &Layout::of(&of(packing), "t"));
    let gzip_layout = place.report(&format!("oci:{}", layout("gzip", Packing::Gzip)));
    only_warns_of(&gzip_layout, &[]);
    let tags: &[&str] = &["service:t"];
    // eStargz adds a file of its own to each layer.
    let packings = Packing::ALL.into_iter().filter(|packing| *packing != Packing::Estargz);
    let mut forms: Vec<(String, String)> = packings
        .map(|packing| {
            let form = format!("{packing:?}");
            let reference = format!("oci:{}", layout(&form, packing));
            (form, reference)
        })
        .collect();
    let archives = [
        ("an archive of a layout", {
            let archive = Layout::of(&of(Packing::Plain), "t").archive();
            format!("oci-archive:{}", place.put("layout.tar", archive))
        }),
        ("docker save of old", {
            let archive = tar(save_classic(&[(&of(Packing::Plain), tags)]));
            format!("docker-archive:{}", place.put("classic.tar", archive))
        }),
        ("docker save of now", {
            let archive = tar(save_modern(&[(&of(Packing::Gzip), tags)]));
            format!("docker-archive:{}", place.put("modern.tar", archive))
        }),
        ("docker save, packed", {
            let archive = gzip(&tar(save_classic(&[(&of(Packing::Plain), tags)])));
            format!("docker-archive:{}", place.put("classic.tar.gz", archive))
        }),
    ];
    forms.extend(archives.map(|(form, reference)| (form.to_owned(), reference)));
    let expected = inventory(&gzip_layout, true);
    for (form, reference) in forms {
        let report = place.report(&reference);
        only_warns_of(&report, &[]);
        same(&inventory(&report, true), &expected, &form);
        assert_eq!(report.json["image"]["base"], gzip_layout.json["image"]["base"], "{form}");
    }
    let folder = place.path("rootfs");
    fs::create_dir(&folder).unwrap();
    unpack(&layers, folder.as_ref());
    let report = place.report(&format!("rootfs:{folder}"));
    same(&inventory(&report, false), &inventory(&gzip_layout, false), "a folder");
}

/// The comparison above must compare something.
#[test]
fn the_image_of_all_forms_has_something_of_everything() {
    let place = Place::new();
    let layout = Layout::of(&image(Packing::Gzip, &layers()), "t");
    let report = place.report(&place.put_layout("layout", &layout));
    let cuda = &report.json["cuda"];
    for part in [
        "toolkits",
        "libraries",
        "components",
        "gpu_code",
        "duplicates",
        "identical",
        "frameworks",
        "weights",
    ] {
        assert!(!items(&cuda[part]).is_empty(), "no {part}");
    }
    assert_eq!(cuda["toolkit"]["version"], "13.0.2");
    assert_eq!(cuda["toolkit"]["flavor"], "devel");
    assert_eq!(items(&report.json["packages"]).len(), 4 + 4);
    let uses: Vec<&Value> = items(&cuda["libraries"]).iter().map(|library| &library["use"]).collect();
    assert!(
        uses.contains(&&Value::from("needed")) && uses.contains(&&Value::from("unreferenced")),
        "{uses:?}"
    );
    let identical: Vec<&Value> = items(&cuda["duplicates"]).iter().map(|one| &one["identical"]).collect();
    assert_eq!(identical, [true, false]);
}
