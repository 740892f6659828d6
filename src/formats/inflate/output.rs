//! Decoded symbols, with the window before them.

/// How far back a stream may refer (RFC 1951, section 2).
pub(super) const WINDOW: usize = 32 << 10;
/// Symbols that a buffer holds beside the window.
pub(super) const DATA: usize = 128 << 10;
/// A match and the block copy that may write beyond its end.
pub(super) const ROOM: usize = 258 + 32;
/// Length of a buffer.
pub(super) const LENGTH: usize = WINDOW + DATA + ROOM;

/// A byte, or a byte that may be unknown.
pub(super) trait Symbol: Copy + Default + PartialEq {
    fn of(byte: u8) -> Self;
}

impl Symbol for u8 {
    #[inline(always)]
    fn of(byte: u8) -> Self {
        byte
    }
}

/// From [`MARKER`] on: the byte at this place of the window before the first symbol.
impl Symbol for u16 {
    #[inline(always)]
    fn of(byte: u8) -> Self {
        Self::from(byte)
    }
}

/// The first symbol that is an unknown byte.
pub(super) const MARKER: u16 = 1 << 15;

/// A buffer of symbols that is filled from its window on.
pub(super) struct Output<T> {
    pub(super) buffer: Box<[T]>,
    /// Where the next symbol goes.
    pub(super) at: usize,
    /// Where the history that may be referred to begins.
    pub(super) floor: usize,
    /// Where symbols begin that were not taken yet.
    pub(super) start: usize,
}

impl<T: Symbol> Output<T> {
    /// An empty output without history.
    pub(super) fn new(buffer: Box<[T]>) -> Self {
        debug_assert_eq!(buffer.len(), LENGTH);
        Self { buffer, at: WINDOW, floor: WINDOW, start: WINDOW }
    }

    /// Symbols that were not taken yet.
    pub(super) fn fresh(&self) -> &[T] {
        &self.buffer[self.start..self.at]
    }

    /// Whether another match may not fit.
    pub(super) fn is_full(&self) -> bool {
        self.at > LENGTH - ROOM
    }

    /// Forgets the history: a new member begins.
    pub(super) fn forget(&mut self) {
        self.floor = self.at;
    }

    /// The history, at most a window.
    pub(super) fn history(&self) -> &[T] {
        &self.buffer[self.floor.max(self.at - WINDOW)..self.at]
    }

    /// Makes room behind the history, if there is none; all symbols were taken.
    pub(super) fn slide(&mut self) {
        if !self.is_full() {
            self.start = self.at;
            return;
        }
        let from = self.at - WINDOW;
        self.buffer.copy_within(from..self.at, 0);
        self.floor = self.floor.saturating_sub(from);
        self.at = WINDOW;
        self.start = WINDOW;
    }

    /// Continues in another buffer; returns the full one and the range of the symbols that were not taken.
    pub(super) fn swap(&mut self, mut buffer: Box<[T]>) -> (Box<[T]>, std::ops::Range<usize>) {
        let from = self.at - WINDOW;
        buffer[..WINDOW].copy_from_slice(&self.buffer[from..self.at]);
        let range = self.start..self.at;
        self.floor = self.floor.saturating_sub(from);
        self.at = WINDOW;
        self.start = WINDOW;
        (std::mem::replace(&mut self.buffer, buffer), range)
    }
}

impl Output<u8> {
    /// Sets the history.
    pub(super) fn set_history(&mut self, history: &[u8]) {
        let known = history.len().min(WINDOW);
        self.floor = WINDOW - known;
        self.buffer[self.floor..WINDOW].copy_from_slice(&history[history.len() - known..]);
        self.at = WINDOW;
        self.start = WINDOW;
    }
}

impl Output<u16> {
    /// Sets the history to a window of unknown bytes.
    pub(super) fn set_unknown(&mut self) {
        for (symbol, number) in self.buffer[..WINDOW].iter_mut().zip(MARKER..=u16::MAX) {
            *symbol = number;
        }
        self.floor = 0;
        self.at = WINDOW;
        self.start = WINDOW;
    }

    /// Whether nothing in the history is unknown.
    pub(super) fn is_known(&self) -> bool {
        self.history().iter().fold(0, |all, symbol| all | symbol) < MARKER
    }
}
