//! The container and entry headers, according to NVIDIA's `fatbinary_section.h` and files of CUDA 11 to 13. All numbers
//! are little endian.

use super::{Compression, Entry, GpuKind, Suffix};

/// Used bytes of a container header.
pub(super) const CONTAINER: usize = 16;
/// Offset and length of the size field of a container header.
pub(super) const SIZE_AT: u64 = 8;
pub(super) const SIZE_BYTES: u64 = 8;
/// Used bytes of an entry header.
pub(super) const ENTRY: usize = 64;

/// Maximum plausible container header. All known ones have 16 bytes.
const CONTAINER_HEADER_MAX: u64 = 4_096;
/// Maximum plausible entry header. It contains names and options; 184 bytes were observed.
const ENTRY_HEADER_MAX: u64 = 64 << 10;
/// Maximum plausible architecture number.
const ARCH_MAX: u32 = 10_000;

const BITS_64: u64 = 0x1;
const DEBUG: u64 = 0x2;
const CUDA: u64 = 0x4;
const LINUX: u64 = 0x10;
const LZ4: u64 = 0x2000;
const ZSTD: u64 = 0x8000;
const OBFUSCATED: u64 = 0x1_0000;
const ARCH_SPECIFIC: u64 = 0x10_0000;
const FAMILY: u64 = 0x20_0000;
const ATTRIBUTES: u64 = 0x100_0000;

/// Flags of entries that CUDA 11 to 13 write for Linux, and whose effect is known.
const KNOWN: u64 =
    BITS_64 | DEBUG | CUDA | LINUX | LZ4 | ZSTD | OBFUSCATED | ARCH_SPECIFIC | FAMILY | ATTRIBUTES;

/// Version of all known entries.
pub(super) const ENTRY_VERSION: u16 = 0x0101;

/// Header size, and size of the entries, of the container that starts `room` bytes before the end.
pub(super) fn container(bytes: &[u8], room: u64) -> Option<(u64, u64)> {
    let version = u16_at(bytes, 4)?;
    let header = u64::from(u16_at(bytes, 6)?);
    let size = u64_at(bytes, 8)?;
    let fits = header.checked_add(size).is_some_and(|total| total <= room);
    let sound = bytes.starts_with(&super::MAGIC)
        && version == 1
        && (CONTAINER as u64..=CONTAINER_HEADER_MAX).contains(&header)
        && header.is_multiple_of(8);
    (sound && fits).then_some((header, size))
}

/// The entry that starts `room` bytes before the end of its container.
pub(super) fn entry(bytes: &[u8], room: u64) -> Option<Entry> {
    let header = u64::from(u32_at(bytes, 4)?);
    let payload = u64::from(u32_at(bytes, 8)?);
    let arch = u32_at(bytes, 28)?;
    let total = header.checked_add(payload)?;
    if !(ENTRY as u64..=ENTRY_HEADER_MAX).contains(&header)
        || !header.is_multiple_of(8)
        || total > room
        || arch > ARCH_MAX
    {
        return None;
    }
    let kind = match u16_at(bytes, 0)? {
        1 => GpuKind::Ptx,
        2 | 4 => GpuKind::Sass,
        8 => GpuKind::Lto,
        other => GpuKind::Other(other),
    };
    let flags = u64_at(bytes, 40)?;
    let compressed = u32_at(bytes, 16)? != 0 || flags & (LZ4 | ZSTD) != 0;
    let compression = match () {
        () if !compressed => Compression::None,
        () if flags & OBFUSCATED != 0 => Compression::Other,
        () if flags & ZSTD != 0 => Compression::Zstd,
        () if flags & LZ4 != 0 => Compression::Lz4,
        () => Compression::Other,
    };
    let suffix = match () {
        () if flags & ARCH_SPECIFIC != 0 => Some(Suffix::A),
        () if flags & FAMILY != 0 => Some(Suffix::F),
        () => None,
    };
    let isa = match kind {
        GpuKind::Ptx => Some((u16_at(bytes, 26)?, u16_at(bytes, 24)?)),
        _ => None,
    };
    let uncompressed_bytes = if compressed { u64_at(bytes, 56)? } else { payload };
    Some(Entry {
        kind,
        version: u16_at(bytes, 2)?,
        arch,
        suffix,
        isa,
        compression,
        flags,
        header_bytes: header,
        bytes: total,
        uncompressed_bytes,
    })
}

/// Flags of a known entry with this suffix.
pub(super) fn known_flags(suffix: Option<Suffix>) -> u64 {
    BITS_64
        | LINUX
        | match suffix {
            Some(Suffix::A) => ARCH_SPECIFIC,
            Some(Suffix::F) => FAMILY,
            None => 0,
        }
}

impl Entry {
    /// Whether kind, architecture and flags are known, and agree: what it is for can be said.
    pub fn is_known(&self) -> bool {
        let both = ARCH_SPECIFIC | FAMILY;
        !matches!(self.kind, GpuKind::Other(_))
            && self.arch > 0
            && self.flags & !KNOWN == 0
            && self.flags & BITS_64 != 0
            && self.flags & both != both
    }

    /// Whether it can be moved inside its container: a version with this layout, of a length that keeps what follows
    /// aligned.
    pub(in crate::formats) fn is_movable(&self) -> bool {
        self.version == ENTRY_VERSION && self.bytes.is_multiple_of(8)
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|four| u16::from_le_bytes(*four))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|four| u32::from_le_bytes(*four))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|eight| u64::from_le_bytes(*eight))
}
