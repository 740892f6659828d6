//! A shrunk file as it is in memory: with its holes, so that data which crosses them is in one piece again.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::super::MAGIC;
use super::SEGMENTS_MAX;
use super::tables::{
    HEADER_BYTES, LOAD, NOBITS, SECTION_BYTES, SEGMENT_BYTES, Section, Segment, programs, sections,
};

/// Bytes from the start of a file that say whether it is shrunk.
const HEAD: usize = HEADER + SEGMENTS_MAX * SEGMENT;
/// The same lengths as those of the tables, of bytes in memory.
const HEADER: usize = 64;
const SEGMENT: usize = 56;
const SECTION: usize = 64;

/// Maximum bytes of all holes: those of the largest known libraries have a quarter of it. Zeros cost time only.
const HOLES_MAX: u64 = 8 << 30;
/// Maximum bytes of all holes for each byte of the file: a small file must not cost the time of a large one. cuFFT, of
/// which hardly anything is left for one GPU, has some 30.
const HOLES_PER_BYTE: u64 = 256;
/// Sections of a shrunk file: those of the old one, and three for each hole.
const SECTIONS_MAX: u64 = 16 << 10;

static ZEROS: [u8; 64 << 10] = [0; 64 << 10];

/// The stream of a shrunk file with zeros in its holes and sections in one piece. Other files pass as they are.
#[derive(Debug)]
pub struct Expand {
    size: u64,
    /// The first bytes, until there are enough.
    head: Vec<u8>,
    known: Option<Known>,
}

impl Expand {
    /// For a file of `size` bytes.
    pub fn new(size: u64) -> Self {
        Self { size, head: Vec::new(), known: None }
    }

    /// Takes the next bytes of the file, in chunks of any length, and hands on those of the stream, with the length of
    /// the whole stream.
    pub fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(u64, &[u8])) {
        let known = match &mut self.known {
            Some(known) => known,
            none => {
                let wanted = usize::try_from(self.size).unwrap_or(usize::MAX).min(HEAD);
                let (now, rest) = bytes.split_at(wanted.saturating_sub(self.head.len()).min(bytes.len()));
                self.head.extend_from_slice(now);
                bytes = rest;
                if self.head.len() < wanted {
                    return;
                }
                let head = std::mem::take(&mut self.head);
                let known = none.insert(Known::new(&head, self.size));
                let length = known.bytes();
                known.push(&head, |bytes| each(length, bytes));
                known
            }
        };
        let length = known.bytes();
        known.push(bytes, |bytes| each(length, bytes));
    }
}

/// The same once the headers are known.
#[derive(Debug)]
struct Known {
    /// Offsets in the file before which a hole is, and its bytes.
    holes: Vec<(u64, u64)>,
    /// How many of them passed.
    passed: usize,
    size: u64,
    at: u64,
    /// Range of the section table in the file; beyond it if there is none to change.
    table: (u64, u64),
    kept: Vec<u8>,
}

impl Known {
    fn new(head: &[u8], size: u64) -> Self {
        let holes = holes(head, size).unwrap_or_default();
        let table = sections(head);
        let end = table.0.saturating_add(table.1);
        let has_table = !holes.is_empty()
            && table.0 >= HEADER_BYTES
            && end <= size
            && table.1 / SECTION_BYTES <= SECTIONS_MAX
            && table.1.is_multiple_of(SECTION_BYTES);
        let table = if has_table { (table.0, end) } else { (u64::MAX, u64::MAX) };
        Self { holes, passed: 0, size, at: 0, table, kept: Vec::new() }
    }

    /// Length of the stream in bytes.
    fn bytes(&self) -> u64 {
        self.place(self.size)
    }

    fn push(&mut self, mut bytes: &[u8], mut each: impl FnMut(&[u8])) {
        while !bytes.is_empty() {
            if let Some((_, zeros)) = self.holes.get(self.passed).filter(|(at, _)| *at == self.at) {
                self.passed += 1;
                let mut left = *zeros;
                while left > 0 {
                    let count = usize::try_from(left).unwrap_or(usize::MAX).min(ZEROS.len());
                    each(&ZEROS[..count]);
                    left -= count as u64;
                }
            }
            let next =
                [self.holes.get(self.passed).map_or(u64::MAX, |(at, _)| *at), self.table.0, self.table.1];
            let edge = next.into_iter().filter(|edge| *edge > self.at).min().unwrap_or(u64::MAX);
            let count = usize::try_from(edge - self.at).unwrap_or(usize::MAX).min(bytes.len());
            let (now, rest) = bytes.split_at(count);
            let is_table = self.at >= self.table.0 && self.at < self.table.1;
            if is_table {
                self.kept.extend_from_slice(now);
                if self.kept.len() as u64 == self.table.1 - self.table.0 {
                    each(&self.joined());
                }
            } else {
                each(&self.header(now));
            }
            self.at += count as u64;
            bytes = rest;
        }
    }

    /// Where a byte of the file is in the stream.
    fn place(&self, at: u64) -> u64 {
        let before = self.holes.iter().take_while(|(hole, _)| *hole <= at);
        before.fold(at, |at, (_, bytes)| at.saturating_add(*bytes))
    }

    /// `bytes` from the current place, with the new place of the section table if that is among them.
    fn header<'b>(&self, bytes: &'b [u8]) -> Cow<'b, [u8]> {
        const FIELD: u64 = 40;
        if self.table.0 == u64::MAX || self.at >= FIELD + 8 {
            return Cow::Borrowed(bytes);
        }
        let mut bytes = bytes.to_vec();
        for (place, new) in (FIELD..).zip(self.place(self.table.0).to_le_bytes()) {
            let index = place.checked_sub(self.at).and_then(|index| usize::try_from(index).ok());
            if let Some(byte) = index.and_then(|index| bytes.get_mut(index)) {
                *byte = new;
            }
        }
        Cow::Owned(bytes)
    }

    /// The section table, with the parts of a section that crosses holes as its first one. The others have no bytes.
    fn joined(&self) -> Vec<u8> {
        let mut list: Vec<Section> = self.kept.chunks_exact(SECTION).map(Section::read).collect();
        // Holes have no name.
        let holes = list.iter().filter(|section| section.kind == NOBITS && section.name == 0);
        let holes: HashMap<u64, u64> = holes.map(|hole| (hole.address, hole.bytes)).collect();
        let mut firsts: HashMap<(u32, u64), usize> = HashMap::new();
        for index in 0..list.len() {
            let Some(section) = list.get_mut(index).filter(|section| section.file() > 0) else { continue };
            let final_byte = self.place(section.end().saturating_sub(1));
            section.at = self.place(section.at);
            if section.address == 0 {
                continue;
            }
            section.bytes = final_byte.saturating_add(1).saturating_sub(section.at);
            // One hole at most follows directly: parts are between holes.
            if let Some(bytes) = holes.get(&section.address.wrapping_add(section.bytes)) {
                section.bytes = section.bytes.saturating_add(*bytes);
            }
            let end = section.at.saturating_add(section.bytes);
            // Parts of one section are as far apart in memory as they are in the stream.
            let key = (section.name, section.address.wrapping_sub(section.at));
            match firsts.get(&key).copied() {
                None => drop(firsts.insert(key, index)),
                Some(first) => {
                    section.kind = NOBITS;
                    if let Some(first) = list.get_mut(first) {
                        first.bytes = first.bytes.max(end.saturating_sub(first.at));
                    }
                }
            }
        }
        let mut table = Vec::with_capacity(self.kept.len());
        for section in &list {
            section.write(&mut table);
        }
        table
    }
}

/// The holes of a shrunk file: segments without bytes in the file, directly before or behind one with bytes. `None` if
/// the file was not written by [`shrink`](super::shrink): that puts its headers at the start and loads them last.
fn holes(head: &[u8], size: u64) -> Option<Vec<(u64, u64)>> {
    let is_64 = head.starts_with(MAGIC) && head.get(4..7)? == [2, 1, 1];
    let (at, bytes) = programs(head);
    let table = head.get(HEADER..usize::try_from(HEADER_BYTES.checked_add(bytes)?).ok()?)?;
    if !is_64 || at != HEADER_BYTES || !bytes.is_multiple_of(SEGMENT_BYTES) {
        return None;
    }
    let mut loads: Vec<Segment> = table.chunks_exact(SEGMENT).map(Segment::read).collect();
    loads.retain(|segment| segment.kind == LOAD);
    let last = loads.last()?;
    if last.at != 0 || last.file != HEADER_BYTES + bytes {
        return None;
    }
    let mut holes: Vec<(u64, u64)> = Vec::new();
    let mut sum = 0_u64;
    for (index, hole) in loads.iter().enumerate().filter(|(_, load)| load.file == 0 && load.memory > 0) {
        let follows = |first: &Segment, second: &Segment| {
            first.address.checked_add(first.memory) == Some(second.address)
        };
        let next = loads.get(index + 1).filter(|next| next.file > 0 && next.at > 0 && follows(hole, next));
        let before = index.checked_sub(1).and_then(|index| loads.get(index));
        let before = before.filter(|before| before.file > 0 && follows(before, hole));
        let Some(at) = next.map(|next| next.at).or(before.map(Segment::end)) else { continue };
        sum = sum.checked_add(hole.memory)?;
        if sum > HOLES_MAX.min(size.saturating_mul(HOLES_PER_BYTE))
            || holes.last().is_some_and(|(last, _)| *last >= at)
            || at >= size
        {
            return None;
        }
        holes.push((at, hole.memory));
    }
    Some(holes)
}
