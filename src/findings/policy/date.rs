//! Calendar dates, without a clock.

use std::fmt;
use std::str::FromStr;

/// A day, counted from 1970-01-01.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date(pub u32);

impl Date {
    /// The day of a Gregorian date; `None` when the date is invalid, before 1970 or after 9999.
    pub fn of(year: u32, month: u32, day: u32) -> Option<Self> {
        if !(1970..=9999).contains(&year) || day == 0 || day > days_of(year, month)? {
            return None;
        }
        let years: u32 = (1970..year).map(length).sum();
        let months: u32 = (1..month).filter_map(|month| days_of(year, month)).sum();
        Some(Self(years + months + day - 1))
    }
}

/// In the form of ISO 8601: `2026-01-31`.
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut year, mut month, mut left) = (1970, 1, self.0);
        while left >= length(year) {
            left -= length(year);
            year += 1;
        }
        while let Some(days) = days_of(year, month).filter(|days| left >= *days) {
            left -= days;
            month += 1;
        }
        write!(f, "{year:04}-{month:02}-{:02}", left + 1)
    }
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || "not a date in the form YYYY-MM-DD, 1970 or later".to_owned();
        let shape = |(place, byte): (usize, u8)| match place {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        if text.len() != 10 || !text.bytes().enumerate().all(shape) {
            return Err(fault());
        }
        let mut parts = text.split('-');
        let year = parts.next().and_then(|part| part.parse().ok());
        let mut part = || parts.next().and_then(|part| part.parse().ok());
        let (month, day) = (part(), part());
        year.zip(month).zip(day).and_then(|((year, month), day)| Self::of(year, month, day)).ok_or_else(fault)
    }
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn length(year: u32) -> u32 {
    if is_leap(year) { 366 } else { 365 }
}

fn days_of(year: u32, month: u32) -> Option<u32> {
    match month {
        2 if is_leap(year) => Some(29),
        2 => Some(28),
        4 | 6 | 9 | 11 => Some(30),
        1..=12 => Some(31),
        _ => None,
    }
}
