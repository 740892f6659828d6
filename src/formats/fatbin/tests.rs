#![allow(clippy::cast_possible_truncation, reason = "all numbers are our own and small")]

use super::{
    BinaryLimits, CodeClass, Compression, ContainerFacts, Entry, GpuKind, Region, Suffix, Summing, Walk,
    arch_name, entries, fuzz_fatbin, loose,
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
        let region = Region { name: name.to_owned(), at: 8, bytes: 10, exclusive };
        let mut sum = Summing::new(&limits);
        sum.search(&region, &Walk::new(&limits), true);
        sum.finish().unwrap_or_default()
    };
    let mut sum = Summing::new(&limits);
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

#[test]
fn a_class_stands_for_its_entries() {
    for (kind, arch, flags, payload) in [
        (2, 90, 0x11, 32),
        (2, 90, 0x11, 664),
        (2, 100, 0x10_0011, 3_000),
        (2, 90, 0x11, 4_096),
        (1, 120, 0x20_8011, 32),
        (8, 100, 0x1_2011, 32),
        (128, 100, 0x11, 32),
        (2, 80, 0x80_0011, 4_096),
        (2, 80, 0x30_0011, 4_096),
        (2, 0, 0x11, 4_096),
    ] {
        let one = list(&container(&[entry(kind, arch, flags, payload)]))[0];
        let class = CodeClass::of(&one);
        let other = class.entry();
        assert_eq!(CodeClass::of(&other), class, "{one:?}");
        assert_eq!((other.is_known(), other.is_without_kernel()), (one.is_known(), one.is_without_kernel()));
    }
}

/// Groups of `file` as a section of a linked file.
fn containers(file: &[u8], limits: &BinaryLimits) -> ContainerFacts {
    let mut walk = Walk::with_samples(limits);
    walk.enter(0, file.len() as u64);
    walk.push_all(0, file);
    let mut sum = Summing::new(limits);
    sum.set_changeable(true);
    sum.add_all(&[Region::whole(file.len() as u64)], &walk);
    sum.finish().unwrap().containers
}

#[test]
fn containers_with_the_same_entries_form_a_group() {
    let (sass, other, ptx) = (entry(2, 90, 0x11, 64), entry(2, 80, 0x11, 64), entry(1, 90, 0x11, 32));
    let file =
        [container(&[sass.clone(), ptx.clone()]), container(&[other]), container(&[ptx, sass.clone(), sass])]
            .concat();
    let limits = BinaryLimits::default();
    let found = containers(&file, &limits);
    let shape: Vec<_> = found.groups.iter().map(|group| (group.containers, group.classes.len())).collect();
    assert_eq!(shape, [(1, 1), (2, 2)]);
    let both = &found.groups[1].classes;
    assert_eq!((both[0].class.kind, both[0].entries, both[0].bytes), (GpuKind::Sass, 3, 3 * 128));
    assert_eq!((both[1].class.kind, both[1].entries, both[1].bytes), (GpuKind::Ptx, 2, 2 * 96));
    assert_eq!((found.fixed_bytes, found.samples.len()), (0, 0));
    // What exceeds the limit stays.
    let few = containers(&file, &BinaryLimits { rows: 2, ..limits.clone() });
    assert_eq!((few.groups.len(), few.fixed_bytes), (1, 128));
    // The rest of a section in which something cannot be read stays.
    let mut broken = file;
    broken[16 + 4] = 1;
    let rest = containers(&broken, &limits);
    assert_eq!(rest.groups, []);
    assert!(rest.fixed_bytes > 0);
}

#[test]
fn samples_are_the_same_in_chunks_of_any_length() {
    let mut random = 7_u32;
    let mut payload = vec![0; 40 << 20];
    for byte in payload.iter_mut().skip(6 << 20).take(8 << 20) {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (random >> 24) as u8;
    }
    let mut file = container(&[entry(2, 90, 0x11, payload.len() as u32)]);
    let start = file.len() - payload.len();
    file[start..].copy_from_slice(&payload);
    let limits = BinaryLimits::default();
    // What zstd left is not sampled.
    let mut compressed = container(&[entry(2, 90, 0x8011, payload.len() as u32)]);
    compressed[start..].copy_from_slice(&payload);
    assert_eq!(containers(&compressed, &limits).samples, []);
    let whole = containers(&file, &limits);
    let [sample] = &whole.samples[..] else { panic!("{:?}", whole.samples) };
    // At 4, 8, 16 and 32 MiB: the distance grows.
    assert_eq!(sample.bytes, 4 * (16 << 10));
    // One does not compress, the others are zeros.
    assert!((16 << 10..24 << 10).contains(&sample.deflated_bytes), "{sample:?}");
    let mut walk = Walk::with_samples(&limits);
    walk.enter(0, file.len() as u64);
    for (place, chunk) in file.chunks(1_021).enumerate() {
        walk.push_all(place as u64 * 1_021, chunk);
    }
    let mut sum = Summing::new(&limits);
    sum.set_changeable(true);
    sum.add_all(&[Region::whole(file.len() as u64)], &walk);
    assert_eq!(sum.finish().unwrap().containers, whole);
}
