//! Differences in words and signs: never colour alone.

use crate::base::size::{grouped, human};
use crate::compare::Change;

/// How an image is called in short: `A`, `B`, … and a number after `Z`.
pub fn letter(place: usize) -> String {
    match u8::try_from(place) {
        Ok(place @ 0..26) => char::from(b'A' + place).to_string(),
        _ => (place + 1).to_string(),
    }
}

/// How a number differs from that of the baseline, and whether it grew (`Added`) or shrank (`Removed`).
pub fn delta(value: Option<u64>, base: Option<u64>, write: fn(u64) -> String) -> (String, Change) {
    match (value, base) {
        (Some(value), Some(base)) if value == base => (String::new(), Change::Same),
        (Some(value), Some(base)) if value > base => (format!("+{}", write(value - base)), Change::Added),
        (Some(value), Some(base)) => (format!("−{}", write(base - value)), Change::Removed),
        (None, None) => (String::new(), Change::Same),
        _ => ("?".to_owned(), Change::Unknown),
    }
}

/// The change of a file, as a sign and how many bytes more or less it has.
pub(in crate::gui) fn file_delta(change: Change, value: Option<u64>, base: Option<u64>) -> String {
    let sign = change.sign();
    let (value, base) = (value.unwrap_or(0), base.unwrap_or(0));
    match change {
        Change::Same | Change::Absent => String::new(),
        Change::Unknown => sign.to_owned(),
        Change::Added => format!("{sign}{}", human(value)),
        Change::Removed => format!("{sign}{}", human(base)),
        // Behind the number: before it, it would read as `about`.
        Change::Changed if value > base => format!("+{} {sign}", human(value - base)),
        Change::Changed if value < base => format!("−{} {sign}", human(base - value)),
        Change::Changed => sign.to_owned(),
    }
}

/// A number of things, with nothing behind it.
pub(super) fn plain(count: u64) -> String {
    grouped(count)
}

/// Tenths of a percent as they are shown.
pub(super) fn per_mille(tenths: u64) -> String {
    format!("{}.{} %", tenths / 10, tenths % 10)
}

/// A difference of tenths of a percent.
pub(super) fn points(tenths: u64) -> String {
    format!("{}.{} points", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::{Change, delta, file_delta, letter, per_mille, points};
    use crate::base::size::human;

    #[test]
    fn differences_have_signs() {
        for (value, base, wanted) in [
            (Some(2048), Some(1024), ("+1.00 KiB", Change::Added)),
            (Some(1024), Some(2048), ("−1.00 KiB", Change::Removed)),
            (Some(5), Some(5), ("", Change::Same)),
            (None, Some(5), ("?", Change::Unknown)),
            (Some(5), None, ("?", Change::Unknown)),
            (None, None, ("", Change::Same)),
        ] {
            let (text, change) = delta(value, base, human);
            assert_eq!((text.as_str(), change), wanted, "{value:?} {base:?}");
        }
        assert_eq!(file_delta(Change::Changed, Some(7), Some(7)), "~");
        assert_eq!(file_delta(Change::Changed, Some(9), Some(7)), "+2 B ~");
        assert_eq!(file_delta(Change::Removed, None, Some(7)), "−7 B");
        assert_eq!(file_delta(Change::Unknown, Some(7), Some(7)), "?");
        assert_eq!((letter(0), letter(25), letter(26)), ("A".into(), "Z".into(), "27".into()));
        assert_eq!((per_mille(931), points(15)), ("93.1 %".into(), "1.5 points".into()));
    }
}
