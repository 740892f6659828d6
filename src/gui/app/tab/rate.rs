//! How many bytes pass in a second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Counts bytes over a short while.
#[derive(Default)]
pub(super) struct Rate {
    samples: VecDeque<(Instant, u64)>,
    first: Option<(Instant, u64)>,
}

impl Rate {
    const WINDOW: Duration = Duration::from_secs(2);

    pub(super) fn add(&mut self, bytes: u64) {
        let now = Instant::now();
        self.first.get_or_insert((now, bytes));
        let due = |last: &(Instant, u64)| now.duration_since(last.0) >= Duration::from_millis(50);
        if self.samples.back().is_none_or(due) {
            self.samples.push_back((now, bytes));
        }
        while self.samples.len() > 2 && now.duration_since(self.samples[0].0) > Self::WINDOW {
            self.samples.pop_front();
        }
    }

    pub(super) fn now(&self) -> Option<u64> {
        per_second(*self.samples.front()?, *self.samples.back()?, Duration::from_millis(200))
    }

    /// The mean since the work began, once it has gone on for a second.
    pub(super) fn mean(&self) -> Option<u64> {
        per_second(self.first?, *self.samples.back()?, Duration::from_secs(1))
    }
}

fn per_second(from: (Instant, u64), to: (Instant, u64), least: Duration) -> Option<u64> {
    let time = to.0.duration_since(from.0);
    let millis = u64::try_from(time.as_millis()).ok()?;
    (time >= least).then(|| to.1.saturating_sub(from.1).saturating_mul(1000) / millis.max(1))
}
