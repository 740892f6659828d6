//! The kernel, the numbers that it runs over, and the comparison with the processor's own result.

use std::ffi::CStr;

/// The kernels, for the driver's compiler.
const PTX: &str = concat!(include_str!("kernel.ptx"), "\0");
/// `y = a*x + y`.
pub(super) const FMA: &CStr = c"cutaway_fma";
/// Does nothing.
pub(super) const NOTHING: &CStr = c"cutaway_nothing";

/// How many numbers: a mebi, and a few more so that the last block is not full and the bound is tested.
pub(super) const ELEMENTS: u32 = (1 << 20) + 7;
/// What is multiplied with: no power of two, so that every product has to be rounded.
pub(super) const FACTOR: f32 = 0.618_034;
/// Up to which difference a number is right. Both sides round `a*x + y` once, as IEEE 754 has it for a fused
/// multiply-add, so that they should be equal; this lets results of up to 1.62 be off by some eight units of their
/// last place, far less than any faulty bit that matters.
pub(super) const TOLERANCE: f64 = 1e-6;
/// Blocks and threads of a launch: fewer threads than numbers, so that each works on several.
pub(super) const GRID: (u32, u32) = (1024, 256);
/// What seeds the numbers: always the same, so that a fault that depends on them comes again.
const SEED: u64 = 0x6375_7461_7761_7921;

/// The PTX; empty only if the file held a NUL.
pub(super) fn ptx() -> &'static CStr {
    CStr::from_bytes_until_nul(PTX.as_bytes()).unwrap_or_default()
}

/// `SplitMix64` (Steele, Lea, Flood, 2014): five lines, no state but a counter, and every bit of its output is good,
/// which is all that numbers to compare with need.
struct SplitMix(u64);

impl SplitMix {
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from -1 up to 1, out of 2^24 that a float holds exactly.
    fn number(&mut self) -> f32 {
        (self.next() >> 40) as f32 / 8_388_608.0 - 1.0
    }
}

/// The numbers `x` and `y` to begin with.
pub(super) fn numbers() -> (Vec<f32>, Vec<f32>) {
    let mut random = SplitMix(SEED);
    let mut take = || (0..ELEMENTS).map(|_| random.number()).collect();
    (take(), take())
}

/// What came of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Comparison {
    /// The largest difference; `None` when a result is no finite number, which has none.
    pub(super) max_abs_error: Option<f64>,
    /// How many are wrong.
    pub(super) wrong: u64,
    /// The first wrong one: its place, what it should be, what it is.
    pub(super) first: Option<(usize, f32, f32)>,
}

/// Compares every result with the processor's. What is no number is wrong, and so is one that is missing.
pub(super) fn compare(x: &[f32], y: &[f32], results: &[f32]) -> Comparison {
    let mut comparison = Comparison { max_abs_error: Some(0.0), ..Comparison::default() };
    let results = results.iter().copied().chain(std::iter::repeat(f32::NAN));
    for (place, ((x, y), result)) in x.iter().zip(y).zip(results).enumerate() {
        let expected = FACTOR.mul_add(*x, *y);
        let difference = (f64::from(result) - f64::from(expected)).abs();
        let largest = comparison.max_abs_error.filter(|_| difference.is_finite());
        comparison.max_abs_error = largest.map(|largest| largest.max(difference));
        // Not `>`: that is false for what is no number.
        let right = difference <= TOLERANCE;
        if !right {
            comparison.wrong += 1;
            comparison.first.get_or_insert((place, expected, result));
        }
    }
    comparison
}

#[cfg(test)]
mod tests {
    use super::{ELEMENTS, FACTOR, SplitMix, compare, numbers, ptx};

    #[test]
    fn random_numbers_are_those_of_the_paper() {
        // First outputs for the seed 1234567, as the reference implementation gives them.
        let mut random = SplitMix(1_234_567);
        let first: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn numbers_are_many_different_and_small() {
        let (x, y) = numbers();
        assert_eq!((x.len(), y.len()), (ELEMENTS as usize, ELEMENTS as usize));
        assert!(x.iter().chain(&y).all(|number| (-1.0..1.0).contains(number)));
        assert_ne!(x, y);
        let mean = x.iter().map(|number| f64::from(*number)).sum::<f64>() / x.len() as f64;
        assert!(mean.abs() < 0.01, "{mean}");
    }

    #[test]
    fn every_wrong_number_is_found() {
        let (x, y) = numbers();
        let right: Vec<f32> = x.iter().zip(&y).map(|(x, y)| FACTOR.mul_add(*x, *y)).collect();
        let comparison = compare(&x, &y, &right);
        assert_eq!((comparison.wrong, comparison.max_abs_error, comparison.first), (0, Some(0.0), None));
        assert!(compare(&x, &y, &y).wrong > u64::from(ELEMENTS) * 9 / 10, "a kernel that did nothing");
        let mut faulty = right.clone();
        *faulty.last_mut().unwrap() += 1e-3;
        let off = compare(&x, &y, &faulty).max_abs_error.unwrap();
        assert!((off - 1e-3).abs() < 1e-5, "{off}");
        for none in [f32::NAN, f32::INFINITY] {
            faulty[7] = none;
            let comparison = compare(&x, &y, &faulty);
            assert_eq!((comparison.wrong, comparison.first.map(|first| first.0)), (2, Some(7)));
            assert_eq!(comparison.max_abs_error, None);
        }
        assert!(compare(&x, &y, &right[1..]).wrong > 0);
    }

    #[test]
    fn the_compiler_gets_the_whole_kernel() {
        let text = ptx().to_str().unwrap();
        assert!(text.trim_end().ends_with('}'));
        for name in [super::FMA, super::NOTHING] {
            assert!(text.contains(&format!(".entry {}(", name.to_str().unwrap())));
        }
    }
}
