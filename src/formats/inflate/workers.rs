//! Threads that decode ahead of the coordinator, and what they share with it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::bits::{NoBits, Piece, Pieces};
use super::chunk::{Chunk, Part, Pool, Window, speculate};
use super::search::Start;
use super::{BUFFERS_PER_WORKER, Division, LEAD};

/// What a worker found in a piece.
pub(super) enum Guess {
    Running,
    Done(Option<Chunk>),
}

/// The error after a panic in a worker.
pub(super) const BROKEN: &str = "internal error in the parallel decoder; please report it";

pub(super) struct State {
    /// Pieces that may be asked for, by number.
    pub(super) pieces: BTreeMap<u64, Arc<Piece>>,
    /// How many pieces were read.
    pub(super) read: u64,
    pub(super) is_end: bool,
    /// The next piece that no worker has taken.
    pub(super) next: u64,
    /// The piece where the coordinator is.
    pub(super) at: u64,
    /// Pieces from this number on are not for workers yet.
    pub(super) bound: u64,
    pub(super) guesses: BTreeMap<u64, Guess>,
    /// Where the coordinator is, with the window before it.
    pub(super) behind: (u64, Window),
    /// Accepted parts whose markers are to be replaced.
    pub(super) accepted: VecDeque<(u64, Chunk, Window)>,
    pub(super) resolved: BTreeMap<u64, Vec<Part>>,
    pub(super) is_closed: bool,
    /// Whether a worker panicked.
    pub(super) is_broken: bool,
}

pub(super) struct Shared {
    state: Mutex<State>,
    /// There is something to do, for one worker each time.
    pub(super) work: Condvar,
    /// A piece arrived that a worker goes on into.
    pub(super) arrived: Condvar,
    /// A worker is done with something.
    pub(super) done: Condvar,
    pub(super) pool: Pool,
    symbols: usize,
}

impl Shared {
    pub(super) fn new(division: Division) -> Self {
        let state = State {
            pieces: BTreeMap::new(),
            read: 0,
            is_end: false,
            next: 1,
            at: 0,
            bound: 0,
            guesses: BTreeMap::new(),
            behind: (0, Window::default()),
            accepted: VecDeque::new(),
            resolved: BTreeMap::new(),
            is_closed: false,
            is_broken: false,
        };
        Self {
            state: Mutex::new(state),
            work: Condvar::new(),
            arrived: Condvar::new(),
            done: Condvar::new(),
            pool: Pool::new(
                BUFFERS_PER_WORKER * (division.workers + usize::from(division.reader_helps))
                    + division.buffers_ahead(),
            ),
            symbols: division.symbols,
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works until the coordinator is gone. A panic must not leave it waiting.
    pub(super) fn work(self: &Arc<Self>) {
        if crate::jobs::catch_panic(|| self.work_on()).is_err() {
            self.give_up();
        }
    }

    /// Decodes a piece ahead of the coordinator, on the thread that reads; `false` if there is none. Never waits, since
    /// the coordinator may wait for the reader.
    pub(super) fn help(self: &Arc<Self>) -> bool {
        let mut state = self.lock();
        let number = state.next.max(state.at + LEAD);
        // The last block of a piece ends in the next one.
        let is_whole = state.read > number + 1 || state.is_end;
        let piece = state.pieces.get(&number).filter(|_| number < state.bound && is_whole).cloned();
        let Some(piece) = piece else { return false };
        state.next = number + 1;
        state.guesses.insert(number, Guess::Running);
        drop(state);
        if crate::jobs::catch_panic(|| self.guess(number, &piece, false)).is_err() {
            self.give_up();
        }
        true
    }

    /// After a panic.
    fn give_up(&self) {
        let mut state = self.lock();
        state.is_broken = true;
        state.is_closed = true;
        drop(state);
        self.wake_all();
        self.done.notify_all();
    }

    /// Decodes a piece before its window is known.
    fn guess(self: &Arc<Self>, number: u64, piece: &Arc<Piece>, waits: bool) {
        let pieces = Ahead { shared: Arc::clone(self), waits };
        let behind = |start: &Start| {
            let state = self.lock();
            let (position, window) = &state.behind;
            (start.first..=start.last).contains(position).then(|| Arc::clone(window))
        };
        let chunk = speculate(&pieces, number, piece, &self.pool, self.symbols, behind);
        let mut state = self.lock();
        // The coordinator may have passed it.
        if let Some(guess) = state.guesses.get_mut(&number) {
            *guess = Guess::Done(chunk);
        } else if let Some(chunk) = chunk {
            chunk.discard(&self.pool);
        }
        drop(state);
        self.done.notify_all();
    }

    /// Wakes all workers, to see that the coordinator is gone.
    pub(super) fn wake_all(&self) {
        self.work.notify_all();
        self.arrived.notify_all();
    }

    fn work_on(self: &Arc<Self>) {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return;
            }
            if let Some((number, chunk, window)) = state.accepted.pop_front() {
                drop(state);
                let parts = chunk.resolve(&window, &self.pool);
                state = self.lock();
                state.resolved.insert(number, parts);
                self.done.notify_all();
                continue;
            }
            let number = state.next;
            if let Some(piece) = state.pieces.get(&number).filter(|_| number < state.bound).cloned() {
                state.next += 1;
                state.guesses.insert(number, Guess::Running);
                drop(state);
                self.guess(number, &piece, true);
                state = self.lock();
                continue;
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Pieces for a worker.
#[derive(Clone)]
struct Ahead {
    shared: Arc<Shared>,
    /// Whether to wait for pieces that the coordinator will read without it.
    waits: bool,
}

impl Pieces for Ahead {
    fn piece(&mut self, number: u64) -> Result<Arc<Piece>, NoBits> {
        let mut state = self.shared.lock();
        loop {
            if state.is_closed {
                return Err(NoBits::Gone);
            }
            if let Some(piece) = state.pieces.get(&number) {
                return Ok(Arc::clone(piece));
            }
            if number < state.read {
                return Err(NoBits::Gone);
            }
            if state.is_end {
                return Err(NoBits::End);
            }
            if number > state.bound || !self.waits {
                return Err(NoBits::Gone);
            }
            state = self.shared.arrived.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
