//! The reader of a stream that other threads decode.

use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::sync::Arc;
use std::thread::{Builder, Scope};
use std::vec;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::Division;
use super::chunk::Part;
use super::coordinator::{Coordinator, Event};
use super::crc::Crc;
use super::decoder::Fault;
use super::points::{PointsSlot, Recorder};
use super::workers::{BROKEN, Shared};

/// What the coordinator hands on: nothing at the end.
type Decoded = io::Result<Vec<Event>>;

/// The decompressed bytes of a gzip stream of any number of members, as [`flate2::bufread::MultiGzDecoder`] returns
/// them, with its errors.
pub struct ParallelGunzip {
    shared: Arc<Shared>,
    decoded: Receiver<Decoded>,
    /// Whether this thread decodes where it would wait.
    helps: bool,
    events: vec::IntoIter<Event>,
    buffer: Box<[u8]>,
    fresh: Range<usize>,
    crc: Crc,
    recorder: Option<Recorder>,
    is_end: bool,
    /// Whether a member had another checksum or length than its end says.
    is_wrong: bool,
}

impl ParallelGunzip {
    /// Reads a stream on threads of which one belongs to `scope`; they end soon after this reader. Its restart points go
    /// to `slot` at its end.
    ///
    /// # Errors
    /// If no thread can be created.
    pub fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        reader: impl Read + Send + 'scope,
        division: Division,
        slot: Option<PointsSlot>,
    ) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(division));
        let (sender, decoded) = bounded(division.buffers_ahead() / division.buffers_at_once());
        let for_thread = Arc::clone(&shared);
        let distance = slot.as_ref().map(PointsSlot::distance);
        Builder::new().name("inflate".to_owned()).spawn_scoped(scope, move || {
            let follow = || {
                let coordinator = Coordinator::new(reader, division, for_thread, distance);
                follow(coordinator, division.buffers_at_once(), &sender);
            };
            // The reader finds that it ended too early.
            crate::jobs::catch_panic(follow).unwrap_or_default();
        })?;
        Ok(Self {
            shared,
            decoded,
            helps: division.reader_helps,
            events: Vec::new().into_iter(),
            buffer: Box::default(),
            fresh: 0..0,
            crc: Crc::default(),
            recorder: slot.map(Recorder::new),
            is_end: false,
            is_wrong: false,
        })
    }

    /// Takes what follows; all bytes before were read.
    fn advance(&mut self) -> io::Result<()> {
        if self.is_wrong {
            return Err(Fault::Checksum.error());
        }
        if self.events.as_slice().is_empty() {
            while self.helps && self.decoded.is_empty() && self.shared.help() {}
            self.events = self.decoded.recv().map_err(|_| io::Error::other(BROKEN))??.into_iter();
        }
        match self.events.next() {
            Some(Event::Part(Part::Bytes { buffer, range, crc })) => {
                let used = std::mem::replace(&mut self.buffer, buffer);
                if !used.is_empty() {
                    self.shared.pool.keep_bytes(used);
                }
                let crc = crc.unwrap_or_else(|| Crc::of(&self.buffer[range.clone()]));
                self.fresh = range;
                self.crc.combine(&crc);
                if let Some(recorder) = &mut self.recorder {
                    recorder.bytes(&crc);
                }
            }
            Some(Event::Part(Part::Member(trailer))) => {
                self.is_wrong = trailer.crc != self.crc.sum() || trailer.length != self.crc.amount();
                self.crc = Crc::default();
            }
            Some(Event::Chunk(chunk, window)) => {
                let parts = chunk.resolve(&window, &self.shared.pool).into_iter().map(Event::Part);
                self.events = parts.chain(std::mem::take(&mut self.events)).collect::<Vec<_>>().into_iter();
            }
            Some(Event::Block(bit, window)) => {
                if let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.due_in() == 0) {
                    let place = recorder.place();
                    recorder.point(place, bit, &window);
                }
            }
            None => {
                self.is_end = true;
                if let Some(recorder) = self.recorder.take() {
                    recorder.finish();
                }
            }
        }
        Ok(())
    }
}

/// Hands on what is decoded, to the end or until the reader is gone.
fn follow<R: Read>(coordinator: io::Result<Coordinator<R>>, at_once: usize, decoded: &Sender<Decoded>) {
    let mut coordinator = match coordinator {
        Ok(coordinator) => coordinator,
        Err(error) => {
            decoded.send(Err(error)).ok();
            return;
        }
    };
    loop {
        let mut events = Vec::new();
        let last = loop {
            match coordinator.next() {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break Some(Ok(Vec::new())),
                Err(error) => break Some(Err(error)),
            }
            if events.len() >= at_once {
                break None;
            }
        };
        let is_end = last.as_ref().is_some_and(Result::is_ok);
        let events = (!events.is_empty()).then_some(Ok(events));
        if events.into_iter().chain(last).any(|next| decoded.send(next).is_err()) || is_end {
            return;
        }
    }
}

impl BufRead for ParallelGunzip {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.fresh.is_empty() && !self.is_end {
            self.advance()?;
        }
        Ok(&self.buffer[self.fresh.clone()])
    }

    fn consume(&mut self, count: usize) {
        self.fresh.start = (self.fresh.start + count).min(self.fresh.end);
    }
}

impl Read for ParallelGunzip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.fill_buf()?;
        let count = bytes.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}
