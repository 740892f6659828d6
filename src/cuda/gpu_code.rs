//! GPU code of single files, and sums over the image.

use std::collections::BTreeMap;

use hashbrown::HashSet;

use super::context::{BinaryFile, InventoryContext};
use super::value::{GpuCode, GpuCodeSum, GpuHolder, HolderKind};
use crate::formats::binary::FileFacts;
use crate::formats::elf::ElfKind;
use crate::formats::fatbin::{ContainerFacts, GpuFacts, GpuKind, Suffix};

/// GPU code of a file, one row for each architecture and kind.
pub(super) fn of(facts: &FileFacts) -> Vec<GpuCode> {
    let mut code = facts.gpu().map(|gpu| gpu.rows.clone()).unwrap_or_default();
    // A PTX text file is GPU code without a container.
    if let FileFacts::Ptx { isa, arch: Some(arch), suffix, bytes } = facts {
        code.push(GpuCode::single(GpuKind::Ptx, *arch, *suffix, *isa, *bytes));
    }
    code
}

/// The containers of a file.
pub(super) fn containers(facts: &FileFacts) -> ContainerFacts {
    facts.gpu().map(|gpu| gpu.containers.clone()).unwrap_or_default()
}

/// Overhead, and bytes of the sections with GPU code. For sections with other content, only the containers
/// count.
pub(super) fn section_sums(gpu: Option<&GpuFacts>) -> (u64, u64) {
    let sections = || gpu.into_iter().flat_map(|gpu| &gpu.sections);
    let overhead = sections().map(|section| section.overhead_bytes).sum();
    let bytes = sections()
        .map(
            |section| {
                if section.exclusive { section.bytes } else { section.entry_bytes + section.overhead_bytes }
            },
        )
        .sum();
    (overhead, bytes)
}

/// Kind of a file with GPU code.
pub(super) fn holder_kind(context: &InventoryContext<'_>, binary: &BinaryFile<'_>) -> HolderKind {
    match binary.facts {
        FileFacts::Archive(_) => HolderKind::Archive,
        FileFacts::Elf(elf) if elf.cubin.is_some() => HolderKind::File,
        FileFacts::Elf(elf) => match elf.kind {
            ElfKind::Executable => HolderKind::Executable,
            ElfKind::SharedObject if is_library_name(context.node(binary.node).name()) => HolderKind::Library,
            ElfKind::SharedObject if elf.pie || elf.interpreter.is_some() => HolderKind::Executable,
            ElfKind::SharedObject => HolderKind::Library,
            _ => HolderKind::File,
        },
        _ => HolderKind::File,
    }
}

/// Whether a file name is that of a shared library.
pub(super) fn is_library_name(name: &[u8]) -> bool {
    memchr::memmem::find(name, b".so").is_some()
}

/// Sums over all binaries, each inode once, largest first.
pub(super) fn sum(context: &InventoryContext<'_>) -> Vec<GpuCodeSum> {
    let mut sums: BTreeMap<(GpuKind, u32, Option<Suffix>), GpuCodeSum> = BTreeMap::new();
    let mut seen = HashSet::new();
    for binary in &context.binaries {
        if !seen.insert(binary.inode) {
            continue;
        }
        let kind = holder_kind(context, binary);
        for code in of(binary.facts) {
            let sum = sums.entry((code.kind, code.arch, code.suffix)).or_insert(GpuCodeSum {
                arch: code.arch,
                suffix: code.suffix,
                kind: code.kind,
                bytes: 0,
                uncompressed_bytes: 0,
                libraries: 0,
                executables: 0,
                archives: 0,
                files: 0,
            });
            sum.bytes = sum.bytes.saturating_add(code.bytes);
            sum.uncompressed_bytes = sum.uncompressed_bytes.saturating_add(code.uncompressed_bytes);
            let held = match kind {
                HolderKind::Library => &mut sum.libraries,
                HolderKind::Executable => &mut sum.executables,
                HolderKind::Archive => &mut sum.archives,
                HolderKind::File => &mut sum.files,
            };
            *held = held.saturating_add(code.bytes);
        }
    }
    let mut sums: Vec<GpuCodeSum> = sums.into_values().collect();
    sums.sort_by_key(|sum| std::cmp::Reverse(sum.bytes));
    sums
}

/// Files with GPU code that are not libraries, largest first.
pub(super) fn holders(context: &InventoryContext<'_>) -> Vec<GpuHolder> {
    let mut seen = HashSet::new();
    let mut holders: Vec<GpuHolder> = context
        .binaries
        .iter()
        .filter(|binary| seen.insert(binary.inode))
        .map(|binary| GpuHolder {
            node: binary.node,
            kind: holder_kind(context, binary),
            gpu_code: of(binary.facts),
            containers: containers(binary.facts),
        })
        .filter(|holder| holder.kind != HolderKind::Library && !holder.gpu_code.is_empty())
        .collect();
    holders.sort_by_key(|holder| {
        std::cmp::Reverse(holder.gpu_code.iter().fold(0_u64, |sum, code| sum.saturating_add(code.bytes)))
    });
    holders
}
