#![allow(clippy::cast_possible_truncation, reason = "all numbers are our own and small")]

use super::{
    BinaryLimits, Compression, Entry, GpuKind, Suffix, Walk, arch_name, entries, fuzz_fatbin, loose,
};
use crate::formats::binary::tests::build::{container, entry};

fn list(bytes: &[u8]) -> Vec<Entry> {
    let mut list = Vec::new();
    entries(bytes, &BinaryLimits::default(), |entry| list.push(*entry));
    list
}

#[test]
fn kinds_flags_and_sizes() {
    let found = list(&container(&[
        entry(2, 90, 0x10_0011, 32),
        entry(4, 35, 0x2011, 32),
        entry(1, 120, 0x20_8011, 32),
        entry(8, 100, 0x1_2011, 32),
        entry(128, 100, 0x11, 32),
    ]));
    let labels: Vec<_> = found.iter().map(|one| arch_name(one.kind, one.arch, one.suffix)).collect();
    assert_eq!(labels, ["sm_90a", "sm_35", "compute_120f", "lto_100", "other_100"]);
    let codings: Vec<_> = found.iter().map(|entry| entry.compression).collect();
    let (none, other) = (Compression::None, Compression::Other);
    assert_eq!(codings, [none, Compression::Lz4, Compression::Zstd, other, none]);
    assert_eq!((found[0].bytes, found[0].uncompressed_bytes), (96, 32));
    assert_eq!((found[1].bytes, found[1].uncompressed_bytes), (96, 128));
    assert_eq!((found[2].isa, found[2].suffix), (Some((8, 3)), Some(Suffix::F)));
    assert_eq!((found[0].isa, found[4].kind), (None, GpuKind::Other(128)));
}

#[test]
fn a_bad_entry_does_not_hide_what_follows() {
    let mut bad = container(&[entry(2, 80, 0x11, 32), entry(2, 90, 0x11, 32)]);
    bad[16 + 96 + 4] = 1;
    let file = [bad, container(&[entry(2, 100, 0x11, 32)])].concat();
    let arches: Vec<_> = list(&file).iter().map(|entry| entry.arch).collect();
    assert_eq!(arches, [80, 100]);
    let mut walk = Walk::new(&BinaryLimits::default());
    walk.enter(0, file.len() as u64);
    walk.push_all(0, &file);
    let facts = loose(file.len() as u64, &walk, 1, &BinaryLimits::default());
    assert_eq!((facts.sections[0].entry_bytes, facts.sections[0].overhead_bytes), (192, 32));
    assert_eq!(facts.sections[0].unaccounted_bytes, 96);
    assert_eq!(facts.problems.len(), 1);
}

#[test]
fn headers_that_lie_are_not_believed() {
    let sound = container(&[entry(2, 90, 0x11, 64)]);
    // Version, header size and size of the container; header size, payload size, architecture.
    for (at, bytes) in [(4, 2), (6, 2), (8, 8), (20, 4), (24, 4), (44, 4)] {
        for value in [0xff, 0x7f] {
            let mut file = sound.clone();
            file[at..at + bytes].fill(value);
            assert_eq!(list(&file), []);
            fuzz_fatbin(&file[4..]);
        }
    }
    for count in 0..sound.len() {
        assert_eq!(list(&sound[..count]), []);
        fuzz_fatbin(&sound[4..count.max(4)]);
    }
}

#[test]
fn magic_inside_a_payload_is_stepped_over() {
    let inner = container(&[entry(2, 50, 0x11, 8)]);
    let mut outer = entry(2, 90, 0x11, inner.len() as u32);
    outer.truncate(64);
    outer.extend(&inner);
    assert_eq!(list(&container(&[outer])).len(), 1);
}

#[test]
fn whole_containers_are_found_by_their_place() {
    let one = container(&[entry(2, 90, 0x11, 64)]);
    let mut bad = one.clone();
    bad[20] = 1;
    let file = [bad, one.clone(), one].concat();
    let mut walk = Walk::new(&BinaryLimits::default());
    walk.enter(0, file.len() as u64);
    walk.push_all(0, &file);
    let whole = |ranges: &[(u64, u64)]| walk.found().whole_in(ranges);
    // Containers of 144 bytes, of which the first is not whole.
    assert_eq!(whole(&[(0, 144), (0, 287), (145, 431), (288, u64::MAX)]), Some(288));
    assert_eq!(whole(&[(145, 432)]), Some(145));
    assert_eq!(whole(&[(289, u64::MAX), (u64::MAX, 0), (0, 0)]), None);
}

#[test]
fn sections_of_one_name_are_summed_by_their_place() {
    let limits = BinaryLimits::default();
    let section = |name: &str, exclusive| {
        let region = super::Region { name: name.to_owned(), at: 8, bytes: 10, exclusive };
        let mut sum = super::Summing::new(&limits);
        sum.search(&region, &Walk::new(&limits), true);
        sum.finish().unwrap_or_default()
    };
    let mut sum = super::Summing::new(&limits);
    for name in ["a", "b", "a", "c", "b", "a"] {
        sum.merge(section(name, true), 0, true);
    }
    sum.merge(section("a", true), 0, false);
    let found = sum.finish().unwrap();
    let seen: Vec<_> = found.sections.iter().map(|section| (section.name.as_str(), section.bytes)).collect();
    assert_eq!(seen, [("a", 30), ("a", 10), ("b", 20), ("c", 10)]);
}

#[test]
fn limits_stop_the_walk_and_say_so() {
    let file = container(&[entry(2, 90, 0x11, 8)]).repeat(10);
    for limits in [
        BinaryLimits { containers: 3, ..BinaryLimits::default() },
        BinaryLimits { entries: 3, ..BinaryLimits::default() },
    ] {
        let mut walk = Walk::new(&limits);
        walk.enter(0, file.len() as u64);
        walk.push_all(0, &file);
        let facts = loose(file.len() as u64, &walk, 1, &limits);
        assert_eq!(facts.sections[0].entries, 3);
        assert!(facts.problems.iter().any(|problem| problem.what.starts_with("too many containers")));
    }
}
