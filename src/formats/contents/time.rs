//! Times in RFC 3339, as Go encodes them in JSON.

/// Seconds since 1970, rounded down; `None` if the text is not such a time.
pub(super) fn seconds(text: &str) -> Option<i64> {
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let digits = text.get(range)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok())?
    };
    let bytes = text.as_bytes();
    let marks = [(4, b'-'), (7, b'-'), (13, b':'), (16, b':')];
    if marks.iter().any(|(at, mark)| bytes.get(*at) != Some(mark))
        || !matches!(bytes.get(10), Some(b'T' | b't'))
    {
        return None;
    }
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let rest = text.get(19..)?;
    let zone = match rest.strip_prefix('.') {
        Some(fraction) => fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()),
        None => rest,
    };
    let east = match zone.as_bytes() {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), _, _, b':', _, _] => {
            let (hours, minutes): (i64, i64) = (zone.get(1..3)?.parse().ok()?, zone.get(4..6)?.parse().ok()?);
            let east = hours * 3600 + minutes * 60;
            if *sign == b'-' { -east } else { east }
        }
        _ => return None,
    };
    Some(days(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - east)
}

/// Days from 1970-01-01 to a Gregorian date. Years begin in March, so that the leap day is the last day.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn times_of_go_are_read() {
        for (text, time) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2023-11-14T22:13:20Z", 1_700_000_000),
            ("2023-11-14T22:13:20.999999999Z", 1_700_000_000),
            ("2023-11-15T00:13:20+02:00", 1_700_000_000),
            ("2000-02-29T12:00:00Z", 951_825_600),
            ("1969-12-31T23:59:59Z", -1),
            ("0001-01-01T00:00:00Z", -62_135_596_800),
        ] {
            assert_eq!(seconds(text), Some(time), "{text}");
        }
        for text in
            ["", "soon", "2023-11-14", "2023-13-14T22:13:20Z", "2023-11-14T22:13:20", "2023-11-14T22:13:2éZ"]
        {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
