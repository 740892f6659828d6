//! The holes of a sparse member: which parts of the file its body has, in the four forms that GNU tar has written.
//!
//! Old GNU: ranges in the header and in blocks after it. PAX 0.0: a record for each offset and length. PAX 0.1: one
//! record with all of them. PAX 1.0: decimal numbers at the start of the body.

use super::edit::{body, pieces};
use super::header::number;
use crate::base::Limits;
use crate::base::convert::in_memory;
use crate::formats::pax::records;

const BLOCK: usize = 512;
/// Ranges in the header, in a block after it, and bytes of one.
const IN_HEADER: std::ops::Range<usize> = 386..482;
const IN_BLOCK: std::ops::Range<usize> = 0..504;
const RANGE: usize = 24;
const RANGES_A_BLOCK: usize = 21;

/// A part of a file, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// Zeros that the body does not have.
    Hole(u64),
    /// Bytes of the body.
    Bytes(&'a [u8]),
}

/// Turns the body of a sparse member into the file.
#[derive(Debug)]
pub struct Expander {
    size: u64,
    /// Offset in the file of the next byte.
    at: u64,
    /// Offset and length of the stored parts, in order.
    map: Vec<(u64, u64)>,
    /// The part that is being passed, and how much of it has passed.
    part: (usize, u64),
    /// The map at the start of the body, while it is being read.
    head: Option<Head>,
    most: usize,
}

/// The map of PAX 1.0.
#[derive(Debug, Default)]
struct Head {
    /// Bytes read so far.
    bytes: usize,
    digits: Option<u64>,
    numbers: Vec<u64>,
    /// Whether all numbers were read: only the padding of the last block is left.
    complete: bool,
}

impl Expander {
    /// For a member with this header (extension headers included) and this logical size.
    ///
    /// # Errors
    /// The map is malformed; what is wrong with it.
    pub fn new(raw: &[u8], size: u64, limits: &Limits) -> Result<Self, String> {
        let most = limits.sparse_blocks.saturating_mul(RANGES_A_BLOCK);
        let incomplete = |_| "its header is incomplete".to_owned();
        let (extensions, rest) = pieces(raw).map_err(incomplete)?;
        let mut numbers: Vec<u64> = Vec::new();
        let (mut in_body, mut in_records) = (false, false);
        for piece in extensions.iter().filter(|piece| piece.kind == b'x') {
            for record in records(body(piece).map_err(incomplete)?).flatten() {
                match record.key {
                    b"GNU.sparse.offset" | b"GNU.sparse.numbytes" => {
                        numbers.push(decimal(record.value)?);
                        in_records = true;
                    }
                    b"GNU.sparse.map" => {
                        numbers.clear();
                        for text in record.value.split(|byte| *byte == b',').filter(|text| !text.is_empty()) {
                            numbers.push(decimal(text)?);
                        }
                        in_records = true;
                    }
                    b"GNU.sparse.major" => in_body = record.value == b"1",
                    _ => {}
                }
            }
        }
        let mut new = Self { size, at: 0, map: Vec::new(), part: (0, 0), head: None, most };
        if in_body {
            new.head = Some(Head::default());
        } else {
            if !in_records {
                numbers = in_blocks(rest);
            }
            new.take_map(&numbers)?;
        }
        Ok(new)
    }

    fn take_map(&mut self, numbers: &[u64]) -> Result<(), String> {
        if numbers.len() / 2 > self.most || !numbers.len().is_multiple_of(2) {
            return Err("its map of holes is malformed".to_owned());
        }
        let mut end = 0;
        for pair in numbers.chunks_exact(2) {
            let (at, length) = (pair[0], pair[1]);
            let next = at.checked_add(length).filter(|next| at >= end && *next <= self.size);
            end = next.ok_or_else(|| "its map of holes is out of order, or beyond its end".to_owned())?;
            self.map.push((at, length));
        }
        Ok(())
    }

    /// Passes what the next bytes of the body are in the file to `out`.
    ///
    /// # Errors
    /// The body is longer than its map, or the map in it is malformed.
    pub fn push(&mut self, mut bytes: &[u8], out: &mut dyn FnMut(Part<'_>)) -> Result<(), String> {
        if let Some(head) = &mut self.head {
            let taken = head.take(bytes, self.most)?;
            bytes = &bytes[taken..];
            if !head.complete || head.bytes % BLOCK != 0 {
                return Ok(());
            }
            let numbers = std::mem::take(&mut head.numbers);
            self.head = None;
            self.take_map(numbers.get(1..).unwrap_or_default())?;
        }
        while !bytes.is_empty() {
            let Some((start, length)) = self.map.get(self.part.0).copied() else {
                return Err("its body is longer than its map of holes declares".to_owned());
            };
            if self.at < start {
                out(Part::Hole(start - self.at));
                self.at = start;
            }
            let (now, later) = bytes.split_at(in_memory(length - self.part.1).min(bytes.len()));
            if !now.is_empty() {
                out(Part::Bytes(now));
            }
            bytes = later;
            self.at += now.len() as u64;
            self.part.1 += now.len() as u64;
            if self.part.1 == length {
                self.part = (self.part.0 + 1, 0);
            }
        }
        Ok(())
    }

    /// Passes the hole at the end.
    ///
    /// # Errors
    /// The body is shorter than its map.
    pub fn finish(self, out: &mut dyn FnMut(Part<'_>)) -> Result<(), String> {
        let left = self.map.get(self.part.0..).unwrap_or_default();
        let stored: u64 = left.iter().fold(0, |sum, (_, length)| sum.saturating_add(*length));
        if self.head.is_some() || stored > self.part.1 {
            return Err("its body is shorter than its map of holes declares".to_owned());
        }
        if self.at < self.size {
            out(Part::Hole(self.size - self.at));
        }
        Ok(())
    }
}

impl Head {
    /// Takes bytes up to the end of the last block of the map; how many.
    fn take(&mut self, bytes: &[u8], most: usize) -> Result<usize, String> {
        let malformed = || "the map of holes at the start of its body is malformed".to_owned();
        let mut taken = 0;
        for byte in bytes {
            if self.complete {
                break;
            }
            taken += 1;
            match byte {
                b'0'..=b'9' => {
                    let digit = u64::from(byte - b'0');
                    let number = self.digits.unwrap_or(0).checked_mul(10);
                    self.digits =
                        Some(number.and_then(|number| number.checked_add(digit)).ok_or_else(malformed)?);
                }
                b'\n' => self.numbers.push(self.digits.take().ok_or_else(malformed)?),
                _ => return Err(malformed()),
            }
            let count = self.numbers.first().copied().unwrap_or(u64::MAX);
            if !self.numbers.is_empty() && in_memory(count) > most {
                return Err(malformed());
            }
            self.complete = self.digits.is_none()
                && self.numbers.len() as u64 == count.saturating_mul(2).saturating_add(1);
        }
        self.bytes += taken;
        if self.complete {
            let padding = (self.bytes.next_multiple_of(BLOCK) - self.bytes).min(bytes.len() - taken);
            self.bytes += padding;
            taken += padding;
        }
        Ok(taken)
    }
}

/// The ranges of the old GNU form: `rest` is the header of the member and the blocks after it.
fn in_blocks(rest: &[u8]) -> Vec<u64> {
    let mut numbers = Vec::new();
    for (place, block) in rest.chunks_exact(BLOCK).enumerate() {
        let ranges = if place == 0 { &block[IN_HEADER] } else { &block[IN_BLOCK] };
        for range in ranges.chunks_exact(RANGE) {
            // As in GNU tar and Go, an empty offset ends the list.
            let (Some(at), Some(length)) = (number(&range[..RANGE / 2]), number(&range[RANGE / 2..])) else {
                return numbers;
            };
            if range[0] == 0 {
                return numbers;
            }
            numbers.extend([at, length]);
        }
    }
    numbers
}

fn decimal(text: &[u8]) -> Result<u64, String> {
    let text = std::str::from_utf8(text).ok();
    text.and_then(|text| text.parse().ok())
        .ok_or_else(|| "its map of holes has a malformed number".to_owned())
}
