#![allow(clippy::cast_possible_truncation, reason = "all numbers are our own and small")]

mod hostile;

use super::{ElfFacts, ElfKind, fuzz_elf};
use crate::formats::binary::tests::both;
use crate::formats::binary::tests::build::{Library, container, entry, object};
use crate::formats::binary::{BinaryLimits, FileFacts};
use crate::formats::fatbin::{GpuKind, Suffix};

/// A head so small that most of a file lies behind it.
fn small() -> BinaryLimits {
    BinaryLimits { head_bytes: 512, ..BinaryLimits::default() }
}

fn elf(file: &[u8], name: &[u8], limits: &BinaryLimits) -> ElfFacts {
    match both(file, name, limits) {
        Some(FileFacts::Elf(facts)) => *facts,
        other => panic!("no ELF file: {other:?}"),
    }
}

fn check_sample(facts: &ElfFacts) {
    assert_eq!(facts.problems, []);
    assert_eq!(facts.kind, ElfKind::SharedObject);
    assert_eq!(facts.needed, [b"libc.so.6"]);
    assert_eq!(facts.soname.as_deref(), Some(&b"libme.so"[..]));
    assert_eq!(facts.runpath.as_deref(), Some(&b"$ORIGIN/../x"[..]));
    assert_eq!(facts.rpath, None);
    assert_eq!(facts.interpreter.as_deref(), Some(&b"/lib/ld.so"[..]));
    assert_eq!(facts.build_id.as_deref(), Some(&[1, 2, 3, 4, 5, 6, 7, 8][..]));
    assert!(facts.pie && facts.no_default_lib && !facts.is_static);
}

#[test]
fn both_classes_and_byte_orders() {
    for (class64, little) in [(true, true), (true, false), (false, true), (false, false)] {
        let facts = elf(&Library::with(class64, little).build(), b"libme.so", &BinaryLimits::default());
        check_sample(&facts);
        assert_eq!((facts.class64, facts.little_endian, facts.machine), (class64, little, 62));
        assert!(facts.version_needs_known);
        assert_eq!(facts.version_needs.len(), 1);
        assert_eq!(facts.version_needs[0].file, b"libc.so.6");
        assert_eq!(facts.version_needs[0].versions, [b"GLIBC_2.34"]);
    }
}

/// Linkers put the dynamic table far behind its strings, patchelf moves the strings behind the table.
#[test]
fn names_are_found_wherever_the_strings_lie() {
    for order in
        [[".dynstr", ".fill", ".dynamic"], [".fill", ".dynstr", ".dynamic"], [".fill", ".dynamic", ".dynstr"]]
    {
        let mut library = Library::sample();
        library.add(".fill", 1, (0..30_000_u32).flat_map(u32::to_le_bytes).collect());
        let place = |name: &str| order.iter().position(|other| *other == name).map_or(0, |at| at + 1);
        library.sections.sort_by_key(|section| place(&section.0));
        check_sample(&elf(&library.build(), b"libme.so", &small()));
    }
}

/// patchelf puts both into a new segment, the strings first.
#[test]
fn strings_just_before_a_late_dynamic_table_are_found() {
    let mut library = Library::sample();
    library.add(".fill", 1, vec![1; 100_000]);
    let place = |name: &str| usize::from(name == ".dynstr") + usize::from(name == ".dynamic") * 2;
    library.sections.sort_by_key(|section| place(&section.0));
    let mut file = library.build();
    // The first segment ends early, a second one holds strings and table, in place of the note.
    let at = 100_000_u64;
    let rest = file.len() as u64 - at;
    file[64 + 32..64 + 40].copy_from_slice(&at.to_le_bytes());
    let second = 64 + 2 * 56;
    file[second..second + 4].copy_from_slice(&1_u32.to_le_bytes());
    for (field, value) in [(8, at), (16, at), (32, rest), (40, rest)] {
        file[second + field..second + field + 8].copy_from_slice(&value.to_le_bytes());
    }
    let facts = elf(&file, b"libme.so", &small());
    assert_eq!((facts.problems.len(), facts.needed.len(), facts.version_needs.len()), (0, 1, 1));
}

/// Some linkers put a segment of code before that of the strings.
#[test]
fn strings_behind_a_segment_of_code_are_found() {
    let mut library = Library::sample();
    library.add(".code", 1, vec![1; 100_000]);
    library.add(".fill", 1, vec![1; 100_000]);
    let order = [".code", ".dynstr", ".fill", ".dynamic"];
    let place = |name: &str| order.iter().position(|other| *other == name).map_or(0, |at| at + 1);
    library.sections.sort_by_key(|section| place(&section.0));
    let mut file = library.build();
    let all = file.len() as u64;
    // Code, strings in place of the interpreter, the table in place of the note; each with its flags.
    let segments = [(0, 5, 0, 100_000), (1, 4, 100_000, 100_000), (2, 6, 200_000, all - 200_000)];
    for (number, flags, at, bytes) in segments {
        let header = 64 + number * 56;
        file[header..header + 4].copy_from_slice(&1_u32.to_le_bytes());
        file[header + 4..header + 8].copy_from_slice(&u32::to_le_bytes(flags));
        for (field, value) in [(8, at), (16, at), (32, bytes), (40, bytes)] {
            file[header + field..header + field + 8].copy_from_slice(&u64::to_le_bytes(value));
        }
    }
    let facts = elf(&file, b"libme.so", &small());
    assert_eq!(facts.problems, []);
    assert_eq!(facts.needed, [b"libc.so.6"]);
}

/// BOLT writes the program headers behind everything they name.
#[test]
fn late_program_headers_are_found() {
    let mut library = Library::sample();
    library.add(".fill", 1, vec![1; 100_000]);
    library.add(".programs", 1, vec![0; 56 * 4]);
    let mut file = library.build();
    let at = file.len() - 64 * 8 - 100 - 56 * 4;
    let at = at - at % 8;
    let programs = file[64..64 + 56 * 4].to_vec();
    file[at..at + 56 * 4].copy_from_slice(&programs);
    file[64..64 + 56 * 4].fill(0);
    file[32..40].copy_from_slice(&(at as u64).to_le_bytes());
    let facts = elf(&file, b"libme.so", &BinaryLimits { head_bytes: 16_384, ..BinaryLimits::default() });
    check_sample(&facts);
}

#[test]
fn gpu_code_is_counted_by_section() {
    let gpu = container(&[entry(2, 90, 0x10_2011, 64), entry(1, 90, 0x11, 40)]);
    let hidden = [vec![9; 24], gpu.clone(), vec![8; 16]].concat();
    let mut library = Library::sample();
    library.add(".rodata", 1, gpu.clone());
    library.add(".nv_fatbin", 1, [gpu.clone(), gpu.clone()].concat());
    library.add("__nv_relfatbin", 1, gpu.clone());
    library.add(".cask_resource", 1, hidden.clone());
    library.add(".hip_fatbin", 1, gpu.clone());
    for limits in [BinaryLimits::default(), small()] {
        let facts = elf(&library.build(), b"libme.so", &limits);
        check_sample(&facts);
        let facts = facts.gpu.unwrap();
        let seen: Vec<_> =
            facts.sections.iter().map(|s| (s.name.as_str(), s.containers, s.exclusive)).collect();
        let wanted = [(".nv_fatbin", 2, true), ("__nv_relfatbin", 1, true), (".cask_resource", 1, false)];
        assert_eq!(seen, wanted);
        assert!(facts.sections.iter().all(|section| section.unaccounted_bytes == 0));
        assert_eq!(facts.sections[2].bytes, hidden.len() as u64);
        assert_eq!(facts.rows.len(), 2);
        let row = &facts.rows[0];
        assert_eq!(
            (row.kind, row.arch_name().as_str(), row.suffix),
            (GpuKind::Sass, "sm_90a", Some(Suffix::A))
        );
        assert_eq!((row.entries, row.bytes, row.uncompressed_bytes), (4, 4 * 128, 4 * 256));
        assert_eq!(facts.rows[1].isa, Some((8, 3)));
    }
}

#[test]
fn without_section_names_all_containers_count() {
    let gpu = container(&[entry(2, 90, 0x11, 64)]);
    let mut library = Library { no_table: true, ..Library::sample() };
    library.add(".nv_fatbin", 1, gpu);
    let file = library.build();
    let facts = elf(&file, b"libme.so", &small()).gpu.unwrap();
    assert_eq!((facts.sections[0].name.as_str(), facts.sections[0].bytes), ("", file.len() as u64));
    assert_eq!((facts.sections[0].exclusive, facts.rows[0].bytes), (false, 128));
}

#[test]
fn overlapping_sections_count_once() {
    let gpu = container(&[entry(2, 90, 0x11, 64)]);
    let mut file = object(&[(".nv_fatbin", 1, gpu.clone()), ("__nv_relfatbin", 1, gpu.clone())]);
    // The second section starts where the first does.
    let table = u64::from_le_bytes(file[40..48].try_into().unwrap()) as usize;
    let first: [u8; 8] = file[table + 64 + 24..table + 64 + 32].try_into().unwrap();
    file[table + 128 + 24..table + 128 + 32].copy_from_slice(&first);
    let facts = elf(&file, b"a.o", &small());
    assert_eq!(facts.problems.len(), 1);
    let gpu = facts.gpu.unwrap();
    assert_eq!((gpu.sections.len(), gpu.rows[0].entries), (1, 1));
}

#[test]
fn the_note_of_a_compatibility_package() {
    let json = br#"{"format":1,"CUDA version":"12.9","driver":[535,550]}"#;
    let mut note = Vec::new();
    for word in [19, json.len() as u32, 1] {
        note.extend(word.to_le_bytes());
    }
    note.extend(b"NVIDIA Corporation\0\0");
    note.extend(json);
    let mut library = Library::sample();
    library.add(".fill", 1, vec![5; 90_000]);
    library.add(".note.cuda.fwd_compatibility", 7, note);
    library.add(".tail", 1, vec![6; 90_000]);
    for limits in [BinaryLimits::default(), small()] {
        let facts = elf(&library.build(), b"libcuda.so.575.57.08", &limits);
        assert_eq!(facts.forward_compat.as_deref(), Some(std::str::from_utf8(json).unwrap()));
        check_sample(&facts);
        assert_eq!(elf(&library.build(), b"libother.so", &limits).forward_compat, None);
    }
}

#[test]
fn a_cubin_is_one_row() {
    let build = |flags, abi| {
        let cubin = Library { kind: 2, machine: 190, flags, abi, ..Library::default() };
        elf(&cubin.build(), b"a.cubin", &small())
    };
    for (flags, abi, arch, suffix) in [
        (0x0050_0550, 0x33, 80, None),
        (0x005a_0d5a, 0x33, 90, Some(Suffix::A)),
        (0x0600_6402, 0x41, 100, None),
        (0x0600_640a, 0x41, 100, Some(Suffix::A)),
    ] {
        let facts = build(flags, abi);
        assert_eq!(facts.cubin, Some((arch, suffix)));
        let gpu = facts.gpu.unwrap();
        assert_eq!((gpu.rows.len(), gpu.sections.len(), gpu.rows[0].arch), (1, 1, arch));
        assert_eq!(gpu.rows[0].bytes, gpu.sections[0].bytes);
    }
}

#[test]
fn lying_tables_are_bounded() {
    let sound = Library::sample().build();
    let table = u64::from_le_bytes(sound[40..48].try_into().unwrap()) as usize;
    // Counts, offsets and sizes of the headers, one after the other, at their largest.
    let fields = [(32, 8), (40, 8), (54, 2), (56, 2), (58, 2), (60, 2), (62, 2)].into_iter();
    let segments = (0..4).flat_map(|at| [8, 16, 32, 48].map(|field| (64 + at * 56 + field, 8)));
    let sections =
        (0..6).flat_map(|at| [(0, 4), (4, 4), (24, 8), (32, 8)].map(|(f, n)| (table + at * 64 + f, n)));
    for (at, bytes) in fields.chain(segments).chain(sections) {
        for value in [0xff_u8, 0x7f] {
            let mut file = sound.clone();
            file[at..at + bytes].fill(value);
            fuzz_elf(&file[4..]);
            both(&file, b"libme.so", &BinaryLimits::default());
        }
    }
}

#[test]
fn more_than_the_limits_allow_is_said() {
    let mut library = Library::sample();
    library.dynamic.extend([(1, 1); 20]);
    let limits = BinaryLimits { needed: 5, string_bytes: 8, problems: 3, ..BinaryLimits::default() };
    let facts = elf(&library.build(), b"libme.so", &limits);
    assert_eq!(facts.needed, Vec::<Vec<u8>>::new());
    assert_eq!(facts.problems.len(), 4);
    assert!(facts.problems[1].what.contains("beyond the first 5"));
    assert!(facts.problems[3].what.contains("more problem"));
}

#[test]
fn only_files_for_a_machine_need_names() {
    for (machine, problems) in [(62, 1), (0, 0)] {
        // As Guile writes its code: a dynamic table without strings.
        let mut file = Library { machine, ..Library::sample() }.build();
        let tags = [(1_u64, 1_u64), (14, 11)].map(|(tag, at)| [tag.to_le_bytes(), at.to_le_bytes()].concat());
        let table = file.windows(32).position(|bytes| *bytes == tags.concat()).unwrap();
        for tag in file[table..].chunks_exact_mut(16).take_while(|tag| **tag != [0; 16]) {
            tag[..8].copy_from_slice(&0x6fff_0000_u64.to_le_bytes());
        }
        let facts = elf(&file, b"boot.go", &BinaryLimits::default());
        assert_eq!(facts.problems.len(), problems, "{:?}", facts.problems);
        assert_eq!(facts.needed, Vec::<Vec<u8>>::new());
    }
}
