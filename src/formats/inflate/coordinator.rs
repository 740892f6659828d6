//! The coordinator: follows the stream, and decodes where no worker did.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::{Arc, PoisonError};
use std::thread;

use super::Division;
use super::bits::{Bits, NoBits, Piece, Pieces};
use super::chunk::{Part, Window};
use super::decoder::{Decoder, Fault, Stop};
use super::output::Output;
use super::workers::{BROKEN, Guess, Shared, State};

/// The compressed stream.
struct Source<R> {
    reader: R,
    bytes: u64,
    piece: usize,
    /// Pieces that were passed. Their buffers are used again: new ones would be new pages each time.
    passed: VecDeque<Arc<Piece>>,
    fault: Option<io::Error>,
}

impl<R> Source<R> {
    /// An empty buffer for a piece. Workers may still have the last pieces that were passed.
    fn buffer(&mut self) -> Vec<u8> {
        let free = self.passed.iter_mut().position(|piece| Arc::get_mut(piece).is_some());
        let piece = free.and_then(|place| self.passed.swap_remove_back(place)).and_then(Arc::into_inner);
        let mut bytes = piece.map(|piece| piece.bytes).unwrap_or_default();
        bytes.clear();
        bytes.reserve_exact(self.piece);
        bytes
    }
}

/// Pieces for the coordinator itself, which reads what is missing.
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
        let mut bytes = source.buffer();
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

impl<R> Own<R> {
    /// Lets go of the pieces before this one, and of what workers found in them.
    fn pass(&self, state: &mut State, number: u64) {
        state.next = state.next.max(number);
        while let Some(piece) = state.pieces.first_entry().filter(|piece| *piece.key() < number) {
            self.source.borrow_mut().passed.push_back(piece.remove());
        }
        while let Some(guess) = state.guesses.first_entry().filter(|guess| *guess.key() < number) {
            if let Guess::Done(Some(chunk)) = guess.remove() {
                chunk.discard(&self.shared.pool);
            }
        }
    }
}

impl<R: Read> Pieces for Own<R> {
    fn piece(&mut self, number: u64) -> Result<Arc<Piece>, NoBits> {
        loop {
            let mut state = self.shared.lock();
            if let Some(piece) = state.pieces.get(&number).map(Arc::clone) {
                // A block may be as long as the stream. The next one may begin in the piece before, whose last bits are
                // loaded.
                self.pass(&mut state, number.saturating_sub(1));
                return Ok(piece);
            }
            drop(state);
            if !self.read() {
                let failed = self.source.borrow().fault.is_some();
                return Err(if failed { NoBits::Gone } else { NoBits::End });
            }
        }
    }
}

/// The coordinator's own decoder, from a block on.
struct Direct<R> {
    decoder: Decoder,
    bits: Bits<Own<R>>,
    output: Output<u8>,
    until: u64,
    /// Decoded bytes.
    bytes: u64,
}

/// What follows in the stream.
pub(super) enum Event {
    Part(Part),
    /// A block begins at this bit, with this window before it.
    Block(u64, Window),
}

/// The same before it is complete.
enum Next {
    Event(Event),
    /// The parts of an accepted piece.
    Accepted(u64),
}

/// Follows a stream on one thread, while workers decode ahead of it.
pub(super) struct Coordinator<R> {
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
    is_end: bool,
    fault: Option<Fault>,
    /// Bytes from which on the coordinator's own decoder tells of a block; `None` if nobody asks for blocks.
    distance: Option<u64>,
}

impl<R: Read> Coordinator<R> {
    /// Follows a stream, and tells of a block every so many bytes.
    ///
    /// # Errors
    /// If no thread can be created.
    pub(super) fn new(
        reader: R,
        division: Division,
        shared: Arc<Shared>,
        distance: Option<u64>,
    ) -> io::Result<Self> {
        let source = Source { reader, bytes: 0, piece: division.piece, passed: VecDeque::new(), fault: None };
        let own = Own { shared: Arc::clone(&shared), source: Rc::new(RefCell::new(source)) };
        let mut coordinator = Self {
            own,
            shared,
            threads: Vec::new(),
            ahead: division.ahead as u64,
            position: 0,
            number: 0,
            window: Window::default(),
            direct: None,
            queue: VecDeque::new(),
            is_end: false,
            fault: None,
            distance,
        };
        for _ in 0..division.workers {
            let shared = Arc::clone(&coordinator.shared);
            let builder = thread::Builder::new().name("inflate".to_owned());
            coordinator.threads.push(builder.spawn(move || shared.work())?);
        }
        coordinator.start(false);
        Ok(coordinator)
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
            // No worker will go on from there.
            _ if self.threads.is_empty() => u64::MAX,
            // Behind the last bit of a stream that was cut at a block: there is no place to stop at before the fault.
            _ if piece.end_bit() <= self.position => u64::MAX,
            _ => piece.end_bit(),
        };
        match Bits::new(self.own.clone(), self.number, self.position) {
            Ok(bits) => {
                let mut output = Output::new(self.shared.pool.bytes());
                output.set_history(&self.window);
                self.direct =
                    Some(Box::new(Direct { decoder: Decoder::new(at_block), bits, output, until, bytes: 0 }));
            }
            Err(why) => self.fault = Some(Fault::of(why)),
        }
    }

    /// Lets workers take the pieces ahead, and reads these.
    fn fill(&mut self) {
        let first = self.queue.iter().find_map(|next| match next {
            Next::Accepted(number) => Some(*number),
            Next::Event(_) => None,
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
            // Pieces that are behind; the own decoder has let go of some already.
            while self.number < state.read
                && state.pieces.get(&self.number).is_none_or(|piece| piece.end_bit() <= self.position)
            {
                if state.read == self.number + 1 && state.is_end {
                    break;
                }
                self.number += 1;
                self.own.pass(&mut state, self.number);
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
                    && !self.threads.is_empty()
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
                        if self.distance.is_some() && !self.is_end {
                            let block = Event::Block(self.position, Arc::clone(&self.window));
                            self.queue.push_back(Next::Event(block));
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

    /// One step of the coordinator's own decoder.
    fn decode(&mut self, mut direct: Box<Direct<R>>) {
        let stop = direct.decoder.run(&mut direct.bits, &mut direct.output, direct.until);
        if !direct.output.fresh().is_empty() {
            let (buffer, range) = direct.output.swap(self.shared.pool.bytes());
            direct.bytes += range.len() as u64;
            self.queue.push_back(Next::Event(Event::Part(Part::Bytes { buffer, range, crc: None })));
            if self.distance.is_some_and(|distance| direct.bytes >= distance) {
                direct.until = 0;
            }
        }
        match stop {
            Ok(Stop::Full) => self.direct = Some(direct),
            Ok(Stop::Member(trailer)) => {
                self.queue.push_back(Next::Event(Event::Part(Part::Member(trailer))));
                direct.output.forget();
                self.direct = Some(direct);
            }
            Ok(Stop::Block) => {
                self.position = direct.bits.position();
                self.window = Arc::new(direct.output.history().to_vec());
                self.shared.lock().behind = (self.position, Arc::clone(&self.window));
                if self.distance.is_some() {
                    let block = Event::Block(self.position, Arc::clone(&self.window));
                    self.queue.push_back(Next::Event(block));
                }
                self.shared.pool.keep_bytes(direct.output.buffer);
            }
            Ok(Stop::End) => self.is_end = true,
            Err(fault) => self.fault = Some(fault),
        }
    }

    /// The parts of an accepted piece. If no worker has begun with it, this thread does it: all others wait for this one.
    fn resolved(&self, number: u64) -> io::Result<Vec<Part>> {
        let mut state = self.shared.lock();
        loop {
            if let Some(parts) = state.resolved.remove(&number) {
                return Ok(parts);
            }
            if state.is_broken {
                return Err(io::Error::other(BROKEN));
            }
            let waiting = state.accepted.iter().position(|(accepted, ..)| *accepted == number);
            if let Some((_, chunk, window)) = waiting.and_then(|place| state.accepted.remove(place)) {
                drop(state);
                return Ok(chunk.resolve(&window, &self.shared.pool));
            }
            state = self.shared.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// What follows; `None` at the end. After an error, errors follow.
    pub(super) fn next(&mut self) -> io::Result<Option<Event>> {
        loop {
            self.fill();
            let waits = self.accept();
            match self.queue.pop_front() {
                Some(Next::Event(event)) => return Ok(Some(event)),
                Some(Next::Accepted(number)) => {
                    for part in self.resolved(number)?.into_iter().rev() {
                        self.queue.push_front(Next::Event(Event::Part(part)));
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

impl<R> Drop for Coordinator<R> {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.work.notify_all();
        for thread in self.threads.drain(..) {
            // A panic in a worker is a fault of this module; the coordinator would have waited for its part.
            thread.join().unwrap_or_default();
        }
    }
}
