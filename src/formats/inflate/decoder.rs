//! Members, blocks and their ends, in any number of steps.

use std::io;

use super::bits::{Bits, NoBits, Pieces};
use super::codes::{self, Left};
use super::crc::Crc;
use super::output::{Output, Symbol};
use super::tables::{LENGTH_BITS, LENGTH_ORDER, Tables, are_codes, length_table};

/// Why a stream cannot be decoded further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The deflate stream has bits that mean nothing.
    Corrupt,
    /// It has no end.
    Truncated,
    /// No gzip header where a member must begin.
    Header,
    /// A text in a header is longer than any program writes.
    LongField,
    /// A header or the end of a member is incomplete.
    TruncatedMember,
    /// A checksum or length is wrong.
    Checksum,
    /// The source failed, or the decoder has left its part of the stream.
    Gone,
}

impl Fault {
    /// The error that flate2 returns in this case, word for word: what reads a layer knows some of them.
    pub(super) fn error(self) -> io::Error {
        let (kind, message) = match self {
            Self::Corrupt => (io::ErrorKind::InvalidInput, "corrupt deflate stream"),
            Self::Truncated => (io::ErrorKind::UnexpectedEof, "incomplete deflate stream"),
            Self::Header => (io::ErrorKind::InvalidInput, "invalid gzip header"),
            Self::LongField => (io::ErrorKind::InvalidInput, "gzip header field too long"),
            Self::TruncatedMember => return io::ErrorKind::UnexpectedEof.into(),
            Self::Checksum => {
                (io::ErrorKind::InvalidInput, "corrupt gzip stream does not have a matching checksum")
            }
            Self::Gone => (io::ErrorKind::Other, "the source of the stream failed"),
        };
        io::Error::new(kind, message)
    }

    fn in_member(why: NoBits) -> Self {
        match why {
            NoBits::End => Self::TruncatedMember,
            NoBits::Gone => Self::Gone,
        }
    }
}

/// What the end of a member says of its contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Trailer {
    /// CRC-32 of the contents.
    pub(super) crc: u32,
    /// Their length modulo 2^32.
    pub(super) length: u32,
}

/// Why a decoder stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The output is full.
    Full,
    /// A block begins here, at or behind the wanted position.
    Block,
    /// A member ended. What follows is in its own history.
    Member(Trailer),
    /// The stream ended after a member.
    End,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the header of a member; the flag is set in the first.
    Member(bool),
    /// At the header of a block.
    Block,
    /// In a compressed block.
    Codes,
    /// In a stored block, with this many bytes left.
    Stored(usize),
    /// Behind the last block of a member.
    Trailer,
}

/// A decoder of gzip members.
pub(super) struct Decoder {
    state: State,
    is_last: bool,
    is_fixed: bool,
    tables: Tables,
}

/// Longest text in a header, as flate2 has it.
const MAX_FIELD: usize = 65_535;

impl Decoder {
    /// A decoder at the start of a stream, or at the start of a block.
    pub(super) fn new(at_block: bool) -> Self {
        let state = if at_block { State::Block } else { State::Member(true) };
        Self { state, is_last: false, is_fixed: false, tables: Tables::new() }
    }

    /// Decodes until one of the reasons to stop, the first block at bit `until` or behind it among them.
    pub(super) fn run<T: Symbol, P: Pieces>(
        &mut self,
        bits: &mut Bits<P>,
        output: &mut Output<T>,
        until: u64,
    ) -> Result<Stop, Fault> {
        loop {
            match self.state {
                State::Member(is_first) => {
                    if !is_first && bits.is_end().map_err(Fault::in_member)? {
                        return Ok(Stop::End);
                    }
                    member(|| Ok(bits.take(8).map_err(Fault::in_member)? as u8))?;
                    output.forget();
                    self.state = State::Block;
                }
                State::Block => {
                    if bits.position() >= until {
                        return Ok(Stop::Block);
                    }
                    self.state = self.block(bits)?;
                }
                State::Codes => match codes::decode(&self.tables, bits, output)? {
                    Left::End => self.state = self.after_block(),
                    Left::Full | Left::Scarce => return Ok(Stop::Full),
                },
                State::Stored(0) => self.state = self.after_block(),
                State::Stored(left) => {
                    if output.is_full() {
                        return Ok(Stop::Full);
                    }
                    let at = output.at;
                    let room = &mut output.buffer[at..];
                    let count = bits.copy(left.min(room.len() - super::output::ROOM + 1), |bytes| {
                        for (symbol, byte) in room.iter_mut().zip(bytes) {
                            *symbol = T::of(*byte);
                        }
                    });
                    let count = count.map_err(Fault::of)?;
                    output.at += count;
                    self.state = State::Stored(left - count);
                }
                State::Trailer => {
                    bits.align();
                    let mut word = || bits.take(32).map_err(Fault::in_member);
                    let trailer = Trailer { crc: word()?, length: word()? };
                    self.state = State::Member(false);
                    return Ok(Stop::Member(trailer));
                }
            }
        }
    }

    fn after_block(&self) -> State {
        if self.is_last { State::Trailer } else { State::Block }
    }

    fn block<P: Pieces>(&mut self, bits: &mut Bits<P>) -> Result<State, Fault> {
        self.is_last = bits.take(1).map_err(Fault::of)? == 1;
        match bits.take(2).map_err(Fault::of)? {
            0 => {
                bits.align();
                let (length, inverse) =
                    (bits.take(16).map_err(Fault::of)?, bits.take(16).map_err(Fault::of)?);
                if length != !inverse & 0xffff {
                    return Err(Fault::Corrupt);
                }
                Ok(State::Stored(length as usize))
            }
            1 => {
                if !self.is_fixed {
                    self.tables.set_fixed();
                    self.is_fixed = true;
                }
                Ok(State::Codes)
            }
            2 => {
                self.is_fixed = false;
                let lengths = read_lengths(bits)?;
                self.tables.set(lengths.literals(), lengths.distances()).ok_or(Fault::Corrupt)?;
                Ok(State::Codes)
            }
            _ => Err(Fault::Corrupt),
        }
    }
}

/// Code lengths of a dynamic block.
pub(super) struct Lengths {
    all: [u8; 286 + 30 + 138],
    literals: usize,
    total: usize,
}

impl Lengths {
    fn literals(&self) -> &[u8] {
        &self.all[..self.literals]
    }

    fn distances(&self) -> &[u8] {
        &self.all[self.literals..self.total]
    }

    /// Whether a block may have these.
    pub(super) fn are_codes(&self) -> bool {
        are_codes(self.literals(), self.distances())
    }
}

/// Reads the header of a dynamic block (RFC 1951, section 3.2.7), behind its first three bits.
pub(super) fn read_lengths<P: Pieces>(bits: &mut Bits<P>) -> Result<Lengths, Fault> {
    let mut take = |count| bits.take(count).map_err(Fault::of);
    let sizes = take(14)?;
    let literals = (sizes & 31) as usize + 257;
    let distances = ((sizes >> 5) & 31) as usize + 1;
    if literals > 286 || distances > 30 {
        return Err(Fault::Corrupt);
    }
    let mut code = [0; 19];
    for place in &LENGTH_ORDER[..(sizes >> 10) as usize + 4] {
        code[*place] = take(3)? as u8;
    }
    let table = length_table(&code).ok_or(Fault::Corrupt)?;
    let total = literals + distances;
    let mut lengths = Lengths { all: [0; 286 + 30 + 138], literals, total };
    let mut at = 0;
    while at < total {
        let entry = loop {
            let entry = table[(bits.loaded() & ((1 << LENGTH_BITS) - 1)) as usize];
            if entry & 0xff <= bits.count {
                break entry;
            }
            let wanted = bits.count + 1;
            bits.need(wanted).map_err(Fault::of)?;
        };
        bits.drop(entry & 0xff);
        let symbol = (entry >> 16) as u8;
        if symbol < 16 {
            lengths.all[at] = symbol;
            at += 1;
            continue;
        }
        let mut take = |count| bits.take(count).map_err(Fault::of);
        let (length, repeat) = match symbol {
            16 => (at.checked_sub(1).map(|last| lengths.all[last]), 3 + take(2)?),
            17 => (Some(0), 3 + take(3)?),
            _ => (Some(0), 11 + take(7)?),
        };
        let length = length.ok_or(Fault::Corrupt)?;
        let end = at + repeat as usize;
        if end > total {
            return Err(Fault::Corrupt);
        }
        lengths.all[at..end].fill(length);
        at = end;
    }
    // Without an end the block has none.
    if lengths.all[256] == 0 { Err(Fault::Corrupt) } else { Ok(lengths) }
}

/// Reads the header of a member (RFC 1952, section 2.3).
pub(super) fn member(mut byte: impl FnMut() -> Result<u8, Fault>) -> Result<(), Fault> {
    const CHECKSUM: u8 = 2;
    const EXTRA: u8 = 4;
    const NAME: u8 = 8;
    const COMMENT: u8 = 16;
    const RESERVED: u8 = 0xe0;
    let mut crc = Crc::default();
    let mut next = |count: usize| -> Result<[u8; 10], Fault> {
        let mut bytes = [0; 10];
        for place in &mut bytes[..count] {
            *place = byte()?;
        }
        crc.update(&bytes[..count]);
        Ok(bytes)
    };
    let fixed = next(10)?;
    let flags = fixed[3];
    if fixed[..3] != [0x1f, 0x8b, 8] || flags & RESERVED != 0 {
        return Err(Fault::Header);
    }
    if flags & EXTRA != 0 {
        let length = next(2)?;
        for _ in 0..u16::from_le_bytes([length[0], length[1]]) {
            next(1)?;
        }
    }
    for field in [NAME, COMMENT] {
        let mut length = 0;
        while flags & field != 0 && next(1)?[0] != 0 {
            length += 1;
            if length > MAX_FIELD {
                return Err(Fault::LongField);
            }
        }
    }
    if flags & CHECKSUM != 0 {
        let sum = crc.sum() as u16;
        if [byte()?, byte()?] != sum.to_le_bytes() {
            return Err(Fault::Checksum);
        }
    }
    Ok(())
}
