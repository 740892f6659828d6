//! In: the bytes of a section or file with containers of GPU code (fat binaries), in any chunks.
//! Out: the GPU code: kind, architecture, compression, bytes; the rest of the section; the file without some entries.
//! Must not know: ELF, archives, layers, GPU compatibility. Of payloads only samples are examined, for how they
//! compress.

mod compaction;
mod found;
mod groups;
mod header;
mod located;
mod region;
mod samples;
mod sum;
mod walk;

use serde::{Deserialize, Serialize};

use super::binary::{BinaryLimits, Problem};

pub use compaction::compacted;
pub use located::{GpuContainer, GpuSection, LocatedGpuCode};

pub use groups::{ClassSum, CodeClass, CodeSample, ContainerFacts, ContainerGroup};
pub(in crate::formats) use region::{Region, drive, regions};
pub(in crate::formats) use sum::{Summing, cubin, loose};
pub(in crate::formats) use walk::{MAGIC, Walk};

/// Kind of an entry, from its kind number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum GpuKind {
    /// Machine code for one architecture (kinds 2 and, in old files, 4).
    Sass,
    /// Portable assembly that the driver compiles (kind 1).
    Ptx,
    /// Intermediate code for optimisation when linking (kind 8).
    Lto,
    /// Another kind number.
    Other(u16),
}

/// Which GPUs of an architecture the code is for, from the flags of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Suffix {
    /// This architecture alone: `sm_90a`.
    A,
    /// The family of this architecture: `sm_100f`.
    F,
}

/// Compression of a payload, from the flags of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Compression {
    /// Not compressed.
    None,
    /// One LZ4 block (CUDA 12).
    Lz4,
    /// One zstd frame (CUDA 13).
    Zstd,
    /// Another compression, or obfuscated as well, like intermediate code.
    Other,
}

/// One entry of a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Kind.
    pub kind: GpuKind,
    /// Version of its header: 0x0101 in all known files.
    pub version: u16,
    /// Decimal architecture number: 90 for `sm_90`.
    pub arch: u32,
    /// Suffix of the architecture.
    pub suffix: Option<Suffix>,
    /// Version of the PTX instruction set, major and minor. Only for PTX.
    pub isa: Option<(u16, u16)>,
    /// Compression of the payload.
    pub compression: Compression,
    /// Flags, as they are.
    pub flags: u64,
    /// Length of its header, in bytes.
    pub header_bytes: u64,
    /// Bytes in the file: header and padded payload.
    pub bytes: u64,
    /// Decompressed size of the payload as the header declares it; for an uncompressed entry that of the padded
    /// payload.
    pub uncompressed_bytes: u64,
}

impl Entry {
    /// Smaller machine code is not a cubin.
    const SMALLEST_WITHOUT_KERNEL: u64 = 512;

    /// Whether it is machine code too small to contain a kernel: CUDA linkers add such an entry for their own default
    /// architecture, and nothing uses it.
    ///
    /// Cubins without a kernel from ptxas of 11.8, 12.9 and 13.5 and nvlink of 13.0 have 664 to 1,592 bytes, those of
    /// an empty kernel 1,864 and more; from compute capability 10.0 on up to 2,228 and from 4,840.
    pub fn is_without_kernel(&self) -> bool {
        let most = if self.arch < 100 { 1_728 } else { 3_328 };
        self.kind == GpuKind::Sass
            && (Self::SMALLEST_WITHOUT_KERNEL..=most).contains(&self.uncompressed_bytes)
    }

    /// The row of this entry alone.
    fn row(&self) -> Row {
        let Self { kind, arch, suffix, isa, compression, bytes, uncompressed_bytes, .. } = *self;
        let without_kernel = u64::from(self.is_without_kernel());
        Row { kind, arch, suffix, isa, compression, entries: 1, without_kernel, bytes, uncompressed_bytes }
    }
}

/// Name of an architecture, prefixed by the kind of code: `sm_90a`, `compute_90`, `lto_90`.
pub fn arch_name(kind: GpuKind, arch: u32, suffix: Option<Suffix>) -> String {
    let suffix = match suffix {
        Some(Suffix::A) => "a",
        Some(Suffix::F) => "f",
        None => "",
    };
    let prefix = match kind {
        GpuKind::Sass => "sm",
        GpuKind::Ptx => "compute",
        GpuKind::Lto => "lto",
        GpuKind::Other(_) => "other",
    };
    format!("{prefix}_{arch}{suffix}")
}

/// GPU code of a file for one architecture, kind and compression: its entries that differ only in their sizes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Kind.
    pub kind: GpuKind,
    /// Decimal architecture number.
    pub arch: u32,
    /// Suffix of the architecture.
    pub suffix: Option<Suffix>,
    /// Version of the PTX instruction set, major and minor. Only for PTX.
    pub isa: Option<(u16, u16)>,
    /// Compression of the payloads.
    pub compression: Compression,
    /// Number of entries.
    pub entries: u64,
    /// Number of those too small to contain a kernel ([`Entry::is_without_kernel`]).
    pub without_kernel: u64,
    /// Bytes in the file: headers and padded payloads.
    pub bytes: u64,
    /// Decompressed size of the payloads, as the headers declare it.
    pub uncompressed_bytes: u64,
}

impl Row {
    /// The code of a whole file outside a container.
    pub fn single(
        kind: GpuKind,
        arch: u32,
        suffix: Option<Suffix>,
        isa: Option<(u16, u16)>,
        bytes: u64,
    ) -> Self {
        let compression = Compression::None;
        let uncompressed_bytes = bytes;
        Self {
            kind,
            arch,
            suffix,
            isa,
            compression,
            entries: 1,
            without_kernel: 0,
            bytes,
            uncompressed_bytes,
        }
    }

    /// Whether a GPU can run it: PTX, or SASS with at least one entry large enough for a kernel.
    pub fn is_for_running(&self) -> bool {
        match self.kind {
            GpuKind::Sass => self.without_kernel < self.entries,
            GpuKind::Ptx => true,
            _ => false,
        }
    }

    /// Name of the architecture.
    pub fn arch_name(&self) -> String {
        arch_name(self.kind, self.arch, self.suffix)
    }
}

/// Contents of one section. For an exclusive section always `entry_bytes + overhead_bytes + unaccounted_bytes ==
/// bytes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SectionSum {
    /// Name of the section, safe to show; empty for a loose file or a file without section names.
    pub name: String,
    /// Offset in the file, in bytes; 0 for the sum over the members of an archive.
    pub at: u64,
    /// Size of the section in bytes.
    pub bytes: u64,
    /// Whether it contains nothing but GPU code.
    pub exclusive: bool,
    /// Containers found.
    pub containers: u64,
    /// Entries found.
    pub entries: u64,
    /// Bytes of those entries: headers and padded payloads.
    pub entry_bytes: u64,
    /// Bytes of container headers, and of zeros after a container in an exclusive section.
    pub overhead_bytes: u64,
    /// Other bytes of an exclusive section; 0 for other sections.
    pub unaccounted_bytes: u64,
}

/// A range that may contain containers among other data, and is not searched yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deferred {
    /// Name of the section, safe to show.
    pub name: String,
    /// Offset in the file, in bytes.
    pub at: u64,
    /// Length in bytes.
    pub bytes: u64,
    /// Start of the ELF file with this section: not 0 in an archive. Containers are aligned relative to it.
    pub base: u64,
}

/// The GPU code of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GpuFacts {
    /// Sums by kind, architecture and compression, sorted.
    pub rows: Vec<Row>,
    /// The sections that contain it, in order.
    pub sections: Vec<SectionSum>,
    /// Format violations and reached limits.
    pub problems: Vec<Problem>,
    /// Ranges that a range reader did not search. Empty for a stream.
    pub deferred: Vec<Deferred>,
    /// Its containers.
    pub containers: ContainerFacts,
    /// Whether a tool can change containers of the file: it is linked, and has a section table.
    pub is_changeable: bool,
}

impl GpuFacts {
    /// Approximate size in memory, in bytes, without the struct itself.
    pub(in crate::formats) fn kept_bytes(&self) -> usize {
        let sections = self.sections.iter().map(|section| size_of::<SectionSum>() + section.name.len());
        let deferred = self.deferred.iter().map(|range| size_of::<Deferred>() + range.name.len());
        let problems = self.problems.iter().map(Problem::kept_bytes);
        let containers = self.containers.kept_bytes();
        containers
            + self.rows.len() * size_of::<Row>()
            + sections.chain(deferred).chain(problems).sum::<usize>()
    }
}

/// Calls `each` for every entry in `bytes`, in order.
pub fn entries(bytes: &[u8], limits: &BinaryLimits, mut each: impl FnMut(&Entry)) {
    let mut walk = Walk::new(limits);
    walk.enter(0, bytes.len() as u64);
    walk.push_all(0, bytes);
    walk.found().entries.iter().for_each(&mut each);
}

/// Body of a fuzz target: must never panic, and the parts of the file must add up.
///
/// # Panics
/// An invariant is violated.
#[cfg(feature = "fuzzing")]
pub fn fuzz_fatbin(data: &[u8]) {
    let mut file = MAGIC.to_vec();
    file.extend_from_slice(data);
    super::binary::fuzz_file(&file, b"fuzz.fatbin");
    entries(data, &BinaryLimits::default(), |entry| assert!(entry.bytes <= data.len() as u64));
}

#[cfg(test)]
mod tests;
