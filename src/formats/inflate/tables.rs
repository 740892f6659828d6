//! Decoding tables of a block (RFC 1951, section 3.2).

/// Bits of the first lookup for literals and lengths.
pub(super) const LITERAL_BITS: u32 = 11;
/// Bits of the first lookup for distances.
pub(super) const DISTANCE_BITS: u32 = 8;
/// Bits of the lookup for code lengths: all of them.
pub(super) const LENGTH_BITS: u32 = 7;
/// Powers of two above the most that a complete code needs (2342 and 402 entries), so that a masked index is in range.
pub(super) const LITERAL_SIZE: usize = 4096;
pub(super) const DISTANCE_SIZE: usize = 512;

// An entry: bits 0 to 7 hold how many bits the code and its extra bits take, 8 to 11 those of the code alone, 16 to 30
// the literal, the base of the length or distance, or the start of the second table.
/// Set in literals.
pub(super) const LITERAL: u32 = 1 << 31;
/// Set in what is neither a literal nor a length or distance.
pub(super) const SPECIAL: u32 = 1 << 15;
/// Bits 16 and above are the start of a second table, bits 8 to 11 its width.
pub(super) const SECOND: u32 = 1 << 14;
/// The end of the block.
pub(super) const END: u32 = 1 << 13;

/// The order in which the lengths of code lengths are stored.
pub(super) const LENGTH_ORDER: [usize; 19] =
    [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];

const LITERALS: [u32; 288] = literals();
const DISTANCES: [u32; 32] = distances();
const LENGTHS: [u32; 19] = lengths();

const fn literals() -> [u32; 288] {
    let mut entries = [SPECIAL; 288];
    let mut symbol = 0;
    while symbol < 256 {
        entries[symbol] = LITERAL | ((symbol as u32) << 16);
        symbol += 1;
    }
    entries[256] = SPECIAL | END;
    let (mut base, mut number) = (3, 0);
    while number < 28 {
        let extra = if number < 8 { 0 } else { number / 4 - 1 };
        entries[257 + number as usize] = (base << 16) | extra;
        base += 1 << extra;
        number += 1;
    }
    entries[285] = 258 << 16;
    entries
}

const fn distances() -> [u32; 32] {
    let mut entries = [SPECIAL; 32];
    let (mut base, mut number) = (1, 0);
    while number < 30 {
        let extra = if number < 4 { 0 } else { number / 2 - 1 };
        entries[number as usize] = (base << 16) | extra;
        base += 1 << extra;
        number += 1;
    }
    entries
}

const fn lengths() -> [u32; 19] {
    let mut entries = [0; 19];
    let mut symbol = 0;
    while symbol < 19 {
        entries[symbol] = (symbol as u32) << 16;
        symbol += 1;
    }
    entries
}

/// Which incomplete codes are accepted besides no code at all: what zlib accepts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Incomplete {
    None,
    /// One code of one bit.
    Single,
}

/// The tables of one block.
pub(super) struct Tables {
    pub(super) literals: Box<[u32; LITERAL_SIZE]>,
    pub(super) distances: Box<[u32; DISTANCE_SIZE]>,
}

impl Tables {
    pub(super) fn new() -> Self {
        Self { literals: Box::new([0; LITERAL_SIZE]), distances: Box::new([0; DISTANCE_SIZE]) }
    }

    /// Tables for code lengths of literals and distances; `None` if they are no code that zlib accepts.
    pub(super) fn set(&mut self, literals: &[u8], distances: &[u8]) -> Option<()> {
        build(literals, &LITERALS, LITERAL_BITS, Incomplete::Single, &mut self.literals[..])?;
        build(distances, &DISTANCES, DISTANCE_BITS, Incomplete::Single, &mut self.distances[..])
    }

    /// Tables of the fixed code (section 3.2.6).
    pub(super) fn set_fixed(&mut self) {
        let mut literals = [8; 288];
        literals[144..256].fill(9);
        literals[256..280].fill(7);
        // Both are complete.
        self.set(&literals, &[5; 32]).unwrap_or_default();
    }
}

/// The table of the code lengths' own code. It must be complete; with no code at all, every bit is a length of zero, as in
/// zlib, and what is wrong is told at the end of the lengths.
pub(super) fn length_table(lengths: &[u8; 19]) -> Option<[u32; 1 << LENGTH_BITS]> {
    let mut table = [0; 1 << LENGTH_BITS];
    build(lengths, &LENGTHS, LENGTH_BITS, Incomplete::None, &mut table)?;
    Some(table)
}

/// Whether zlib accepts these code lengths for literals and distances.
pub(super) fn are_codes(literals: &[u8], distances: &[u8]) -> bool {
    counts(literals, Incomplete::Single).is_some() && counts(distances, Incomplete::Single).is_some()
}

/// How many codes there are of each length; `None` if that is no code.
fn counts(lengths: &[u8], incomplete: Incomplete) -> Option<([u16; 16], bool)> {
    let mut counts = [0u16; 16];
    for length in lengths {
        counts[usize::from(*length & 15)] += 1;
    }
    counts[0] = 0;
    let used: u32 = (1..16).map(|length| u32::from(counts[length]) << (15 - length)).sum();
    let is_single = counts[1] == 1 && counts[2..].iter().all(|count| *count == 0);
    let is_accepted = match used {
        0 | 0x8000 => true,
        _ => is_single && incomplete == Incomplete::Single,
    };
    is_accepted.then_some((counts, used == 0x8000))
}

fn build(
    lengths: &[u8],
    entries: &[u32],
    first_bits: u32,
    incomplete: Incomplete,
    table: &mut [u32],
) -> Option<()> {
    let (counts, is_complete) = counts(lengths, incomplete)?;
    let entry = |symbol: u16, length: u32| entries[usize::from(symbol)] + (length << 8) + length;
    if !is_complete {
        // A bit of one is no code; without any code, neither is a zero.
        table[..1 << first_bits].fill(SPECIAL | 1 << 8 | 1);
        if let Some(symbol) = lengths.iter().position(|length| *length == 1) {
            let entry = entry(symbol as u16, 1);
            table[..1 << first_bits].iter_mut().step_by(2).for_each(|place| *place = entry);
        }
        return Some(());
    }
    // Symbols by length, then number: the order of the codes.
    let mut sorted = [0u16; 288];
    let mut next = [0usize; 16];
    for length in 1..15 {
        next[length + 1] = next[length] + usize::from(counts[length]);
    }
    for (symbol, length) in lengths.iter().enumerate() {
        if *length > 0 {
            let place = &mut next[usize::from(*length & 15)];
            sorted[*place] = symbol as u16;
            *place += 1;
        }
    }
    let mut symbols = sorted.iter();
    let first_mask = (1usize << first_bits) - 1;
    // Codes are stored with their first bit lowest: the increment runs from the highest bit down.
    let mut code = 0usize;
    let advance = |code: usize, length: u32| {
        let ones = (1usize << length) - 1;
        let zeros = code ^ ones;
        if zeros == 0 {
            return 0;
        }
        let bit = 1usize << zeros.ilog2();
        (code & (bit - 1)) | bit
    };
    // The table doubles with every bit; what is known of shorter codes is repeated.
    let mut size = 1usize;
    for length in 1..=first_bits {
        table.copy_within(0..size, size);
        size *= 2;
        for symbol in symbols.by_ref().take(usize::from(counts[length as usize])) {
            table[code] = entry(*symbol, length);
            code = advance(code, length);
        }
    }
    let (mut prefix, mut start, mut end) = (usize::MAX, 0, size);
    for length in first_bits + 1..=15 {
        let count = usize::from(counts[length as usize]);
        for (done, symbol) in symbols.by_ref().take(count).enumerate() {
            if code & first_mask != prefix {
                prefix = code & first_mask;
                let mut width = length - first_bits;
                // As wide as the longest code with this prefix: until the codes that are left fill it.
                let mut left = count - done;
                while left < 1 << width && first_bits + width < 15 {
                    width += 1;
                    left = (left << 1) + usize::from(counts[(first_bits + width) as usize]);
                }
                start = end;
                end += 1 << width;
                if end > table.len() {
                    return None;
                }
                table[prefix] = SPECIAL | SECOND | ((start as u32) << 16) | (width << 8) | first_bits;
            }
            let value = entry(*symbol, length - first_bits);
            let stride = 1usize << (length - first_bits);
            for place in table[start..end].iter_mut().skip(code >> first_bits).step_by(stride) {
                *place = value;
            }
            code = advance(code, length);
        }
    }
    Some(())
}
