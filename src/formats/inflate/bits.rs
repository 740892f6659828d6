//! Bits of a stream that arrives in pieces.

use std::sync::Arc;

/// Consecutive compressed bytes.
#[derive(Debug, Default)]
pub(super) struct Piece {
    /// Offset of the first byte in the stream.
    pub(super) start: u64,
    pub(super) bytes: Vec<u8>,
}

impl Piece {
    /// Position of the bit behind the last one.
    pub(super) fn end_bit(&self) -> u64 {
        (self.start + self.bytes.len() as u64) * 8
    }
}

/// Why there is no bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoBits {
    /// The stream ends here.
    End,
    /// The source failed, or the piece is not for this reader.
    Gone,
}

/// Where pieces come from.
pub(super) trait Pieces {
    /// The piece of this number, counted from 0. Blocks until it arrives. Never empty.
    fn piece(&mut self, number: u64) -> Result<Arc<Piece>, NoBits>;
}

/// A reader of bits, least significant first (RFC 1951, section 3.1.1).
pub(super) struct Bits<P> {
    pieces: P,
    pub(super) piece: Arc<Piece>,
    /// Number of the piece that follows.
    next: u64,
    /// The next byte of the piece to load.
    pub(super) at: usize,
    /// Loaded bits. Those above `count` may be set, and are then the ones that follow.
    pub(super) buffer: u64,
    /// How many are loaded.
    pub(super) count: u32,
}

impl<P: Pieces> Bits<P> {
    /// A reader from bit `position` on, which is in piece `number` or at its end.
    pub(super) fn new(mut pieces: P, number: u64, position: u64) -> Result<Self, NoBits> {
        let piece = pieces.piece(number)?;
        let at = usize::try_from((position / 8).saturating_sub(piece.start)).unwrap_or(usize::MAX);
        let at = at.min(piece.bytes.len());
        let mut bits = Self { pieces, piece, next: number + 1, at, buffer: 0, count: 0 };
        let skipped = (position % 8) as u32;
        if skipped > 0 {
            bits.need(skipped)?;
            bits.drop(skipped);
        }
        Ok(bits)
    }

    /// A reader from the start on. The first piece is asked for with the first bit.
    pub(super) fn at_start(pieces: P) -> Self {
        Self { pieces, piece: Arc::default(), next: 0, at: 0, buffer: 0, count: 0 }
    }

    /// Where pieces come from.
    pub(super) fn pieces(&mut self) -> &mut P {
        &mut self.pieces
    }

    /// Position of the next bit in the stream.
    pub(super) fn position(&self) -> u64 {
        (self.piece.start + self.at as u64) * 8 - u64::from(self.count)
    }

    /// Loads until there are at least `wanted` bits, up to 56.
    pub(super) fn need(&mut self, wanted: u32) -> Result<(), NoBits> {
        while self.count < wanted {
            if let Some(byte) = self.piece.bytes.get(self.at) {
                self.buffer |= u64::from(*byte) << self.count;
                self.at += 1;
                self.count += 8;
            } else {
                self.piece = self.pieces.piece(self.next)?;
                self.next += 1;
                self.at = 0;
            }
        }
        Ok(())
    }

    /// The loaded bits; zero above them.
    pub(super) fn loaded(&self) -> u64 {
        self.buffer & ((1 << self.count) - 1)
    }

    /// Removes loaded bits.
    pub(super) fn drop(&mut self, count: u32) {
        self.buffer >>= count;
        self.count -= count;
    }

    /// The next `count` bits, up to 32.
    pub(super) fn take(&mut self, count: u32) -> Result<u32, NoBits> {
        self.need(count)?;
        let value = self.buffer & ((1 << count) - 1);
        self.drop(count);
        Ok(value as u32)
    }

    /// Skips to the next byte boundary.
    pub(super) fn align(&mut self) {
        self.drop(self.count % 8);
    }

    /// Whether the stream ends here, at a byte boundary.
    pub(super) fn is_end(&mut self) -> Result<bool, NoBits> {
        match self.need(8) {
            Ok(()) => Ok(false),
            Err(NoBits::End) => Ok(self.count == 0),
            Err(gone) => Err(gone),
        }
    }

    /// Copies whole bytes from a byte boundary on; returns how many, at least one.
    pub(super) fn copy(&mut self, wanted: usize, each: impl FnOnce(&[u8])) -> Result<usize, NoBits> {
        debug_assert_eq!(self.count % 8, 0);
        // Loaded bytes go back first; those from the piece before come one by one.
        let loaded = (self.count / 8) as usize;
        if loaded <= self.at {
            self.at -= loaded;
            self.count = 0;
            self.buffer = 0;
        }
        if self.count > 0 || self.at == self.piece.bytes.len() {
            let byte = self.take(8)?;
            each(&[byte as u8]);
            return Ok(1);
        }
        let rest = &self.piece.bytes[self.at..];
        let count = rest.len().min(wanted);
        each(&rest[..count]);
        self.at += count;
        Ok(count)
    }
}
