//! A decoder on the thread that reads.

use std::io::{self, BufRead, Read};
use std::sync::Arc;

use super::bits::{Bits, NoBits, Piece, Pieces};
use super::crc::Crc;
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

/// The decompressed bytes of a gzip stream of any number of members, as [`flate2::bufread::MultiGzDecoder`] returns
/// them, with its errors.
pub struct Gunzip<R> {
    decoder: Decoder,
    bits: Bits<Source<R>>,
    output: Output<u8>,
    crc: Crc,
    is_end: bool,
    fault: Option<Fault>,
    recorder: Option<Recorder>,
    /// The bit from which on a block may be a point: behind the last one.
    next_point: u64,
}

impl<R: BufRead> Gunzip<R> {
    /// Reads a stream. Its restart points go to `slot` at its end.
    pub fn new(reader: R, slot: Option<PointsSlot>) -> Self {
        Self {
            decoder: Decoder::new(false),
            bits: Bits::at_start(Source { reader, bytes: 0, given: Default::default(), fault: None }),
            output: Output::new(vec![0; LENGTH].into_boxed_slice()),
            crc: Crc::default(),
            is_end: false,
            fault: None,
            recorder: slot.map(Recorder::new),
            next_point: 0,
        }
    }

    /// Decodes more bytes; all before were taken.
    fn advance(&mut self) -> io::Result<()> {
        if let Some(fault) = self.fault {
            let of_source = self.bits.pieces().fault.take();
            return Err(of_source.filter(|_| fault == Fault::Gone).unwrap_or_else(|| fault.error()));
        }
        self.output.slide();
        let is_due = self.recorder.as_ref().is_some_and(|recorder| recorder.due_in() == 0);
        let until = if is_due { self.next_point } else { u64::MAX };
        let stop = self.decoder.run(&mut self.bits, &mut self.output, until);
        let crc = Crc::of(self.output.fresh());
        self.crc.combine(&crc);
        if let Some(recorder) = &mut self.recorder {
            recorder.bytes(&crc);
        }
        match stop {
            Ok(Stop::Full) => {}
            Ok(Stop::Block) => {
                let bit = self.bits.position();
                self.next_point = bit + 1;
                if let Some(recorder) = &mut self.recorder {
                    let place = recorder.place();
                    recorder.point(place, bit, self.output.history());
                }
            }
            Ok(Stop::Member(trailer)) => {
                if trailer.crc != self.crc.sum() || trailer.length != self.crc.amount() {
                    self.fault = Some(Fault::Checksum);
                }
                self.crc = Crc::default();
            }
            Ok(Stop::End) => {
                self.is_end = true;
                if let Some(recorder) = self.recorder.take() {
                    recorder.finish();
                }
            }
            Err(fault) => self.fault = Some(fault),
        }
        Ok(())
    }
}

impl<R: BufRead> BufRead for Gunzip<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.output.fresh().is_empty() && !self.is_end {
            self.advance()?;
        }
        Ok(self.output.fresh())
    }

    fn consume(&mut self, count: usize) {
        self.output.start = (self.output.start + count).min(self.output.at);
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
