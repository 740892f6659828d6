#![allow(clippy::cast_possible_truncation, reason = "all numbers are our own and small")]

pub(in crate::formats) mod build;

use std::sync::Arc;

use super::{BinaryLimits, FileFacts, Scan, fuzz_file, read, read_deferred};
use crate::base::Section;
use crate::formats::fatbin::Suffix;
use crate::jobs::CancelToken;
use build::{archive, container, entry, object};

/// The facts of `file`, the same from a stream in pieces of any length and from ranges.
pub(in crate::formats) fn both(file: &[u8], name: &[u8], limits: &BinaryLimits) -> Option<FileFacts> {
    let size = file.len() as u64;
    let streamed = |piece: usize| {
        let mut scan = Scan::start(&file[..file.len().min(64)], size, name, limits)?;
        file.chunks(piece).for_each(|bytes| scan.push(bytes));
        Some(scan.finish())
    };
    let facts = streamed(file.len().max(1));
    for piece in [1, 7, 4096] {
        assert_eq!(facts, streamed(piece), "pieces of {piece}");
    }
    let ranges = Section::new(Arc::new(file.to_vec()), 0, size);
    let cancel = CancelToken::new();
    let mut read = read(&ranges, &file[..file.len().min(64)], name, limits, &cancel).unwrap();
    if let Some(read) = &mut read {
        read_deferred(&ranges, read, limits, &cancel).unwrap();
    }
    assert_eq!(facts, read, "stream, ranges");
    facts
}

fn facts(file: &[u8], name: &[u8]) -> Option<FileFacts> {
    both(file, name, &BinaryLimits::default())
}

#[test]
fn files_of_no_interest_are_told_by_their_head() {
    for file in [&b""[..], b"\x7fEL", b"#!/bin/sh\n", b"\xca\xfe\xba\xbe\0\0\0\x41", b"PK\x03\x04"] {
        assert_eq!(facts(file, b"a.so"), None);
    }
}

#[test]
fn ptx_needs_its_name_and_its_content() {
    let text = b"//\n// Generated\n\n.version 8.3\n.target sm_90a, debug\n.address_size 64\n";
    assert_eq!(facts(text, b"kernel.txt"), None);
    let found = facts(text, b"kernel.ptx");
    let (isa, suffix) = (Some((8, 3)), Some(Suffix::A));
    assert_eq!(found, Some(FileFacts::Ptx { isa, arch: Some(90), suffix, bytes: text.len() as u64 }));
    let other = FileFacts::Ptx { isa: None, arch: None, suffix: None, bytes: 9 };
    assert_eq!(
        facts(b"no \xffptx at", b"x.ptx"),
        Some(FileFacts::Ptx { isa: None, arch: None, suffix: None, bytes: 10 })
    );
    assert_eq!(facts(b".version ", b"x.ptx"), Some(other));
}

#[test]
fn programs_of_other_systems() {
    let mut file = b"MZ".to_vec();
    file.resize(0x3c, 0);
    file.extend(0x80_u32.to_le_bytes());
    file.resize(0x80, 0);
    file.extend(b"PE\0\0\x64\x86");
    assert_eq!(facts(&file, b"a.dll"), Some(FileFacts::Pe { machine: 0x8664 }));
    assert_eq!(facts(b"MZ", b"a.com"), Some(FileFacts::Pe { machine: 0 }));
    assert_eq!(facts(&[0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1], b"a.dylib"), Some(FileFacts::MachO));
    assert_eq!(facts(&[0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 2], b"a.dylib"), Some(FileFacts::MachO));
}

#[test]
fn a_loose_file_of_containers_adds_up() {
    let mut file = container(&[entry(2, 90, 0x11, 64)]);
    file.extend([0; 24]);
    file.extend(container(&[entry(1, 90, 0x11, 16)]));
    file.extend(b"left over");
    let Some(FileFacts::Fatbin(gpu)) = facts(&file, b"a.fatbin") else { panic!("no fatbin") };
    let section = &gpu.sections[0];
    assert_eq!((section.containers, section.entries), (2, 2));
    assert_eq!((section.entry_bytes, section.overhead_bytes, section.unaccounted_bytes), (208, 32 + 24, 9));
    assert_eq!(gpu.problems.len(), 1);
}

#[test]
fn a_stream_that_ends_early_says_so() {
    let gpu = container(&[entry(2, 90, 0x11, 64)]);
    let file = object(&[(".text", 1, vec![7; 600]), (".nv_fatbin", 1, gpu)]);
    for count in 0..file.len() {
        let Some(mut scan) = Scan::start(&file[..64], file.len() as u64, b"a.o", &BinaryLimits::default())
        else {
            panic!("no ELF")
        };
        scan.push(&file[..count]);
        let FileFacts::Elf(elf) = scan.finish() else { panic!("no ELF") };
        assert!(elf.problems.iter().any(|problem| problem.what.contains("truncated")), "{count}");
    }
}

#[test]
fn files_cut_at_every_byte_are_read_alike() {
    let gpu = container(&[entry(2, 90, 0x11, 64), entry(1, 90, 0x11, 40)]);
    let sections = [(".nv_fatbin", 1, gpu.clone()), (".cask_resource", 1, [vec![9; 16], gpu].concat())];
    let file = object(&sections);
    for count in 64..file.len() {
        both(&file[..count], b"a.o", &BinaryLimits::default());
    }
}

/// A small deterministic fuzz loop: flipped, zeroed and copied bytes in files of every kind.
#[test]
fn damaged_files_never_panic() {
    let gpu = container(&[entry(2, 90, 0x11, 64), entry(8, 100, 0x12011, 40)]);
    let sections =
        [(".nv_fatbin", 1, gpu.clone()), (".text", 1, vec![3; 700]), (".cask_resource", 1, gpu.clone())];
    let elf = object(&sections);
    let library = build::Library::sample().build();
    let archive = archive(&[("a.o/", &elf), ("b.o/", &elf)]);
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    for file in [&gpu, &elf, &library, &archive] {
        for _ in 0..400 {
            let mut file = file.clone();
            for _ in 0..=random(4) {
                let at = random(file.len());
                match random(4) {
                    0 => file[at] = random(256) as u8,
                    1 => file[at] = 0xff,
                    2 => file[at] = 0,
                    _ => file.truncate(at.max(70)),
                }
            }
            fuzz_file(&file, b"libcuda.so.1");
        }
    }
}

/// An object of so many sections that their number stands in the first section header (`e_shnum` is 0): functions, then
/// GPU code and the names.
fn large_object(sections: u64) -> Vec<u8> {
    let gpu = container(&[entry(2, 90, 0x11, 64)]);
    let names = b"\0.text.function\0.nv_fatbin\0.shstrtab\0";
    let (gpu_at, names_at) = (64, 64 + gpu.len() as u64);
    let table_at = (names_at + names.len() as u64).next_multiple_of(8);
    let mut out = b"\x7fELF\x02\x01\x01".to_vec();
    out.resize(16, 0);
    out.extend([1, 0, 62, 0, 1, 0, 0, 0]);
    out.resize(40, 0);
    out.extend(table_at.to_le_bytes());
    out.resize(52, 0);
    out.extend([64, 0, 0, 0, 0, 0, 64, 0, 0, 0, 0xff, 0xff]);
    out.extend(gpu.iter().chain(names));
    out.resize(usize::try_from(table_at).unwrap(), 0);
    let mut section = |name: u32, kind: u32, at: u64, bytes: u64, link: u64| {
        out.extend(name.to_le_bytes().iter().chain(&kind.to_le_bytes()));
        for value in [0, 0, at, bytes, link, 0, 0] {
            out.extend(value.to_le_bytes());
        }
    };
    section(0, 0, 0, sections, sections - 1);
    for _ in 0..sections - 3 {
        section(1, 1, 64, 16, 0);
    }
    section(16, 1, gpu_at, gpu.len() as u64, 0);
    section(27, 3, names_at, names.len() as u64, 0);
    out
}

#[test]
fn as_many_sections_as_the_largest_libraries_of_cuda_have_are_read() {
    let small = object(&[(".nv_fatbin", 1, container(&[entry(2, 80, 0x11, 64)]))]);
    let file = archive(&[("one.o/", &large_object(85_911)), ("two.o/", &small)]);
    let limits = BinaryLimits::default();
    let (size, head) = (file.len() as u64, &file[..64]);
    let mut scan = Scan::start(head, size, b"lib.a", &limits).unwrap();
    file.chunks(64 << 10).for_each(|bytes| scan.push(bytes));
    let ranges = Section::new(Arc::new(file.clone()), 0, size);
    let mut facts_by_range = read(&ranges, head, b"lib.a", &limits, &CancelToken::new()).unwrap().unwrap();
    read_deferred(&ranges, &mut facts_by_range, &limits, &CancelToken::new()).unwrap();
    for facts in [scan.finish(), facts_by_range] {
        let FileFacts::Archive(facts) = facts else { panic!("no archive: {facts:?}") };
        assert_eq!(facts.problems, []);
        let rows: Vec<_> = facts.gpu.rows.iter().map(|row| (row.arch_name(), row.entries)).collect();
        assert_eq!(rows, [("sm_80".to_owned(), 1), ("sm_90".to_owned(), 1)]);
    }
}
