//! Sections of an ELF file that are never loaded: symbols, debug information, the compiler's comments. A program cannot
//! start what only they name.

use std::ops::Range;

use crate::formats::elf::MAGIC;

/// Bytes of the header of a 64-bit file.
const HEADER_BYTES: usize = 64;
/// Bytes of a section header.
const SECTION_BYTES: usize = 64;
/// Maximum sections; programs have some dozens.
const SECTIONS: u16 = 4_096;
/// Section types without content in the file.
const NULL: u64 = 0;
const NOBITS: u64 = 8;
/// Flag of a section that is loaded.
const ALLOC: u64 = 2;

/// The section table of a file, collected while the file passes.
#[derive(Default)]
pub(super) struct SectionTable {
    /// Bytes passed so far.
    passed: u64,
    header: Vec<u8>,
    /// Where the table is, once the header has passed.
    place: Option<Range<u64>>,
    table: Vec<u8>,
}

impl SectionTable {
    /// The next bytes of the file.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let start = self.passed;
        self.passed += bytes.len() as u64;
        if self.header.len() < HEADER_BYTES {
            let taken = bytes.len().min(HEADER_BYTES - self.header.len());
            self.header.extend_from_slice(&bytes[..taken]);
            self.place = place(&self.header);
        }
        let Some(place) = &self.place else { return };
        let (from, to) = (place.start.max(start), place.end.min(self.passed));
        let within = |at: u64| usize::try_from(at.saturating_sub(start)).unwrap_or(usize::MAX);
        if from < to
            && let Some(part) = bytes.get(within(from)..within(to))
        {
            self.table.extend_from_slice(part);
        }
    }

    /// Whether the file has a table.
    pub(super) fn is_known(&self) -> bool {
        self.place.is_some()
    }

    /// The sections that are not loaded; none if the table did not pass completely.
    pub(super) fn unloaded(&self) -> Vec<Range<u64>> {
        let is_whole = |place: &Range<u64>| place.end - place.start == self.table.len() as u64;
        if !self.place.as_ref().is_some_and(is_whole) {
            return Vec::new();
        }
        let sections = self.table.chunks_exact(SECTION_BYTES);
        let unloaded = sections.filter(|section| {
            !matches!(number(section, 4, 4), NULL | NOBITS) && number(section, 8, 8) & ALLOC == 0
        });
        unloaded
            .map(|section| {
                let at = number(section, 24, 8);
                at..at.saturating_add(number(section, 32, 8))
            })
            .collect()
    }
}

fn place(header: &[u8]) -> Option<Range<u64>> {
    let is_known = header.len() == HEADER_BYTES && header.starts_with(MAGIC) && header[4..6] == [2, 1];
    let (at, stride, count) = (number(header, 40, 8), number(header, 58, 2), number(header, 60, 2));
    let fits = stride == SECTION_BYTES as u64 && (1..=u64::from(SECTIONS)).contains(&count);
    (is_known && fits && at >= HEADER_BYTES as u64).then_some(at..at.checked_add(stride * count)?)
}

/// A little endian number; zero if it is not there.
fn number(bytes: &[u8], at: usize, length: usize) -> u64 {
    let field = bytes.get(at..at + length).unwrap_or_default();
    field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
