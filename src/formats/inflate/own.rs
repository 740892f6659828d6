//! The coordinator's way to the compressed bytes.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::rc::Rc;
use std::sync::Arc;

use super::bits::{NoBits, Piece, Pieces};
use super::workers::{Guess, Shared, State};

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
pub(super) struct Own<R> {
    shared: Arc<Shared>,
    source: Rc<RefCell<Source<R>>>,
}

impl<R> Clone for Own<R> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), source: Rc::clone(&self.source) }
    }
}

impl<R: Read> Own<R> {
    /// All of the stream, in pieces of so many bytes.
    pub(super) fn new(reader: R, piece: usize, shared: Arc<Shared>) -> Self {
        let source = Source { reader, bytes: 0, piece, passed: VecDeque::new(), fault: None };
        Self { shared, source: Rc::new(RefCell::new(source)) }
    }

    /// The error of the stream, once.
    pub(super) fn take_fault(&self) -> Option<io::Error> {
        self.source.borrow_mut().fault.take()
    }

    /// Reads one more piece; `false` at the end.
    pub(super) fn read(&self) -> bool {
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
        self.shared.work.notify_one();
        self.shared.arrived.notify_all();
        true
    }
}

impl<R> Own<R> {
    /// Lets go of the pieces before this one, and of what workers found in them.
    pub(super) fn pass(&self, state: &mut State, number: u64) {
        state.next = state.next.max(number);
        state.at = number;
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
