//! Files that were made to cost much, or to be read differently in the two ways.

#![allow(clippy::cast_possible_truncation, reason = "all numbers are our own and small")]

use super::super::captured_ranges::CapturedRanges;
use super::super::parse::Bytes;
use super::super::stream_scanner::StreamScanner;
use super::{elf, small};
use crate::formats::binary::tests::build::Library;
use crate::formats::binary::{BinaryLimits, FileFacts};

/// A library whose strings are `strings`, with these entries besides.
fn library(strings: Vec<u8>, needed: impl Iterator<Item = u64>) -> Library {
    let mut library = Library::sample();
    library.dynamic = needed.map(|offset| (1, offset)).collect();
    library.sections.retain(|section| section.0 != ".dynstr");
    library.add(".dynstr", 3, strings);
    library
}

#[test]
fn names_that_share_their_bytes_are_bounded() {
    let strings = [vec![b'x'; 4_000], vec![0]].concat();
    let file = library(strings, 0..1_000).build();
    for limits in [BinaryLimits::default(), small()] {
        let facts = elf(&file, b"a.so", &limits);
        assert_eq!(facts.needed.len(), 16);
        assert!(facts.problems[0].what.contains("needed libraries after the first 16"));
        assert!(!facts.version_needs_known);
        let kept = FileFacts::Elf(Box::new(facts)).kept_bytes();
        assert!((60_000..80_000).contains(&kept), "{kept}");
    }
}

#[test]
fn names_of_versions_count_too() {
    let limits = BinaryLimits { names_bytes: 20, ..BinaryLimits::default() };
    let facts = elf(&Library::sample().build(), b"a.so", &limits);
    assert_eq!((facts.needed.len(), facts.version_needs.len(), facts.version_needs_known), (1, 0, false));
    assert!(facts.problems[0].what.contains("version requirements"));
}

#[test]
fn hundreds_of_names_that_lie_apart_are_found() {
    let mut strings = vec![1; 1_800_000];
    let places: Vec<usize> = (0..300).map(|index| index * 6_000).collect();
    for place in &places {
        strings[*place..][..10].copy_from_slice(format!("lib{:05}.\0", place % 99_999).as_bytes());
    }
    let file = library(strings, places.iter().rev().map(|place| *place as u64)).build();
    let facts = elf(&file, b"a.so", &small());
    assert_eq!((facts.needed.len(), facts.needed[0].as_slice()), (300, &b"lib94017."[..]));
}

#[test]
fn names_that_lie_too_far_apart_are_left_out_in_both_ways() {
    let mut strings = vec![1; 100_000];
    for place in (0..100_000).step_by(10_000) {
        strings[place..place + 6].copy_from_slice(b"lib.x\0");
    }
    let file = library(strings, (0..10).map(|index| index * 10_000)).build();
    let facts = elf(&file, b"a.so", &BinaryLimits { spread_bytes: 5 * 4_097, ..small() });
    assert_eq!(facts.needed.len(), 5);
    assert!(facts.problems[0].what.contains("too far apart"));
}

#[test]
fn ranges_that_overlap_are_kept_once() {
    let file: Vec<u8> = (0..=255).collect();
    let mut kept = CapturedRanges::new(1_000, 0);
    kept.capture(20, 30, &[], true);
    kept.capture(28, 40, &[], false);
    kept.capture(50, 60, &[], true);
    kept.capture(10, 15, &[], false);
    let mut completed = Vec::new();
    let mut at = 0;
    while at < 256 {
        let count = kept.run(at as u64).min(7) as usize;
        let end = (at + count).min(256);
        if kept.pass(at as u64, &file[at..end]) {
            completed.push(end);
        }
        at = end;
    }
    assert_eq!(completed, [40, 60]);
    let mut read = |at: u64, count: usize| {
        let mut raw = vec![0; count];
        Bytes::read(&mut kept, at, &mut raw).unwrap().then_some(raw)
    };
    assert_eq!(read(20, 20).as_deref(), Some(&file[20..40]));
    assert_eq!(read(10, 5).as_deref(), Some(&file[10..15]));
    assert_eq!((read(20, 21), read(40, 1), read(9, 1)), (None, None, None));
    kept.capture(5, 70, &file[5..60], false);
    let mut raw = [0; 55];
    assert!(Bytes::read(&mut kept, 5, &mut raw).unwrap());
    assert_eq!(raw, file[5..60]);
}

/// Bytes that look like what is searched for, over and over; none may cost more than a look.
#[test]
fn bytes_that_are_all_finds_are_passed_quickly() {
    let note = [&19_u32.to_le_bytes()[..], &65_536_u32.to_le_bytes(), &1_u32.to_le_bytes()].concat();
    let note = [note, b"NVIDIA Corporation\0 ".to_vec()].concat();
    for pattern in [&b".so"[..], b"cask", &note] {
        let file = pattern.repeat(8_000_000 / pattern.len());
        let mut scanner = StreamScanner::new([0..u64::MAX, 0..0], u64::MAX, 64 << 10, false);
        let mut kept = CapturedRanges::new(12 << 20, 1 << 20);
        let mut at = 0;
        while at < file.len() {
            let count = scanner.room().min(file.len() - at);
            scanner.feed(at as u64, &file[at..at + count], Some(0), &mut kept);
            at += count;
        }
        scanner.finish(Some(0), &mut kept);
        assert!(kept.bytes() < 3 << 20, "{}", kept.bytes());
    }
}

/// A name of a section is kept wherever it lies in a run of finds.
#[test]
fn a_name_among_many_finds_is_kept() {
    let name = [b"fatbin".repeat(15), vec![0]].concat();
    for before in 0..400 {
        let file =
            [vec![1; 150], b"cask".repeat(before % 7), b"fatbin".repeat(before), vec![0], name.clone()];
        let at = file[..4].concat().len() as u64;
        let mut kept = CapturedRanges::new(0, 0);
        let mut scanner = StreamScanner::new([0..0, 0..0], u64::MAX, 0, false);
        scanner.feed(0, &file.concat(), Some(0), &mut kept);
        scanner.finish(Some(0), &mut kept);
        let found = Bytes::string(&mut kept, at, 100).unwrap();
        assert_eq!(found.as_deref(), Some(&name[..90]), "{before}");
    }
}
