//! A part of a stream, decoded before its window is known.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use fearless_simd::{Level, dispatch};

use super::bits::{Bits, Piece, Pieces};
use super::crc::Crc;
use super::decoder::{Decoder, Fault, Stop, Trailer};
use super::output::{LENGTH, MARKER, Output, WINDOW};
use super::search::{Start, search};

/// Buffers that are used again, up to a number of each kind: those of a moment with many do not stay in memory.
pub(super) struct Pool {
    bytes: Mutex<Vec<Box<[u8]>>>,
    symbols: Mutex<Vec<Box<[u16]>>>,
    most: usize,
}

impl Pool {
    pub(super) fn new(most: usize) -> Self {
        Self { bytes: Mutex::default(), symbols: Mutex::default(), most }
    }

    pub(super) fn bytes(&self) -> Box<[u8]> {
        let kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_else(|| vec![0; LENGTH].into_boxed_slice())
    }

    pub(super) fn symbols(&self) -> Box<[u16]> {
        let kept = self.symbols.lock().unwrap_or_else(PoisonError::into_inner).pop();
        kept.unwrap_or_else(|| vec![0; LENGTH].into_boxed_slice())
    }

    pub(super) fn keep_bytes(&self, buffer: Box<[u8]>) {
        let mut kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < self.most {
            kept.push(buffer);
        }
    }

    fn keep_symbols(&self, buffer: Box<[u16]>) {
        let mut kept = self.symbols.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() < self.most {
            kept.push(buffer);
        }
    }
}

/// Decoded bytes, or the end of a member.
pub(super) enum Part {
    /// The checksum is missing where another thread is to compute it.
    Bytes {
        buffer: Box<[u8]>,
        range: Range<usize>,
        crc: Option<Crc>,
    },
    Member(Trailer),
}

/// Decoded symbols, some of which may be unknown.
enum RawPart {
    Symbols { buffer: Box<[u16]>, range: Range<usize> },
    Known(Part),
}

/// The last bytes before a place in a stream, at most [`WINDOW`].
pub(super) type Window = Arc<Vec<u8>>;

/// The window behind a chunk.
enum Tail {
    Known(Window),
    /// The symbols of a whole window, the oldest of which may be markers.
    Unknown(Vec<u16>),
}

/// A chunk that was decoded from a block that may be its first.
pub(super) struct Chunk {
    /// Where it was found to begin.
    pub(super) start: Start,
    /// Where it ends: at the first block at or behind its end, or at the end of the stream.
    pub(super) end: u64,
    pub(super) is_stream_end: bool,
    parts: Vec<RawPart>,
    tail: Tail,
}

/// Attempts in one chunk: starts that prove wrong.
const MAX_ATTEMPTS: usize = 16;

/// Decodes a chunk from the first block that seems to begin in it, up to the first block at or behind its end, or
/// where an eighth of `limit` symbols is left. `None` if none begins there, the stream has a fault, or a block needs more than
/// `limit` symbols. Once `behind` has the window before the chunk, nothing further is unknown.
pub(super) fn speculate<P: Pieces + Clone>(
    pieces: &P,
    number: u64,
    piece: &Arc<Piece>,
    pool: &Pool,
    limit: usize,
    behind: impl Fn(&Start) -> Option<Window>,
) -> Option<Chunk> {
    let mut from = piece.start * 8;
    for _ in 0..MAX_ATTEMPTS {
        let start = search(piece, from)?;
        let bits = Bits::new(pieces.clone(), number, start.last).ok()?;
        let mut attempt = Attempt { parts: Vec::new(), pool, left: limit, enough: limit / 8 };
        match attempt.decode(bits, piece.end_bit(), || behind(&start)) {
            Ok((end, is_stream_end, tail)) => {
                return Some(Chunk { start, end, is_stream_end, parts: attempt.parts, tail });
            }
            Err(Fault::Gone) => return None,
            Err(_) if attempt.left == 0 => return None,
            Err(_) => from = start.last + 1,
        }
    }
    None
}

struct Attempt<'a> {
    parts: Vec<RawPart>,
    pool: &'a Pool,
    /// Symbols that may still be stored.
    left: usize,
    /// With fewer left, the chunk ends at the next block.
    enough: usize,
}

/// Position of the end, whether the stream ends there, and the window.
type End = (u64, bool, Tail);

impl Attempt<'_> {
    fn decode<P: Pieces>(
        &mut self,
        mut bits: Bits<P>,
        until: u64,
        behind: impl Fn() -> Option<Window>,
    ) -> Result<End, Fault> {
        let mut decoder = Decoder::new(true);
        let mut output = Output::new(self.pool.symbols());
        output.set_unknown();
        loop {
            let stop = decoder.run(&mut bits, &mut output, self.until(until));
            match stop {
                Ok(Stop::Full) => self.keep_symbols(&mut output)?,
                Ok(Stop::Member(trailer)) => {
                    self.keep_symbols(&mut output)?;
                    self.parts.push(RawPart::Known(Part::Member(trailer)));
                    output.forget();
                }
                Ok(Stop::Block | Stop::End) => {
                    self.keep_symbols(&mut output)?;
                    let tail = if output.is_known() {
                        Tail::Known(Arc::new(output.history().iter().map(|symbol| *symbol as u8).collect()))
                    } else {
                        Tail::Unknown(output.history().to_vec())
                    };
                    self.pool.keep_symbols(output.buffer);
                    return Ok((bits.position(), stop == Ok(Stop::End), tail));
                }
                Err(fault) => {
                    self.pool.keep_symbols(output.buffer);
                    return Err(fault);
                }
            }
            // A whole window, of which any marker is a place.
            let window = if output.is_known() {
                Some(Window::default())
            } else {
                behind().filter(|window| window.len() == WINDOW)
            };
            if let Some(window) = window {
                let mut known = Output::new(self.pool.bytes());
                let history: Vec<u8> =
                    output.history().iter().map(|symbol| resolved(*symbol, &window, 0)).collect();
                known.set_history(&history);
                self.pool.keep_symbols(output.buffer);
                return self.decode_known(&mut decoder, &mut bits, known, until);
            }
        }
    }

    fn decode_known<P: Pieces>(
        &mut self,
        decoder: &mut Decoder,
        bits: &mut Bits<P>,
        mut output: Output<u8>,
        until: u64,
    ) -> Result<End, Fault> {
        loop {
            let stop = decoder.run(bits, &mut output, self.until(until));
            if stop.is_ok() {
                self.keep_bytes(&mut output)?;
            }
            match stop {
                Ok(Stop::Full) => {}
                Ok(Stop::Member(trailer)) => {
                    self.parts.push(RawPart::Known(Part::Member(trailer)));
                    output.forget();
                }
                Ok(Stop::Block | Stop::End) => {
                    let tail = Tail::Known(Arc::new(output.history().to_vec()));
                    self.pool.keep_bytes(output.buffer);
                    return Ok((bits.position(), stop == Ok(Stop::End), tail));
                }
                Err(fault) => {
                    self.pool.keep_bytes(output.buffer);
                    return Err(fault);
                }
            }
        }
    }

    /// Where to stop: a chunk that is large already ends where it can, so that what was decoded is not lost.
    fn until(&self, end: u64) -> u64 {
        if self.left < self.enough { 0 } else { end }
    }

    fn count(&mut self, symbols: usize) -> Result<(), Fault> {
        self.left = self.left.saturating_sub(symbols);
        if self.left == 0 { Err(Fault::Gone) } else { Ok(()) }
    }

    fn keep_symbols(&mut self, output: &mut Output<u16>) -> Result<(), Fault> {
        if output.fresh().is_empty() {
            return Ok(());
        }
        // A whole buffer, however little is in it.
        self.count(LENGTH)?;
        let (buffer, range) = output.swap(self.pool.symbols());
        self.parts.push(RawPart::Symbols { buffer, range });
        Ok(())
    }

    fn keep_bytes(&mut self, output: &mut Output<u8>) -> Result<(), Fault> {
        if output.fresh().is_empty() {
            return Ok(());
        }
        self.count(LENGTH / 2)?;
        let (buffer, range) = output.swap(self.pool.bytes());
        let crc = Crc::of(&buffer[range.clone()]);
        self.parts.push(RawPart::Known(Part::Bytes { buffer, range, crc: Some(crc) }));
        Ok(())
    }
}

impl Chunk {
    /// The window behind the chunk, if `window` is before it; `None` if it refers to bytes before that.
    pub(super) fn window_behind(&self, window: &[u8]) -> Option<Window> {
        let missing = WINDOW - window.len();
        let is_missing =
            |symbol: &u16| symbol.checked_sub(MARKER).is_some_and(|place| usize::from(place) < missing);
        for part in self.parts.iter().filter(|_| missing > 0) {
            if let RawPart::Symbols { buffer, range } = part
                && buffer[range.clone()].iter().any(is_missing)
            {
                return None;
            }
        }
        match &self.tail {
            Tail::Known(known) => Some(Arc::clone(known)),
            Tail::Unknown(symbols) => {
                let known = symbols.iter().skip_while(|symbol| is_missing(symbol));
                Some(Arc::new(known.map(|symbol| resolved(*symbol, window, missing)).collect()))
            }
        }
    }

    /// All bytes, with `window` before them.
    pub(super) fn resolve(self, window: &[u8], pool: &Pool) -> Vec<Part> {
        let level = Level::new();
        let mut table: Option<Box<[u8]>> = None;
        let mut parts = Vec::with_capacity(self.parts.len());
        for part in self.parts {
            let (symbols, range) = match part {
                RawPart::Known(part) => {
                    parts.push(part);
                    continue;
                }
                RawPart::Symbols { buffer, range } => (buffer, range),
            };
            // Every symbol is an index: no question is asked for each.
            let table = table.get_or_insert_with(|| {
                let mut table = vec![0; 1 << 16].into_boxed_slice();
                for (place, byte) in table.iter_mut().zip(0..=u8::MAX) {
                    *place = byte;
                }
                let start = usize::from(MARKER) + WINDOW - window.len();
                table[start..].copy_from_slice(window);
                table
            });
            let mut bytes = pool.bytes();
            dispatch!(level, _ => narrow(&symbols[range.clone()], &mut bytes[range.clone()], table));
            pool.keep_symbols(symbols);
            let crc = Crc::of(&bytes[range.clone()]);
            parts.push(Part::Bytes { buffer: bytes, range, crc: Some(crc) });
        }
        parts
    }

    /// Gives the buffers back.
    pub(super) fn discard(self, pool: &Pool) {
        for part in self.parts {
            match part {
                RawPart::Symbols { buffer, .. } => pool.keep_symbols(buffer),
                RawPart::Known(Part::Bytes { buffer, .. }) => pool.keep_bytes(buffer),
                RawPart::Known(Part::Member(_)) => {}
            }
        }
    }
}

fn resolved(symbol: u16, window: &[u8], missing: usize) -> u8 {
    match symbol.checked_sub(MARKER) {
        None => symbol as u8,
        Some(place) => usize::from(place).checked_sub(missing).map_or(0, |place| window[place]),
    }
}

#[inline(always)]
fn narrow(symbols: &[u16], bytes: &mut [u8], table: &[u8]) {
    let Ok(table) = <&[u8; 1 << 16]>::try_from(table) else { return };
    let (symbols, last_symbols) = symbols.as_chunks::<16>();
    let (bytes, last_bytes) = bytes.as_chunks_mut::<16>();
    for (symbols, bytes) in symbols.iter().zip(bytes) {
        if symbols.iter().fold(0, |all, symbol| all | symbol) < MARKER {
            for (symbol, byte) in symbols.iter().zip(bytes) {
                *byte = *symbol as u8;
            }
        } else {
            for (symbol, byte) in symbols.iter().zip(bytes) {
                *byte = table[usize::from(*symbol)];
            }
        }
    }
    for (symbol, byte) in last_symbols.iter().zip(last_bytes) {
        *byte = table[usize::from(*symbol)];
    }
}
