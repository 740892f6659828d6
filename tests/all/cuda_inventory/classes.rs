//! What each byte is for.

use std::collections::BTreeMap;

use serde_json::json;

use super::{image, items, number, report_of};
use crate::fixtures::elf::Elf;
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, debs, wheel};
use crate::fixtures::tarball::{file, opaque, whiteout};
use crate::support::{Place, Report};

const CLASSES: [&str; 6] = ["application", "cuda-devel", "cuda-runtime", "framework", "system", "weights"];

/// Bytes of all layers by class; each layer's must add up to what it holds.
fn classes(report: &Report) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for layer in report.layers() {
        let of_layer = layer["class_bytes"].as_object().unwrap_or_else(|| panic!("no classes: {layer:#}"));
        let total: u64 = of_layer.values().map(number).sum();
        assert_eq!(total, number(&layer["content_bytes"]), "{layer:#}");
        for (class, bytes) in of_layer {
            assert!(CLASSES.contains(&class.as_str()), "{class}");
            *sums.entry(class.clone()).or_default() += number(bytes);
        }
    }
    sums
}

#[test]
fn the_classes_of_each_layer_add_up_to_its_content() {
    let place = Place::new();
    for sample in ["sample:devel", "sample:runtime"] {
        let report = place.report(sample);
        let sums = classes(&report);
        assert_eq!(sums.values().sum::<u64>(), report.total("content_bytes"));
        for class in CLASSES {
            let there = sums.get(class).copied().unwrap_or(0) > 0;
            // The runtime sample was made to have nothing for building CUDA code.
            assert!(
                there || (sample == "sample:runtime" && class == "cuda-devel"),
                "{sample}: no {class}: {sums:?}"
            );
        }
    }
}

#[test]
fn every_file_has_one_class_the_hidden_ones_too() {
    let toolkit = "usr/local/cuda-13.0";
    let lib = format!("{toolkit}/targets/x86_64-linux/lib/libcudart.so.13.0.96");
    let nvcc = format!("{toolkit}/bin/nvcc");
    let header = format!("{toolkit}/targets/x86_64-linux/include/cuda.h");
    let mut base = debs(&[
        ("bash", "5.2", &[("bin/bash", vec![1; 1_000])]),
        ("cuda-cudart-13-0", "13.0.96-1", &[(&lib, Elf::library("libcudart.so.13").sized(3_000))]),
        ("cuda-nvcc-13-0", "13.0.88-1", &[(&nvcc, vec![2; 5_000])]),
    ]);
    let databases: usize =
        base.iter().filter(|member| member.name.starts_with(b"var")).map(|m| m.body.len()).sum();
    let runtime = base[1].body.len();
    base.push(file(header, vec![3; 700]));
    base.push(file("app/old/model.gguf", vec![4; 9_000]));
    base.push(file("app/old/main.py", vec![5; 11]));
    let mut top = wheel(SITE, "torch", "2.10.0", &[("torch/__init__.py", vec![6; 600])]);
    let framework: usize = top.iter().map(|member| member.body.len()).sum();
    top.extend([
        // The same path twice in a layer, a file over a hidden one, a folder made empty.
        file("app/new.py", vec![7; 20]),
        file("app/new.py", vec![7; 30]),
        file("bin/bash", vec![8; 2_000]),
        opaque("app/old"),
        whiteout("usr/local/cuda-13.0/bin/nvcc"),
    ]);
    for packing in [Packing::Gzip, Packing::Plain] {
        let report = report_of(&image(packing, &[base.clone(), top.clone()]));
        let of = |layer: usize| &report.layers()[layer]["class_bytes"];
        assert_eq!(classes(&report).values().sum::<u64>(), report.total("content_bytes"));
        let nothing_but = |expected: serde_json::Value, found: &serde_json::Value| {
            let mut found = found.clone();
            found.as_object_mut().unwrap().retain(|_, bytes| *bytes != 0);
            assert_eq!(found, expected);
        };
        nothing_but(
            json!({"system": 1_000 + databases, "cuda-runtime": runtime, "cuda-devel": 5_700,
                   "weights": 9_000, "application": 11}),
            of(0),
        );
        nothing_but(json!({"framework": framework, "application": 50, "system": 2_000}), of(1));
        assert_eq!(items(&report.json["packages"]).len(), 4);
    }
}
