//! Times in RFC 3339, as Go encodes them in JSON.

use chrono::DateTime;

/// Seconds since 1970, rounded down; `None` if the text is not such a time.
pub(super) fn seconds(text: &str) -> Option<i64> {
    DateTime::parse_from_rfc3339(text).ok().map(|time| time.timestamp())
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
