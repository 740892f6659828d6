//! Where a block may begin, in the middle of a stream.

use std::sync::Arc;

use super::bits::{Bits, NoBits, Piece, Pieces};
use super::decoder::read_lengths;

/// A place where a block may begin. The bits before a stored block's length are zero as far as the start is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// The first bit at which the block may begin.
    pub(super) first: u64,
    /// The last one, from which it is decoded.
    pub(super) last: u64,
}

const SKIP_BITS: usize = 13;
/// By the next 13 bits: how many of them to skip until a dynamic block may begin.
static SKIP: [u8; 1 << SKIP_BITS] = skips();
/// By four code lengths of 3 bits: the share of the code space that they take, of 128.
static SHARE: [u16; 1 << 12] = shares();
const WHOLE: u16 = 128;

/// Whether a dynamic block that is not the last may begin with these bits, of which `known` are given.
const fn may_begin(bits: usize, known: usize) -> bool {
    let header_mask = if known >= 3 { 7 } else { (1 << known) - 1 };
    if bits & header_mask != 0b100 & header_mask {
        return false;
    }
    // At most 286 literals and lengths, and 30 distances.
    if known >= 8 && (bits >> 3) & 31 > 29 {
        return false;
    }
    !(known >= 13 && (bits >> 8) & 31 > 29)
}

const fn skips() -> [u8; 1 << SKIP_BITS] {
    let mut table = [0; 1 << SKIP_BITS];
    let mut bits = 0;
    while bits < table.len() {
        let mut skip = 0;
        while skip < SKIP_BITS && !may_begin(bits >> skip, SKIP_BITS - skip) {
            skip += 1;
        }
        table[bits] = skip as u8;
        bits += 1;
    }
    table
}

const fn shares() -> [u16; 1 << 12] {
    let mut table = [0; 1 << 12];
    let mut bits = 0;
    while bits < table.len() {
        let mut place = 0;
        while place < 4 {
            let length = (bits >> (3 * place)) & 7;
            if length > 0 {
                table[bits] += WHOLE >> length;
            }
            place += 1;
        }
        bits += 1;
    }
    table
}

/// Bits that are searched for one kind of block before the other: what does not compress is in stored blocks, with no
/// dynamic one for megabytes.
const STRETCH: usize = 8 * (16 << 10);

/// The first place at or behind bit `from` of the stream where a block may begin, as far as this piece shows.
pub(super) fn search(piece: &Arc<Piece>, from: u64) -> Option<Start> {
    let base = piece.start * 8;
    let from = usize::try_from(from.checked_sub(base)?).ok()?;
    let end = piece.bytes.len() * 8;
    let start = (from..end).step_by(STRETCH).find_map(|at| {
        let dynamic = dynamic(piece, at, end.min(at + STRETCH));
        let before = dynamic.unwrap_or(end.min(at + STRETCH));
        let dynamic = dynamic.map(|bit| Start { first: bit as u64, last: bit as u64 });
        stored(piece, from, at, before).or(dynamic)
    })?;
    Some(Start { first: base + start.first, last: base + start.last })
}

fn word(bytes: &[u8], bit: usize) -> Option<u64> {
    let at = bit / 8;
    let word = bytes.get(at..at + 8)?.try_into().ok()?;
    Some(u64::from_le_bytes(word) >> (bit % 8))
}

fn dynamic(piece: &Arc<Piece>, from: usize, before: usize) -> Option<usize> {
    let bytes = &piece.bytes[..];
    let mut bit = from;
    while bit < before {
        let bits = word(bytes, bit)?;
        let skip = SKIP[bits as usize & ((1 << SKIP_BITS) - 1)];
        if skip > 0 {
            bit += usize::from(skip);
            continue;
        }
        // Up to 19 lengths of the code of code lengths must make a complete code.
        let count = ((bits >> 13) & 15) as u32 + 4;
        let lengths = word(bytes, bit + 17)? & ((1 << (3 * count)) - 1);
        let share = |shift: u32| SHARE[(lengths >> shift) as usize & 0xfff];
        if share(0) + share(12) + share(24) + share(36) + share(48) == WHOLE && is_dynamic(piece, bit) {
            return Some(bit);
        }
        bit += 1;
    }
    None
}

/// Whether the header of a dynamic block is complete and valid from its third bit on.
fn is_dynamic(piece: &Arc<Piece>, bit: usize) -> bool {
    let position = piece.start * 8 + bit as u64 + 3;
    let bits = Bits::new(OnePiece(Arc::clone(piece)), 0, position);
    bits.is_ok_and(|mut bits| read_lengths(&mut bits).is_ok_and(|lengths| lengths.are_codes()))
}

/// A stored block whose length is behind bit `at`, and that begins at bit `from` or behind it and before bit `before`.
fn stored(piece: &Arc<Piece>, from: usize, at: usize, before: usize) -> Option<Start> {
    let bytes = &piece.bytes[..];
    let end = (before / 8 + 2).min(bytes.len().saturating_sub(3));
    for at in at.div_ceil(8)..end {
        let word = u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?);
        if (word ^ (word >> 16)) & 0xffff != 0xffff {
            continue;
        }
        let is_zero = |bit: usize| bytes[bit / 8] >> (bit % 8) & 1 == 0;
        let lowest = (at * 8).saturating_sub(10).max(from);
        let zeros = (lowest..at * 8).rev().take_while(|bit| is_zero(*bit)).count();
        if zeros < 3 {
            continue;
        }
        let (first, last) = (at * 8 - zeros, at * 8 - 3);
        if first < before && is_header(piece, at + 4 + (word & 0xffff) as usize) {
            return Some(Start { first: first as u64, last: last as u64 });
        }
    }
    None
}

/// Whether a stored or dynamic block may begin at this byte; `true` behind the piece.
fn is_header(piece: &Arc<Piece>, at: usize) -> bool {
    let Some(bytes) = piece.bytes.get(at..at + 5) else { return true };
    match (bytes[0] >> 1) & 3 {
        0 => bytes[1] == !bytes[3] && bytes[2] == !bytes[4],
        // The header of a dynamic block has up to 300 bytes.
        2 => at + 300 > piece.bytes.len() || is_dynamic(piece, at * 8),
        _ => false,
    }
}

/// A stream of one piece.
struct OnePiece(Arc<Piece>);

impl Pieces for OnePiece {
    fn piece(&mut self, number: u64) -> Result<Arc<Piece>, NoBits> {
        if number == 0 { Ok(Arc::clone(&self.0)) } else { Err(NoBits::Gone) }
    }
}
