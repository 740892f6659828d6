//! The reader: follows the stream, and decodes where no worker did.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, BufRead, Read};
use std::ops::Range;
use std::rc::Rc;
use std::sync::{Arc, PoisonError};
use std::thread;

use flate2::Crc;

use super::bits::{Bits, NoBits, Piece, Pieces};
use super::chunk::{Part, Window};
use super::decoder::{Decoder, Fault, Stop};
use super::output::Output;
use super::points::{PointsSlot, Recorder};
use super::workers::{BROKEN, Guess, Shared, State};
use super::{BUFFERS_PER_WORKER, Division};

/// The compressed stream.
struct Source<R> {
    reader: R,
    bytes: u64,
    piece: usize,
    fault: Option<io::Error>,
}

/// Pieces for the reader itself, which reads what is missing.
struct Own<R> {
    shared: Arc<Shared>,
    source: Rc<RefCell<Source<R>>>,
}

impl<R> Clone for Own<R> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), source: Rc::clone(&self.source) }
    }
}

impl<R: Read> Own<R> {
    /// Reads one more piece; `false` at the end.
    fn read(&self) -> bool {
        if self.shared.lock().is_end {
            return false;
        }
        let mut source = self.source.borrow_mut();
        let source = &mut *source;
        let mut bytes = Vec::with_capacity(source.piece);
        if let Err(error) = source.reader.by_ref().take(source.piece as u64).read_to_end(&mut bytes) {
            source.fault = Some(error);
        }
        let is_end = bytes.len() < source.piece;
        let piece = Piece { start: source.bytes, bytes };
        source.bytes += piece.bytes.len() as u64;
        let mut state = self.shared.lock();
        if !piece.bytes.is_empty() {
            let number = state.read;
            state.pieces.insert(number, Arc::new(piece));
            state.read += 1;
        }
        state.is_end = is_end;
        drop(state);
        self.shared.work.notify_all();
        true
    }
}

impl<R: Read> Pieces for Own<R> {
    fn piece(&mut self, number: u64) -> Result<Arc<Piece>, NoBits> {
        loop {
            if let Some(piece) = self.shared.lock().pieces.get(&number) {
                return Ok(Arc::clone(piece));
            }
            if !self.read() {
                let failed = self.source.borrow().fault.is_some();
                return Err(if failed { NoBits::Gone } else { NoBits::End });
            }
        }
    }
}

/// The reader's own decoder, from a block on.
struct Direct<R> {
    decoder: Decoder,
    bits: Bits<Own<R>>,
    output: Output<u8>,
    until: u64,
}

/// What follows in the stream.
enum Next {
    Part(Part),
    /// The parts of an accepted piece.
    Accepted(u64),
    /// A block begins at this bit, with this window before it.
    Block(u64, Window),
}

/// The decompressed bytes of a gzip stream of any number of members, as [`flate2::bufread::MultiGzDecoder`] returns
/// them, with its errors.
pub struct ParallelGunzip<R> {
    own: Own<R>,
    shared: Arc<Shared>,
    threads: Vec<thread::JoinHandle<()>>,
    ahead: u64,
    /// Where the next block begins, and the piece with this place.
    position: u64,
    number: u64,
    window: Window,
    direct: Option<Box<Direct<R>>>,
    queue: VecDeque<Next>,
    current: Option<(Box<[u8]>, Range<usize>)>,
    crc: Crc,
    is_end: bool,
    fault: Option<Fault>,
    recorder: Option<Recorder>,
}

impl<R: Read> ParallelGunzip<R> {
    /// Reads a stream. Its restart points go to `slot` at its end.
    ///
    /// # Errors
    /// If no thread can be created.
    pub fn new(reader: R, division: Division, slot: Option<PointsSlot>) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(division.symbols, BUFFERS_PER_WORKER * division.workers));
        let source = Source { reader, bytes: 0, piece: division.piece, fault: None };
        let own = Own { shared: Arc::clone(&shared), source: Rc::new(RefCell::new(source)) };
        let mut gunzip = Self {
            own,
            shared,
            threads: Vec::new(),
            ahead: division.ahead as u64,
            position: 0,
            number: 0,
            window: Window::default(),
            direct: None,
            queue: VecDeque::new(),
            current: None,
            crc: Crc::new(),
            is_end: false,
            fault: None,
            recorder: slot.map(Recorder::new),
        };
        for _ in 0..division.workers {
            let shared = Arc::clone(&gunzip.shared);
            let builder = thread::Builder::new().name("inflate".to_owned());
            gunzip.threads.push(builder.spawn(move || shared.work())?);
        }
        gunzip.start(false);
        Ok(gunzip)
    }

    /// Decodes directly from the current position on: up to the end of the piece, or up to what a worker found in it.
    fn start(&mut self, at_block: bool) {
        let piece = match self.own.piece(self.number) {
            Ok(piece) => piece,
            Err(why) => {
                self.fault = Some(if at_block {
                    Fault::of(why)
                } else if why == NoBits::Gone {
                    Fault::Gone
                } else {
                    Fault::TruncatedMember
                });
                return;
            }
        };
        let until = match self.shared.lock().guesses.get(&self.number) {
            Some(Guess::Done(Some(chunk))) if chunk.start.first > self.position => chunk.start.first,
            // Behind the last bit of a stream that was cut at a block: there is no place to stop at before the fault.
            _ if piece.end_bit() <= self.position => u64::MAX,
            _ => piece.end_bit(),
        };
        match Bits::new(self.own.clone(), self.number, self.position) {
            Ok(bits) => {
                let mut output = Output::new(self.shared.pool.bytes());
                output.set_history(&self.window);
                self.direct = Some(Box::new(Direct { decoder: Decoder::new(at_block), bits, output, until }));
            }
            Err(why) => self.fault = Some(Fault::of(why)),
        }
    }

    /// Lets workers take the pieces ahead, and reads these.
    fn fill(&mut self) {
        let first = self.queue.iter().find_map(|next| match next {
            Next::Accepted(number) => Some(*number),
            Next::Part(_) | Next::Block(..) => None,
        });
        let first = first.unwrap_or(self.number);
        let bound = first + self.ahead;
        loop {
            let mut state = self.shared.lock();
            if state.bound != bound {
                state.bound = bound;
                self.shared.work.notify_all();
            }
            let wants = state.read <= bound && !state.is_end;
            drop(state);
            if !wants || !self.own.read() {
                break;
            }
        }
    }

    /// Accepts what workers found, as far as it goes on from here. Returns whether something is to be waited for.
    fn accept(&mut self) -> bool {
        while self.direct.is_none() && !self.is_end && self.fault.is_none() {
            let mut state = self.shared.lock();
            // Pieces that are behind.
            while state.pieces.get(&self.number).is_some_and(|piece| piece.end_bit() <= self.position) {
                if state.read == self.number + 1 && state.is_end {
                    break;
                }
                let number = self.number;
                state.pieces.remove(&number);
                if let Some(Guess::Done(Some(chunk))) = state.guesses.remove(&number) {
                    chunk.discard(&self.shared.pool);
                }
                self.number += 1;
                state.next = state.next.max(self.number);
                if state.read == self.number && !state.is_end {
                    drop(state);
                    self.own.read();
                    state = self.shared.lock();
                }
            }
            let number = self.number;
            match state.guesses.get(&number) {
                Some(Guess::Running) => return true,
                None if state.next <= number
                    && state.pieces.contains_key(&number)
                    && number < state.bound =>
                {
                    return true;
                }
                Some(Guess::Done(Some(chunk)))
                    if chunk.start.first <= self.position && self.position <= chunk.start.last =>
                {
                    if let Some(behind) = chunk.window_behind(&self.window)
                        && let Some(Guess::Done(Some(chunk))) = state.guesses.remove(&number)
                    {
                        let window = std::mem::replace(&mut self.window, behind);
                        self.position = chunk.end;
                        self.is_end = chunk.is_stream_end;
                        state.behind = (self.position, Arc::clone(&self.window));
                        state.accepted.push_back((number, chunk, window));
                        drop(state);
                        // Workers that wait for a piece wait here too.
                        self.shared.work.notify_all();
                        self.queue.push_back(Next::Accepted(number));
                        if self.recorder.is_some() && !self.is_end {
                            self.queue.push_back(Next::Block(self.position, Arc::clone(&self.window)));
                        }
                        self.fill();
                        continue;
                    }
                }
                _ => {}
            }
            drop(state);
            self.start(true);
        }
        false
    }

    /// One step of the reader's own decoder.
    fn decode(&mut self, mut direct: Box<Direct<R>>) {
        let stop = direct.decoder.run(&mut direct.bits, &mut direct.output, direct.until);
        if !direct.output.fresh().is_empty() {
            let (buffer, range) = direct.output.swap(self.shared.pool.bytes());
            let mut crc = Crc::new();
            crc.update(&buffer[range.clone()]);
            self.queue.push_back(Next::Part(Part::Bytes { buffer, range, crc }));
        }
        match stop {
            Ok(Stop::Full) => self.direct = Some(direct),
            Ok(Stop::Member(trailer)) => {
                self.queue.push_back(Next::Part(Part::Member(trailer)));
                direct.output.forget();
                self.direct = Some(direct);
            }
            Ok(Stop::Block) => {
                self.position = direct.bits.position();
                self.window = Arc::new(direct.output.history().to_vec());
                self.shared.lock().behind = (self.position, Arc::clone(&self.window));
                if self.recorder.is_some() {
                    self.queue.push_back(Next::Block(self.position, Arc::clone(&self.window)));
                }
                self.shared.pool.keep_bytes(direct.output.buffer);
            }
            Ok(Stop::End) => self.is_end = true,
            Err(fault) => self.fault = Some(fault),
        }
    }

    /// The next decoded part; `None` at the end.
    fn part(&mut self) -> io::Result<Option<Part>> {
        loop {
            self.fill();
            let waits = self.accept();
            match self.queue.pop_front() {
                Some(Next::Part(part)) => return Ok(Some(part)),
                Some(Next::Accepted(number)) => {
                    let mut state = self.shared.lock();
                    let parts = loop {
                        if let Some(parts) = state.resolved.remove(&number) {
                            break parts;
                        }
                        if state.is_broken {
                            return Err(io::Error::other(BROKEN));
                        }
                        state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
                    };
                    drop(state);
                    for part in parts.into_iter().rev() {
                        self.queue.push_front(Next::Part(part));
                    }
                    continue;
                }
                Some(Next::Block(bit, window)) => {
                    if let Some(recorder) = self.recorder.as_mut().filter(|recorder| recorder.due_in() == 0) {
                        let place = recorder.place();
                        recorder.point(place, bit, &window);
                    }
                    continue;
                }
                None => {}
            }
            if let Some(direct) = self.direct.take() {
                self.decode(direct);
            } else if let Some(fault) = self.fault {
                let of_source = self.own.source.borrow_mut().fault.take();
                return Err(of_source.filter(|_| fault == Fault::Gone).unwrap_or_else(|| fault.error()));
            } else if self.is_end {
                return Ok(None);
            } else if waits {
                let number = self.number;
                let is_running = |state: &mut State| match state.guesses.get(&number) {
                    _ if state.is_broken => false,
                    Some(Guess::Running) => true,
                    Some(Guess::Done(_)) => false,
                    None => state.next <= number,
                };
                let state = self.shared.lock();
                let state = self.shared.done.wait_while(state, is_running);
                if state.unwrap_or_else(PoisonError::into_inner).is_broken {
                    return Err(io::Error::other(BROKEN));
                }
            }
        }
    }
}

impl<R: Read> BufRead for ParallelGunzip<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.current.as_ref().is_none_or(|(_, range)| range.is_empty()) {
            if let Some((buffer, _)) = self.current.take() {
                self.shared.pool.keep_bytes(buffer);
            }
            match self.part()? {
                Some(Part::Bytes { buffer, range, crc }) => {
                    self.crc.combine(&crc);
                    if let Some(recorder) = &mut self.recorder {
                        recorder.bytes(&crc);
                    }
                    self.current = Some((buffer, range));
                }
                Some(Part::Member(trailer)) => {
                    let is_right = trailer.crc == self.crc.sum() && trailer.length == self.crc.amount();
                    self.crc.reset();
                    if !is_right {
                        self.fault = Some(Fault::Checksum);
                        self.direct = None;
                        self.queue.clear();
                        return Err(Fault::Checksum.error());
                    }
                }
                None => {
                    if let Some(recorder) = self.recorder.take() {
                        recorder.finish();
                    }
                    return Ok(&[]);
                }
            }
        }
        Ok(self.current.as_ref().map_or(&[], |(buffer, range)| &buffer[range.clone()]))
    }

    fn consume(&mut self, count: usize) {
        if let Some((_, range)) = &mut self.current {
            range.start = (range.start + count).min(range.end);
        }
    }
}

impl<R: Read> Read for ParallelGunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.fill_buf()?;
        let count = bytes.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R> Drop for ParallelGunzip<R> {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // A panic in a worker is a fault of this module; the reader would have waited for its part.
            thread.join().unwrap_or_default();
        }
    }
}
