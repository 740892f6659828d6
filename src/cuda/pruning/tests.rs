//! The rule as a table.

use super::PruneRule;
use crate::formats::fatbin::{Compression, Entry, GpuKind, Suffix, arch_name};

/// An entry by its name, such as `sm_90a`, large enough for a kernel.
fn entry(name: &str) -> Entry {
    let (kind, rest) = name.split_once('_').unwrap();
    let kind = match kind {
        "sm" => GpuKind::Sass,
        "compute" => GpuKind::Ptx,
        "lto" => GpuKind::Lto,
        _ => GpuKind::Other(128),
    };
    let (suffix, flag) = match rest.as_bytes().last() {
        Some(b'a') => (Some(Suffix::A), 0x10_0000),
        Some(b'f') => (Some(Suffix::F), 0x20_0000),
        _ => (None, 0),
    };
    let arch = rest.trim_end_matches(['a', 'f']).parse().unwrap();
    Entry {
        kind,
        version: 0x0101,
        arch,
        suffix,
        isa: None,
        compression: Compression::None,
        flags: 0x11 | flag,
        header_bytes: 64,
        bytes: 64 + 4_096,
        uncompressed_bytes: 4_096,
    }
}

fn entries(names: &str) -> Vec<Entry> {
    names.split_whitespace().map(entry).collect()
}

/// Names of the entries that stay.
fn kept(names: &str, targets: &[u32], keep_ptx: bool) -> String {
    kept_of(&entries(names), targets, keep_ptx)
}

fn kept_of(all: &[Entry], targets: &[u32], keep_ptx: bool) -> String {
    let stays = PruneRule::new(targets.iter().copied(), keep_ptx).stays(all);
    let kept = all.iter().zip(stays).filter(|(_, stay)| *stay);
    let names: Vec<String> = kept.map(|(one, _)| arch_name(one.kind, one.arch, one.suffix)).collect();
    names.join(" ")
}

/// Every architecture that CUDA 11 to 13 compile for, and the PTX of the last.
const ALL: &str = "sm_50 sm_52 sm_53 sm_60 sm_61 sm_62 sm_70 sm_72 sm_75 sm_80 sm_86 sm_87 sm_88 sm_89 sm_90 sm_90a \
                   sm_100 sm_100a sm_100f sm_101 sm_101a sm_101f sm_103 sm_103a sm_103f sm_110 sm_110a sm_110f \
                   sm_120 sm_120a sm_120f sm_121 sm_121a sm_121f compute_121";

#[test]
fn each_architecture_keeps_what_it_can_run() {
    for (target, wanted) in [
        (50, "sm_50"),
        (52, "sm_50 sm_52"),
        (53, "sm_50 sm_52 sm_53"),
        (60, "sm_60"),
        (61, "sm_60 sm_61"),
        (62, "sm_60 sm_61 sm_62"),
        (70, "sm_70"),
        (72, "sm_70 sm_72"),
        (75, "sm_70 sm_75"),
        (80, "sm_80"),
        (86, "sm_80 sm_86"),
        (87, "sm_80 sm_86 sm_87"),
        (88, "sm_80 sm_86 sm_88"),
        (89, "sm_80 sm_86 sm_89"),
        (90, "sm_90 sm_90a"),
        (100, "sm_100 sm_100a sm_100f"),
        (101, "sm_100 sm_101 sm_101a sm_101f sm_110 sm_110a sm_110f"),
        (103, "sm_100 sm_100f sm_103 sm_103a sm_103f"),
        (110, "sm_101 sm_101a sm_101f sm_110 sm_110a sm_110f"),
        (120, "sm_120 sm_120a sm_120f"),
        (121, "sm_120 sm_120f sm_121 sm_121a sm_121f"),
    ] {
        assert_eq!(kept(ALL, &[target], false), wanted, "{target}");
    }
}

#[test]
fn several_targets_keep_what_any_of_them_can_run() {
    assert_eq!(kept(ALL, &[90, 86], false), "sm_80 sm_86 sm_90 sm_90a");
    assert_eq!(kept(ALL, &[75, 121], false), "sm_70 sm_75 sm_120 sm_120f sm_121 sm_121a sm_121f");
    // The later GPU needs PTX, the other none.
    assert_eq!(kept("sm_80 sm_70 compute_70 compute_80", &[80, 90], false), "sm_80 compute_80");
    assert_eq!(kept("sm_80 compute_70 compute_75", &[70, 80], false), "sm_80 compute_70");
    assert_eq!(
        kept("compute_60 compute_70 compute_80", &[61, 75, 80], false),
        "compute_60 compute_70 compute_80"
    );
}

#[test]
fn code_to_compile_stays_where_no_machine_code_runs() {
    for (names, target, wanted) in [
        ("sm_80 compute_80", 90, "compute_80"),
        ("sm_80 compute_80", 86, "sm_80"),
        ("sm_80 compute_80", 75, ""),
        ("compute_50 compute_70 compute_90 compute_100", 90, "compute_90"),
        // A library for linkers is compiled at run time too, beside PTX.
        ("lto_75 lto_80 lto_100", 90, "lto_80"),
        ("lto_80 compute_70", 90, "lto_80 compute_70"),
        ("sm_90 lto_90", 90, "sm_90"),
        // Only this very GPU compiles it, and which of both its driver takes is left to the driver.
        ("compute_90a compute_80", 90, "compute_90a compute_80"),
        ("compute_90a compute_80", 100, "compute_80"),
        ("compute_100f compute_90", 103, "compute_100f compute_90"),
        ("compute_100f compute_90", 120, "compute_90"),
        ("sm_90a compute_90", 90, "sm_90a"),
        ("sm_90a compute_90", 100, "compute_90"),
        ("sm_100f compute_100", 103, "sm_100f"),
        ("sm_100a compute_100", 103, "compute_100"),
        // 10.1 is Tegra, and of no family with 10.0 and 10.3.
        ("sm_101f compute_100", 103, "compute_100"),
        ("sm_101f compute_100", 110, "sm_101f"),
        ("compute_101 compute_103", 110, "compute_101"),
        ("compute_101f compute_100", 103, "compute_100"),
        // Same major version, but Tegra: it stays, and so does what the driver may compile instead.
        ("sm_80 compute_80", 87, "sm_80 compute_80"),
        ("sm_87 compute_87", 89, "compute_87"),
        ("sm_101 compute_100", 110, "sm_101"),
        ("sm_100 compute_100", 110, "compute_100"),
    ] {
        assert_eq!(kept(names, &[target], false), wanted, "{names} for {target}");
    }
}

#[test]
fn portable_code_stays_on_request_and_all_without_a_target() {
    let names = "sm_80 sm_90 compute_70 compute_90 lto_90";
    assert_eq!(kept(names, &[90], false), "sm_90");
    assert_eq!(kept(names, &[90], true), "sm_90 compute_70 compute_90 lto_90");
    assert_eq!(kept(names, &[], false), names);
    assert_eq!(kept("", &[90], false), "");
}

#[test]
fn what_is_unknown_stays_and_stands_for_nothing() {
    assert_eq!(kept("other_50 sm_80 compute_80", &[90], false), "other_50 compute_80");
    let with = |change: fn(&mut Entry)| {
        let mut all = entries("sm_90 sm_50 compute_80");
        all.iter_mut().take(2).for_each(change);
        kept_of(&all, &[90], false)
    };
    let everything = "sm_90 sm_50 compute_80";
    assert_eq!(with(|_| ()), "sm_90");
    // A flag of the future, OpenCL, Windows, a 32-bit process, two suffixes at once, no architecture.
    assert_eq!(with(|one| one.flags |= 0x80_0000), everything);
    assert_eq!(with(|one| one.flags |= 0x8), everything);
    assert_eq!(with(|one| one.flags |= 0x40), everything);
    assert_eq!(with(|one| one.flags &= !1), everything);
    assert_eq!(with(|one| one.flags |= 0x30_0000), everything);
    assert_eq!(with(|one| one.arch = 0), "sm_0 sm_0 compute_80");
    // Known: debug, CUDA, compressions, an attribute block.
    assert_eq!(with(|one| one.flags |= 0x101_a006), "sm_90");
    // Linkers add code without a kernel; the driver may need another entry.
    assert_eq!(with(|one| one.uncompressed_bytes = 664), "sm_90 compute_80");
}
