use serde::{Deserialize, Serialize};

/// A format violation in a file, or a reached limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// Offset in the file, in bytes.
    pub at: u64,
    /// The violation, safe to show.
    pub what: String,
}

impl Problem {
    /// Approximate size in memory, in bytes.
    pub(in crate::formats) fn kept_bytes(&self) -> usize {
        size_of::<Self>() + self.what.len()
    }
}

/// Collects problems up to a maximum and counts the rest.
#[derive(Clone, Debug, Default)]
pub(in crate::formats) struct Problems {
    list: Vec<Problem>,
    most: usize,
    more: u64,
    more_at: u64,
}

impl Problems {
    /// An empty list that takes `most` problems.
    pub(in crate::formats) fn new(most: usize) -> Self {
        Self { most, ..Self::default() }
    }

    /// Adds one.
    pub(in crate::formats) fn add(&mut self, at: u64, what: impl Into<String>) {
        if self.list.len() < self.most {
            self.list.push(Problem { at, what: what.into() });
        } else {
            if self.more == 0 {
                self.more_at = at;
            }
            self.more = self.more.saturating_add(1);
        }
    }

    /// Adds the problems of another list, shifted by `base` bytes.
    pub(in crate::formats) fn take(&mut self, others: Vec<Problem>, base: u64) {
        for other in others {
            self.add(other.at.saturating_add(base), other.what);
        }
    }

    /// The list, with a last line that counts the unlisted problems.
    pub(in crate::formats) fn finish(mut self) -> Vec<Problem> {
        if self.more > 0 {
            let what = format!("{} more problems", self.more);
            self.list.push(Problem { at: self.more_at, what });
        }
        self.list
    }
}
