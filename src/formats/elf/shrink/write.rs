//! Headers and pieces of the shorter file.

use std::ops::Range;

use super::super::super::pieces::{Piece, Pieces};
use super::holes::Holes;
use super::tables::{
    ALLOC, ElfTables, HEADER_BYTES, LOAD, NOBITS, PHDR, Parsed, SECTION_BYTES, SEGMENT_BYTES, Section,
    Segment, WRITE,
};
use super::{Ledger, Shrunk, Unshrunk};

/// `PF_R`, and `PF_W` beside it.
pub(super) const READ: u32 = 4;
pub(super) const READ_WRITE: u32 = 6;

/// Where the bytes of the old file are in the new one.
struct Moves<'a> {
    /// Holes, each with the sum of all up to its end.
    holes: Vec<(&'a Range<u64>, u64)>,
    /// Bytes of the new headers, with padding.
    headers: u64,
    /// Length of the old file.
    file_bytes: u64,
    /// Last page boundary of the new file.
    end: u64,
}

impl Moves<'_> {
    /// New offset of the byte at `at`; of one in a hole, that of the next byte after the hole.
    fn to(&self, at: u64) -> u64 {
        if at > self.file_bytes {
            // Of something without bytes.
            return at;
        }
        let before = self.holes.partition_point(|(hole, _)| hole.end <= at);
        let removed = before.checked_sub(1).and_then(|last| self.holes.get(last)).map_or(0, |(_, sum)| *sum);
        let inside = self.holes.get(before).map_or(0, |(hole, _)| at.saturating_sub(hole.start));
        self.headers + at - removed - inside
    }

    /// Offset of the hole that starts at `at`, which has no bytes there. eu-elflint takes the first segment that could
    /// have a section by their offsets and sizes in memory: descending offsets keep it from taking another hole.
    fn hole(&self, at: u64, page: u64) -> u64 {
        let index = self.holes.partition_point(|(hole, _)| hole.start < at) as u64;
        self.end.saturating_sub(index.saturating_mul(page))
    }

    /// The holes that are inside of `start..end`. No hole crosses either.
    fn inside(&self, start: u64, end: u64) -> impl Iterator<Item = &Range<u64>> {
        let first = self.holes.partition_point(|(hole, _)| hole.start < start);
        self.holes.iter().skip(first).map(|(hole, _)| *hole).take_while(move |hole| hole.end <= end)
    }
}

pub(super) fn write(old: &Parsed, pieces: &Pieces, holes: &Holes) -> Result<Shrunk, Unshrunk> {
    let mut sum = 0;
    let sums = holes.list.iter().map(|hole| {
        sum += hole.end - hole.start;
        (hole, sum)
    });
    let mut moves = Moves { holes: sums.collect(), headers: 0, file_bytes: old.file_bytes, end: 0 };
    // The number of headers does not depend on their size, which is known only then.
    let count = segments(old, &moves, 0).len() as u64;
    let header_bytes = HEADER_BYTES + count * SEGMENT_BYTES;
    moves.headers = header_bytes.next_multiple_of(old.page);
    // The old section table is left out if it is the end of the file, as usual.
    let last = old.sections.iter().map(Section::end).chain(old.segments.iter().map(Segment::end)).max();
    let table_is_last = old.sections_end() == old.file_bytes && last.is_none_or(|end| end <= old.sections_at);
    let kept = if table_is_last { old.sections_at } else { old.file_bytes };
    let sections_at = moves.to(kept).next_multiple_of(8);
    let bytes = sections_at + sections(old, &moves).len() as u64 * SECTION_BYTES;
    moves.end = bytes - bytes % old.page;
    let segments = segments(old, &moves, count * SEGMENT_BYTES);
    let sections = sections(old, &moves);

    let mut new = Pieces::default();
    let mut head = old.header.clone();
    set(&mut head, 32, &HEADER_BYTES.to_le_bytes());
    set(&mut head, 56, &u16::try_from(count).map_err(|_| Unshrunk::Tables)?.to_le_bytes());
    if !sections.is_empty() {
        set(&mut head, 40, &sections_at.to_le_bytes());
        let count = u16::try_from(sections.len()).map_err(|_| Unshrunk::Sections)?;
        set(&mut head, 60, &count.to_le_bytes());
    }
    for segment in &segments {
        segment.write(&mut head);
    }
    new.bytes(&head);
    new.zeros(moves.headers - header_bytes);
    let mut start = 0;
    let mut parts = Vec::new();
    for hole in &holes.list {
        parts.push(start..hole.start);
        start = hole.end;
    }
    parts.push(start..kept);
    copy(pieces, &parts, &mut new);
    let mut table = Vec::new();
    if !sections.is_empty() {
        new.zeros(sections_at - new.len());
        for section in &sections {
            section.write(&mut table);
        }
        new.bytes(&table);
    }
    if new.len() >= old.file_bytes {
        return Err(Unshrunk::NoGain);
    }
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    let ledger = Ledger {
        bytes_before: old.file_bytes,
        bytes_after: new.len(),
        holes: holes.list.len(),
        hole_bytes: sum,
        header_bytes: signed(new.len()) + signed(sum) - signed(old.file_bytes),
        holes_over_limit: holes.over_limit,
        segments: segments.len(),
    };
    let programs = head.split_off(old.header.len());
    let tables = ElfTables { file_bytes: new.len(), header: head, programs, sections: table };
    Ok(Shrunk { pieces: new, tables, ledger })
}

fn set(head: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = head.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

/// The new program headers, which have `bytes` bytes.
fn segments(old: &Parsed, moves: &Moves<'_>, bytes: u64) -> Vec<Segment> {
    let end = old.loads().map(|load| load.address + load.memory).max().unwrap_or(0);
    let headers = Segment {
        kind: LOAD,
        flags: READ,
        at: 0,
        address: end.next_multiple_of(old.page),
        physical: end.next_multiple_of(old.page),
        file: HEADER_BYTES + bytes,
        memory: HEADER_BYTES + bytes,
        align: old.page,
    };
    let last = old.segments.iter().rposition(|segment| segment.kind == LOAD);
    let mut out = Vec::new();
    for (index, segment) in old.segments.iter().enumerate() {
        match segment.kind {
            LOAD => parts(segment, old.page, moves, &mut out),
            PHDR => out.push(Segment {
                at: HEADER_BYTES,
                address: headers.address + HEADER_BYTES,
                physical: headers.address + HEADER_BYTES,
                file: bytes,
                memory: bytes,
                ..*segment
            }),
            _ => out.push(Segment { at: moves.to(segment.at), ..*segment }),
        }
        if Some(index) == last {
            out.push(headers);
        }
    }
    out
}

/// The parts of a loaded segment.
fn parts(load: &Segment, page: u64, moves: &Moves<'_>, out: &mut Vec<Segment>) {
    let mut push = |start: u64, end: u64, hole: bool| {
        if start == end && load.memory > 0 {
            return;
        }
        let part = load.part(start, end);
        let (at, file, flags) = if hole {
            (moves.hole(part.at, page), 0, READ_WRITE)
        } else {
            (moves.to(part.at), part.file, part.flags)
        };
        out.push(Segment { at, file, flags, align: page, ..part });
    };
    let mut done = 0;
    for hole in moves.inside(load.at, load.end()) {
        push(done, hole.start - load.at, false);
        push(hole.start - load.at, hole.end - load.at, true);
        done = hole.end - load.at;
    }
    push(done, load.memory, false);
}

/// The new section headers: one that crosses holes keeps its index for its first part, so that symbols find it; the
/// other parts follow after all sections, under the same name. Holes have no name, so that who looks for sections by
/// name finds bytes, and an empty section before them, because eu-elflint expects one in a writable segment.
fn sections(old: &Parsed, moves: &Moves<'_>) -> Vec<Section> {
    let (mut out, mut others) = (Vec::new(), Vec::new());
    for section in &old.sections {
        if section.kind == 0 {
            out.push(*section);
            continue;
        }
        let mut last = Section { at: moves.to(section.at), ..*section };
        let mut parts = Vec::new();
        for hole in moves.inside(section.at, section.end()) {
            let address = |at: u64| section.address.wrapping_add(at - section.at);
            let bytes = hole.end - hole.start;
            let at = moves.hole(hole.start, old.page);
            let zeros = Section {
                name: 0,
                flags: ALLOC | WRITE,
                address: address(hole.start),
                at,
                bytes,
                ..*section
            };
            parts.push(Section { bytes: address(hole.start).wrapping_sub(last.address), ..last });
            parts.push(Section { bytes: 0, ..zeros });
            parts.push(Section { kind: NOBITS, ..zeros });
            let (at, bytes) = (moves.to(hole.end), section.end() - hole.end);
            last = Section { at, address: address(hole.end), bytes, ..*section };
        }
        // A hole may be the end of a section.
        if parts.is_empty() || last.bytes > 0 {
            parts.push(last);
        }
        let mut parts = parts.into_iter();
        out.extend(parts.next());
        others.extend(parts);
    }
    out.extend(others);
    out
}

/// Appends the ranges `parts` of the file of `pieces`.
fn copy(pieces: &Pieces, parts: &[Range<u64>], new: &mut Pieces) {
    let mut parts = parts.iter().cloned().peekable();
    let mut at = 0;
    for piece in pieces.list() {
        let end = at + piece.len();
        while let Some(part) = parts.peek() {
            let (start, stop) = (part.start.max(at), part.end.min(end));
            if start < stop {
                let (skip, bytes) = (start - at, stop - start);
                match piece {
                    Piece::Copy { from, .. } => new.copy(from + skip, bytes),
                    Piece::Zeros(_) => new.zeros(bytes),
                    Piece::Bytes(raw) => {
                        let index = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
                        new.bytes(raw.get(index(skip)..index(skip + bytes)).unwrap_or(&[]));
                    }
                }
            }
            if part.end > end {
                break;
            }
            parts.next();
        }
        at = end;
    }
}
