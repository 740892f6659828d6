//! The inner loop: literals and matches.

use fearless_simd::{Level, dispatch};

use super::bits::{Bits, NoBits, Pieces};
use super::decoder::Fault;
use super::output::{LENGTH, Output, ROOM, Symbol};
use super::tables::{
    DISTANCE_BITS, DISTANCE_SIZE, END, LITERAL, LITERAL_BITS, LITERAL_SIZE, SECOND, SPECIAL, Tables,
};

/// Where a block was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Left {
    /// At its end.
    End,
    /// The output is full.
    Full,
    /// The input has fewer bytes than the fast loop loads.
    Scarce,
}

/// Bytes that the fast loop loads in one round, and some.
const LOADED: usize = 24;

const LITERAL_MASK: u64 = (1 << LITERAL_BITS) - 1;
const DISTANCE_MASK: u64 = (1 << DISTANCE_BITS) - 1;

/// Decodes symbols until the block ends, the output is full, or the input ends.
pub(super) fn decode<T: Symbol, P: Pieces>(
    tables: &Tables,
    bits: &mut Bits<P>,
    output: &mut Output<T>,
) -> Result<Left, Fault> {
    loop {
        match fast(tables, bits, output)? {
            Left::Scarce => {}
            left => return Ok(left),
        }
        // Over the edge between two pieces, symbol by symbol.
        if careful(tables, bits, output)? {
            return Ok(Left::End);
        }
        if output.is_full() {
            return Ok(Left::Full);
        }
    }
}

#[inline(always)]
fn mask(bits: u32) -> u64 {
    (1u64 << (bits & 63)) - 1
}

#[inline(never)]
fn fast<T: Symbol, P>(tables: &Tables, bits: &mut Bits<P>, output: &mut Output<T>) -> Result<Left, Fault> {
    dispatch!(Level::new(), _ => inner_loop(tables, bits, output))
}

/// Shifts by a number of bits in a register take one step with BMI2, and three without.
#[inline(always)]
#[expect(clippy::too_many_lines, reason = "one loop, whose state stays in registers")]
fn inner_loop<T: Symbol, P>(
    tables: &Tables,
    bits: &mut Bits<P>,
    output: &mut Output<T>,
) -> Result<Left, Fault> {
    let literals: &[u32; LITERAL_SIZE] = &tables.literals;
    let distances: &[u32; DISTANCE_SIZE] = &tables.distances;
    let input: &[u8] = &bits.piece.bytes;
    let floor = output.floor;
    // An array, whose length is not asked for at each symbol.
    let Ok(out) = <&mut [T; LENGTH]>::try_from(&mut *output.buffer) else { return Ok(Left::Scarce) };
    if input.len() < LOADED || bits.at > input.len() - LOADED {
        return Ok(Left::Scarce);
    }
    if output.at > LENGTH - ROOM {
        return Ok(Left::Full);
    }
    let last = input.len() - LOADED;
    let (mut buffer, mut count, mut from, mut at) = (bits.buffer, bits.count, bits.at, output.at);
    macro_rules! refill {
        () => {{
            let word: [u8; 8] = input[from..from + 8].try_into().unwrap_or_default();
            buffer |= u64::from_le_bytes(word) << (count & 63);
            from += ((63 - count) >> 3) as usize;
            count |= 56;
        }};
    }
    macro_rules! consume {
        ($entry:expr) => {{
            buffer >>= $entry & 63;
            count = count.wrapping_sub($entry & 0xff);
        }};
    }
    macro_rules! literal {
        ($entry:expr) => {{
            out[at] = T::of(($entry >> 16) as u8);
            at += 1;
        }};
    }
    refill!();
    // The entry of the next code is looked up before what is known is written: a look-up takes longest.
    let mut entry = literals[(buffer & LITERAL_MASK) as usize];
    let left = loop {
        if from > last {
            break Ok(Left::Scarce);
        }
        if at > LENGTH - ROOM {
            break Ok(Left::Full);
        }
        refill!();
        if entry & LITERAL != 0 {
            consume!(entry);
            let first = entry;
            entry = literals[(buffer & LITERAL_MASK) as usize];
            literal!(first);
            if entry & LITERAL != 0 {
                consume!(entry);
                let second = entry;
                entry = literals[(buffer & LITERAL_MASK) as usize];
                literal!(second);
                if entry & LITERAL != 0 {
                    consume!(entry);
                    let third = entry;
                    entry = literals[(buffer & LITERAL_MASK) as usize];
                    literal!(third);
                    continue;
                }
            }
        }
        if entry & SPECIAL != 0 {
            if entry & SECOND != 0 {
                consume!(entry);
                let place = (entry >> 16) as usize + (buffer & mask((entry >> 8) & 15)) as usize;
                entry = literals[place & (LITERAL_SIZE - 1)];
                if entry & LITERAL != 0 {
                    consume!(entry);
                    literal!(entry);
                    refill!();
                    entry = literals[(buffer & LITERAL_MASK) as usize];
                    continue;
                }
            }
            if entry & SPECIAL != 0 {
                consume!(entry);
                break if entry & END != 0 { Ok(Left::End) } else { Err(Fault::Corrupt) };
            }
        }
        let saved = buffer;
        consume!(entry);
        let length = (entry >> 16) as usize + ((saved & mask(entry & 0xff)) >> ((entry >> 8) & 15)) as usize;
        refill!();
        let mut pair = distances[(buffer & DISTANCE_MASK) as usize];
        if pair & SPECIAL != 0 {
            if pair & SECOND != 0 {
                consume!(pair);
                let place = (pair >> 16) as usize + (buffer & mask((pair >> 8) & 15)) as usize;
                pair = distances[place & (DISTANCE_SIZE - 1)];
            }
            if pair & SPECIAL != 0 {
                break Err(Fault::Corrupt);
            }
        }
        let saved = buffer;
        consume!(pair);
        let distance = (pair >> 16) as usize + ((saved & mask(pair & 0xff)) >> ((pair >> 8) & 15)) as usize;
        if distance > at - floor {
            break Err(Fault::Corrupt);
        }
        // Of 56 bits, a distance takes at most 28.
        entry = literals[(buffer & LITERAL_MASK) as usize];
        copy(out, at, distance, length);
        at += length;
    };
    (bits.buffer, bits.count, bits.at, output.at) = (buffer, count, from, at);
    left
}

/// Repeats `length` symbols from `distance` before `at`. Up to 32 symbols from `at` on, and 15 behind the last, are
/// overwritten.
#[inline(always)]
fn copy<T: Symbol>(out: &mut [T], at: usize, distance: usize, length: usize) {
    let end = at + length;
    let (mut from, mut to) = (at - distance, at);
    if distance >= 16 {
        macro_rules! block {
            () => {{
                // Arrays, for `copy_from_slice` is a call here, 10 % of the time.
                let Some(block) = out[from..].first_chunk::<16>().copied() else { return };
                let Some(place) = out[to..].first_chunk_mut::<16>() else { return };
                *place = block;
                from += 16;
                to += 16;
            }};
        }
        // Most matches are no longer than two blocks: one question is cheaper than two.
        block!();
        block!();
        while to < end {
            block!();
        }
    } else if distance == 1 {
        let symbol = out[from];
        out[to..end].fill(symbol);
    } else {
        while to < end {
            out[to] = out[from];
            from += 1;
            to += 1;
        }
    }
}

/// Decodes symbols until a new piece is loaded, at least one. Returns whether the block ended.
fn careful<T: Symbol, P: Pieces>(
    tables: &Tables,
    bits: &mut Bits<P>,
    output: &mut Output<T>,
) -> Result<bool, Fault> {
    for _ in 0..LOADED {
        if output.is_full() {
            return Ok(false);
        }
        let entry = lookup(bits, &tables.literals[..], LITERAL_BITS)?;
        if entry & LITERAL != 0 {
            bits.drop(entry & 0xff);
            output.buffer[output.at] = T::of((entry >> 16) as u8);
            output.at += 1;
            continue;
        }
        if entry & SPECIAL != 0 {
            bits.drop(entry & 0xff);
            return if entry & END != 0 { Ok(true) } else { Err(Fault::Corrupt) };
        }
        let length = value(bits, entry)?;
        let entry = lookup(bits, &tables.distances[..], DISTANCE_BITS)?;
        if entry & SPECIAL != 0 {
            return Err(Fault::Corrupt);
        }
        let distance = value(bits, entry)?;
        if distance > output.at - output.floor {
            return Err(Fault::Corrupt);
        }
        copy(&mut output.buffer, output.at, distance, length);
        output.at += length;
    }
    Ok(false)
}

/// The entry of the next code, all of whose bits are loaded. A second table's first bits are removed.
fn lookup<P: Pieces>(bits: &mut Bits<P>, table: &[u32], first_bits: u32) -> Result<u32, Fault> {
    loop {
        let loaded = bits.loaded();
        let mut entry = table[(loaded & mask(first_bits)) as usize];
        let mut taken = (entry >> 8) & 15;
        if entry & (SPECIAL | SECOND) == SPECIAL | SECOND {
            let place = (entry >> 16) as usize + ((loaded >> first_bits) & mask(taken)) as usize;
            entry = table[place & (table.len() - 1)];
            taken = first_bits + ((entry >> 8) & 15);
        } else if entry & LITERAL != 0 {
            taken = entry & 0xff;
        }
        if taken <= bits.count {
            // What is left to remove is in the entry.
            bits.drop(taken - ((entry >> 8) & 15));
            return Ok(entry);
        }
        // One byte at a time: what follows may be the end of the stream.
        let wanted = bits.count + 1;
        bits.need(wanted).map_err(Fault::of)?;
    }
}

/// Removes the code of `entry` and its extra bits; the length or distance that they mean.
fn value<P: Pieces>(bits: &mut Bits<P>, entry: u32) -> Result<usize, Fault> {
    let code = (entry >> 8) & 15;
    bits.drop(code);
    let extra = bits.take((entry & 0xff) - code).map_err(Fault::of)?;
    Ok((entry >> 16) as usize + extra as usize)
}

impl Fault {
    /// The fault of a deflate stream that has no more bits.
    pub(super) fn of(why: NoBits) -> Self {
        match why {
            NoBits::End => Self::Truncated,
            NoBits::Gone => Self::Gone,
        }
    }
}
