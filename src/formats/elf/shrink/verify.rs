//! Whether a shrunk file loads what the old one loads. Shares no code with what writes it beyond the tables.

use std::collections::VecDeque;
use std::io::{self, Read};

use super::tables::{ALLOC, ElfTables, HEADER_BYTES, LOAD, NOBITS, PHDR, Parsed, Section, Segment, WRITE};
use super::write::{READ, READ_WRITE};
use super::{TableCollector, Unshrunk};
use crate::base::leading_zeros;

/// Why a shrunk file is not the old one.
#[derive(Debug, thiserror::Error)]
pub enum Mismatch {
    /// The tables of a file cannot be understood.
    #[error("{0}")]
    Tables(#[from] Unshrunk),
    /// The ELF headers differ in more than places and numbers of the tables.
    #[error("the ELF headers differ")]
    Header,
    /// An address is loaded in one file only, or differently.
    #[error("address {0:#x} is loaded differently")]
    Address(u64),
    /// A program header that is not loaded differs, by its index in the old file among those.
    #[error("program header {0} differs")]
    Program(usize),
    /// A section header differs, by its index.
    #[error("section {0} differs")]
    Section(usize),
    /// Headers of the new file give different places to a byte of the old file.
    #[error("headers disagree about byte {0}")]
    Place(u64),
    /// Bytes of the old file, by its offset, are not there.
    #[error("bytes differ from byte {0} of the old file on")]
    Bytes(u64),
    /// A file is shorter or longer than when its tables were read.
    #[error("a file changed its length")]
    Length,
    /// A file could not be read.
    #[error("{0}")]
    Read(#[from] io::Error),
}

/// Bytes of the old file, and where they are in the new one, or that they are zeros there.
#[derive(Clone, Copy, Debug)]
struct Span {
    start: u64,
    end: u64,
    new: Option<u64>,
}

impl Span {
    fn new(start: u64, bytes: u64, new: Option<u64>) -> Self {
        Self { start, end: start.saturating_add(bytes), new }
    }
}

/// Compares every byte that the old file loads, and every section, with the new file; and that the headers of the new
/// one say the same. Both files pass once, from their first byte on, in chunks of any length.
#[derive(Debug)]
pub struct ShrinkCheck {
    tables: ElfTables,
    found: TableCollector,
    old: Side,
    new: Side,
    compared: u64,
    failure: Option<Mismatch>,
}

impl ShrinkCheck {
    /// A check that a file with the tables `new` is the file with the tables `old`, shrunk.
    ///
    /// # Errors
    /// The headers differ in more than they may.
    pub fn new(old: &ElfTables, new: &ElfTables) -> Result<Self, Mismatch> {
        let tables = new.clone();
        let (old, new) = (Parsed::new(old)?, Parsed::new(new)?);
        let fixed = |header: &[u8]| {
            let mut header = header.to_vec();
            // Places and numbers of the tables.
            for field in [32..48, 56..58, 60..62] {
                header.get_mut(field).unwrap_or_default().fill(0);
            }
            header
        };
        if fixed(&old.header) != fixed(&new.header) {
            return Err(Mismatch::Header);
        }
        let mut spans = Vec::new();
        let headers = loads(&old, &new, &mut spans)?;
        programs(&old, &new, &headers, &mut spans)?;
        sections(&old, &new, &mut spans)?;
        let spans = joined(spans)?;
        let compared = spans.iter().map(|span| span.end - span.start).sum();
        // Bytes keep their order, so that one pass over each file compares them.
        let mut placed = 0;
        for span in &spans {
            let Some(at) = span.new else { continue };
            if at < placed {
                return Err(Mismatch::Place(span.start));
            }
            placed = at.saturating_add(span.end - span.start);
        }
        let runs = |span: &Span| Run {
            start: span.start,
            end: span.end,
            at: span.start,
            is_zero: span.new.is_none(),
        };
        let moved = |span: &Span| {
            let start = span.new?;
            Some(Run {
                start,
                end: start.saturating_add(span.end - span.start),
                at: span.start,
                is_zero: false,
            })
        };
        Ok(Self {
            old: Side::new(old.file_bytes, spans.iter().map(runs).collect()),
            new: Side::new(new.file_bytes, spans.iter().filter_map(moved).collect()),
            tables,
            found: TableCollector::default(),
            compared,
            failure: None,
        })
    }

    /// The next bytes of the old file.
    pub fn push_old(&mut self, bytes: &[u8]) {
        let pushed = self.old.push(bytes);
        self.compare(pushed);
    }

    /// The next bytes of the new file.
    pub fn push_new(&mut self, bytes: &[u8]) {
        self.found.push(bytes);
        let pushed = self.new.push(bytes);
        self.compare(pushed);
    }

    fn compare(&mut self, pushed: Result<(), Mismatch>) {
        let mut result = pushed;
        while let (Ok(()), Some(old), Some(new)) = (&result, self.old.done.front(), self.new.done.front()) {
            if old.1 != new.1 {
                result = Err(Mismatch::Bytes(old.0));
            }
            self.old.done.pop_front();
            self.new.done.pop_front();
        }
        if let Err(mismatch) = result {
            self.failure.get_or_insert(mismatch);
        }
    }

    /// The number of bytes of the old file that were compared, after both files.
    ///
    /// # Errors
    /// The first difference.
    pub fn finish(self) -> Result<u64, Mismatch> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        if self.old.at != self.old.bytes || self.new.at != self.new.bytes {
            return Err(Mismatch::Length);
        }
        if self.found.finish() != self.tables {
            return Err(Mismatch::Header);
        }
        Ok(self.compared)
    }
}

/// The same for two files that can be read.
///
/// # Errors
/// The first difference, and those of reading.
pub fn verify(
    old: &ElfTables,
    new: &ElfTables,
    mut old_bytes: impl Read,
    mut new_bytes: impl Read,
) -> Result<u64, Mismatch> {
    let mut check = ShrinkCheck::new(old, new)?;
    let mut chunk = vec![0; 64 << 10];
    for is_new in [false, true] {
        loop {
            let count = if is_new { new_bytes.read(&mut chunk)? } else { old_bytes.read(&mut chunk)? };
            let Some(bytes) = chunk.get(..count).filter(|bytes| !bytes.is_empty()) else { break };
            if is_new {
                check.push_new(bytes);
            } else {
                check.push_old(bytes);
            }
        }
    }
    check.finish()
}

/// Walks the addresses of both files. Returns the segment with the new headers.
fn loads(old: &Parsed, new: &Parsed, spans: &mut Vec<Span>) -> Result<Segment, Mismatch> {
    let mut news = new.loads().peekable();
    let mut end = 0;
    for load in old.loads() {
        let mut at = load.address;
        end = load.address + load.memory;
        // An empty segment loads nothing, and stays.
        if load.memory == 0 && news.next_if(|part| part.address == at && part.memory == 0).is_none() {
            return Err(Mismatch::Address(at));
        }
        while at < end {
            let part = news.next().ok_or(Mismatch::Address(at))?;
            let stop = part.address + part.memory;
            let physical = load.physical.wrapping_add(at - load.address);
            let sound = part.address == at && part.physical == physical && part.align == new.page;
            if !sound || part.memory == 0 || stop > end {
                return Err(Mismatch::Address(at));
            }
            let file = (load.address + load.file).clamp(at, stop) - at;
            let from = load.at + (at - load.address);
            let same = part.flags == load.flags && part.file == file;
            let hole = part.flags == READ_WRITE
                && part.file == 0
                && file == part.memory
                && part.address % new.page == 0
                && part.memory % new.page == 0;
            if same {
                spans.push(Span::new(from, file, Some(part.at)));
            } else if hole {
                spans.push(Span::new(from, file, None));
            } else {
                return Err(Mismatch::Address(at));
            }
            at = stop;
        }
    }
    let headers = *news.next().ok_or(Mismatch::Address(end))?;
    let size = HEADER_BYTES + new.segments.len() as u64 * 56;
    let sound = headers.at == 0
        && headers.flags == READ
        && headers.file == size
        && headers.memory == size
        && headers.address % new.page == 0
        && headers.physical == headers.address
        && headers.align == new.page
        && headers.address >= end
        && new.programs_at == HEADER_BYTES;
    if !sound || news.next().is_some() || new.page != old.page {
        return Err(Mismatch::Address(headers.address));
    }
    Ok(headers)
}

/// Compares what is not loaded by itself.
fn programs(old: &Parsed, new: &Parsed, headers: &Segment, spans: &mut Vec<Span>) -> Result<(), Mismatch> {
    let other = |segment: &&Segment| segment.kind != LOAD;
    let mut news = new.segments.iter().filter(other);
    for (index, segment) in old.segments.iter().filter(other).enumerate() {
        let now = news.next().ok_or(Mismatch::Program(index))?;
        let expected = if segment.kind == PHDR {
            let bytes = new.segments.len() as u64 * 56;
            let address = headers.address + HEADER_BYTES;
            Segment { at: HEADER_BYTES, address, physical: address, file: bytes, memory: bytes, ..*segment }
        } else {
            spans.push(Span::new(segment.at, segment.file, Some(now.at)));
            Segment { at: now.at, ..*segment }
        };
        if *now != expected {
            return Err(Mismatch::Program(index));
        }
    }
    if news.next().is_some() { Err(Mismatch::Program(new.segments.len())) } else { Ok(()) }
}

/// Compares the sections; those after the old ones must be parts of the old ones.
fn sections(old: &Parsed, new: &Parsed, spans: &mut Vec<Span>) -> Result<(), Mismatch> {
    let (firsts, others) =
        new.sections.split_at_checked(old.sections.len()).ok_or(Mismatch::Section(new.sections.len()))?;
    let mut others = others.iter();
    for (index, (section, first)) in old.sections.iter().zip(firsts).enumerate() {
        if section.file() == 0 {
            let moved = Section { at: first.at, ..*section };
            if *first != moved || section.kind == 0 && first.at != section.at {
                return Err(Mismatch::Section(index));
            }
            continue;
        }
        let (mut done, mut part) = (0, first);
        loop {
            let hole = done > 0 && part.flags == ALLOC | WRITE && part.name == 0;
            if hole {
                // An empty section, then the zeros.
                let empty = *part;
                part = others.next().ok_or(Mismatch::Section(index))?;
                if empty != (Section { kind: section.kind, bytes: 0, ..*part }) {
                    return Err(Mismatch::Section(index));
                }
            }
            let (name, kind, flags) =
                if hole { (0, NOBITS, ALLOC | WRITE) } else { (section.name, section.kind, section.flags) };
            let address = section.address.wrapping_add(done);
            let expected = Section { name, kind, flags, address, at: part.at, bytes: part.bytes, ..*section };
            if *part != expected || part.bytes == 0 || part.bytes > section.bytes - done {
                return Err(Mismatch::Section(index));
            }
            spans.push(Span::new(section.at + done, part.bytes, (!hole).then_some(part.at)));
            done += part.bytes;
            if done == section.bytes {
                break;
            }
            part = others.next().ok_or(Mismatch::Section(index))?;
        }
    }
    if others.next().is_some() { Err(Mismatch::Section(old.sections.len())) } else { Ok(()) }
}

/// The spans in ascending order, without overlaps; those that overlap must agree.
fn joined(mut spans: Vec<Span>) -> Result<Vec<Span>, Mismatch> {
    spans.retain(|span| span.start < span.end);
    spans.sort_by_key(|span| span.start);
    let mut out: Vec<Span> = Vec::new();
    for span in spans {
        let Some(last) = out.last_mut().filter(|last| span.start < last.end) else {
            out.push(span);
            continue;
        };
        let same = match (last.new, span.new) {
            (Some(one), Some(two)) => one.checked_add(span.start - last.start) == Some(two),
            (one, two) => one == two,
        };
        if !same {
            return Err(Mismatch::Place(span.start));
        }
        last.end = last.end.max(span.end);
    }
    Ok(out)
}

/// A range of one file that is compared.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u64,
    end: u64,
    /// Its first byte in the old file.
    at: u64,
    /// It must be zeros, and is in this file only.
    is_zero: bool,
}

/// One of both files.
#[derive(Debug)]
struct Side {
    at: u64,
    bytes: u64,
    runs: VecDeque<Run>,
    hasher: blake3::Hasher,
    /// Finished ranges that are not compared yet.
    done: VecDeque<(u64, blake3::Hash)>,
}

impl Side {
    fn new(bytes: u64, runs: VecDeque<Run>) -> Self {
        Self { at: 0, bytes, runs, hasher: blake3::Hasher::new(), done: VecDeque::new() }
    }

    fn push(&mut self, mut chunk: &[u8]) -> Result<(), Mismatch> {
        while !chunk.is_empty() {
            let to = self
                .runs
                .front()
                .map_or(u64::MAX, |run| if self.at < run.start { run.start } else { run.end });
            let count = usize::try_from(to - self.at).unwrap_or(usize::MAX).min(chunk.len());
            let (now, rest) = chunk.split_at(count);
            if let Some(run) = self.runs.front().filter(|run| self.at >= run.start) {
                if !run.is_zero {
                    self.hasher.update(now);
                } else if leading_zeros(now) < count {
                    return Err(Mismatch::Bytes(run.at));
                }
            }
            self.at = self.at.saturating_add(count as u64);
            chunk = rest;
            if let Some(run) = self.runs.pop_front_if(|run| run.end == self.at).filter(|run| !run.is_zero) {
                self.done.push_back((run.at, self.hasher.finalize()));
                self.hasher.reset();
            }
        }
        Ok(())
    }
}
