//! Sizes as text, in binary units unless the user's settings ask for decimal ones; JSON has plain bytes.

use std::sync::atomic::{AtomicBool, Ordering};

/// Units in which sizes are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Powers of 1024: KiB, MiB, GiB.
    #[default]
    Binary,
    /// Powers of 1000: kB, MB, GB.
    Decimal,
}

impl Units {
    /// The factor from one unit to the next, the lowest value that would be rounded to it, and the units.
    const fn scale(self) -> (f64, f64, [&'static str; 6]) {
        match self {
            Self::Binary => (1024.0, 1023.5, ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]),
            Self::Decimal => (1000.0, 999.5, ["B", "kB", "MB", "GB", "TB", "PB"]),
        }
    }
}

/// One for the process: hundreds of texts have a size, and two units side by side would be misread.
static DECIMAL: AtomicBool = AtomicBool::new(false);

/// Sets the units of all sizes that are formatted from now on, by [`human`].
pub fn use_units(units: Units) {
    DECIMAL.store(units == Units::Decimal, Ordering::Relaxed);
}

/// `bytes` in the largest unit with at least one whole digit, such as `1.50 GiB`. Three significant digits; whole bytes
/// below the first unit. Binary units, unless [`use_units`] has set others.
pub fn human(bytes: u64) -> String {
    let decimal = DECIMAL.load(Ordering::Relaxed);
    human_in(bytes, if decimal { Units::Decimal } else { Units::Binary })
}

/// [`human`], in these units.
pub fn human_in(bytes: u64, units: Units) -> String {
    let (factor, next, names) = units.scale();
    let mut value = bytes as f64;
    let mut names = names.into_iter();
    let mut name = names.next().unwrap_or_default();
    // 1023.95 would print as 1024: step up before rounding can reach the next unit.
    while value >= next
        && let Some(larger) = names.next()
    {
        value /= factor;
        name = larger;
    }
    match value {
        _ if name == "B" => format!("{bytes} B"),
        v if v < 9.995 => format!("{v:.2} {name}"),
        v if v < 99.95 => format!("{v:.1} {name}"),
        v => format!("{v:.0} {name}"),
    }
}

/// `bytes` as it can be written in a file and read by [`parse`] without a loss: `20 GiB` if that is exact, else a plain
/// number.
pub fn exact(bytes: u64) -> String {
    let shown = human_in(bytes, Units::Binary).replace(".00 ", " ").replace(".0 ", " ");
    if bytes > 0 && parse(&shown) == Ok(bytes) { shown } else { bytes.to_string() }
}

/// [`human`], or a dash if unknown, never zero.
pub fn human_or_dash(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "–".to_owned(), human)
}

/// Parses a size: a number, optionally with a decimal point, and a unit with or without a space: `500 MB` (decimal, kB
/// to PB), `1.5 GiB` (binary, KiB to PiB), `4096` or `4096 B`. Fractions of a byte are truncated.
///
/// # Errors
/// Invalid or too large; the text is the message.
pub fn parse(text: &str) -> Result<u64, String> {
    const WRITTEN: [(&str, u128); 13] = [
        ("", 1),
        ("B", 1),
        ("kB", 1000),
        ("KB", 1000),
        ("MB", 1_000_000),
        ("GB", 1_000_000_000),
        ("TB", 1_000_000_000_000),
        ("PB", 1_000_000_000_000_000),
        ("KiB", 1 << 10),
        ("MiB", 1 << 20),
        ("GiB", 1 << 30),
        ("TiB", 1 << 40),
        ("PiB", 1 << 50),
    ];
    /// Maximum digits after the point: enough for one byte of a pebibyte.
    const MOST_DIGITS: usize = 15;
    let fault = || format!("invalid size {text:?}, expected a size such as \"4 GiB\" or \"500 MB\"");
    let too_large = || format!("{text:?} is too large");
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit = unit.strip_prefix(' ').unwrap_or(unit);
    let unit =
        WRITTEN.iter().find(|(written, _)| *written == unit).map(|(_, unit)| *unit).ok_or_else(fault)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || part.is_empty() || part.len() > MOST_DIGITS || part.contains('.') {
        return Err(fault());
    }
    let whole: u64 = whole.parse().map_err(|_| too_large())?;
    let scaled: u128 = format!("{part:0<MOST_DIGITS$}").parse().map_err(|_| fault())?;
    u64::try_from(u128::from(whole) * unit + scaled * unit / 1_000_000_000_000_000).map_err(|_| too_large())
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
    use super::{Units, grouped, human_in, parse};

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
            assert_eq!(human_in(bytes, Units::Binary), text, "{bytes}");
        }
        let cases: [(u64, &str); 7] = [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.00 kB"),
            (9_994, "9.99 kB"),
            (999_500, "1.00 MB"),
            (1_610_612_736, "1.61 GB"),
            (u64::MAX, "18447 PB"),
        ];
        for (bytes, text) in cases {
            assert_eq!(human_in(bytes, Units::Decimal), text, "{bytes}");
        }
    }

    #[test]
    fn groups_of_three() {
        let texts: Vec<_> = [0, 999, 1000, 300_000, 1_234_567].map(grouped).into();
        assert_eq!(texts, ["0", "999", "1,000", "300,000", "1,234,567"]);
    }

    #[test]
    fn sizes_as_people_write_them() {
        let cases: [(&str, u64); 10] = [
            ("0", 0),
            ("4096", 4096),
            ("4096 B", 4096),
            ("4 GiB", 4 << 30),
            ("4GiB", 4 << 30),
            ("500 MB", 500_000_000),
            ("1 kB", 1000),
            ("1.5 KiB", 1536),
            ("0.3 B", 0),
            ("16383.999 PiB", 18_446_742_947_809_644_773),
        ];
        for (text, bytes) in cases {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn what_is_no_size_is_refused() {
        let texts =
            ["", " ", "GiB", "4  GiB", "-1", "4 G", "4 gib", "1. GiB", ".5 GiB", "1.2.3", "1e9", "4 GiB "];
        for text in texts {
            assert!(parse(text).unwrap_err().contains("invalid size"), "{text}");
        }
        for text in ["16384 PiB", "99999999999999999999"] {
            assert!(parse(text).unwrap_err().contains("too large"), "{text}");
        }
    }
}
