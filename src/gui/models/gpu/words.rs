//! What verdicts and times are called.

use crate::cuda::compat::RunVerdict;

/// The verdicts, from best to worst.
pub const VERDICTS: [RunVerdict; 5] = [
    RunVerdict::Runs,
    RunVerdict::RunsWithJit,
    RunVerdict::RunsWithCompat,
    RunVerdict::Unknown,
    RunVerdict::Fails,
];

/// A time in the unit that suits it: `640 µs`, `12.3 ms`, `61.0 s`.
pub fn time(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{} ms", digits(us as f64 / 1e3)),
        _ => format!("{} s", digits(us as f64 / 1e6)),
    }
}

/// A number with three digits that count.
pub fn digits(value: f64) -> String {
    match value {
        v if v < 9.995 => format!("{v:.2}"),
        v if v < 99.95 => format!("{v:.1}"),
        v => format!("{v:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::time;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        for (us, wanted) in [
            (0, "0 µs"),
            (640, "640 µs"),
            (1_000, "1.00 ms"),
            (12_345, "12.3 ms"),
            (612_000, "612 ms"),
            (61_000_000, "61.0 s"),
        ] {
            assert_eq!(time(us), wanted);
        }
    }
}
