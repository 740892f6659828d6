//! How many bytes pass in a second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Counts bytes over a short while.
#[derive(Default)]
pub(super) struct Rate {
    samples: VecDeque<(Instant, u64)>,
}

impl Rate {
    const WINDOW: Duration = Duration::from_secs(2);

    pub(super) fn add(&mut self, bytes: u64) {
        let now = Instant::now();
        let due = |last: &(Instant, u64)| now.duration_since(last.0) >= Duration::from_millis(50);
        if self.samples.back().is_none_or(due) {
            self.samples.push_back((now, bytes));
        }
        while self.samples.len() > 2 && now.duration_since(self.samples[0].0) > Self::WINDOW {
            self.samples.pop_front();
        }
    }

    pub(super) fn now(&self) -> Option<u64> {
        let ((from, first), (to, last)) = (self.samples.front()?, self.samples.back()?);
        let millis = u64::try_from(to.duration_since(*from).as_millis()).ok()?;
        (millis >= 200).then(|| last.saturating_sub(*first).saturating_mul(1000) / millis)
    }
}
