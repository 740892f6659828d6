//! Results of a walk.

use super::{Entry, header};

/// A container.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Offset of its first byte.
    pub(super) at: u64,
    /// End offset, as its header declares.
    pub(super) end: u64,
    /// Size of its header.
    pub(super) header: u64,
    /// Index of its first entry in [`Findings::entries`], and the number of its entries.
    pub(super) first: usize,
    pub(super) count: usize,
    /// Whether its entries fill it exactly.
    pub(super) whole: bool,
    /// Zero bytes directly after it.
    pub(super) zeros: u64,
}

/// Containers and entries, in order.
#[derive(Debug, Default)]
pub(in crate::formats) struct Findings {
    pub(super) containers: Vec<Found>,
    pub(super) entries: Vec<Entry>,
    /// Offset at which the walk stopped because a limit was reached.
    pub(super) full_at: Option<u64>,
}

impl Findings {
    /// The start of the first of `ranges` (offset and end) that contains a container filled exactly by its entries.
    /// Such containers never overlap, so the first one after a start also ends first.
    pub(in crate::formats) fn whole_in(&self, ranges: &[(u64, u64)]) -> Option<u64> {
        let whole: Vec<&Found> = self.containers.iter().filter(|found| found.whole).collect();
        let holds = |at: u64, end: u64| {
            whole.get(whole.partition_point(|found| found.at < at)).is_some_and(|found| found.end <= end)
        };
        ranges.iter().find(|(at, end)| holds(*at, *end)).map(|range| range.0)
    }

    /// End of the header of the first container.
    pub(in crate::formats) fn first(&self) -> Option<u64> {
        self.containers.first().map(|found| found.at.saturating_add(header::CONTAINER as u64))
    }
}
