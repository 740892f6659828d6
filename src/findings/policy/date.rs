//! Calendar dates, without a clock.

use std::fmt;
use std::str::FromStr;

use chrono::{Days, NaiveDate};

/// A day, counted from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(pub u32);

impl Date {
    /// The day of a Gregorian date; `None` when the date is invalid, before 1970 or after 9999.
    pub fn of(year: u32, month: u32, day: u32) -> Option<Self> {
        let year = i32::try_from(year).ok().filter(|year| (1970..=9999).contains(year))?;
        let date = NaiveDate::from_ymd_opt(year, month, day)?;
        u32::try_from(date.signed_duration_since(NaiveDate::default()).num_days()).ok().map(Self)
    }
}

/// In the form of ISO 8601: `2026-01-31`; later than the calendar as `after` its last day.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NaiveDate::default().checked_add_days(Days::new(self.0.into())) {
            Some(date) => write!(f, "{date}"),
            None => write!(f, "after {}", NaiveDate::MAX),
        }
    }
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let shape = |(place, byte): (usize, u8)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        let has_shape = text.len() == 10 && text.bytes().enumerate().all(shape);
        let number = |range: std::ops::Range<usize>| text.get(range)?.parse().ok();
        let parts = || Some((number(0..4)?, number(5..7)?, number(8..10)?));
        let date = parts().filter(|_| has_shape).and_then(|(year, month, day)| Self::of(year, month, day));
        date.ok_or_else(|| "not a date in the form YYYY-MM-DD, 1970 or later".to_owned())
    }
}
