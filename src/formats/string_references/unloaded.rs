//! Sections of an ELF file that are never loaded: symbols, debug information, the compiler's comments. A program cannot
//! start what only they name. Both tables must say so: that of the sections, and that of the segments, which alone
//! decides what is loaded.
//!
//! Tables for unwinding the stack have no strings either, and in a large program two of their bytes look like `ld`.
//!
//! A file that is linked with the C library calls a function of it that its symbols name. Elsewhere, `system` is a word:
//! Boost's errors have it.

use std::ops::Range;

use crate::formats::elf::MAGIC;

/// Bytes of the header of a 64-bit file.
const HEADER_BYTES: usize = 64;
/// Bytes of a segment header; the table follows the header.
const SEGMENT_BYTES: usize = 56;
/// Maximum segments; programs have about ten.
const SEGMENTS: u64 = 256;
/// Type of a segment that is loaded, and of that with the index of the unwinding table.
const LOAD: u64 = 1;
const UNWINDING: u64 = 0x6474_e550;
/// First bytes of that index: its version, three encodings, and where the table is.
const UNWINDING_BYTES: usize = 8;
/// The encoding of a distance from the field itself, in four bytes with a sign.
const FROM_HERE: u8 = 0x1b;
/// Bytes of a section header.
const SECTION_BYTES: usize = 64;
/// Maximum sections; programs have some dozens.
const SECTIONS: u16 = 4_096;
/// Section types without content in the file.
const NULL: u64 = 0;
const NOBITS: u64 = 8;
/// Maximum references whose section is determined at the end of a file; the others count wherever they are.
const PLACED: usize = 1 << 12;
/// Section types: the symbols for the loader, and the versions that it needs of libraries.
const SYMBOLS: u64 = 11;
const VERSION_NEEDS: u64 = 0x6fff_fffe;
/// Flag of a section that is loaded.
const ALLOC: u64 = 2;

/// References in an ELF file, with their offsets: those in sections that are not loaded are removed at the end.
#[derive(Default)]
pub(super) struct Placing {
    pub(super) sections: SectionTable,
    references: Vec<(u64, Reference)>,
    /// Offset in the file of the bytes that are searched.
    pub(super) origin: u64,
}

/// What a binary refers to.
pub(super) enum Reference {
    /// Index in `WORDS`.
    Word(usize),
    /// The same, if the binary starts programs.
    MaybeWord(usize),
    /// The same, if strings of the binary end with a zero.
    BoundedWord(usize),
    /// `system`, which may be the function of the C library.
    System,
    Library(Vec<u8>),
}

impl Placing {
    /// Whether a reference can be kept until the section table has passed.
    pub(super) fn has_room(&self) -> bool {
        self.sections.is_known() && self.references.len() < PLACED
    }

    /// Keeps a reference; `at` is its place in the bytes that are searched.
    pub(super) fn push(&mut self, at: usize, reference: Reference) {
        self.references.push((self.origin.wrapping_add(at as u64), reference));
    }

    /// The references outside of sections that are not loaded, and functions that symbols name.
    pub(super) fn loaded(self) -> impl Iterator<Item = Reference> {
        let unloaded = self.sections.unloaded();
        let names = self.sections.symbol_names();
        let counts = move |at: u64, reference: &Reference| match (reference, &names) {
            (Reference::System, Some(names)) => names.contains(&at),
            // A static program has no such symbols: the name may stand in those for debuggers alone.
            (Reference::System, None) => true,
            _ => !unloaded.iter().any(|section| section.contains(&at)),
        };
        let all = self.references.into_iter().filter(move |(at, reference)| counts(*at, reference));
        all.map(|(_, reference)| reference)
    }
}

/// The section table of a file, collected while the file passes.
#[derive(Default)]
pub(super) struct SectionTable {
    /// Bytes passed so far.
    passed: u64,
    header: Vec<u8>,
    /// Where the tables are, once the header has passed.
    places: Option<Places>,
    sections: Vec<u8>,
    segments: Vec<u8>,
    /// First bytes of the index of the unwinding table.
    unwinding: Vec<u8>,
}

impl SectionTable {
    /// The next bytes of the file.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let start = self.passed;
        self.passed += bytes.len() as u64;
        if self.header.len() < HEADER_BYTES {
            let taken = bytes.len().min(HEADER_BYTES - self.header.len());
            self.header.extend_from_slice(&bytes[..taken]);
            self.places = places(&self.header);
        }
        let Some(places) = &self.places else { return };
        let passed = start..self.passed;
        take(&places.sections, &passed, bytes, &mut self.sections);
        take(&places.segments, &passed, bytes, &mut self.segments);
        if let Some(index) = self.unwinding_index() {
            let first = index.start..index.start.saturating_add(UNWINDING_BYTES as u64);
            take(&first, &passed, bytes, &mut self.unwinding);
        }
    }

    /// Where the index of the unwinding table is.
    fn unwinding_index(&self) -> Option<Range<u64>> {
        let mut segments = self.segments.chunks_exact(SEGMENT_BYTES);
        segments.find(|segment| number(segment, 0, 4) == UNWINDING).map(|segment| range(segment, 8, 32))
    }

    /// Where the unwinding table is, as its index says.
    fn unwinding_table(&self) -> Option<u64> {
        let [_, FROM_HERE, _, _, distance @ ..] = &self.unwinding[..] else { return None };
        let distance = i32::from_le_bytes(distance.try_into().ok()?);
        self.unwinding_index()?.start.checked_add(4)?.checked_add_signed(i64::from(distance))
    }

    /// Whether the file has the tables.
    pub(super) fn is_known(&self) -> bool {
        self.places.is_some()
    }

    /// Whether both tables passed completely.
    fn is_whole(&self) -> bool {
        let is_whole = |place: &Range<u64>, table: &[u8]| place.end - place.start == table.len() as u64;
        self.places.as_ref().is_some_and(|places| {
            is_whole(&places.sections, &self.sections) && is_whole(&places.segments, &self.segments)
        })
    }

    /// The names of the symbols that the loader looks up, of a file that needs versions of libraries; `None` for others,
    /// and if the tables did not pass completely.
    fn symbol_names(&self) -> Option<Range<u64>> {
        let sections = || self.sections.chunks_exact(SECTION_BYTES).filter(|_| self.is_whole());
        let of_kind = |kind: u64| sections().find(|section| number(section, 4, 4) == kind);
        of_kind(VERSION_NEEDS)?;
        let names = usize::try_from(number(of_kind(SYMBOLS)?, 40, 4)).ok()?;
        sections().nth(names).map(|section| range(section, 24, 32))
    }

    /// The sections that are not loaded, and those for unwinding; none if the tables did not pass completely.
    pub(super) fn unloaded(&self) -> Vec<Range<u64>> {
        if !self.is_whole() {
            return Vec::new();
        }
        let segments = self.segments.chunks_exact(SEGMENT_BYTES);
        let loaded: Vec<Range<u64>> = segments
            .filter(|segment| number(segment, 0, 4) == LOAD)
            .map(|segment| range(segment, 8, 32))
            .collect();
        let sections = self.sections.chunks_exact(SECTION_BYTES).filter(|section| {
            !matches!(number(section, 4, 4), NULL | NOBITS) && number(section, 8, 8) & ALLOC == 0
        });
        let is_apart = |section: &Range<u64>| {
            !loaded.iter().any(|segment| segment.start < section.end && section.start < segment.end)
        };
        let table = self.unwinding_table();
        let all = self.sections.chunks_exact(SECTION_BYTES).map(|section| range(section, 24, 32));
        let unwinding = all.filter(|section| !section.is_empty() && Some(section.start) == table);
        let apart = sections.map(|section| range(section, 24, 32)).filter(is_apart);
        apart.chain(unwinding).chain(self.unwinding_index().filter(|_| table.is_some())).collect()
    }
}

/// Offsets of the two tables.
struct Places {
    sections: Range<u64>,
    segments: Range<u64>,
}

fn places(header: &[u8]) -> Option<Places> {
    let is_known = header.len() == HEADER_BYTES && header.starts_with(MAGIC) && header[4..6] == [2, 1];
    let (at, stride, count) = (number(header, 40, 8), number(header, 58, 2), number(header, 60, 2));
    let fits = stride == SECTION_BYTES as u64 && (1..=u64::from(SECTIONS)).contains(&count);
    let (first, step, segments) = (number(header, 32, 8), number(header, 54, 2), number(header, 56, 2));
    let begins = first == HEADER_BYTES as u64 && step == SEGMENT_BYTES as u64 && segments <= SEGMENTS;
    // Only then is the end of the segments known not to overflow.
    if !(is_known && fits && begins && at >= HEADER_BYTES as u64) {
        return None;
    }
    Some(Places { sections: at..at.checked_add(stride * count)?, segments: first..first + step * segments })
}

/// Adds the part of a table that is in `bytes`, those at `passed` of the file.
fn take(table: &Range<u64>, passed: &Range<u64>, bytes: &[u8], to: &mut Vec<u8>) {
    let (from, end) = (table.start.max(passed.start), table.end.min(passed.end));
    let within = |at: u64| usize::try_from(at - passed.start).unwrap_or(usize::MAX);
    if from < end
        && let Some(part) = bytes.get(within(from)..within(end))
    {
        to.extend_from_slice(part);
    }
}

/// The bytes of a part of the file: its offset and size are at these places of its header.
fn range(header: &[u8], at: usize, size: usize) -> Range<u64> {
    let start = number(header, at, 8);
    start..start.saturating_add(number(header, size, 8))
}

/// A little endian number; zero if it is not there.
fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    let field = bytes.get(at..at + length).unwrap_or_default();
    field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
