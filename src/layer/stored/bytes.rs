//! Columns of numbers, stored as differences to the smallest one, in as few bytes as the largest difference needs.

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};

use crate::layer::column::{Cell, Column, width_for};
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
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    /// All that was written.
    pub(crate) fn finish(self) -> Vec<u8> {
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
        let width = width_for(high - low).max(u8::from(least == Width::Counted));
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

    /// Rows of `N` numbers, a column for each of these.
    pub(crate) fn rows<const N: usize>(&mut self, rows: &(impl ExactSizeIterator<Item = [u32; N]> + Clone)) {
        self.number(rows.len() as u64);
        for column in 0..N {
            let least = if column == 0 { Width::Counted } else { Width::Any };
            self.column(rows.clone().map(move |row| row[column]), least);
        }
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

/// Rows of numbers.
pub(crate) struct Rows<const N: usize> {
    count: usize,
    columns: [Column<u32>; N],
}

impl<const N: usize> Rows<N> {
    /// All rows, in their order.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = [u32; N]> {
        (0..self.count).map(|row| std::array::from_fn(|column| self.columns[column].get(row)))
    }
}

/// Reads untrusted bytes; allocations never exceed the available bytes.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Begins at the first of `bytes`.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, at: 0 }
    }

    /// A fault at this position.
    pub(crate) fn fault(&self, what: &'static str) -> StoredError {
        StoredError { at: self.at, what }
    }

    /// Returns a fault unless `holds`.
    pub(crate) fn expect(&self, holds: bool, what: &'static str) -> Result<(), StoredError> {
        if holds { Ok(()) } else { Err(self.fault(what)) }
    }

    /// Expects the end of the bytes.
    pub(crate) fn finish(&self) -> Result<(), StoredError> {
        self.expect(self.rest.is_empty(), "more bytes than were stored")
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
    pub(super) fn column<T: Cell>(&mut self, count: usize, least: Width) -> Result<Column<T>, StoredError> {
        let width = self.raw(1)?.first().copied().unwrap_or_default();
        let known = matches!(width, 1 | 2 | 4 | 8) || (width == 0 && least == Width::Any);
        self.expect(known, "no width of a column")?;
        let low = self.number()?;
        let bytes = count.checked_mul(usize::from(width)).ok_or_else(|| self.fault("cut short"))?;
        let cells = self.raw(bytes)?;
        Column::of_cells(low, width, count, cells).ok_or_else(|| self.fault("a number that is too large"))
    }

    /// Reads the output of [`Writer::rows`].
    pub(crate) fn rows<const N: usize>(&mut self) -> Result<Rows<N>, StoredError> {
        let count = self.count(usize::MAX)?;
        let mut columns: [Column<u32>; N] = std::array::from_fn(|_| Column::default());
        for (place, column) in columns.iter_mut().enumerate() {
            let least = if place == 0 { Width::Counted } else { Width::Any };
            *column = self.column(count, least)?;
        }
        Ok(Rows { count, columns })
    }

    /// `count` entries in ascending order, for each of which `is_one` holds.
    pub(super) fn entries(
        &mut self,
        count: usize,
        is_one: &impl Fn(EntryId) -> bool,
    ) -> Result<Vec<EntryId>, StoredError> {
        let entries: Column<u32> = self.column(count, Width::Any)?;
        let entries: Vec<EntryId> = entries.iter().map(EntryId).collect();
        let ordered = entries.is_sorted_by(|one, next| one < next);
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
}

#[cfg(test)]
mod tests;
