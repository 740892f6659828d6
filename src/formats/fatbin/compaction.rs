//! Entries taken out of containers: those that stay move up, the size field is lowered, zeros fill the rest.
//!
//! Containers keep their start, because `.nvFatBinSegment`, relocations and private indexes point at it, and the file
//! keeps its length. Drivers choose an entry by its header and ignore size-0 containers, so nothing else changes.

use super::header;
use super::located::LocatedGpuCode;
use crate::formats::pieces::Pieces;

/// The file with the entries whose place in `stays` is true; entries without a place stay.
pub fn compacted(code: &LocatedGpuCode, stays: &[bool]) -> Pieces {
    let mut pieces = Pieces::default();
    let mut copied = 0;
    for container in &code.containers {
        let left = kept_bytes(code, container, stays);
        if left == container.entry_bytes {
            continue;
        }
        let size_at = container.at.saturating_add(header::SIZE_AT);
        pieces.copy(copied, size_at.saturating_sub(copied));
        pieces.bytes(&left.to_le_bytes());
        let rest = size_at.saturating_add(header::SIZE_BYTES);
        pieces.copy(rest, container.entries_at().saturating_sub(rest));
        let mut at = container.entries_at();
        for (index, entry) in container.entries.clone().zip(code.entries_of(container)) {
            if stays_at(stays, index) {
                pieces.copy(at, entry.bytes);
            }
            at = at.saturating_add(entry.bytes);
        }
        pieces.zeros(container.entry_bytes.saturating_sub(left));
        copied = container.end();
    }
    pieces.copy(copied, code.file_bytes.saturating_sub(copied));
    pieces
}

/// Whether an entry stays.
pub(super) fn stays_at(stays: &[bool], index: usize) -> bool {
    stays.get(index).copied().unwrap_or(true)
}

/// Bytes of a container's entries that stay.
pub(super) fn kept_bytes(code: &LocatedGpuCode, container: &super::GpuContainer, stays: &[bool]) -> u64 {
    let entries = container.entries.clone().zip(code.entries_of(container));
    entries.filter(|(index, _)| stays_at(stays, *index)).map(|(_, entry)| entry.bytes).sum()
}
