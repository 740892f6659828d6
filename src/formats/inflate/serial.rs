//! A decoder on one thread that notes restart points.
//!
//! zlib-rs decodes. Where a point is due, it stops at the end of a block, but does not say how many bits of the last
//! byte are left: this module's own decoder tries all eight places, and what it decodes from them is compared with what
//! zlib-rs returns next. A place that gives other bytes is none.

use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::sync::Arc;

use flate2::Crc;
use zlib_rs::{Inflate, InflateFlush, Status};

use super::bits::{Bits, NoBits, Piece, Pieces};
use super::decoder::{Decoder, Fault, Stop, member};
use super::output::{LENGTH, Output, WINDOW};
use super::points::{Place, PointsSlot, Recorder};
use crate::base::convert::in_memory;

/// Bytes of one step, as many as a reader of one thread has.
const STEP: usize = 256 << 10;
/// Compressed bytes behind a place that must decode to the same bytes.
const TRIED: usize = 4 << 10;
/// With fewer left in the buffer, the next block is waited for.
const LEAST_TRIED: usize = 512;

enum State {
    /// At the header of a member; the flag is set in the first.
    Header(bool),
    Blocks,
    Trailer,
    End,
}

/// A place that may be right, and what it decodes to.
struct Attempt {
    bit: u64,
    block: Block,
    bytes: Vec<u8>,
}

/// What a block is, and where it is. Equal ones are decoded to the same bytes, however far.
#[derive(PartialEq, Eq)]
struct Block {
    is_last: bool,
    /// The length of a stored block, in whole bytes behind the header and the padding; else the header.
    at: u64,
}

/// A place at which a block begins, at one of some bits.
struct Pending {
    place: Place,
    window: Vec<u8>,
    attempts: Vec<Attempt>,
    /// Bytes that were compared.
    compared: usize,
}

/// The decompressed bytes of a gzip stream of any number of members, as [`flate2::bufread::MultiGzDecoder`] returns
/// them, with its errors. Restart points go to a slot at the end of the stream.
pub struct RecordingGunzip<R> {
    source: R,
    state: State,
    inflate: Inflate,
    /// A window, and the bytes of a step.
    buffer: Box<[u8]>,
    /// What of the buffer was not read yet.
    fresh: Range<usize>,
    /// Bytes of the window that are known.
    known: usize,
    /// Compressed bytes so far.
    consumed: u64,
    crc: Crc,
    recorder: Option<Recorder>,
    pending: Option<Pending>,
    trial: Option<Box<Output<u8>>>,
    fault: Option<Fault>,
}

impl<R: BufRead> RecordingGunzip<R> {
    /// Reads a stream; its points go to `slot`.
    pub fn new(source: R, slot: PointsSlot) -> Self {
        Self {
            source,
            state: State::Header(true),
            inflate: Inflate::new(false, 15),
            buffer: vec![0; WINDOW + STEP].into_boxed_slice(),
            fresh: WINDOW..WINDOW,
            known: 0,
            consumed: 0,
            crc: Crc::new(),
            recorder: Some(Recorder::new(slot)),
            pending: None,
            trial: None,
            fault: None,
        }
    }

    /// One byte of a header or trailer.
    fn byte(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.source.fill_buf() {
                Ok(bytes) => {
                    let byte = bytes.first().copied();
                    self.source.consume(usize::from(byte.is_some()));
                    self.consumed += u64::from(byte.is_some());
                    return Ok(byte);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn header(&mut self) -> io::Result<()> {
        let mut failed = None;
        let read = member(|| match self.byte() {
            Ok(Some(byte)) => Ok(byte),
            Ok(None) => Err(Fault::TruncatedMember),
            Err(error) => {
                failed = Some(error);
                Err(Fault::Gone)
            }
        });
        if let Some(error) = failed {
            return Err(error);
        }
        read.map_err(|fault| self.fail(fault))
    }

    fn trailer(&mut self) -> io::Result<()> {
        let mut bytes = [0; 8];
        for place in &mut bytes {
            let Some(byte) = self.byte()? else { return Err(self.fail(Fault::TruncatedMember)) };
            *place = byte;
        }
        let stored = u64::from_le_bytes(bytes);
        let found = u64::from(self.crc.sum()) | u64::from(self.crc.amount()) << 32;
        if stored == found { Ok(()) } else { Err(self.fail(Fault::Checksum)) }
    }

    fn fail(&mut self, fault: Fault) -> io::Error {
        self.fault = Some(fault);
        self.recorder = None;
        fault.error()
    }

    /// Reads on until there are fresh bytes, or the end.
    fn advance(&mut self) -> io::Result<()> {
        if let Some(fault) = self.fault {
            return Err(fault.error());
        }
        while self.fresh.is_empty() {
            match self.state {
                State::Header(is_first) => {
                    if !is_first && self.source.fill_buf()?.is_empty() {
                        self.state = State::End;
                        continue;
                    }
                    self.header()?;
                    self.inflate.reset(false);
                    self.crc.reset();
                    self.known = 0;
                    self.fresh = WINDOW..WINDOW;
                    self.state = State::Blocks;
                }
                State::Blocks => self.step()?,
                State::Trailer => {
                    self.trailer()?;
                    self.state = State::Header(false);
                }
                State::End => {
                    if let Some(recorder) = self.recorder.take() {
                        recorder.finish();
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// One call of the decoder.
    fn step(&mut self) -> io::Result<()> {
        // The window is needed only near a point.
        let due_in = self.recorder.as_ref().map_or(u64::MAX, Recorder::due_in);
        if due_in < 2 * STEP as u64 {
            let end = self.fresh.end;
            self.known = (end - WINDOW + self.known).min(WINDOW);
            self.buffer.copy_within(end - WINDOW..end, 0);
        } else {
            self.known = 0;
        }
        self.fresh = WINDOW..WINDOW;
        let input = self.source.fill_buf()?;
        let is_end = input.is_empty();
        let is_due = due_in == 0 && self.pending.is_none();
        let flush = match (is_end, is_due) {
            (true, _) => InflateFlush::Finish,
            (false, true) => InflateFlush::Block,
            (false, false) => InflateFlush::NoFlush,
        };
        let before = (self.inflate.total_in(), self.inflate.total_out());
        let status = self.inflate.decompress(input, &mut self.buffer[WINDOW..], flush);
        let consumed = in_memory(self.inflate.total_in() - before.0);
        let written = in_memory(self.inflate.total_out() - before.1);
        let Ok(status) = status else {
            self.source.consume(consumed);
            return Err(self.fail(Fault::Corrupt));
        };
        let is_boundary = is_due && status == Status::Ok && consumed > 0 && written < STEP;
        let following = input.get(consumed.saturating_sub(1)..).filter(|_| is_boundary).unwrap_or_default();
        let tried = following.get(..following.len().min(TRIED)).filter(|bytes| bytes.len() >= LEAST_TRIED);
        let tried = tried.map(<[u8]>::to_vec);
        self.source.consume(consumed);
        self.consumed += consumed as u64;
        if written > 0 {
            self.fresh = WINDOW..WINDOW + written;
            let mut crc = Crc::new();
            crc.update(&self.buffer[self.fresh.clone()]);
            self.crc.combine(&crc);
            if let Some(recorder) = &mut self.recorder {
                recorder.bytes(&crc);
            }
            self.compare();
        }
        if let Some(bytes) = tried {
            self.attempt(bytes);
        }
        match status {
            Status::StreamEnd => {
                self.state = State::Trailer;
                // What was decoded of it is too short to be compared.
                self.pending = None;
            }
            Status::Ok | Status::BufError if written == 0 && is_end => {
                return Err(self.fail(Fault::Truncated));
            }
            Status::Ok | Status::BufError => {}
        }
        Ok(())
    }

    /// A block may begin in the first byte of `bytes`, or behind it.
    fn attempt(&mut self, bytes: Vec<u8>) {
        let end = self.fresh.end;
        let written = end - WINDOW;
        let known = (written + self.known).min(WINDOW);
        let whole = self.inflate.total_out().min(WINDOW as u64);
        if (known as u64) < whole {
            return;
        }
        let Some(recorder) = &mut self.recorder else { return };
        let window = self.buffer[end - in_memory(whole)..end].to_vec();
        let start = self.consumed - 1;
        let piece = Arc::new(Piece { start, bytes });
        let mut output =
            self.trial.take().unwrap_or_else(|| Box::new(Output::new(vec![0; LENGTH].into_boxed_slice())));
        // All eight bits of the last byte may be left, or none.
        let attempts: Vec<Attempt> = (start * 8 + 1..=start * 8 + 8)
            .filter_map(|bit| decode(&piece, bit, &window, &mut output))
            .collect();
        self.trial = Some(output);
        if !attempts.is_empty() {
            self.pending = Some(Pending { place: recorder.place(), window, attempts, compared: 0 });
        }
    }

    /// Compares what attempts decoded with fresh bytes. The first that is right to its end is a point.
    fn compare(&mut self) {
        let Some(pending) = &mut self.pending else { return };
        let fresh = &self.buffer[self.fresh.clone()];
        let compared = pending.compared;
        pending.attempts.retain(|attempt| {
            let rest = attempt.bytes.get(compared..).unwrap_or_default();
            let both = rest.len().min(fresh.len());
            rest[..both] == fresh[..both]
        });
        pending.compared += fresh.len();
        let is_open = pending.attempts.iter().any(|attempt| attempt.bytes.len() > pending.compared);
        if is_open {
            return;
        }
        let Some(pending) = self.pending.take() else { return };
        // The right place is among them: one that is left alone is it. Zeros before a stored block may belong to its
        // header or to what is before it, without a difference to what follows.
        let Some(last) = pending.attempts.last() else { return };
        if pending.attempts.iter().all(|attempt| attempt.block == last.block)
            && let Some(recorder) = &mut self.recorder
        {
            recorder.point(pending.place, last.bit, &pending.window);
        }
    }
}

/// Decodes a piece from a bit on, as far as it goes.
fn decode(piece: &Arc<Piece>, bit: u64, window: &[u8], output: &mut Output<u8>) -> Option<Attempt> {
    let bits = || Bits::new(OnePiece(Arc::clone(piece)), 0, bit).ok();
    let mut header = bits()?;
    let (is_last, kind) = (header.take(1).ok()? == 1, header.take(2).ok()?);
    let at = if kind == 0 { header.position().next_multiple_of(8) } else { bit };
    output.set_history(window);
    match Decoder::new(true).run(&mut bits()?, output, u64::MAX) {
        // `Gone`: the piece has no more bits.
        Ok(Stop::Full | Stop::Member(_)) | Err(Fault::Gone) => {}
        Ok(Stop::Block | Stop::End) | Err(_) => return None,
    }
    let bytes = output.fresh().to_vec();
    (!bytes.is_empty()).then_some(Attempt { bit, block: Block { is_last, at }, bytes })
}

#[derive(Clone)]
struct OnePiece(Arc<Piece>);

impl Pieces for OnePiece {
    fn piece(&mut self, number: u64) -> Result<Arc<Piece>, NoBits> {
        if number == 0 { Ok(Arc::clone(&self.0)) } else { Err(NoBits::Gone) }
    }
}

impl<R: BufRead> BufRead for RecordingGunzip<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.fresh.is_empty() {
            self.advance()?;
        }
        Ok(&self.buffer[self.fresh.clone()])
    }

    fn consume(&mut self, count: usize) {
        self.fresh.start = (self.fresh.start + count).min(self.fresh.end);
    }
}

impl<R: BufRead> Read for RecordingGunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.fill_buf()?;
        let count = bytes.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
