//! The kernel, its input, and the comparison with the CPU's result.

use std::ffi::CStr;

/// PTX of the kernels.
const PTX: &str = concat!(include_str!("kernel.ptx"), "\0");
/// `y = a*x + y`.
pub(super) const FMA: &CStr = c"cutaway_fma";
/// Empty kernel.
pub(super) const NOTHING: &CStr = c"cutaway_nothing";

/// Number of elements: 2^20, and a few more so that the last block is incomplete and the bounds check is tested.
pub(super) const ELEMENTS: u32 = (1 << 20) + 7;
/// The factor `a`: not a power of two, so that every product is rounded.
pub(super) const FACTOR: f32 = 0.618_034;
/// Maximum difference of a correct result. Both sides round `a*x + y` once (IEEE 754 fused multiply-add), so they
/// should be equal; this allows some eight units in the last place for results up to 1.62, far less than any
/// significant bit error.
pub(super) const TOLERANCE: f64 = 1e-6;
/// Blocks and threads of a launch: fewer threads than elements, so that each handles several.
pub(super) const GRID: (u32, u32) = (1024, 256);
/// Seed of the input: constant, so that data-dependent faults are reproducible.
const SEED: u64 = 0x6375_7461_7761_7921;

/// The PTX; empty only if the file contains a NUL.
pub(super) fn ptx() -> &'static CStr {
    CStr::from_bytes_until_nul(PTX.as_bytes()).unwrap_or_default()
}

/// `SplitMix64` (Steele, Lea, Flood, 2014): a counter is its only state, and all output bits are of sufficient quality
/// for test input.
struct SplitMix(u64);

impl SplitMix {
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number in [-1, 1), one of 2^24 that a float represents exactly.
    fn number(&mut self) -> f32 {
        (self.next() >> 40) as f32 / 8_388_608.0 - 1.0
    }
}

/// The inputs `x` and `y`.
pub(super) fn numbers() -> (Vec<f32>, Vec<f32>) {
    let mut random = SplitMix(SEED);
    let mut take = || (0..ELEMENTS).map(|_| random.number()).collect();
    (take(), take())
}

/// Result of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Comparison {
    /// The largest difference; `None` if a result is not finite.
    pub(super) max_abs_error: Option<f64>,
    /// Number of wrong results.
    pub(super) wrong: u64,
    /// The first wrong result: index, expected value, actual value.
    pub(super) first: Option<(usize, f32, f32)>,
}

/// Compares every result with the CPU's. NaN and missing results are wrong.
pub(super) fn compare(x: &[f32], y: &[f32], results: &[f32]) -> Comparison {
    let mut comparison = Comparison { max_abs_error: Some(0.0), ..Comparison::default() };
    let results = results.iter().copied().chain(std::iter::repeat(f32::NAN));
    for (place, ((x, y), result)) in x.iter().zip(y).zip(results).enumerate() {
        let expected = FACTOR.mul_add(*x, *y);
        let difference = (f64::from(result) - f64::from(expected)).abs();
        let largest = comparison.max_abs_error.filter(|_| difference.is_finite());
        comparison.max_abs_error = largest.map(|largest| largest.max(difference));
        // Not `>`, which is false for NaN.
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
        // First outputs for the seed 1234567, from the reference implementation.
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
