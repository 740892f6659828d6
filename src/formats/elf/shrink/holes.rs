//! Which zeros of a file become holes.

use std::cmp::Reverse;
use std::ops::Range;

use super::super::super::pieces::{Piece, Pieces};
use super::tables::{ALLOC, HEADER_BYTES, LOAD, PROGBITS, Parsed, SECTIONS_MAX, STACK, Section, Segment};
use super::{HOLE_MIN, SEGMENTS_MAX, Unshrunk};

/// Runs of zeros in the file of pieces.
pub(super) struct Contents {
    zeros: Vec<Range<u64>>,
}

/// Holes in ascending order: ranges of whole pages of the old file.
#[derive(Debug, Default)]
pub(super) struct Holes {
    pub(super) list: Vec<Range<u64>>,
    /// Number of holes that were left out.
    pub(super) over_limit: usize,
}

impl Contents {
    /// The zeros of `pieces`, which must leave the headers as they are.
    pub(super) fn new(pieces: &Pieces, old: &Parsed) -> Result<Self, Unshrunk> {
        if pieces.len() != old.file_bytes {
            return Err(Unshrunk::Pieces);
        }
        let (mut zeros, mut copied) = (Vec::new(), Vec::new());
        let mut at = 0_u64;
        for piece in pieces.list() {
            let end = at.checked_add(piece.len()).ok_or(Unshrunk::Pieces)?;
            match piece {
                Piece::Zeros(bytes) if *bytes >= HOLE_MIN => zeros.push(at..end),
                Piece::Copy { from, .. } if *from == at => copied.push(at..end),
                _ => {}
            }
            at = end;
        }
        let headers = headers(old);
        if intersect(&headers, &merged(copied)) != headers {
            return Err(Unshrunk::Pieces);
        }
        Ok(Self { zeros })
    }
}

/// Ranges of the ELF header and of both tables.
fn headers(old: &Parsed) -> Vec<Range<u64>> {
    let programs = old.programs_at..old.programs_at.saturating_add(old.segments.len() as u64 * 56);
    merged(vec![0..HEADER_BYTES, programs, old.sections_at..old.sections_end()])
}

/// The holes of the file: whole pages inside one segment and one section of data, and in nothing else that has a
/// header.
pub(super) fn find(old: &Parsed, contents: &Contents) -> Result<Holes, Unshrunk> {
    let mut loads: Vec<Segment> = old.loads().copied().filter(|load| load.file > 0).collect();
    loads.sort_by_key(|load| load.at);
    let ranges: Vec<_> = loads.iter().map(|load| load.at..load.end()).collect();
    let mut places = intersect(&contents.zeros, &ranges);
    if !old.sections.is_empty() {
        places = intersect(&places, &data_sections(old, &loads)?);
    }
    let others = (old.segments.iter())
        .filter(|segment| ![LOAD, STACK].contains(&segment.kind))
        .map(|segment| segment.at..segment.end());
    let blocked = merged(headers(old).into_iter().chain(others).collect());
    let mut list = without(&places, &blocked);
    for hole in &mut list {
        hole.start = hole.start.next_multiple_of(old.page);
        hole.end -= hole.end % old.page;
    }
    list.retain(|hole| hole.start < hole.end && hole.end - hole.start >= HOLE_MIN);
    // A hole is one more segment, and so is the rest behind it; one more loads the headers.
    let most = SEGMENTS_MAX.saturating_sub(old.segments.len() + 1) / 2;
    let over_limit = list.len().saturating_sub(most);
    list.sort_by_key(|hole| (Reverse(hole.end - hole.start), hole.start));
    list.truncate(most);
    list.sort_by_key(|hole| hole.start);
    if list.is_empty() {
        return Err(Unshrunk::NoGain);
    }
    if (old.sections.len() + 3 * list.len()) as u64 >= SECTIONS_MAX {
        return Err(Unshrunk::Sections);
    }
    Ok(Holes { list, over_limit })
}

/// Ranges of sections of data whose addresses are those of the segment that loads them.
fn data_sections(old: &Parsed, loads: &[Segment]) -> Result<Vec<Range<u64>>, Unshrunk> {
    let mut sections: Vec<&Section> = old.sections.iter().filter(|section| section.file() > 0).collect();
    sections.sort_by_key(|section| section.at);
    let mut end = 0;
    for section in &sections {
        if section.at < end {
            return Err(Unshrunk::Overlap);
        }
        end = section.end();
    }
    let loaded = |section: &Section| {
        let next = loads.partition_point(|load| load.at <= section.at);
        next.checked_sub(1).and_then(|last| loads.get(last)).is_some_and(|load| {
            section.end() <= load.end()
                && section.address.wrapping_sub(section.at) == load.address.wrapping_sub(load.at)
        })
    };
    let data = sections
        .into_iter()
        .filter(|section| section.kind == PROGBITS && section.flags & ALLOC != 0 && loaded(section));
    // The first byte stays, so that the section keeps its name and index.
    Ok(data.map(|section| section.at + 1..section.end()).collect())
}

/// `ranges` in ascending order, touching ones as one, without empty ones.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| range.start);
    let mut out: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

/// What is in both; each list is ascending and without overlaps.
fn intersect(one: &[Range<u64>], two: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut out = Vec::new();
    let (mut ones, mut twos) = (one.iter().peekable(), two.iter().peekable());
    while let (Some(a), Some(b)) = (ones.peek(), twos.peek()) {
        let both = a.start.max(b.start)..a.end.min(b.end);
        if both.start < both.end {
            out.push(both);
        }
        if a.end <= b.end {
            ones.next();
        } else {
            twos.next();
        }
    }
    out
}

/// What is in `ranges` and not in `blocked`; both are ascending and without overlaps.
fn without(ranges: &[Range<u64>], blocked: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut gaps = Vec::new();
    let mut start = 0;
    for range in blocked {
        gaps.push(start..range.start);
        start = range.end;
    }
    gaps.push(start..u64::MAX);
    intersect(ranges, &gaps)
}
