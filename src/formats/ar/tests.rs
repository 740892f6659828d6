use super::{ArchiveFacts, fuzz_archive};
use crate::formats::binary::tests::both;
use crate::formats::binary::tests::build::{archive, container, entry, object};
use crate::formats::binary::{BinaryLimits, FileFacts};

fn facts(file: &[u8]) -> ArchiveFacts {
    for limits in
        [BinaryLimits::default(), BinaryLimits { member_head_bytes: 128, ..BinaryLimits::default() }]
    {
        both(file, b"lib.a", &limits);
    }
    match both(file, b"lib.a", &BinaryLimits::default()) {
        Some(FileFacts::Archive(facts)) => *facts,
        other => panic!("no archive: {other:?}"),
    }
}

fn gpu_object(arch: u32) -> Vec<u8> {
    let gpu = container(&[entry(2, arch, 0x11, 64)]);
    object(&[(".text", 1, vec![3; 33]), (".nv_fatbin", 1, gpu.clone()), (".cask_resource", 1, gpu)])
}

#[test]
fn gpu_code_of_all_members_is_summed() {
    let (one, two) = (gpu_object(80), gpu_object(90));
    let bsd = [b"a_long_name_12".as_slice(), &two].concat();
    let file = archive(&[
        ("/", b"symbols"),
        ("//", b"a_long_name.o/\n"),
        ("one.o/", &one),
        ("odd", b"odd"),
        ("#1/14", &bsd),
        ("tiny", b"\x7fEL"),
    ]);
    let found = facts(&file);
    assert_eq!((found.members, found.problems.len()), (4, 0));
    let rows: Vec<_> = found.gpu.rows.iter().map(|row| (row.arch_name(), row.entries)).collect();
    assert_eq!(rows, [("sm_80".to_owned(), 2), ("sm_90".to_owned(), 2)]);
    let sections: Vec<_> =
        found.gpu.sections.iter().map(|s| (s.name.as_str(), s.at, s.bytes, s.containers)).collect();
    assert_eq!(sections, [(".cask_resource", 0, 288, 2), (".nv_fatbin", 0, 288, 2)]);
}

#[test]
fn thin_archives_have_no_bodies() {
    let mut file = archive(&[("//", b"one.o/\ntwo.o/\n"), ("/0", b""), ("/7", b"")]);
    file[..8].copy_from_slice(b"!<thin>\n");
    file[8 + 60 + 14 + 48..8 + 60 + 14 + 52].copy_from_slice(b"9999");
    let found = facts(&file);
    assert_eq!((found.members, found.problems.len()), (2, 0));
}

#[test]
fn damaged_archives_are_read_as_far_as_they_go() {
    let object = gpu_object(80);
    let file = archive(&[("one.o/", &object), ("two.o/", &object)]);
    for count in (8..file.len()).filter(|count| count % 5 < 2) {
        fuzz_archive(&file[8..count]);
        let found = facts(&file[..count]);
        let next = 68 + object.len();
        let whole = count == 8 || count == next || count == next.next_multiple_of(2);
        assert_eq!(found.problems.is_empty() && found.gpu.problems.is_empty(), whole, "{count}");
    }
    let mut lying = file.clone();
    lying[8 + 48..8 + 58].copy_from_slice(b"9999999999");
    assert_eq!(facts(&lying).problems.len(), 1);
    lying[8 + 48..8 + 58].copy_from_slice(b"-1        ");
    assert_eq!(facts(&lying).members, 0);
}
