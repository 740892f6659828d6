//! ELF headers, in both classes and both byte orders.

use super::ElfKind;

/// Class and byte order of a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) class64: bool,
    pub(super) little: bool,
}

/// The fields of the ELF header that are used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub(super) layout: Layout,
    pub(super) os_abi: u8,
    pub(super) abi_version: u8,
    pub(super) kind: ElfKind,
    pub(super) machine: u16,
    pub(super) flags: u32,
    pub(super) programs: Table,
    pub(super) sections: Table,
    pub(super) names: u32,
}

/// A table of entries of equal size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    pub(super) at: u64,
    pub(super) stride: u64,
    pub(super) count: u64,
}

impl Table {
    /// Bytes from the start of the first entry to the end of the last.
    pub(super) fn bytes(&self) -> u64 {
        self.stride.saturating_mul(self.count)
    }
}

/// One program header.
#[derive(Clone, Copy, Debug)]
pub(super) struct Program {
    pub(super) kind: u32,
    flags: u32,
    pub(super) at: u64,
    pub(super) address: u64,
    pub(super) bytes: u64,
    pub(super) align: u64,
}

impl Program {
    pub(super) const fn is_executable(&self) -> bool {
        self.flags & 1 != 0
    }

    pub(super) const fn is_writable(&self) -> bool {
        self.flags & 2 != 0
    }

    /// End offset.
    pub(super) fn end(&self) -> u64 {
        self.at.saturating_add(self.bytes)
    }

    /// Whether `other` starts inside this one.
    pub(super) fn holds(&self, other: &Self) -> bool {
        (self.at..self.end()).contains(&other.at)
    }
}

/// One section header.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionHeader {
    pub(super) name: u32,
    pub(super) kind: u32,
    pub(super) flags: u64,
    pub(super) at: u64,
    pub(super) bytes: u64,
    pub(super) link: u32,
}

/// Maximum plausible entry size of a table. Real ones have 64 bytes at most.
const STRIDE_MAX: u64 = 1_024;

impl Layout {
    pub(super) fn u16(self, bytes: &[u8], at: usize) -> Option<u16> {
        let raw = *bytes.get(at..)?.first_chunk()?;
        Some(if self.little { u16::from_le_bytes(raw) } else { u16::from_be_bytes(raw) })
    }

    pub(super) fn u32(self, bytes: &[u8], at: usize) -> Option<u32> {
        let raw = *bytes.get(at..)?.first_chunk()?;
        Some(if self.little { u32::from_le_bytes(raw) } else { u32::from_be_bytes(raw) })
    }

    pub(super) fn u64(self, bytes: &[u8], at: usize) -> Option<u64> {
        let raw = *bytes.get(at..)?.first_chunk()?;
        Some(if self.little { u64::from_le_bytes(raw) } else { u64::from_be_bytes(raw) })
    }

    /// A field of address size, by its offset in the 32-bit and in the 64-bit form.
    pub(super) fn word(self, bytes: &[u8], at32: usize, at64: usize) -> Option<u64> {
        if self.class64 { self.u64(bytes, at64) } else { self.u32(bytes, at32).map(u64::from) }
    }

    fn pick(self, at32: usize, at64: usize) -> usize {
        if self.class64 { at64 } else { at32 }
    }

    pub(super) fn program_bytes(self) -> usize {
        self.pick(32, 56)
    }

    pub(super) fn section_bytes(self) -> usize {
        self.pick(40, 64)
    }

    pub(super) fn dynamic_bytes(self) -> usize {
        self.pick(8, 16)
    }

    pub(super) fn program(self, raw: &[u8]) -> Option<Program> {
        Some(Program {
            kind: self.u32(raw, 0)?,
            flags: self.u32(raw, self.pick(24, 4))?,
            at: self.word(raw, 4, 8)?,
            address: self.word(raw, 8, 16)?,
            bytes: self.word(raw, 16, 32)?,
            align: self.word(raw, 28, 48)?,
        })
    }

    pub(super) fn section(self, raw: &[u8]) -> Option<SectionHeader> {
        Some(SectionHeader {
            name: self.u32(raw, 0)?,
            kind: self.u32(raw, 4)?,
            flags: self.word(raw, 8, 8)?,
            at: self.word(raw, 16, 24)?,
            bytes: self.word(raw, 20, 32)?,
            link: self.u32(raw, self.pick(24, 40))?,
        })
    }

    /// One entry of the dynamic table: tag and value.
    pub(super) fn dynamic(self, raw: &[u8]) -> Option<(u64, u64)> {
        Some((self.word(raw, 0, 0)?, self.word(raw, 4, 8)?))
    }
}

/// The header, from the first 64 bytes of a file or as many as there are.
pub(super) fn header(raw: &[u8]) -> Result<Header, &'static str> {
    let cut = "the ELF header is truncated";
    let class64 = match raw.get(4).ok_or(cut)? {
        1 => false,
        2 => true,
        _ => return Err("unknown ELF class"),
    };
    let little = match raw.get(5).ok_or(cut)? {
        1 => true,
        2 => false,
        _ => return Err("unknown ELF byte order"),
    };
    fields(Layout { class64, little }, raw).ok_or(cut)
}

fn fields(layout: Layout, raw: &[u8]) -> Option<Header> {
    let short = |at32: usize, at64: usize| layout.u16(raw, layout.pick(at32, at64)).map(u64::from);
    let kind = match layout.u16(raw, 16)? {
        1 => ElfKind::Relocatable,
        2 => ElfKind::Executable,
        3 => ElfKind::SharedObject,
        4 => ElfKind::Core,
        other => ElfKind::Other(other),
    };
    let programs = Table { at: layout.word(raw, 28, 32)?, stride: short(42, 54)?, count: short(44, 56)? };
    let sections = Table { at: layout.word(raw, 32, 40)?, stride: short(46, 58)?, count: short(48, 60)? };
    Some(Header {
        layout,
        os_abi: *raw.get(7)?,
        abi_version: *raw.get(8)?,
        kind,
        machine: layout.u16(raw, 18)?,
        flags: layout.u32(raw, layout.pick(36, 48))?,
        programs,
        sections,
        names: u32::from(layout.u16(raw, layout.pick(50, 62))?),
    })
}

/// Whether entries of `stride` bytes have room for `needed` bytes each.
pub(super) fn stride_fits(stride: u64, needed: usize) -> bool {
    (needed as u64..=STRIDE_MAX).contains(&stride)
}

/// Architecture and suffix of a cubin. The older layout, distinguished by `EI_OSABI`, has the architecture in the
/// lowest byte of `e_flags`, the newer one in the second.
pub(super) fn cubin(header: &Header) -> (u32, bool) {
    if header.os_abi == 0x41 {
        ((header.flags >> 8) & 0xff, header.flags & 0x08 != 0)
    } else {
        (header.flags & 0xff, header.flags & 0x800 != 0)
    }
}
