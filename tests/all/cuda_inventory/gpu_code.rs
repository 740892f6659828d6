//! The ledger of GPU code: what the writer of the containers wrote, to the byte.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{image, items, library, number, program, report_of, report_of_members};
use crate::fixtures::elf::{Elf, archive, object};
use crate::fixtures::fatbin::{Coding, Entry, container, wrapper};
use crate::fixtures::packing::Packing;
use crate::fixtures::tarball::{Member, file, hardlink};
use crate::support::Report;

/// Bytes of the header of a container, and of an entry.
const CONTAINER: u64 = 16;
const ENTRY: u64 = 64;

/// By architecture, kind, PTX version and compression: entries, bytes as stored and unpacked.
type Rows = BTreeMap<[String; 4], [u64; 3]>;

fn stored_bytes(entry: &Entry) -> u64 {
    container(std::slice::from_ref(entry)).len() as u64 - CONTAINER
}

fn unpacked_bytes(entry: &Entry) -> u64 {
    let size = (entry.content.len() + entry.zeros) as u64;
    match entry.coding {
        Coding::Stored => stored_bytes(entry) - ENTRY,
        Coding::Lz4 => size + 8,
        Coding::Zstd => size,
    }
}

/// What a ledger of these entries says.
fn rows<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Rows {
    let mut rows = Rows::new();
    for entry in entries {
        let suffix = match entry.flags & 0x30_0000 {
            0x10_0000 => "a",
            0x20_0000 => "f",
            _ => "",
        };
        let (prefix, kind) = match entry.kind {
            1 => ("compute", "ptx"),
            2 => ("sm", "sass"),
            _ => ("lto", "lto"),
        };
        let isa = match entry.kind {
            1 => format!("{}.{}", entry.version.1, entry.version.0),
            _ => String::new(),
        };
        let compression = match entry.coding {
            Coding::Stored => "none",
            Coding::Lz4 => "lz4",
            Coding::Zstd => "zstd",
        };
        let arch = format!("{prefix}_{}{suffix}", entry.arch);
        let row = rows.entry([arch, kind.to_owned(), isa, compression.to_owned()]).or_default();
        for (sum, more) in row.iter_mut().zip([1, stored_bytes(entry), unpacked_bytes(entry)]) {
            *sum += more;
        }
    }
    rows
}

/// The ledger of a library in the report.
fn reported(library: &Value) -> Rows {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let list = items(&library["gpu_code"]).iter();
    list.map(|row| {
        let key = ["arch", "kind", "isa", "compression"].map(|field| text(&row[field]));
        (key, ["entries", "bytes", "uncompressed_bytes"].map(|field| number(&row[field])))
    })
    .collect()
}

fn sum(library: &Value) -> u64 {
    items(&library["gpu_code"]).iter().map(|row| number(&row["bytes"])).sum()
}

fn lto(arch: u32) -> Entry {
    Entry { kind: 8, version: (64, 1), ..Entry::cubin(arch, None, 700, Coding::Stored, "lto") }
}

/// Entries of every kind.
fn entries() -> Vec<Entry> {
    vec![
        Entry::cubin(80, None, 3_000, Coding::Stored, "first"),
        Entry::cubin(80, None, 1_111, Coding::Stored, "second"),
        Entry::cubin(80, None, 2_000, Coding::Zstd, "third"),
        Entry::cubin(90, Some('a'), 4_000, Coding::Lz4, "a"),
        Entry::cubin(90, None, 900, Coding::Lz4, "b"),
        Entry::cubin(100, Some('f'), 2_500, Coding::Zstd, "c"),
        Entry::ptx(90, (8, 4), 1_500, Coding::Stored, "d"),
        Entry::ptx(120, (9, 0), 2_500, Coding::Zstd, "e"),
        lto(89),
    ]
}

fn in_both_kinds_of_layers(members: &[Member]) -> [Report; 2] {
    [Packing::Gzip, Packing::Plain].map(|packing| report_of(&image(packing, &[members.to_vec()])))
}

#[test]
fn the_ledger_is_what_was_written_and_adds_up_to_the_sections() {
    let all = entries();
    let (main, relocatable) = all.split_at(5);
    let fatbin = [container(&main[..2]), container(&main[2..]), container(&[])].concat();
    let rdc = container(relocatable);
    let sections = (fatbin.len() + rdc.len()) as u64;
    let elf = Elf::library("libkernels.so")
        .with_section(".nv_fatbin", fatbin)
        .with_section("__nv_relfatbin", rdc)
        .with_section(".nvFatBinSegment", wrapper());
    for report in in_both_kinds_of_layers(&[file("opt/app/libkernels.so", elf.build())]) {
        let library = library(&report, "/opt/app/libkernels.so");
        assert_eq!(reported(library), rows(&all));
        assert_eq!(number(&library["overhead_bytes"]), 4 * CONTAINER);
        assert_eq!(number(&library["gpu_section_bytes"]), sections);
        assert_eq!(sum(library) + number(&library["overhead_bytes"]), sections);
    }
}

#[test]
fn containers_among_other_data_are_found_in_plain_layers_too() {
    let all = entries();
    let (first, second) = (container(&all[..3]), container(&all[3..]));
    let other = |bytes: usize| vec![0x5a; bytes];
    let resource = [other(4_096), first.clone(), other(800), second.clone(), other(64)].concat();
    let elf = Elf::library("libcublasLt.so.12").with_section(".cask_resource", resource);
    let [gzip, plain] = in_both_kinds_of_layers(&[file("opt/app/libcublasLt.so.12", elf.sized(60_000))]);
    for report in [&gzip, &plain] {
        let library = library(report, "/opt/app/libcublasLt.so.12");
        assert_eq!(reported(library), rows(&all));
        // The rest of the section is something else.
        assert_eq!(number(&library["gpu_section_bytes"]), (first.len() + second.len()) as u64);
        assert_eq!(number(&library["overhead_bytes"]), 2 * CONTAINER);
    }
    assert_eq!(gzip.json["cuda"], plain.json["cuda"]);
}

#[test]
fn a_library_without_gpu_code_has_an_empty_ledger() {
    let report =
        report_of_members(vec![file("opt/app/libcudart.so.13", Elf::library("libcudart.so.13").build())]);
    let library = library(&report, "/opt/app/libcudart.so.13");
    assert_eq!(reported(library), Rows::new());
    assert_eq!(number(&library["gpu_section_bytes"]), 0);
    assert_eq!(items(&report.json["cuda"]["gpu_code"]).len(), 0);
}

#[test]
fn the_image_sum_is_that_of_its_parts_by_what_holds_them() {
    let entry = |arch: u32, size: usize| Entry::cubin(arch, None, size, Coding::Zstd, "x");
    let library_entry = entry(90, 5_000);
    let program_entry = entry(90, 4_000);
    let archived = [entry(90, 3_000), entry(80, 3_000)];
    let loose = [entry(90, 2_000), Entry::ptx(90, (8, 3), 900, Coding::Stored, "y")];
    let elf = Elf::library("libkernels.so")
        .with_section(".nv_fatbin", container(std::slice::from_ref(&library_entry)));
    let service =
        program("service", &[]).with_section(".nv_fatbin", container(std::slice::from_ref(&program_entry)));
    let members = archived.iter().enumerate().map(|(number, entry)| {
        let code = container(std::slice::from_ref(entry));
        (format!("{number}.o"), object(1, 62, 0, (0, 0), &[(".text", &[0x90; 33]), (".nv_fatbin", &code)]))
    });
    let cubin = object(2, 190, 0x0600_5a04, (0x41, 8), &[(".text.kernel", &[1; 1_000])]);
    let report = report_of_members(vec![
        file("opt/app/libkernels.so", elf.build()),
        hardlink("opt/app/libkernels.so.1", "opt/app/libkernels.so"),
        file("opt/app/service", service.build()).mode(0o755),
        file("opt/app/libkernels_static.a", archive(&members.collect::<Vec<_>>())),
        file("opt/app/kernels.fatbin", container(&loose)),
        file("opt/app/kernels.cubin", cubin.clone()),
    ]);
    let of = |entry: &Entry| stored_bytes(entry);
    // Architecture, and bytes in libraries, executables, archives and files.
    let expected = [
        (
            "sm_90",
            [of(&library_entry), of(&program_entry), of(&archived[0]), of(&loose[0]) + cubin.len() as u64],
        ),
        ("sm_80", [0, 0, of(&archived[1]), 0]),
        ("compute_90", [0, 0, 0, of(&loose[1])]),
    ];
    let sums = &report.json["cuda"]["gpu_code"];
    assert_eq!(items(sums).len(), expected.len(), "{sums:#}");
    for (arch, by_holder) in expected {
        let sum = super::entry(sums, "arch", arch);
        let found =
            ["libraries", "executables", "archives", "files"].map(|kind| number(&sum["by_holder"][kind]));
        assert_eq!(found, by_holder, "{arch}");
        assert_eq!(number(&sum["bytes"]), by_holder.iter().sum::<u64>(), "{arch}");
    }
    let unpacked = number(&super::entry(sums, "arch", "sm_80")["uncompressed_bytes"]);
    assert_eq!(unpacked, unpacked_bytes(&archived[1]));
    // The second name is listed with the code, and counted nowhere again.
    assert_eq!(sum(library(&report, "/opt/app/libkernels.so.1")), of(&library_entry));
}

#[test]
fn a_loose_ptx_file_counts_as_gpu_code() {
    let ptx = ".version 8.7\n.target sm_90a\n.address_size 64\n".repeat(9);
    for report in in_both_kinds_of_layers(&[file("opt/app/kernels.ptx", ptx.clone())]) {
        let sum = super::entry(&report.json["cuda"]["gpu_code"], "arch", "compute_90a");
        assert_eq!(sum["kind"], "ptx");
        assert_eq!(number(&sum["by_holder"]["files"]), ptx.len() as u64);
    }
}
