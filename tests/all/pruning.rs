//! GPU code of other architectures taken out of linked files.

mod mutations;

use std::sync::Arc;

use cutaway::base::Section;
use cutaway::cuda::pruning::{
    GpuCodeLocator, PruneCheck, PruneMismatch, PrunePlan, PruneRule, locate_gpu_code,
};
use cutaway::formats::binary::{BinaryLimits, FileFacts, Scan};
use cutaway::formats::fatbin::{GpuFacts, LocatedGpuCode, arch_name};
use cutaway::formats::pieces::{Pieces, PiecesWriter};
use cutaway::jobs::CancelToken;

use crate::fixtures::elf::{Elf, object};
use crate::fixtures::fatbin::{Coding, Entry, container};

/// A head so small that most of a file is after it.
fn limits() -> BinaryLimits {
    BinaryLimits { head_bytes: 256, ..BinaryLimits::default() }
}

fn cubin(arch: u32, suffix: Option<char>) -> Entry {
    Entry::cubin(arch, suffix, 700, Coding::Lz4, "kernel")
}

fn ptx(arch: u32) -> Entry {
    Entry::ptx(arch, (8, 0), 300, Coding::Zstd, "kernel")
}

/// A library with four containers in three sections.
fn library() -> Vec<u8> {
    let first = container(&[cubin(50, None), cubin(90, None), cubin(80, None), ptx(90)]);
    let second = container(&[cubin(70, None), cubin(75, None)]);
    let third = container(&[ptx(70), ptx(80), cubin(90, Some('a')), cubin(86, None)]);
    let data =
        [b"configuration\0\0\0".to_vec(), container(&[cubin(86, None), ptx(86)]), vec![7; 40]].concat();
    Elf::library("libkernels.so")
        .with_section(".nv_fatbin", [first, second].concat())
        .with_section("__nv_relfatbin", third)
        .with_section(".rodata", data)
        .build()
}

fn located(file: &[u8], chunk: usize) -> LocatedGpuCode {
    located_within(file, chunk, &limits())
}

fn located_within(file: &[u8], chunk: usize, limits: &BinaryLimits) -> LocatedGpuCode {
    let mut locator = GpuCodeLocator::start(file, file.len() as u64, limits).expect("an ELF file");
    file.chunks(chunk).for_each(|bytes| locator.push(bytes));
    locator.finish()
}

/// The new file, as it comes out of chunks of the old one.
fn written(pieces: &Pieces, old: &[u8], chunk: usize) -> Vec<u8> {
    let mut new = Vec::new();
    let mut writer = PiecesWriter::new(pieces);
    old.chunks(chunk).for_each(|bytes| writer.push(bytes, &mut new).unwrap());
    writer.finish(&mut new).unwrap();
    new
}

fn checked(code: &LocatedGpuCode, stays: &[bool], old: &[u8], new: &[u8]) -> Result<(), PruneMismatch> {
    let mut check = PruneCheck::new(code, stays, &limits());
    check.push_old(old);
    check.push_new(new);
    check.finish()
}

/// The file pruned for these targets, checked.
fn pruned(file: &[u8], targets: &[u32]) -> (LocatedGpuCode, PrunePlan, Vec<u8>) {
    let code = located(file, 97);
    let plan = PruneRule::new(targets.iter().copied(), false).plan(&code);
    let new = written(&plan.pieces(&code), file, 61);
    assert_eq!(checked(&code, plan.stays(), file, &new), Ok(()));
    (code, plan, new)
}

/// Names of the entries, by container.
fn names(code: &LocatedGpuCode) -> Vec<String> {
    let name = |one: &cutaway::formats::fatbin::Entry| arch_name(one.kind, one.arch, one.suffix);
    let of = |names: Vec<String>| names.join(" ");
    code.containers.iter().map(|one| of(code.entries_of(one).iter().map(name).collect())).collect()
}

fn facts(file: &[u8]) -> GpuFacts {
    let mut scan = Scan::start(file, file.len() as u64, b"lib.so", &BinaryLimits::default()).unwrap();
    scan.push(file);
    match scan.finish() {
        FileFacts::Elf(facts) => *facts.gpu.unwrap_or_default(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn streams_and_ranges_locate_the_same_containers() {
    let file = library();
    let whole = located(&file, file.len());
    assert_eq!(whole.problems, []);
    let sections: Vec<&str> = whole.sections.iter().map(|section| section.name.as_str()).collect();
    assert_eq!(sections, [".nv_fatbin", "__nv_relfatbin", ".rodata"]);
    let wanted = [
        "sm_50 sm_90 sm_80 compute_90",
        "sm_70 sm_75",
        "compute_70 compute_80 sm_90a sm_86",
        "sm_86 compute_86",
    ];
    assert_eq!(names(&whole), wanted);
    for one in &whole.containers {
        let at = usize::try_from(one.at).unwrap();
        assert_eq!(file[at..at + 4], [0x50, 0xed, 0x55, 0xba]);
        let bytes: u64 = whole.entries_of(one).iter().map(|entry| entry.bytes).sum();
        assert_eq!(file[at + 8..at + 16], bytes.to_le_bytes());
        assert_eq!((one.header_bytes, one.entry_bytes, one.end()), (16, bytes, one.at + 16 + bytes));
        assert!(whole.entries_of(one).iter().all(|entry| entry.header_bytes == 64 && entry.is_known()));
    }
    for chunk in [1, 7, 64, 4_096] {
        assert_eq!(located(&file, chunk), whole, "{chunk}");
    }
    let section = Section::new(Arc::new(file.clone()), 0, file.len() as u64);
    assert_eq!(locate_gpu_code(&section, &limits(), &CancelToken::new()).unwrap(), Some(whole));
    let text = Section::new(Arc::new(b"text".to_vec()), 0, 4);
    assert_eq!(locate_gpu_code(&text, &limits(), &CancelToken::new()).unwrap(), None);
    assert!(GpuCodeLocator::start(b"text", 4, &limits()).is_none());
}

#[test]
fn what_stays_moves_up_and_the_rest_becomes_zeros() {
    let file = library();
    let (code, plan, new) = pruned(&file, &[90]);
    assert!(plan.is_change());
    assert_eq!(new.len(), file.len());
    let again = located(&new, 50);
    assert_eq!(names(&again), ["sm_90", "", "sm_90a", "compute_86"]);
    assert_eq!(again.problems, []);
    let starts = |code: &LocatedGpuCode| code.containers.iter().map(|one| one.at).collect::<Vec<_>>();
    assert_eq!(starts(&again), starts(&code));

    // To the byte: the second entry of the first container follows its header.
    let place = |at: u64| usize::try_from(at).unwrap();
    let (first, entries) = (&code.containers[0], code.entries_of(&code.containers[0]));
    let (old_at, bytes) = (place(first.entries_at() + entries[0].bytes), place(entries[1].bytes));
    let start = place(first.at);
    assert_eq!(new[start..start + 8], file[start..start + 8]);
    assert_eq!(new[start + 8..start + 16], (bytes as u64).to_le_bytes());
    assert_eq!(new[start + 16..start + 16 + bytes], file[old_at..old_at + bytes]);
    assert!(new[start + 16 + bytes..place(first.end())].iter().all(|byte| *byte == 0));

    // The empty one keeps its header.
    let second = place(code.containers[1].at);
    assert_eq!(new[second..second + 16], [0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn the_ledger_adds_up_and_a_second_run_changes_nothing() {
    let file = library();
    for targets in [&[50][..], &[75], &[86], &[90], &[86, 90], &[120], &[]] {
        let (code, plan, new) = pruned(&file, targets);
        let ledger = plan.ledger();
        let size: u64 = code.containers.iter().map(|one| one.end() - one.at).sum();
        assert_eq!((ledger.containers, ledger.before_bytes), (4, size));
        assert_eq!(ledger.overhead_bytes, 4 * 16);
        assert_eq!(ledger.before_bytes, ledger.overhead_bytes + ledger.kept_bytes() + ledger.removed_bytes());
        assert_eq!(ledger.kept_entries() + ledger.removed_entries(), code.entries.len() as u64);
        let left: u64 = located(&new, 999).entries.iter().map(|entry| entry.bytes).sum();
        assert_eq!(left, ledger.kept_bytes());
        let rows: Vec<_> = ledger.named_rows().collect();
        assert!(rows.iter().all(|(_, row)| row.kept_entries + row.removed_entries > 0));

        let (again, plan, same) = pruned(&new, targets);
        assert!(!plan.is_change() && same == new, "{targets:?}");
        assert!(plan.pieces(&again).is_unchanged(new.len() as u64));
        assert_eq!((plan.ledger().changed, plan.ledger().removed_bytes()), (0, 0));
    }
    let (_, plan, _) = pruned(&file, &[90]);
    assert_eq!((plan.ledger().changed, plan.ledger().emptied), (4, 1));
    let (_, plan, same) = pruned(&file, &[]);
    assert!(!plan.is_change() && same == file);
    let mut sum = plan.ledger().clone();
    sum.add(plan.ledger());
    assert_eq!(sum.before_bytes, 2 * plan.ledger().before_bytes);
    assert_eq!(sum.kept_bytes(), 2 * plan.ledger().kept_bytes());
}

#[test]
fn reports_on_a_pruned_file_are_complete() {
    let file = library();
    let (_, plan, new) = pruned(&file, &[90]);
    let (old, now) = (facts(&file), facts(&new));
    assert_eq!(now.problems, []);
    let sum = |facts: &GpuFacts| facts.rows.iter().map(|row| row.bytes).sum::<u64>();
    assert_eq!(sum(&old), sum(&now) + plan.ledger().removed_bytes());
    assert_eq!(sum(&now), plan.ledger().kept_bytes());
    for (old, now) in old.sections.iter().zip(&now.sections) {
        assert_eq!((&old.name, old.bytes, old.containers), (&now.name, now.bytes, now.containers));
        assert_eq!(now.unaccounted_bytes, 0);
        let parts = now.entry_bytes + now.overhead_bytes;
        assert_eq!(parts == now.bytes, now.exclusive, "{now:?}");
    }
    assert_eq!(old.sections.len(), now.sections.len());
}

#[test]
fn only_sections_of_linked_files_are_changed() {
    let code = container(&[cubin(50, None)]);
    let sections = [(".nv_fatbin", &code[..])];
    let relocatable = located(&object(1, 62, 0, (0, 0), &sections), 100);
    assert_eq!((relocatable.containers.len(), relocatable.entries.len()), (0, 1));
    assert!(!PruneRule::new([90], false).plan(&relocatable).is_change());

    // Behind the last section: what looks like a container is data of somebody.
    let mut appended = Elf::library("liba.so").build();
    appended.resize(appended.len().next_multiple_of(8), 0);
    appended.extend(&code);
    assert_eq!(located(&appended, 100).containers, []);

    // Without a section table nothing says where GPU code is.
    let mut bare = library();
    bare[40..48].fill(0);
    let found = located(&bare, 100);
    assert_eq!(found.containers, []);
    assert!(found.problems.iter().any(|one| one.what.contains("section table")), "{:?}", found.problems);

    // A stream that ends early, or does not end, is not the file.
    let file = library();
    for length in [file.len() - 1, file.len() + 1] {
        let mut locator = GpuCodeLocator::start(&file, file.len() as u64, &limits()).unwrap();
        let bytes = [&file[..], &[0]].concat();
        locator.push(&bytes[..length]);
        assert_eq!(locator.finish().containers, [], "{length}");
    }
}

/// A library with this section of GPU code and its place.
fn with_code(code: &[u8]) -> (Vec<u8>, usize) {
    let file = Elf::library("libkernels.so").with_section(".nv_fatbin", code.to_vec()).build();
    let at = memchr::memmem::find(&file, code).unwrap();
    (file, at)
}

#[test]
fn what_cannot_be_understood_is_left_as_it_is() {
    let one = container(&[cubin(50, None), cubin(90, None)]);
    let three = [one.clone(), one.clone(), one.clone()].concat();
    let (file, at) = with_code(&three);
    assert_eq!(names(&located(&file, 100)).len(), 3);
    let changed = |place: usize, value: u8| {
        let mut file = file.clone();
        file[at + place] = value;
        let (code, plan, new) = pruned(&file, &[90]);
        assert!(!code.problems.is_empty());
        let differs = (0..3).map(|part| at + part * one.len()..at + (part + 1) * one.len());
        let differs: Vec<bool> = differs.map(|range| file[range.clone()] != new[range]).collect();
        assert_eq!(plan.ledger().changed, differs.iter().map(|differs| u64::from(*differs)).sum::<u64>());
        differs
    };
    // The version of an entry of the second container: its size is known, so the third is found.
    assert_eq!(changed(one.len() + 16 + 2, 2), [true, false, true]);
    // The header size of an entry, and the version of a container: what follows could be anything.
    assert_eq!(changed(one.len() + 16 + 4, 1), [true, false, false]);
    assert_eq!(changed(one.len() + 4, 2), [true, false, false]);
    // The size of the second container reaches into the third, or beyond the section.
    assert_eq!(changed(one.len() + 10, 1), [true, false, false]);
    assert_eq!(changed(one.len() + 14, 1), [true, false, false]);
    // An unknown flag, or kind: the entry stays, the others are judged.
    for (place, value) in [(16 + 40 + 3, 0x80), (16, 77)] {
        let mut file = file.clone();
        file[at + place] = value;
        let (_, plan, new) = pruned(&file, &[90]);
        assert_eq!((plan.ledger().changed, plan.ledger().kept_entries()), (2, 4));
        assert_eq!(new[at..at + one.len()], file[at..at + one.len()]);
    }
}

#[test]
fn a_file_above_the_limits_is_left_as_it_is() {
    let one = container(&[cubin(50, None), cubin(90, None)]);
    let (file, _) = with_code(&one.repeat(6));
    let count = |limits: BinaryLimits| {
        let code = located_within(&file, 100, &limits);
        let full = code.problems.iter().any(|one| one.what.contains("too many containers"));
        let section = Section::new(Arc::new(file.clone()), 0, file.len() as u64);
        assert_eq!(locate_gpu_code(&section, &limits, &CancelToken::new()).unwrap(), Some(code.clone()));
        (code.containers.len(), full)
    };
    assert_eq!(count(BinaryLimits { containers: 6, entries: 12, ..limits() }), (6, false));
    assert_eq!(count(BinaryLimits { containers: 5, ..limits() }), (0, true));
    assert_eq!(count(BinaryLimits { entries: 11, ..limits() }), (0, true));
}
