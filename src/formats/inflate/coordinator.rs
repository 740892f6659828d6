//! The coordinator: follows the stream, and decodes where no worker did.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::sync::{Arc, PoisonError};
use std::thread;

use super::Division;
use super::bits::{Bits, NoBits, Pieces};
use super::chunk::{Chunk, Part, Window};
use super::decoder::{Decoder, Fault, Stop};
use super::output::Output;
use super::own::Own;
use super::workers::{BROKEN, Guess, Shared, State};

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
    /// What the reader decoded itself, with the window before it.
    Chunk(Chunk, Window),
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
    reader_helps: bool,
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
        let own = Own::new(reader, division.piece, Arc::clone(&shared));
        let mut coordinator = Self {
            own,
            shared,
            threads: Vec::new(),
            ahead: division.ahead as u64,
            reader_helps: division.reader_helps,
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
            _ if self.threads.is_empty() && !self.reader_helps => u64::MAX,
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
            for _ in state.bound..bound {
                self.shared.work.notify_one();
            }
            state.bound = bound;
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
                        if self.reader_helps {
                            drop(state);
                            self.queue.push_back(Next::Event(Event::Chunk(chunk, window)));
                        } else {
                            state.accepted.push_back((number, chunk, window));
                            drop(state);
                            self.shared.work.notify_one();
                            self.queue.push_back(Next::Accepted(number));
                        }
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
                let of_source = self.own.take_fault();
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
        self.shared.wake_all();
        for thread in self.threads.drain(..) {
            // A panic in a worker is a fault of this module; the coordinator would have waited for its part.
            thread.join().unwrap_or_default();
        }
    }
}
