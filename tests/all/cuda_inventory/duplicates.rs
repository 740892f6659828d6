//! What is in an image twice, and which copy is loaded.

use serde_json::Value;

use super::{column, entry, executable, image, items, number, program, report_of, texts};
use crate::fixtures::elf::Elf;
use crate::fixtures::filler;
use crate::fixtures::image::{Image, Layer};
use crate::fixtures::packing::Packing;
use crate::fixtures::service::{SITE, debs, wheel};
use crate::fixtures::tarball::{Member, file, hardlink, tar};
use crate::support::Report;

const TOOLKIT: &str = "usr/local/cuda-13.0/targets/x86_64-linux/lib/libcublas.so.13.1.0.3";
const WHEEL: &str = "nvidia/cu13/lib/libcublas.so.13";

/// A toolkit and a wheel, each in a layer of its own, and a program that takes the wheel's copy.
fn layers(toolkit: Vec<u8>, wheels: Vec<u8>, with_program: bool) -> Vec<Vec<Member>> {
    let base = debs(&[("libcublas-13-0", "13.1.0.3-1", &[(TOOLKIT, toolkit)])]);
    let mut site = wheel(SITE, "nvidia-cublas", "13.1.0.3", &[(WHEEL, wheels)]);
    if with_program {
        let mut program = program("service", &["libcublas.so.13"]);
        program.rpath = Some(format!("/{SITE}/nvidia/cu13/lib"));
        site.push(executable("usr/bin/service", &program));
    }
    vec![base, site]
}

fn in_all_packings(layers: &[Vec<Member>], judge: impl Fn(&Report)) {
    for packing in [Packing::Gzip, Packing::Plain] {
        judge(&report_of(&image(packing, layers)));
    }
    // Bytes of one file pass and those of the other do not, either way round.
    for packings in [[Packing::Gzip, Packing::Plain], [Packing::Plain, Packing::Zstd]] {
        let layers = layers.iter().zip(packings.iter().cycle());
        let mixed = layers.fold(Image::new(Packing::Gzip), |image, (members, packing)| {
            image.add("COPY . / # buildkit", Layer::new(&tar(members.clone()), *packing))
        });
        judge(&report_of(&mixed));
    }
}

fn cublas(seed: &str, size: usize) -> Vec<u8> {
    Elf { seed: seed.into(), ..Elf::library("libcublas.so.13") }.sized(size)
}

#[test]
fn two_copies_of_a_library_are_compared_byte_by_byte() {
    let one = cublas("one", 50_000);
    let mut last_byte = one.clone();
    *last_byte.last_mut().unwrap() ^= 1;
    let cases = [
        ("the same bytes", one.clone(), true),
        ("another size", cublas("one", 60_000), false),
        ("one other byte", last_byte, false),
        ("other code", cublas("two", 50_000), false),
    ];
    for (what, wheels, identical) in cases {
        in_all_packings(&layers(one.clone(), wheels.clone(), true), |report| {
            let duplicate = entry(&report.json["cuda"]["duplicates"], "soname", "libcublas.so.13");
            assert_eq!(duplicate["identical"], identical, "{what}");
            let copies = [format!("/{SITE}/{WHEEL}"), format!("/{TOOLKIT}")];
            assert_eq!(texts(&duplicate["paths"]), copies, "{what}");
            let pick = &items(&duplicate["resolved_by"])[0];
            assert_eq!(
                (items(&duplicate["resolved_by"]).len(), pick["path"].as_str()),
                (1, Some(copies[0].as_str()))
            );
            assert_eq!(texts(&pick["loaded_by"]), ["/usr/bin/service"]);
            assert_eq!(number(&duplicate["reclaimable_bytes"]), one.len() as u64, "the toolkit's copy");
        });
    }
}

#[test]
fn nothing_is_too_many_when_nothing_is_loaded() {
    let copies = layers(cublas("one", 50_000), cublas("one", 50_000), false);
    in_all_packings(&copies, |report| {
        let duplicate = entry(&report.json["cuda"]["duplicates"], "soname", "libcublas.so.13");
        assert_eq!(duplicate["identical"], true);
        assert_eq!(number(&duplicate["reclaimable_bytes"]), 0);
        assert_eq!(items(&duplicate["resolved_by"]).len(), 0);
    });
}

#[test]
fn stubs_compatibility_drivers_and_hard_links_are_no_duplicates() {
    let driver = |seed: &str| Elf { seed: seed.into(), ..Elf::library("libcuda.so.1") }.build();
    let layers = [vec![
        file("usr/lib/x86_64-linux-gnu/libcuda.so.1", driver("driver")),
        file("usr/local/cuda-13.0/compat/libcuda.so.580.95.05", driver("compat")),
        file("usr/local/cuda-13.0/targets/x86_64-linux/lib/stubs/libcuda.so", driver("stub")),
        file(TOOLKIT, cublas("one", 70_000)),
        hardlink("opt/lib/libcublas.so.13", TOOLKIT),
    ]];
    in_all_packings(&layers, |report| {
        assert_eq!(column(&report.json["cuda"]["duplicates"], "soname"), Vec::<&str>::new());
        assert_eq!(items(&report.json["cuda"]["identical"]).len(), 0);
    });
}

#[test]
fn large_files_of_one_content_are_listed_across_layers() {
    let body = filler::code("body", 100_000);
    let mut other = body.clone();
    other[50_000] ^= 1;
    let small = filler::code("small", 60_000);
    let layers = [
        vec![
            file("data/a.bin", body.clone()),
            file("data/other.bin", other),
            file("data/small", small.clone()),
            file("data/hidden.bin", body.clone()),
        ],
        vec![
            file("app/b.bin", body.clone()),
            hardlink("app/c.bin", "app/b.bin"),
            file("app/small", small),
            file("data/.wh.hidden.bin", ""),
        ],
    ];
    in_all_packings(&layers, |report| {
        let identical = &report.json["cuda"]["identical"];
        assert_eq!(items(identical).len(), 1, "{identical:#}");
        assert_eq!(texts(&identical[0]["paths"]), ["/app/b.bin", "/data/a.bin"]);
        assert_eq!(number(&identical[0]["bytes"]), body.len() as u64);
        assert_eq!(report.json["cuda"]["duplicates"], Value::Array(Vec::new()));
    });
}

#[test]
fn a_copy_that_auditwheel_renamed_is_a_duplicate_of_the_other() {
    let hashed = "libcublas-3b81d170.so.11";
    let copy = |soname: &str| Elf { seed: "x".into(), ..Elf::library(soname) }.sized(40_000);
    let layers = [vec![
        file(format!("{SITE}/torch/lib/{hashed}"), copy(hashed)),
        file("usr/local/cuda-11.8/lib64/libcublas.so.11", copy("libcublas.so.11")),
    ]];
    in_all_packings(&layers, |report| {
        let duplicate = entry(&report.json["cuda"]["duplicates"], "soname", "libcublas.so.11");
        assert_eq!(items(&duplicate["paths"]).len(), 2);
        assert_eq!(duplicate["identical"], false);
    });
}
