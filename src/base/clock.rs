//! The current date.

use std::time::{SystemTime, UNIX_EPOCH};

/// Days since 1970-01-01 in UTC, by the system clock; `None` if that is before 1970.
pub fn today() -> Option<u32> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    u32::try_from(since.as_secs() / (24 * 60 * 60)).ok()
}
