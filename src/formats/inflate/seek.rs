//! Reads a gzip stream from its restart points.

use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::bits::{Bits, NoBits, Piece, Pieces};
use super::crc::Crc;
use super::decoder::{Decoder, Stop};
use super::output::{LENGTH, Output};
use super::points::{LoadGroup, RestartPoints};
use crate::base::Section;
use crate::base::convert::in_memory;
use crate::base::read_at::ReadAt;

/// Compressed bytes that are read at once.
const PIECE: u64 = 64 << 10;

/// The decompressed bytes of a stream, at any place. Decoding begins at the point before the place, or goes on from the
/// place read last. No byte is returned before its span was compared with the checksum of the first pass: a damaged
/// point, or a stream that is another one, is an error.
pub struct SeekableGunzip {
    section: Section,
    points: RestartPoints,
    load: Arc<LoadGroup>,
    cursor: Mutex<Option<Cursor>>,
}

impl SeekableGunzip {
    /// Reads the compressed stream `section`, whose points these are. `load` returns groups of windows.
    pub fn new(section: Section, points: RestartPoints, load: Arc<LoadGroup>) -> Self {
        Self { section, points, load, cursor: Mutex::default() }
    }

    /// The points.
    pub fn points(&self) -> &RestartPoints {
        &self.points
    }

    /// A decoder at the point before a span.
    fn open(&self, span: usize) -> io::Result<Cursor> {
        let (first, point) = self.points.start_for(span);
        let unusable = || io::Error::new(io::ErrorKind::InvalidData, "its restart point cannot be used");
        let (bit, window) = match point {
            None => (0, Vec::new()),
            Some(number) => self.points.open(number, &*self.load).ok_or_else(unusable)?,
        };
        let pieces = SectionPieces(self.section.clone());
        let bits = Bits::new(pieces, bit / 8 / PIECE, bit).map_err(|_| unusable())?;
        let mut output = Output::new(vec![0; LENGTH].into_boxed_slice());
        output.set_history(&window);
        Ok(Cursor {
            decoder: Decoder::new(point.is_some()),
            bits,
            output,
            next: first,
            current: 0..0,
            bytes: Vec::new(),
        })
    }
}

impl ReadAt for SeekableGunzip {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let Some(span) = self.points.span_at(offset).filter(|_| !buffer.is_empty()) else { return Ok(0) };
        let mut place = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        let mut cursor = match place.take() {
            Some(cursor) if cursor.current.contains(&offset) => cursor,
            // Going on costs no more than beginning at the point before the place.
            Some(cursor) if cursor.next <= span && self.points.start_for(span).0 <= cursor.next => cursor,
            _ => self.open(span)?,
        };
        while !cursor.current.contains(&offset) {
            cursor.advance(&self.points)?;
        }
        let from = in_memory(offset - cursor.current.start);
        let count = buffer.len().min(cursor.bytes.len() - from);
        buffer[..count].copy_from_slice(&cursor.bytes[from..from + count]);
        *place = Some(cursor);
        Ok(count)
    }
}

/// A decoder at the end of a span.
struct Cursor {
    decoder: Decoder,
    bits: Bits<SectionPieces>,
    output: Output<u8>,
    /// The span that follows.
    next: usize,
    /// Where the current span is in the stream.
    current: Range<u64>,
    /// Its bytes, compared with its checksum.
    bytes: Vec<u8>,
}

impl Cursor {
    /// Decodes the next span.
    fn advance(&mut self, points: &RestartPoints) -> io::Result<()> {
        let Some(span) = points.span(self.next) else { return Err(io::ErrorKind::UnexpectedEof.into()) };
        let wanted = span.length as usize;
        self.current = 0..0;
        self.bytes.clear();
        loop {
            let fresh = self.output.fresh();
            let count = fresh.len().min(wanted - self.bytes.len());
            self.bytes.extend_from_slice(&fresh[..count]);
            self.output.start += count;
            if self.bytes.len() == wanted {
                break;
            }
            self.decode()?;
        }
        if Crc::of(&self.bytes).sum() != span.crc {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "its bytes are not those of the first pass",
            ));
        }
        let start = points.offset_of(self.next);
        self.current = start..start + wanted as u64;
        self.next += 1;
        Ok(())
    }

    /// Decodes more bytes; all before were taken.
    fn decode(&mut self) -> io::Result<()> {
        self.output.slide();
        match self
            .decoder
            .run(&mut self.bits, &mut self.output, u64::MAX)
            .map_err(super::decoder::Fault::error)?
        {
            Stop::Member(_) => self.output.forget(),
            Stop::Full => {}
            Stop::Block | Stop::End => return Err(io::ErrorKind::UnexpectedEof.into()),
        }
        Ok(())
    }
}

/// Pieces of a section, read when they are asked for.
struct SectionPieces(Section);

impl Pieces for SectionPieces {
    fn piece(&mut self, number: u64) -> Result<Arc<Piece>, NoBits> {
        let start = number.checked_mul(PIECE).ok_or(NoBits::Gone)?;
        let mut bytes = vec![0; in_memory(self.0.len().saturating_sub(start).min(PIECE))];
        let count = self.0.read_full_at(&mut bytes, start).map_err(|_| NoBits::Gone)?;
        bytes.truncate(count);
        if bytes.is_empty() { Err(NoBits::End) } else { Ok(Arc::new(Piece { start, bytes })) }
    }
}
