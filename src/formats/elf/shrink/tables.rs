//! Header, segments and sections of a file, as a first pass over it collects them.

use super::Unshrunk;

pub(super) const HEADER_BYTES: u64 = 64;
pub(super) const SEGMENT_BYTES: u64 = 56;
pub(super) const SECTION_BYTES: u64 = 64;

/// `PT_LOAD`.
pub(super) const LOAD: u32 = 1;
/// `PT_INTERP`.
const INTERPRETER: u32 = 3;
/// `PT_PHDR`.
pub(super) const PHDR: u32 = 6;
/// `PT_GNU_STACK`, which has no bytes.
pub(super) const STACK: u32 = 0x6474_e551;
/// `SHT_PROGBITS`.
pub(super) const PROGBITS: u32 = 1;
/// `SHT_NOBITS`.
pub(super) const NOBITS: u32 = 8;
/// `SHF_WRITE` and `SHF_ALLOC`.
pub(super) const WRITE: u64 = 1;
pub(super) const ALLOC: u64 = 2;

const MACHINE_X86_64: u16 = 62;
const MACHINE_AARCH64: u16 = 183;

/// Smallest page of both machines, and the largest of 64-bit ARM.
const PAGE: u64 = 4 << 10;
const PAGE_AARCH64: u64 = 64 << 10;

/// Section indexes from here on have other meanings (`SHN_LORESERVE`).
pub(super) const SECTIONS_MAX: u64 = 0xff00;

/// Tables of one file, as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ElfTables {
    /// Length of the file.
    pub file_bytes: u64,
    /// The first 64 bytes.
    pub header: Vec<u8>,
    /// The program headers.
    pub programs: Vec<u8>,
    /// The section headers.
    pub sections: Vec<u8>,
}

/// Collects the tables while a file passes, in chunks of any length.
#[derive(Debug, Default)]
pub struct TableCollector {
    tables: ElfTables,
}

/// Offset and length of the table whose offset, entry size and count are at these places of the header.
fn table(header: &[u8], at: usize, stride: usize, count: usize) -> (u64, u64) {
    (u64_at(header, at), u64::from(u16_at(header, stride)) * u64::from(u16_at(header, count)))
}

impl TableCollector {
    /// Takes the next bytes of the file.
    pub fn push(&mut self, chunk: &[u8]) {
        let at = self.tables.file_bytes;
        self.tables.file_bytes = at.saturating_add(chunk.len() as u64);
        take(&mut self.tables.header, at, chunk, (0, HEADER_BYTES));
        if self.tables.header.len() as u64 == HEADER_BYTES {
            let (programs, sections) = (programs(&self.tables.header), sections(&self.tables.header));
            take(&mut self.tables.programs, at, chunk, programs);
            take(&mut self.tables.sections, at, chunk, sections);
        }
    }

    /// The tables, after the last byte.
    pub fn finish(self) -> ElfTables {
        self.tables
    }
}

pub(super) fn programs(header: &[u8]) -> (u64, u64) {
    table(header, 32, 54, 56)
}

pub(super) fn sections(header: &[u8]) -> (u64, u64) {
    table(header, 40, 58, 60)
}

/// Appends the part of `chunk`, which is at offset `at`, that continues the range.
fn take(kept: &mut Vec<u8>, at: u64, chunk: &[u8], (start, bytes): (u64, u64)) {
    let have = kept.len() as u64;
    let Some(skip) = start.checked_add(have).and_then(|next| next.checked_sub(at)) else { return };
    let Ok(skip) = usize::try_from(skip) else { return };
    let rest = chunk.get(skip..).unwrap_or(&[]);
    let count = usize::try_from(bytes.saturating_sub(have)).unwrap_or(usize::MAX).min(rest.len());
    kept.extend_from_slice(rest.get(..count).unwrap_or(&[]));
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..).and_then(|rest| rest.first_chunk()).copied().unwrap_or([0; N])
}

pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array(bytes, at))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array(bytes, at))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array(bytes, at))
}

/// One program header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) kind: u32,
    pub(super) flags: u32,
    pub(super) at: u64,
    pub(super) address: u64,
    pub(super) physical: u64,
    pub(super) file: u64,
    pub(super) memory: u64,
    pub(super) align: u64,
}

impl Segment {
    pub(super) fn read(raw: &[u8]) -> Self {
        Self {
            kind: u32_at(raw, 0),
            flags: u32_at(raw, 4),
            at: u64_at(raw, 8),
            address: u64_at(raw, 16),
            physical: u64_at(raw, 24),
            file: u64_at(raw, 32),
            memory: u64_at(raw, 40),
            align: u64_at(raw, 48),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.kind.to_le_bytes());
        out.extend_from_slice(&self.flags.to_le_bytes());
        for word in [self.at, self.address, self.physical, self.file, self.memory, self.align] {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }

    /// End of its bytes in the file; zero without any, whatever its offset is.
    pub(super) fn end(&self) -> u64 {
        if self.file == 0 { 0 } else { self.at.saturating_add(self.file) }
    }

    /// The part of it from `start` to `end`, counted from its first byte in the file.
    pub(super) fn part(&self, start: u64, end: u64) -> Self {
        Self {
            at: self.at.saturating_add(start),
            address: self.address.saturating_add(start),
            physical: self.physical.wrapping_add(start),
            file: self.file.min(end).saturating_sub(start),
            memory: end.saturating_sub(start),
            ..*self
        }
    }
}

/// One section header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Section {
    pub(super) name: u32,
    pub(super) kind: u32,
    pub(super) flags: u64,
    pub(super) address: u64,
    pub(super) at: u64,
    pub(super) bytes: u64,
    pub(super) link: u32,
    pub(super) info: u32,
    pub(super) align: u64,
    pub(super) entry: u64,
}

impl Section {
    pub(super) fn read(raw: &[u8]) -> Self {
        Self {
            name: u32_at(raw, 0),
            kind: u32_at(raw, 4),
            flags: u64_at(raw, 8),
            address: u64_at(raw, 16),
            at: u64_at(raw, 24),
            bytes: u64_at(raw, 32),
            link: u32_at(raw, 40),
            info: u32_at(raw, 44),
            align: u64_at(raw, 48),
            entry: u64_at(raw, 56),
        }
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.name.to_le_bytes());
        out.extend_from_slice(&self.kind.to_le_bytes());
        for word in [self.flags, self.address, self.at, self.bytes] {
            out.extend_from_slice(&word.to_le_bytes());
        }
        out.extend_from_slice(&self.link.to_le_bytes());
        out.extend_from_slice(&self.info.to_le_bytes());
        out.extend_from_slice(&self.align.to_le_bytes());
        out.extend_from_slice(&self.entry.to_le_bytes());
    }

    /// Its bytes in the file.
    pub(super) fn file(&self) -> u64 {
        if matches!(self.kind, 0 | NOBITS) { 0 } else { self.bytes }
    }

    /// End of its bytes in the file; zero without any, whatever its offset is.
    pub(super) fn end(&self) -> u64 {
        if self.file() == 0 { 0 } else { self.at.saturating_add(self.file()) }
    }
}

/// The tables of a file that is understood.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    pub(super) header: Vec<u8>,
    pub(super) programs_at: u64,
    pub(super) segments: Vec<Segment>,
    pub(super) sections_at: u64,
    pub(super) sections: Vec<Section>,
    pub(super) file_bytes: u64,
    /// Page size that offsets and addresses agree in.
    pub(super) page: u64,
}

impl Parsed {
    pub(super) fn new(tables: &ElfTables) -> Result<Self, Unshrunk> {
        let header = &tables.header;
        if header.len() as u64 != HEADER_BYTES || !header.starts_with(super::super::MAGIC) {
            return Err(Unshrunk::NotElf);
        }
        if array(header, 4) != [2_u8, 1, 1] {
            return Err(Unshrunk::Class);
        }
        if u16_at(header, 16) != 3 {
            return Err(Unshrunk::Program);
        }
        let machine = u16_at(header, 18);
        if ![MACHINE_X86_64, MACHINE_AARCH64].contains(&machine) {
            return Err(Unshrunk::Machine(machine));
        }
        let (programs_at, program_bytes) = programs(header);
        let (sections_at, section_bytes) = sections(header);
        let strides = (u64::from(u16_at(header, 54)), u64::from(u16_at(header, 58)));
        let sound = strides.0 == SEGMENT_BYTES
            && tables.programs.len() as u64 == program_bytes
            && programs_at >= HEADER_BYTES
            // `PN_XNUM`
            && u16_at(header, 56) != 0xffff;
        // Without a section table the size of its entries means nothing.
        let no_sections = sections_at == 0 && section_bytes == 0;
        let sound_sections = strides.1 == SECTION_BYTES
            && section_bytes > 0
            && tables.sections.len() as u64 == section_bytes
            && sections_at >= HEADER_BYTES;
        if !sound || !(no_sections || sound_sections) {
            return Err(Unshrunk::Tables);
        }
        let segments = tables.programs.chunks_exact(56).map(Segment::read).collect::<Vec<_>>();
        let sections = tables.sections.chunks_exact(64).map(Section::read).collect::<Vec<_>>();
        let parsed = Self {
            header: header.clone(),
            programs_at,
            page: page(machine, &segments),
            segments,
            sections_at,
            sections,
            file_bytes: tables.file_bytes,
        };
        parsed.check_segments()?;
        parsed.check_sections()?;
        Ok(parsed)
    }

    /// The loaded segments, in the order of addresses.
    pub(super) fn loads(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.kind == LOAD)
    }

    fn check_segments(&self) -> Result<(), Unshrunk> {
        if self.segments.iter().any(|segment| segment.kind == INTERPRETER) {
            return Err(Unshrunk::Program);
        }
        if self.segments.iter().filter(|segment| segment.kind == PHDR).count() > 1 {
            return Err(Unshrunk::Tables);
        }
        if self.loads().next().is_none() {
            return Err(Unshrunk::NoSegments);
        }
        for segment in self.segments.iter().filter(|segment| segment.file > 0) {
            if segment.at.checked_add(segment.file).is_none_or(|end| end > self.file_bytes) {
                return Err(Unshrunk::BeyondEnd);
            }
        }
        // Room above the last address for one more segment.
        let most = u64::MAX / 4;
        let mut address = 0;
        for load in self.loads() {
            if load.file > load.memory || load.address < address {
                return Err(Unshrunk::Overlap);
            }
            let aligned = load.align.is_power_of_two() && load.align >= PAGE;
            if !aligned || load.address % load.align != load.at % load.align {
                return Err(Unshrunk::Misaligned);
            }
            address = load.address.saturating_add(load.memory);
            if address > most {
                return Err(Unshrunk::Overlap);
            }
        }
        let mut files: Vec<_> = self.loads().map(|load| (load.at, load.end())).collect();
        files.retain(|(at, end)| at < end);
        files.sort_unstable();
        if files.windows(2).any(|pair| matches!(pair, [(_, end), (at, _)] if at < end)) {
            return Err(Unshrunk::Overlap);
        }
        Ok(())
    }

    fn check_sections(&self) -> Result<(), Unshrunk> {
        for section in &self.sections {
            if section.file() > 0
                && section.at.checked_add(section.file()).is_none_or(|end| end > self.file_bytes)
            {
                return Err(Unshrunk::BeyondEnd);
            }
            if section.flags & ALLOC != 0 && section.align > self.page {
                return Err(Unshrunk::SectionAlignment(section.align));
            }
        }
        Ok(())
    }

    /// End of what the headers describe.
    pub(super) fn described_end(&self) -> u64 {
        let segments = self.segments.iter().map(Segment::end);
        let sections = self.sections.iter().map(Section::end);
        let own = [
            HEADER_BYTES,
            self.programs_at.saturating_add(self.segments.len() as u64 * SEGMENT_BYTES),
            self.sections_end(),
        ];
        segments.chain(sections).chain(own).max().unwrap_or(0)
    }

    /// End of the section table; zero without one.
    pub(super) fn sections_end(&self) -> u64 {
        self.sections_at.saturating_add(self.sections.len() as u64 * SECTION_BYTES)
    }
}

/// Page size that the file is made for. A library for pages of 64 KiB works with smaller ones too, so its parts must
/// agree in the larger.
fn page(machine: u16, segments: &[Segment]) -> u64 {
    let least = segments.iter().filter(|segment| segment.kind == LOAD).map(|segment| segment.align).min();
    if machine == MACHINE_AARCH64 && least.is_some_and(|least| least >= PAGE_AARCH64) {
        PAGE_AARCH64
    } else {
        PAGE
    }
}
