//! Numbers of all entries, in as few bytes as their range needs: most layers have one owner, small sizes and times of a
//! few years.

use std::marker::PhantomData;

/// A number of a column.
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

    #[inline]
    fn wide(self) -> u64 {
        u64::from(self)
    }

    #[inline]
    fn of(wide: u64) -> Self {
        let [a, b, ..] = wide.to_le_bytes();
        Self::from_le_bytes([a, b])
    }
}

impl Cell for u32 {
    const MOST: u64 = 0xffff_ffff;

    #[inline]
    fn wide(self) -> u64 {
        u64::from(self)
    }

    #[inline]
    fn of(wide: u64) -> Self {
        let [a, b, c, d, ..] = wide.to_le_bytes();
        Self::from_le_bytes([a, b, c, d])
    }
}

impl Cell for u64 {
    const MOST: u64 = u64::MAX;

    #[inline]
    fn wide(self) -> u64 {
        self
    }

    #[inline]
    fn of(wide: u64) -> Self {
        wide
    }
}

impl Cell for i64 {
    const MOST: u64 = u64::MAX;

    #[inline]
    fn wide(self) -> u64 {
        self.cast_unsigned() ^ 1 << 63
    }

    #[inline]
    fn of(wide: u64) -> Self {
        (wide ^ 1 << 63).cast_signed()
    }
}

/// Bytes of a cell for differences up to `range`.
pub(super) fn width_for(range: u64) -> u8 {
    match range {
        0 => 0,
        1..=0xff => 1,
        0x100..=0xffff => 2,
        0x1_0000..=0xffff_ffff => 4,
        _ => 8,
    }
}

/// The largest difference in cells of `width` bytes.
fn most_of(width: u8) -> u64 {
    match width {
        0 => 0,
        8 => u64::MAX,
        width => (1 << (8 * u32::from(width))) - 1,
    }
}

/// A list of numbers, each stored as its difference to the lowest.
#[derive(Debug)]
pub(super) struct Column<T> {
    /// At most all numbers.
    low: u64,
    /// At least all numbers.
    high: u64,
    /// Bytes of each cell: 0, 1, 2, 4 or 8.
    width: u8,
    count: usize,
    cells: Vec<u8>,
    of: PhantomData<T>,
}

impl<T> Default for Column<T> {
    fn default() -> Self {
        Self { low: 0, high: 0, width: 0, count: 0, cells: Vec::new(), of: PhantomData }
    }
}

/// Equal numbers, whatever the width of their cells.
impl<T: Cell> PartialEq for Column<T> {
    fn eq(&self, other: &Self) -> bool {
        self.count == other.count && self.wide().eq(other.wide())
    }
}

impl<T: Cell> Eq for Column<T> {}

impl<T: Cell> Column<T> {
    /// A column of `count` cells of `width` bytes above `low`; `cells` has as many bytes. `None` if a number is larger
    /// than `T` has.
    pub(super) fn of_cells(low: u64, width: u8, count: usize, cells: &[u8]) -> Option<Self> {
        let mut column = Self { low, high: low, width, count, cells: Vec::new(), of: PhantomData };
        let most = most_of(width);
        // Most columns have room for every number of their cells.
        let bound = low.checked_add(most).filter(|high| *high <= T::MOST);
        column.high = if let Some(high) = bound {
            high
        } else {
            let highest = differences(width, count, cells).fold(0, u64::max);
            low.checked_add(highest).filter(|high| *high <= T::MOST)?
        };
        column.cells = cells.to_vec();
        Some(column)
    }

    /// How many numbers there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The number at `place`, which is in range.
    #[inline]
    pub(super) fn get(&self, place: usize) -> T {
        let cells = &self.cells;
        let above = match self.width {
            0 => 0,
            1 => u64::from(cells[place]),
            2 => u64::from(u16::from_le_bytes(cells.as_chunks().0[place])),
            4 => u64::from(u32::from_le_bytes(cells.as_chunks().0[place])),
            _ => u64::from_le_bytes(cells.as_chunks().0[place]),
        };
        T::of(self.low + above)
    }

    /// All numbers.
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = T> + Clone + '_ {
        (0..self.count).map(|place| self.get(place))
    }

    fn wide(&self) -> impl Iterator<Item = u64> + '_ {
        differences(self.width, self.count, &self.cells).map(|above| self.low + above)
    }

    /// Adds a number.
    pub(super) fn push(&mut self, number: T) {
        let wide = number.wide();
        if self.count == 0 {
            (self.low, self.high) = (wide, wide);
        } else if wide < self.low || wide - self.low > most_of(self.width) {
            self.widen(wide);
        }
        self.high = self.high.max(wide);
        self.cells.extend_from_slice(&(wide - self.low).to_le_bytes()[..usize::from(self.width)]);
        self.count += 1;
    }

    /// Makes room for a number.
    fn widen(&mut self, wide: u64) {
        let (low, high) = (self.low.min(wide), self.high.max(wide));
        let width = width_for(high - low).max(self.width);
        // Below a number that is too small, half of the room is left for others: falling numbers would otherwise
        // rewrite the column one by one.
        let room = most_of(width) - (high - low);
        let low = if wide < self.low { low.saturating_sub(room / 2) } else { low };
        let mut cells = Vec::with_capacity((self.count + 1).next_power_of_two() * usize::from(width));
        for number in self.wide() {
            cells.extend_from_slice(&(number - low).to_le_bytes()[..usize::from(width)]);
        }
        (self.low, self.width, self.cells) = (low, width, cells);
    }

    /// Removes the last number.
    pub(super) fn pop(&mut self) -> Option<T> {
        let last = self.get(self.count.checked_sub(1)?);
        self.count -= 1;
        self.cells.truncate(self.count * usize::from(self.width));
        Some(last)
    }

    /// Gives back what is reserved.
    pub(super) fn shrink_to_fit(&mut self) {
        self.cells.shrink_to_fit();
    }
}

/// The numbers of cells.
fn differences(width: u8, count: usize, cells: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let width = usize::from(width);
    (0..count).map(move |place| {
        let mut raw = [0; 8];
        raw[..width].copy_from_slice(&cells[place * width..(place + 1) * width]);
        u64::from_le_bytes(raw)
    })
}

#[cfg(test)]
mod tests {
    use super::{Cell, Column};

    fn of<T: Cell + PartialEq + std::fmt::Debug>(numbers: &[T]) -> Column<T> {
        let mut column = Column::default();
        for (place, number) in numbers.iter().enumerate() {
            column.push(*number);
            let all: Vec<T> = column.iter().collect();
            assert_eq!(all, numbers[..=place]);
        }
        column
    }

    #[test]
    fn numbers_come_back_in_the_fewest_bytes() {
        assert_eq!(of(&[7_u32; 100]).cells.len(), 0);
        assert_eq!(of(&[0_u16, 255]).cells.len(), 2);
        assert_eq!(of(&[1_700_000_000_i64, 1_700_000_200, 1_700_070_000]).cells.len(), 12);
        assert_eq!(of(&[5_u64, u64::MAX, 0, 1 << 40]).width, 8);
        assert_eq!(of(&[0_i64, i64::MIN, i64::MAX, -1]).width, 8);
        assert_eq!(of(&[300_u16, 40, 65_535, 0]).width, 2);
    }

    #[test]
    fn falling_numbers_seldom_rewrite_the_column() {
        let mut column: Column<i64> = Column::default();
        let mut rewritten = 0;
        for number in (0..100_000).rev() {
            let low = column.low;
            column.push(number);
            rewritten += usize::from(column.low != low);
        }
        assert!(rewritten < 40, "{rewritten}");
        assert!(column.iter().eq((0..100_000).rev()));
    }

    #[test]
    fn the_last_number_is_taken_away() {
        let mut column = of(&[1_u64, 1, 1 << 33]);
        assert_eq!((column.pop(), column.len()), (Some(1 << 33), 2));
        assert_eq!((column.pop(), column.pop(), column.pop()), (Some(1), Some(1), None));
        column.push(3);
        assert_eq!(column.iter().collect::<Vec<_>>(), [3]);
    }

    #[test]
    fn cells_above_the_largest_number_are_refused() {
        assert!(Column::<u16>::of_cells(0xff00, 1, 2, &[0, 255]).is_some());
        assert!(Column::<u16>::of_cells(0xff01, 1, 2, &[0, 255]).is_none());
        assert!(Column::<u16>::of_cells(0xff01, 1, 2, &[0, 254]).is_some());
        assert!(Column::<u64>::of_cells(1, 8, 1, &[255; 8]).is_none());
    }

    #[test]
    fn columns_are_compared_by_their_numbers() {
        let narrow = of(&[1_u32, 2]);
        let mut wide = of(&[1_u32, 2, 70_000]);
        wide.pop();
        assert_eq!(narrow, wide);
        assert_ne!(narrow, of(&[1_u32, 3]));
    }
}
