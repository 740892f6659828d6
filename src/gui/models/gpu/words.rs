//! What verdicts and times are called.

use crate::cuda::compat::{DriverFrom, RunVerdict};

/// The verdicts, from best to worst.
pub const VERDICTS: [RunVerdict; 5] = [
    RunVerdict::Runs,
    RunVerdict::RunsWithJit,
    RunVerdict::RunsWithCompat,
    RunVerdict::Unknown,
    RunVerdict::Fails,
];

/// A verdict in a word or three.
pub const fn verdict(verdict: RunVerdict) -> &'static str {
    match verdict {
        RunVerdict::Runs => "Runs",
        RunVerdict::RunsWithJit => "Runs after JIT compilation",
        RunVerdict::RunsWithCompat => "Runs with cuda-compat",
        RunVerdict::Unknown => "Unknown",
        RunVerdict::Fails => "Fails",
    }
}

/// What a verdict means.
pub const fn about(verdict: RunVerdict) -> &'static str {
    match verdict {
        RunVerdict::Runs => "No known incompatibility",
        RunVerdict::RunsWithJit => "The driver compiles PTX at first start, which takes time",
        RunVerdict::RunsWithCompat => "Runs with the forward-compatibility driver in the image",
        RunVerdict::Unknown => "Not enough information",
        RunVerdict::Fails => "Does not run on this target",
    }
}

/// Where a driver's version is known from.
pub const fn driver_from(from: DriverFrom) -> &'static str {
    match from {
        DriverFrom::Stated => "as entered",
        DriverFrom::Measured => "measured",
        DriverFrom::Usual => "usual",
    }
}

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
