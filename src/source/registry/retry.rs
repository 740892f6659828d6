//! Retry policy: attempts and delays.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, SystemTime};

/// Maximum attempts, the first included.
const ATTEMPTS: u32 = 5;
/// Maximum delay a registry may request; a longer one ends the attempts.
const LONGEST_WAIT: Duration = Duration::from_mins(1);
/// Sets all time limits in tests, in milliseconds, because tests of slow servers would take minutes.
const TEST_TIMEOUT: &str = "CUTAWAY_REGISTRY_TIMEOUT_MS";

/// Time limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    /// For a connection, the TLS handshake included.
    pub(super) connect: Duration,
    /// For the next byte.
    pub(super) idle: Duration,
    /// Before the second attempt; each later one waits twice as long as the one before.
    pub(super) first_wait: Duration,
}

impl Times {
    /// The times that the program uses.
    pub(super) fn from_env() -> Self {
        let (connect, idle, first_wait) =
            (Duration::from_secs(10), Duration::from_secs(30), Duration::from_millis(250));
        let given = std::env::var(TEST_TIMEOUT).ok().and_then(|text| text.parse().ok());
        match given.map(Duration::from_millis) {
            Some(given) => Self { connect: given, idle: given, first_wait: first_wait.min(given / 8) },
            None => Self { connect, idle, first_wait },
        }
    }
}

/// Counts attempts at one thing.
#[derive(Clone, Debug)]
pub(super) struct Retries {
    made: u32,
    most: u32,
    first_wait: Duration,
}

impl Retries {
    pub(super) fn new(times: &Times) -> Self {
        Self { made: 1, most: ATTEMPTS, first_wait: times.first_wait }
    }

    /// For a mirror, after which the registry itself is tried.
    pub(super) fn for_mirror(times: &Times) -> Self {
        Self { most: 2, ..Self::new(times) }
    }

    /// Attempts so far.
    pub(super) fn made(&self) -> u32 {
        self.made
    }

    /// How many there may be.
    pub(super) fn most(&self) -> u32 {
        self.most
    }

    /// Resets the count after progress.
    pub(super) fn reset(&mut self) {
        self.made = 1;
    }

    /// Delay before the next attempt; `None` if there is none. `asked` is the delay requested by the registry.
    pub(super) fn next_wait(&mut self, asked: Option<Duration>) -> Option<Duration> {
        if self.made >= self.most || asked.is_some_and(|asked| asked > LONGEST_WAIT) {
            return None;
        }
        let wait = self.first_wait * (1 << (self.made - 1).min(8));
        self.made += 1;
        // Up to a quarter more, so that clients that failed together do not retry together.
        let share = RandomState::new().hash_one(self.made) % 256;
        let spread = wait / 4 * u32::try_from(share).unwrap_or(0) / 256;
        // Without a requested delay, the usual one applies.
        Some(asked.unwrap_or_default().max(wait + spread))
    }
}

/// Delay in a `Retry-After` header: seconds, or a date (RFC 9110, 10.2.3). A past date means no delay.
pub(super) fn retry_after(value: &str, now: SystemTime) -> Option<Duration> {
    let value = value.trim();
    if value.bytes().all(|byte| byte.is_ascii_digit()) && !value.is_empty() {
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    let date = httpdate::parse_http_date(value).ok()?;
    Some(date.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::{Retries, Times, retry_after};

    const TIMES: Times = Times {
        connect: Duration::from_secs(10),
        idle: Duration::from_secs(30),
        first_wait: Duration::from_millis(250),
    };

    #[test]
    fn waits_double_with_a_spread_and_end_after_the_fifth_attempt() {
        let mut retries = Retries::new(&TIMES);
        for milliseconds in [250, 500, 1000, 2000] {
            let wait = retries.next_wait(None).expect("an attempt is left");
            let least = Duration::from_millis(milliseconds);
            assert!(wait >= least && wait <= least + least / 4, "{wait:?} for {least:?}");
        }
        assert_eq!(retries.made(), 5);
        assert_eq!(retries.next_wait(None), None);
        retries.reset();
        assert!(retries.next_wait(None).is_some(), "progress earns new attempts");
    }

    #[test]
    fn what_the_registry_asks_for_is_obeyed_up_to_a_minute() {
        let mut retries = Retries::new(&TIMES);
        assert_eq!(retries.next_wait(Some(Duration::from_mins(1))), Some(Duration::from_mins(1)));
        assert_eq!(retries.next_wait(Some(Duration::from_secs(61))), None);
    }

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(retry_after("120", now), Some(Duration::from_mins(2)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:47 GMT", now), Some(Duration::from_secs(10)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:07 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("99999999999999999999999", now), Some(Duration::from_secs(u64::MAX)));
        assert_eq!(retry_after("soon", now), None);
        assert_eq!(retry_after("", now), None);
    }
}
