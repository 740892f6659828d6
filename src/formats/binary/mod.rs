//! In: one file of an image, as a stream or as ranges of a seekable file.
//! Out: its binary format, and the facts of its headers and of the GPU code inside.
//! Must not know: paths in an image, layers, library identities. Both readers give equal facts.

mod bounds;
mod limits;
mod other;
mod problem;

use std::io;

use serde::{Deserialize, Serialize};

use super::ar::{self, ArchiveFacts, ArchiveScan};
use super::elf::{self, ElfFacts, ElfScan};
use super::fatbin::{self, GpuFacts, Region, Suffix, Summing, Walk};
use crate::base::Section;
use crate::jobs::CancelToken;

pub use limits::BinaryLimits;
pub use problem::Problem;
pub(in crate::formats) use problem::Problems;

/// Bytes from the start of a file that identify it (all, if it has fewer).
pub const HEAD_BYTES: usize = 64;
/// As many of them tell the format: the longest magic is that of static libraries.
pub const MAGIC_BYTES: usize = 8;

/// Format of a file, and its facts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FileFacts {
    /// A library, program, object or cubin.
    Elf(Box<ElfFacts>),
    /// A static library.
    Archive(Box<ArchiveFacts>),
    /// A loose file of GPU code containers.
    Fatbin(Box<GpuFacts>),
    /// A file named `.ptx`. All three fields are `None` if its content is not PTX.
    Ptx {
        /// `.version`: major and minor of the instruction set.
        isa: Option<(u16, u16)>,
        /// `.target`: decimal architecture number, 90 for `sm_90`.
        arch: Option<u32>,
        /// `.target`: suffix of the architecture.
        suffix: Option<Suffix>,
        /// Size of the file.
        bytes: u64,
    },
    /// A Windows or DOS program.
    Pe {
        /// Machine number: 0x8664 is x86-64. 0 if there is none.
        machine: u16,
    },
    /// A program or library of macOS.
    MachO,
}

impl FileFacts {
    /// The GPU code inside; `None` for PTX files and files without GPU code.
    pub fn gpu(&self) -> Option<&GpuFacts> {
        match self {
            Self::Elf(elf) => elf.gpu.as_deref(),
            Self::Archive(archive) => Some(&archive.gpu),
            Self::Fatbin(gpu) => Some(gpu),
            Self::Ptx { .. } | Self::Pe { .. } | Self::MachO => None,
        }
    }
}

impl FileFacts {
    /// Approximate size in memory, in bytes; counted against the budget for all files.
    pub fn kept_bytes(&self) -> usize {
        size_of::<Self>()
            + match self {
                Self::Elf(elf) => elf.kept_bytes(),
                Self::Archive(archive) => archive.kept_bytes(),
                Self::Fatbin(gpu) => size_of::<GpuFacts>() + gpu.kept_bytes(),
                Self::Ptx { .. } | Self::Pe { .. } | Self::MachO => 0,
            }
    }
}

/// Format by the first bytes and the name of a file.
enum Sort {
    Elf,
    Archive { thin: bool },
    Fatbin,
    Text(other::Text),
    MachO,
}

fn sort(head: &[u8], name: &[u8]) -> Option<Sort> {
    Some(match () {
        () if head.starts_with(elf::MAGIC) => Sort::Elf,
        () if head.starts_with(ar::MAGIC) => Sort::Archive { thin: false },
        () if head.starts_with(ar::THIN) => Sort::Archive { thin: true },
        () if head.starts_with(&fatbin::MAGIC) => Sort::Fatbin,
        () if head.starts_with(b"MZ") => Sort::Text(other::Text::Pe),
        () if name.ends_with(b".ptx") => Sort::Text(other::Text::Ptx),
        () if other::is_mach_o(head) => Sort::MachO,
        () => return None,
    })
}

/// A file read as a stream. [`BinaryLimits`] bounds its memory: some MiB, and the results.
pub struct Scan {
    state: ScanState,
    size: u64,
    limits: BinaryLimits,
}

enum ScanState {
    Elf(Box<ElfScan>),
    Archive(Box<ArchiveScan>),
    Fatbin { walk: Box<Walk>, at: u64 },
    Text { head: Vec<u8>, text: other::Text },
    MachO,
}

impl Scan {
    /// Starts with a file of `size` bytes that begins with `head` ([`HEAD_BYTES`] or all) and is named `name` (the last
    /// part of its path). `None` if it is not analysed.
    pub fn start(head: &[u8], size: u64, name: &[u8], limits: &BinaryLimits) -> Option<Self> {
        let state = match sort(head, name)? {
            Sort::Elf => ScanState::Elf(Box::new(ElfScan::new(size, limits.head_bytes, name, limits))),
            Sort::Archive { thin } => ScanState::Archive(Box::new(ArchiveScan::new(size, thin, limits))),
            Sort::Fatbin => {
                let mut walk = Box::new(Walk::new(limits));
                walk.enter(0, size);
                ScanState::Fatbin { walk, at: 0 }
            }
            Sort::Text(text) => ScanState::Text { head: Vec::new(), text },
            Sort::MachO => ScanState::MachO,
        };
        Some(Self { state, size, limits: limits.clone() })
    }

    /// Feeds the next bytes of the file, `head` included, in chunks of any length.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.state {
            ScanState::Elf(scan) => scan.push(bytes),
            ScanState::Archive(scan) => scan.push(bytes),
            ScanState::Fatbin { walk, at } => {
                walk.push_all(*at, bytes);
                *at = at.saturating_add(bytes.len() as u64);
            }
            ScanState::Text { head, .. } => {
                let room = other::TEXT_BYTES.saturating_sub(head.len());
                head.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
            }
            ScanState::MachO => {}
        }
    }

    /// The facts. If the stream ended early, they are partial, with a problem.
    pub fn finish(self) -> FileFacts {
        match self.state {
            ScanState::Elf(scan) => FileFacts::Elf(Box::new(scan.finish())),
            ScanState::Archive(scan) => FileFacts::Archive(Box::new(scan.finish())),
            ScanState::Fatbin { walk, at } => {
                let mut facts = fatbin::loose(self.size, &walk, 1, &self.limits);
                if at < self.size {
                    let what = format!("file truncated: {at} of {} bytes", self.size);
                    facts.problems.push(Problem { at, what });
                }
                FileFacts::Fatbin(Box::new(facts))
            }
            ScanState::Text { head, text } => text.facts(&head, self.size),
            ScanState::MachO => FileFacts::MachO,
        }
    }
}

/// The facts of `file` that begins with `head` ([`MAGIC_BYTES`] at least, or all), from headers and tables alone;
/// `None` if it is not analysed. Sections that may contain GPU code among other data are left to [`read_deferred`].
///
/// # Errors
/// Read errors and cancellation.
pub fn read(
    file: &Section,
    head: &[u8],
    name: &[u8],
    limits: &BinaryLimits,
    cancel: &CancelToken,
) -> io::Result<Option<FileFacts>> {
    Ok(Some(match sort(head, name) {
        None => return Ok(None),
        Some(Sort::Elf) => FileFacts::Elf(Box::new(elf::read(file, name, limits, cancel)?)),
        Some(Sort::Archive { thin }) => FileFacts::Archive(Box::new(ar::read(file, thin, limits, cancel)?)),
        Some(Sort::Fatbin) => {
            let mut walk = Walk::new(limits);
            let mut budget = limits.search_bytes;
            fatbin::drive(&mut walk, file, 0..file.len(), &mut budget, cancel)?;
            FileFacts::Fatbin(Box::new(fatbin::loose(file.len(), &walk, budget, limits)))
        }
        Some(Sort::Text(text)) => {
            let mut bytes = vec![0; other::TEXT_BYTES];
            let count = file.read_full_at(&mut bytes, 0)?;
            text.facts(bytes.get(..count).unwrap_or(&[]), file.len())
        }
        Some(Sort::MachO) => FileFacts::MachO,
    }))
}

/// Searches the ranges that [`read`] deferred, and adds the results. The facts then equal those of [`Scan`] on the same
/// bytes.
///
/// # Errors
/// Read errors and cancellation; the ranges are then no longer listed as deferred.
pub fn read_deferred(
    file: &Section,
    facts: &mut FileFacts,
    limits: &BinaryLimits,
    cancel: &CancelToken,
) -> io::Result<()> {
    let by_name = matches!(facts, FileFacts::Archive(_));
    let gpu = match facts {
        FileFacts::Elf(elf) => elf.gpu.as_deref_mut(),
        FileFacts::Archive(archive) => Some(&mut archive.gpu),
        _ => None,
    };
    let Some(gpu) = gpu.filter(|gpu| !gpu.deferred.is_empty()) else { return Ok(()) };
    let ranges = std::mem::take(&mut gpu.deferred);
    let mut sum = Summing::resume(std::mem::take(gpu), limits);
    let mut budget = limits.search_bytes;
    for range in ranges {
        let part = file.part(range.base, u64::MAX);
        let at = range.at.saturating_sub(range.base);
        let region = Region { name: range.name, at, bytes: range.bytes, exclusive: false };
        let mut walk = Walk::with_samples(limits);
        fatbin::drive(&mut walk, &part, at..region.end(), &mut budget, cancel)?;
        sum.search(&region, &walk, by_name);
    }
    sum.give_up(budget);
    let found = sum.finish();
    match (facts, found) {
        (FileFacts::Elf(elf), found) => elf.gpu = found.map(Box::new),
        (FileFacts::Archive(archive), found) => archive.gpu = found.unwrap_or_default(),
        _ => {}
    }
    Ok(())
}

/// Invariants of all fuzz targets: chunks of any length give equal facts, so do range reads of a valid file, and the
/// parts of a section add up.
///
/// # Panics
/// An invariant is violated.
#[cfg(feature = "fuzzing")]
pub fn fuzz_file(data: &[u8], name: &[u8]) {
    let limits = BinaryLimits { head_bytes: 512, member_head_bytes: 128, ..BinaryLimits::default() };
    let scan = |piece: usize| {
        let mut scan = Scan::start(data, data.len() as u64, name, &limits)?;
        data.chunks(piece).for_each(|bytes| scan.push(bytes));
        Some(scan.finish())
    };
    let facts = scan(data.len().max(1));
    assert_eq!(facts, scan(61), "the length of pieces matters");
    let file = Section::new(std::sync::Arc::new(data.to_vec()), 0, data.len() as u64);
    let cancel = CancelToken::new();
    if let Ok(Some(mut read)) = read(&file, data, name, &limits, &cancel) {
        let searched = read_deferred(&file, &mut read, &limits, &cancel);
        assert!(searched.is_ok(), "memory can be read");
        check_sums(&read);
    }
    facts.iter().for_each(check_sums);
}

#[cfg(feature = "fuzzing")]
fn check_sums(facts: &FileFacts) {
    let Some(gpu) = facts.gpu() else { return };
    let mut total = 0;
    for section in &gpu.sections {
        let parts = section.entry_bytes + section.overhead_bytes + section.unaccounted_bytes;
        assert!(!section.exclusive || parts == section.bytes, "{section:?}");
        assert!(parts <= section.bytes, "{section:?}");
        total += section.entry_bytes;
    }
    let rows: u64 = gpu.rows.iter().map(|row| row.bytes).sum();
    assert_eq!(rows, total);
}

#[cfg(test)]
pub(in crate::formats) mod tests;
