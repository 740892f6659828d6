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
    /// Whether a container that its entries fill exactly lies in `at..end`.
    pub(in crate::formats) fn has_whole(&self, at: u64, end: u64) -> bool {
        self.containers.iter().any(|found| found.whole && found.at >= at && found.end <= end)
    }

    /// Where the header of the first container ends.
    pub(in crate::formats) fn first(&self) -> Option<u64> {
        self.containers.first().map(|found| found.at.saturating_add(header::CONTAINER as u64))
    }
}
