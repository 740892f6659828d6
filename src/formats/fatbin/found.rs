//! What a walk has found.

use super::{Entry, header};

/// A container that was found.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// Offset of its first byte.
    pub(super) at: u64,
    /// Offset behind its last byte, as its header says.
    pub(super) end: u64,
    /// Bytes of its header.
    pub(super) header: u64,
    /// Where its entries begin in [`Findings::entries`], and how many there are.
    pub(super) first: usize,
    pub(super) count: usize,
    /// Whether the entries fill it exactly.
    pub(super) whole: bool,
    /// Zero bytes that follow it directly.
    pub(super) zeros: u64,
}

/// Containers and entries, in their order.
#[derive(Debug, Default)]
pub(in crate::formats) struct Findings {
    pub(super) containers: Vec<Found>,
    pub(super) entries: Vec<Entry>,
    /// Where the walk stopped because a limit was reached.
    pub(super) full_at: Option<u64>,
}

impl Findings {
    /// The start of the first of `ranges` (offset and end) that holds a container which its entries fill
    /// exactly. Such containers never overlap, so that the first one behind a start also ends first.
    pub(in crate::formats) fn whole_in(&self, ranges: &[(u64, u64)]) -> Option<u64> {
        let whole: Vec<&Found> = self.containers.iter().filter(|found| found.whole).collect();
        let holds = |at: u64, end: u64| {
            whole.get(whole.partition_point(|found| found.at < at)).is_some_and(|found| found.end <= end)
        };
        ranges.iter().find(|(at, end)| holds(*at, *end)).map(|range| range.0)
    }

    /// Where the header of the first container ends.
    pub(in crate::formats) fn first(&self) -> Option<u64> {
        self.containers.first().map(|found| found.at.saturating_add(header::CONTAINER as u64))
    }
}
