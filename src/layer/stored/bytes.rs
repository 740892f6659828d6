//! Columns of numbers, stored as differences to the smallest one, in as few bytes as the largest difference needs.

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

use crate::layer::index::EntryId;

/// Why bytes are not a layer stored by this version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at}: {what}")]
pub struct StoredError {
    /// Offset after the fault.
    pub at: usize,
    /// The fault.
    pub what: &'static str,
}

/// A number as stored in a column.
pub(super) trait Cell: Copy {
    /// The largest that fits.
    const MOST: u64;

    /// As 64 bits, in the same order.
    fn wide(self) -> u64;

    /// The number with the 64 bits `wide`, at most [`Self::MOST`].
    fn of(wide: u64) -> Self;
}

impl Cell for u16 {
    const MOST: u64 = 0xffff;

    fn wide(self) -> u64 {
        u64::from(self)
    }

    fn of(wide: u64) -> Self {
        let [a, b, ..] = wide.to_le_bytes();
        Self::from_le_bytes([a, b])
    }
}

impl Cell for u32 {
    const MOST: u64 = 0xffff_ffff;

    fn wide(self) -> u64 {
        u64::from(self)
    }

    fn of(wide: u64) -> Self {
        let [a, b, c, d, ..] = wide.to_le_bytes();
        Self::from_le_bytes([a, b, c, d])
    }
}

impl Cell for u64 {
    const MOST: u64 = u64::MAX;

    fn wide(self) -> u64 {
        self
    }

    fn of(wide: u64) -> Self {
        wide
    }
}

impl Cell for i64 {
    const MOST: u64 = u64::MAX;

    fn wide(self) -> u64 {
        self.cast_unsigned() ^ 1 << 63
    }

    fn of(wide: u64) -> Self {
        (wide ^ 1 << 63).cast_signed()
    }
}

/// How many bytes the numbers of a column have.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Width {
    /// None where all of them are the same.
    Any,
    /// At least one: as many bytes are there as the column claims to have numbers.
    Counted,
}

/// Gathers bytes.
#[derive(Default)]
pub(super) struct Writer(Vec<u8>);

impl Writer {
    /// All that was written.
    pub(super) fn finish(self) -> Vec<u8> {
        self.0
    }

    /// One number.
    pub(super) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    /// Bytes whose length is known to the reader.
    pub(super) fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Length-prefixed bytes.
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.raw(bytes);
    }

    /// A value in serde's form. Serialising the values used here cannot fail.
    pub(super) fn value(&mut self, value: &impl Serialize) {
        self.bytes(&postcard::to_stdvec(value).unwrap_or_default());
    }

    /// A column of numbers.
    pub(super) fn column<T: Cell>(&mut self, values: impl ExactSizeIterator<Item = T> + Clone, least: Width) {
        let wide = values.map(T::wide);
        let (low, high) =
            wide.clone().fold((u64::MAX, 0), |(low, high), value| (low.min(value), high.max(value)));
        let low = low.min(high);
        let width = match high - low {
            0 if least == Width::Any => 0,
            0..=0xff => 1,
            0x100..=0xffff => 2,
            0x1_0000..=0xffff_ffff => 4,
            _ => 8,
        };
        self.0.push(width);
        self.number(low);
        let above = wide.map(|value| value - low);
        match width {
            0 => {}
            1 => self.cells::<1>(above),
            2 => self.cells::<2>(above),
            4 => self.cells::<4>(above),
            _ => self.cells::<8>(above),
        }
    }

    /// Facts of entries, `W` bytes each.
    pub(super) fn pieces<'a, const W: usize>(
        &mut self,
        known: impl ExactSizeIterator<Item = (EntryId, &'a [u8; W])> + Clone,
    ) {
        self.number(known.len() as u64);
        self.0.reserve(known.len() * W);
        known.clone().for_each(|(_, piece)| self.raw(piece));
        self.column(known.map(|(entry, _)| entry.0), Width::Any);
    }

    /// Facts of entries in serde's form.
    pub(super) fn known<'a, T: Serialize + 'a>(
        &mut self,
        known: impl ExactSizeIterator<Item = (EntryId, &'a T)> + Clone,
    ) {
        self.value(&Each(known.clone().map(|(_, known)| known)));
        self.column(known.map(|(entry, _)| entry.0), Width::Any);
    }

    fn cells<const W: usize>(&mut self, values: impl ExactSizeIterator<Item = u64>) {
        let start = self.0.len();
        self.0.resize(start + values.len() * W, 0);
        let (cells, _) = self.0[start..].as_chunks_mut::<W>();
        for (cell, value) in cells.iter_mut().zip(values) {
            cell.copy_from_slice(&value.to_le_bytes()[..W]);
        }
    }
}

/// A serialisable sequence from an iterator.
struct Each<I>(I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for Each<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.clone())
    }
}

/// Reads untrusted bytes; allocations never exceed the available bytes.
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Begins at the first of `bytes`.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, at: 0 }
    }

    /// A fault at this position.
    pub(super) fn fault(&self, what: &'static str) -> StoredError {
        StoredError { at: self.at, what }
    }

    /// Returns a fault unless `holds`.
    pub(super) fn expect(&self, holds: bool, what: &'static str) -> Result<(), StoredError> {
        if holds { Ok(()) } else { Err(self.fault(what)) }
    }

    /// Expects the end of the bytes.
    pub(super) fn finish(&self) -> Result<(), StoredError> {
        self.expect(self.rest.is_empty(), "more bytes than a layer")
    }

    /// The next `count` bytes.
    pub(super) fn raw(&mut self, count: usize) -> Result<&'a [u8], StoredError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(|| self.fault("cut short"))?;
        self.rest = rest;
        self.at += count;
        Ok(taken)
    }

    /// The next `count` pieces of `W` bytes.
    pub(super) fn pieces<const W: usize>(&mut self, count: usize) -> Result<&'a [[u8; W]], StoredError> {
        let bytes = count.checked_mul(W).ok_or_else(|| self.fault("cut short"))?;
        Ok(self.raw(bytes)?.as_chunks().0)
    }

    /// One number.
    pub(super) fn number(&mut self) -> Result<u64, StoredError> {
        let [raw] = self.pieces::<8>(1)? else { return Err(self.fault("cut short")) };
        Ok(u64::from_le_bytes(*raw))
    }

    /// A count of items of at least a byte each, at most `most`.
    pub(super) fn count(&mut self, most: usize) -> Result<usize, StoredError> {
        let count = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        self.expect(count <= most.min(self.rest.len()), "more than there may be")?;
        Ok(count)
    }

    /// Length-prefixed bytes.
    pub(super) fn bytes(&mut self) -> Result<&'a [u8], StoredError> {
        let count = self.count(usize::MAX)?;
        self.raw(count)
    }

    /// A value in serde's form.
    pub(super) fn value<T: DeserializeOwned>(&mut self) -> Result<T, StoredError> {
        let bytes = self.bytes()?;
        match postcard::take_from_bytes(bytes) {
            Ok((value, [])) => Ok(value),
            _ => Err(self.fault("no value of its kind")),
        }
    }

    /// A column of `count` numbers. `least` is the writer's; with [`Width::Any`] `count` must be known to be backed by
    /// other bytes.
    pub(super) fn column<T: Cell>(&mut self, count: usize, least: Width) -> Result<Vec<T>, StoredError> {
        let width = self.raw(1)?.first().copied();
        let low = self.number()?;
        match width {
            Some(0) if least == Width::Any && low <= T::MOST => Ok(vec![T::of(low); count]),
            Some(1) => self.cells::<1, T>(count, low),
            Some(2) => self.cells::<2, T>(count, low),
            Some(4) => self.cells::<4, T>(count, low),
            Some(8) => self.cells::<8, T>(count, low),
            _ => Err(self.fault("no width of a column")),
        }
    }

    /// `count` entries in ascending order, for each of which `is_one` holds.
    pub(super) fn entries(
        &mut self,
        count: usize,
        is_one: &impl Fn(EntryId) -> bool,
    ) -> Result<Vec<EntryId>, StoredError> {
        let entries: Vec<u32> = self.column(count, Width::Any)?;
        let ordered = entries.is_sorted_by(|one, next| one < next);
        let entries: Vec<EntryId> = entries.into_iter().map(EntryId).collect();
        self.expect(
            ordered && entries.iter().all(|entry| is_one(*entry)),
            "facts of an entry that is not a file",
        )?;
        Ok(entries)
    }

    /// Reads the output of [`Writer::pieces`].
    pub(super) fn pieces_of<const W: usize>(
        &mut self,
        is_one: &impl Fn(EntryId) -> bool,
    ) -> Result<Vec<(EntryId, [u8; W])>, StoredError> {
        let count = self.count(usize::MAX)?;
        let pieces = self.pieces::<W>(count)?;
        Ok(self.entries(count, is_one)?.into_iter().zip(pieces.iter().copied()).collect())
    }

    /// Reads the output of [`Writer::known`].
    pub(super) fn known<T: DeserializeOwned>(
        &mut self,
        is_one: &impl Fn(EntryId) -> bool,
    ) -> Result<Vec<(EntryId, T)>, StoredError> {
        let known: Vec<T> = self.value()?;
        Ok(self.entries(known.len(), is_one)?.into_iter().zip(known).collect())
    }

    fn cells<const W: usize, T: Cell>(&mut self, count: usize, low: u64) -> Result<Vec<T>, StoredError> {
        let wide = |cell: &[u8; W]| {
            let mut raw = [0; 8];
            raw[..W].copy_from_slice(cell);
            u64::from_le_bytes(raw)
        };
        let cells = self.pieces::<W>(count)?;
        let high = cells.iter().map(wide).fold(0, u64::max);
        let fits = low.checked_add(high).is_some_and(|high| high <= T::MOST);
        self.expect(fits, "a number that is too large")?;
        Ok(cells.iter().map(|cell| T::of(low + wide(cell))).collect())
    }
}

#[cfg(test)]
mod tests;
