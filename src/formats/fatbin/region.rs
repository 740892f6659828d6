//! Parts of a file that may contain containers, and the walk over a seekable file.

use std::io;
use std::ops::Range;

use super::super::binary::Problems;
use super::walk::Walk;
use crate::base::Section;
use crate::jobs::CancelToken;

/// A part of a file that may contain containers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::formats) struct Region {
    /// Name of the section, safe to show.
    pub(in crate::formats) name: String,
    /// Offset in the file.
    pub(in crate::formats) at: u64,
    /// Length in bytes.
    pub(in crate::formats) bytes: u64,
    /// Whether it contains nothing but GPU code.
    pub(in crate::formats) exclusive: bool,
}

impl Region {
    /// A whole file of GPU code.
    pub(super) fn whole(size: u64) -> Self {
        Self { name: String::new(), at: 0, bytes: size, exclusive: true }
    }

    /// End offset.
    pub(in crate::formats) fn end(&self) -> u64 {
        self.at.saturating_add(self.bytes)
    }
}

/// `list` sorted by offset and trimmed, so that no two overlap and none exceeds the end of the file.
pub(in crate::formats) fn regions(mut list: Vec<Region>, size: u64, problems: &mut Problems) -> Vec<Region> {
    list.sort_by_key(|region| region.at);
    let mut passed = 0;
    for region in &mut list {
        let end = region.end().min(size);
        let start = region.at.max(passed).min(end);
        if end < region.end() {
            problems.add(region.at, format!("section {} extends beyond the end of the file", region.name));
        } else if start > region.at {
            problems.add(region.at, format!("section {} overlaps the one before it", region.name));
        }
        (region.at, region.bytes) = (start, end - start);
        passed = passed.max(end);
    }
    list.retain(|region| region.bytes > 0);
    list
}

/// Walks `range` of a file; reads only headers, and the bytes between containers.
///
/// # Errors
/// Read errors and cancellation.
pub(in crate::formats) fn drive(
    walk: &mut Walk,
    file: &Section,
    range: Range<u64>,
    budget: &mut u64,
    cancel: &CancelToken,
) -> io::Result<()> {
    let mut buffer = Vec::new();
    walk.enter(range.start, range.end);
    while let Some((at, length)) = walk.wants() {
        cancel.check()?;
        if *budget == 0 {
            break;
        }
        buffer.resize(length, 0);
        let count = file.read_full_at(&mut buffer, at)?;
        if count == 0 {
            break;
        }
        *budget = budget.saturating_sub(count as u64);
        walk.push_all(at, buffer.get(..count).unwrap_or(&[]));
    }
    Ok(())
}
