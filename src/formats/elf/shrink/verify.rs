//! Whether a shrunk file loads what the old one loads. Shares no code with what writes it beyond the tables.

use std::io::{self, Read};

use super::Unshrunk;
use super::tables::{ALLOC, ElfTables, HEADER_BYTES, LOAD, NOBITS, PHDR, Parsed, Section, Segment, WRITE};
use super::write::{READ, READ_WRITE};

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
/// one say the same. Returns the number of bytes of the old file that were compared. Both files are read once, in
/// chunks, from their first byte on.
///
/// # Errors
/// The first difference.
pub fn verify(
    old: &ElfTables,
    new: &ElfTables,
    old_bytes: impl Read,
    new_bytes: impl Read,
) -> Result<u64, Mismatch> {
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
    compare(&spans, Stream::new(old_bytes, old.file_bytes), Stream::new(new_bytes, new.file_bytes))
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

/// A file that is read forwards.
struct Stream<R> {
    from: R,
    at: u64,
    bytes: u64,
    chunk: Vec<u8>,
}

impl<R: Read> Stream<R> {
    fn new(from: R, bytes: u64) -> Self {
        Self { from, at: 0, bytes, chunk: vec![0; 64 << 10] }
    }

    /// The next bytes, at most `most` of them.
    fn next(&mut self, most: u64) -> Result<&[u8], Mismatch> {
        let count = usize::try_from(most).unwrap_or(usize::MAX).min(self.chunk.len());
        let chunk = self.chunk.get_mut(..count).unwrap_or_default();
        self.from.read_exact(chunk).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Mismatch::Length,
            _ => Mismatch::Read(error),
        })?;
        self.at += count as u64;
        Ok(chunk)
    }

    fn skip_to(&mut self, at: u64) -> Result<(), Mismatch> {
        while self.at < at {
            self.next(at - self.at)?;
        }
        Ok(())
    }

    /// Reads to the end, which must be where it was.
    fn finish(mut self) -> Result<(), Mismatch> {
        self.skip_to(self.bytes)?;
        let more = io::copy(&mut self.from.take(1), &mut io::sink())?;
        if more == 0 { Ok(()) } else { Err(Mismatch::Length) }
    }
}

fn compare(spans: &[Span], mut old: Stream<impl Read>, mut new: Stream<impl Read>) -> Result<u64, Mismatch> {
    let mut compared = 0;
    for span in spans {
        old.skip_to(span.start)?;
        if let Some(at) = span.new {
            // Bytes keep their order.
            if at < new.at {
                return Err(Mismatch::Place(span.start));
            }
            new.skip_to(at)?;
        }
        while old.at < span.end {
            let at = old.at;
            let bytes = old.next(span.end - at)?;
            let same = match span.new {
                None => bytes.iter().all(|byte| *byte == 0),
                Some(_) => bytes == new.next(bytes.len() as u64)?,
            };
            if !same {
                return Err(Mismatch::Bytes(at));
            }
            compared += old.at - at;
        }
    }
    old.finish()?;
    new.finish()?;
    Ok(compared)
}
