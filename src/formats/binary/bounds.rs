//! Which facts a file can have: stored facts are untrusted input.

use super::super::ar::ArchiveFacts;
use super::super::elf::ElfFacts;
use super::super::fatbin::{ContainerFacts, GpuFacts, SectionSum};
use super::{BinaryLimits, FileFacts, Problem};
use crate::base::text::is_unsafe;

/// Maximum plausible architecture number.
const ARCH_MAX: u32 = 10_000;

impl FileFacts {
    /// Whether a file of `size` bytes can have these facts, as far as other code relies on it: no count above the
    /// limits, no sum above the size of the file, only texts that are safe to show.
    pub(crate) fn is_possible(&self, size: u64) -> bool {
        let limits = BinaryLimits::default();
        match self {
            Self::Elf(elf) => elf_is(elf, size, &limits),
            Self::Archive(archive) => archive_is(archive, size, &limits),
            Self::Fatbin(gpu) => gpu_is(gpu, size, &limits),
            Self::Ptx { bytes, .. } => *bytes <= size,
            Self::Pe { .. } | Self::MachO => true,
        }
    }
}

fn elf_is(elf: &ElfFacts, size: u64, limits: &BinaryLimits) -> bool {
    let single = [&elf.soname, &elf.rpath, &elf.runpath, &elf.interpreter, &elf.build_id];
    let versions =
        elf.version_needs.iter().flat_map(|need| std::iter::once(&need.file).chain(&need.versions));
    single.into_iter().flatten().all(|text| text.len() <= limits.note_bytes)
        && elf.needed.len() <= limits.needed
        && elf.needed.iter().all(|name| name.len() <= limits.string_bytes)
        && versions.clone().count() <= limits.versions
        && versions.clone().all(|name| name.len() <= limits.string_bytes)
        && elf.forward_compat.as_ref().is_none_or(|note| note.len() <= limits.compat_bytes)
        && elf.cubin.is_none_or(|(arch, _)| arch <= ARCH_MAX)
        && elf.gpu.as_ref().is_none_or(|gpu| gpu_is(gpu, size, limits))
        && problems_are(&elf.problems, limits)
}

fn archive_is(archive: &ArchiveFacts, size: u64, limits: &BinaryLimits) -> bool {
    archive.members <= limits.members.min(size)
        && gpu_is(&archive.gpu, size, limits)
        && problems_are(&archive.problems, limits)
}

fn gpu_is(gpu: &GpuFacts, size: u64, limits: &BinaryLimits) -> bool {
    let sum = |mut all: &mut dyn Iterator<Item = u64>| {
        (&mut all).try_fold(0_u64, u64::checked_add).is_some_and(|sum| sum <= size)
    };
    gpu.rows.len() <= limits.rows
        && gpu.rows.iter().all(|row| row.arch <= ARCH_MAX && row.without_kernel <= row.entries)
        && sum(&mut gpu.rows.iter().map(|row| row.entries))
        && sum(&mut gpu.rows.iter().map(|row| row.bytes))
        && containers_are(&gpu.containers, size, limits)
        && gpu.sections.len() <= limits.gpu_sections
        && gpu.sections.iter().all(section_is)
        && gpu.deferred.len() <= limits.gpu_sections
        && gpu.deferred.iter().all(|range| {
            range.base <= range.at
                && range.at.checked_add(range.bytes).is_some_and(|end| end <= size)
                && is_safe(&range.name)
        })
        && sum(&mut { gpu.sections.iter().map(|section| section.bytes) }
            .chain(gpu.deferred.iter().map(|range| range.bytes)))
        && problems_are(&gpu.problems, limits)
}

/// Also the file of a hostile record has few groups, and no more bytes than it has.
fn containers_are(containers: &ContainerFacts, size: u64, limits: &BinaryLimits) -> bool {
    let classes = || containers.groups.iter().flat_map(|group| &group.classes);
    let bytes = classes().map(|sum| sum.bytes).chain([containers.fixed_bytes]);
    let within = |mut all: &mut dyn Iterator<Item = u64>| {
        (&mut all).try_fold(0_u64, u64::checked_add).is_some_and(|sum| sum <= size)
    };
    containers.groups.len() <= limits.rows
        && classes().count() <= limits.rows
        && classes().all(|sum| sum.class.arch <= ARCH_MAX)
        && within(&mut classes().map(|sum| sum.entries))
        && within(&mut containers.groups.iter().map(|group| group.containers))
        && within(&mut { bytes })
        && containers.samples.len() <= limits.rows
        && containers.samples.iter().all(|sample| sample.arch <= ARCH_MAX)
        && within(&mut containers.samples.iter().map(|sample| sample.bytes))
        && containers.samples.iter().all(|sample| sample.deflated_bytes <= sample.bytes.saturating_mul(2))
}

fn section_is(section: &SectionSum) -> bool {
    let parts = [section.entry_bytes, section.overhead_bytes, section.unaccounted_bytes];
    let sum = parts.into_iter().try_fold(0_u64, u64::checked_add);
    sum.is_some_and(|sum| sum <= section.bytes)
        && section.containers <= section.bytes
        && section.entries <= section.bytes
        && is_safe(&section.name)
}

fn problems_are(problems: &[Problem], limits: &BinaryLimits) -> bool {
    // The last problem may be the count of the unlisted ones.
    problems.len() <= limits.problems + 1 && problems.iter().all(|problem| is_safe(&problem.what))
}

fn is_safe(text: &str) -> bool {
    !text.chars().any(is_unsafe)
}

#[cfg(test)]
mod tests {
    use super::super::super::elf::ElfFacts;
    use super::super::super::fatbin::{Compression, Deferred, GpuFacts, GpuKind, Row, SectionSum};
    use super::super::{FileFacts, Problem};

    const SIZE: u64 = 1_000;

    fn gpu() -> GpuFacts {
        let row = Row {
            kind: GpuKind::Sass,
            arch: 90,
            suffix: None,
            isa: None,
            compression: Compression::None,
            entries: 2,
            without_kernel: 1,
            bytes: 400,
            uncompressed_bytes: u64::MAX,
        };
        let section = SectionSum {
            name: ".nv_fatbin".to_owned(),
            at: 100,
            bytes: 500,
            exclusive: true,
            containers: 1,
            entries: 2,
            entry_bytes: 400,
            overhead_bytes: 60,
            unaccounted_bytes: 40,
        };
        let deferred = Deferred { name: ".data".to_owned(), at: 700, bytes: 300, base: 0 };
        let problems = vec![Problem { at: 5, what: "odd".to_owned() }];
        let deferred = vec![deferred];
        GpuFacts { rows: vec![row], sections: vec![section], problems, deferred, ..GpuFacts::default() }
    }

    fn is_possible(change: impl FnOnce(&mut GpuFacts)) -> bool {
        let mut gpu = gpu();
        change(&mut gpu);
        FileFacts::Fatbin(Box::new(gpu)).is_possible(SIZE)
    }

    #[test]
    fn sums_stay_within_the_file() {
        assert!(is_possible(|_| {}));
        assert!(!is_possible(|gpu| gpu.rows[0].bytes = SIZE + 1));
        assert!(!is_possible(|gpu| gpu.rows = vec![Row { bytes: u64::MAX, ..gpu.rows[0].clone() }; 2]));
        assert!(!is_possible(|gpu| gpu.rows[0].entries = u64::MAX));
        assert!(!is_possible(|gpu| gpu.rows[0].without_kernel = 3));
        assert!(!is_possible(|gpu| gpu.sections[0].entry_bytes = u64::MAX));
        assert!(!is_possible(|gpu| gpu.sections[0].overhead_bytes = 101));
        assert!(!is_possible(|gpu| gpu.sections = vec![gpu.sections[0].clone(); 2]));
        assert!(!is_possible(|gpu| gpu.deferred[0].bytes = 301));
        assert!(!is_possible(|gpu| gpu.deferred[0].at = u64::MAX));
        assert!(!is_possible(|gpu| gpu.deferred[0].base = 701));
        let ptx = |bytes| FileFacts::Ptx { isa: None, arch: Some(u32::MAX), suffix: None, bytes };
        assert!(ptx(SIZE).is_possible(SIZE) && !ptx(SIZE + 1).is_possible(SIZE));
    }

    #[test]
    fn there_is_no_more_than_is_read_of_a_file() {
        assert!(!is_possible(|gpu| gpu.rows[0].arch = 10_001));
        assert!(!is_possible(|gpu| gpu.problems = vec![gpu.problems[0].clone(); 10]));
        let elf = |elf: ElfFacts| FileFacts::Elf(Box::new(elf)).is_possible(SIZE);
        assert!(elf(ElfFacts { needed: vec![vec![b'a'; 4_096]; 2], ..ElfFacts::default() }));
        assert!(!elf(ElfFacts { needed: vec![vec![b'a'; 4_097]], ..ElfFacts::default() }));
        assert!(!elf(ElfFacts { needed: vec![Vec::new(); 4_097], ..ElfFacts::default() }));
        assert!(!elf(ElfFacts { cubin: Some((u32::MAX, None)), ..ElfFacts::default() }));
    }

    #[test]
    fn texts_are_safe_to_show() {
        assert!(!is_possible(|gpu| gpu.sections[0].name.push('\u{1b}')));
        assert!(!is_possible(|gpu| gpu.deferred[0].name.push('\n')));
        assert!(!is_possible(|gpu| gpu.problems[0].what.push('\u{202e}')));
    }
}
