//! A decoder of a whole stream, and the reader that has it on its own thread.

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use flate2::Crc;

use super::bits::{Bits, NoBits, Piece, Pieces};
use super::decoder::{Decoder, Fault, Stop};
use super::output::{LENGTH, Output};
use super::points::{PointsSlot, Recorder};

/// Most compressed bytes that are copied from the source at once.
const PIECE: usize = 64 << 10;

/// The compressed stream.
struct Source<R> {
    reader: R,
    bytes: u64,
    /// The last two pieces. The reader of bits lets go of the older one, whose buffer is used again: new buffers leave
    /// holes between what stays in memory.
    given: [Arc<Piece>; 2],
    fault: Option<io::Error>,
}

/// The next piece: a reader of bits asks for each once.
impl<R: BufRead> Pieces for Source<R> {
    fn piece(&mut self, _: u64) -> Result<Arc<Piece>, NoBits> {
        loop {
            match self.reader.fill_buf() {
                Ok([]) => return Err(NoBits::End),
                Ok(read) => {
                    let used = Arc::get_mut(&mut self.given[0]);
                    let mut bytes = used.map(|piece| std::mem::take(&mut piece.bytes)).unwrap_or_default();
                    bytes.clear();
                    bytes.extend_from_slice(&read[..read.len().min(PIECE)]);
                    self.reader.consume(bytes.len());
                    let start = self.bytes;
                    self.bytes += bytes.len() as u64;
                    let piece = Arc::new(Piece { start, bytes });
                    self.given.swap(0, 1);
                    self.given[1] = Arc::clone(&piece);
                    return Ok(piece);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.fault = Some(error);
                    return Err(NoBits::Gone);
                }
            }
        }
    }
}

/// Decodes a stream from its start on, and stops where a point may be. It checks nothing.
pub(super) struct Inflater<R> {
    decoder: Decoder,
    bits: Bits<Source<R>>,
    pub(super) output: Output<u8>,
    /// Bytes between two points.
    distance: u64,
    /// Bytes since the last one.
    since: u64,
    /// The bit from which on a block may be a point: behind the last one.
    next_point: u64,
}

impl<R: BufRead> Inflater<R> {
    pub(super) fn new(reader: R, slot: Option<&PointsSlot>) -> Self {
        Self {
            decoder: Decoder::new(false),
            bits: Bits::at_start(Source { reader, bytes: 0, given: Default::default(), fault: None }),
            output: Output::new(vec![0; LENGTH].into_boxed_slice()),
            distance: slot.map_or(u64::MAX, PointsSlot::distance),
            since: 0,
            next_point: 0,
        }
    }

    /// Decodes into the output, from which all was taken. Returns why it stopped, and at which bit.
    pub(super) fn step(&mut self) -> (Result<Stop, Fault>, u64) {
        let until = if self.since >= self.distance { self.next_point } else { u64::MAX };
        let stop = self.decoder.run(&mut self.bits, &mut self.output, until);
        self.since += self.output.fresh().len() as u64;
        let bit = self.bits.position();
        if stop == Ok(Stop::Block) {
            self.since = 0;
            self.next_point = bit + 1;
        }
        (stop, bit)
    }

    /// The error of the source, if that is why it stopped.
    pub(super) fn source_fault(&mut self) -> Option<io::Error> {
        self.bits.pieces().fault.take()
    }
}

/// Checks what was decoded, and notes the points.
pub(super) struct Checker {
    crc: Crc,
    recorder: Option<Recorder>,
}

impl Checker {
    pub(super) fn new(slot: Option<PointsSlot>) -> Self {
        Self { crc: Crc::new(), recorder: slot.map(Recorder::new) }
    }

    /// Takes `fresh` bytes and why the decoder stopped behind them, at `bit`, with `history` before that. Returns whether
    /// the stream ended.
    pub(super) fn check(
        &mut self,
        fresh: &[u8],
        history: &[u8],
        (stop, bit): (Result<Stop, Fault>, u64),
    ) -> Result<bool, Fault> {
        let mut crc = Crc::new();
        crc.update(fresh);
        self.crc.combine(&crc);
        if let Some(recorder) = &mut self.recorder {
            recorder.bytes(&crc);
        }
        match stop? {
            Stop::Full => {}
            Stop::Block => {
                if let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.due_in() == 0) {
                    let place = recorder.place();
                    recorder.point(place, bit, history);
                }
            }
            Stop::Member(trailer) => {
                if trailer.crc != self.crc.sum() || trailer.length != self.crc.amount() {
                    return Err(Fault::Checksum);
                }
                self.crc.reset();
            }
            Stop::End => {
                if let Some(recorder) = self.recorder.take() {
                    recorder.finish();
                }
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The decompressed bytes of a gzip stream of any number of members, as [`flate2::bufread::MultiGzDecoder`] returns
/// them, with its errors.
pub struct Gunzip<R> {
    inflater: Inflater<R>,
    checker: Checker,
    is_end: bool,
    fault: Option<Fault>,
}

impl<R: BufRead> Gunzip<R> {
    /// Reads a stream. Its restart points go to `slot` at its end.
    pub fn new(reader: R, slot: Option<PointsSlot>) -> Self {
        let inflater = Inflater::new(reader, slot.as_ref());
        Self { inflater, checker: Checker::new(slot), is_end: false, fault: None }
    }

    /// Decodes more bytes; all before were taken.
    fn advance(&mut self) -> io::Result<()> {
        if let Some(fault) = self.fault {
            let of_source = self.inflater.source_fault();
            return Err(of_source.filter(|_| fault == Fault::Gone).unwrap_or_else(|| fault.error()));
        }
        self.inflater.output.slide();
        let stopped = self.inflater.step();
        let output = &self.inflater.output;
        match self.checker.check(output.fresh(), output.history(), stopped) {
            Ok(is_end) => self.is_end = is_end,
            Err(fault) => self.fault = Some(fault),
        }
        Ok(())
    }
}

impl<R: BufRead> BufRead for Gunzip<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.inflater.output.fresh().is_empty() && !self.is_end {
            self.advance()?;
        }
        Ok(self.inflater.output.fresh())
    }

    fn consume(&mut self, count: usize) {
        let output = &mut self.inflater.output;
        output.start = (output.start + count).min(output.at);
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.fill_buf()?;
        let count = bytes.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
