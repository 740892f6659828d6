//! Sizes for people: binary units, as the contract has them; JSON keeps plain bytes.

const UNITS: [&str; 6] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/// `bytes` in the largest binary unit that keeps at least one whole digit, such as `1.50 GiB`.
/// Three significant digits; whole bytes below 1 KiB.
pub fn human(bytes: u64) -> String {
    let mut unit = 0;
    let mut value = bytes as f64;
    // 1023.95 would print as 1024: step up before rounding can reach the next unit.
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    match (unit, value) {
        (0, _) => format!("{bytes} B"),
        (_, v) if v < 9.995 => format!("{v:.2} {}", UNITS[unit]),
        (_, v) if v < 99.95 => format!("{v:.1} {}", UNITS[unit]),
        (_, v) => format!("{v:.0} {}", UNITS[unit]),
    }
}

/// [`human`], or a dash for what is not known: unknown is never shown as zero.
pub fn human_or_dash(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "–".to_owned(), human)
}

/// `count` with thousands separated by commas.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{grouped, human};

    #[test]
    fn units_step_before_rounding_reaches_the_next() {
        let cases: [(u64, &str); 9] = [
            (0, "0 B"),
            (1023, "1023 B"),
            (1024, "1.00 KiB"),
            (10_234, "9.99 KiB"),
            (10_239, "10.0 KiB"),
            (102_399, "100 KiB"),
            (1_048_064, "1.00 MiB"),
            (1_610_612_736, "1.50 GiB"),
            (u64::MAX, "16384 PiB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(human(bytes), text, "{bytes}");
        }
    }

    #[test]
    fn groups_of_three() {
        let texts: Vec<_> = [0, 999, 1000, 300_000, 1_234_567].map(grouped).into();
        assert_eq!(texts, ["0", "999", "1,000", "300,000", "1,234,567"]);
    }
}
