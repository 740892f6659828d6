//! One bit for each entry of a layer.

/// A set of numbers from 0 to a known maximum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// None of `count` numbers.
    pub(super) fn none(count: usize) -> Self {
        Self(vec![0; count.div_ceil(64)])
    }

    pub(super) fn has(&self, number: u32) -> bool {
        self.0.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    pub(super) fn set(&mut self, number: u32, value: bool) {
        let Some(word) = self.0.get_mut(number as usize / 64) else { return };
        if value {
            *word |= 1 << (number % 64);
        } else {
            *word &= !(1 << (number % 64));
        }
    }

    /// How many are in it.
    pub(super) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}
