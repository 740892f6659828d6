//! The containers of a file with their offsets: what a tool that changes them has to know.

use std::ops::Range;

use super::super::binary::{BinaryLimits, Problem, Problems};
use super::Entry;
use super::found::{Findings, Found};
use super::region::Region;

/// A container that can be changed: its header and entries are readable to the last byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuContainer {
    /// Offset in the file, in bytes.
    pub at: u64,
    /// Length of its header, in bytes.
    pub header_bytes: u64,
    /// Length of its entries, in bytes: the size field of the header.
    pub entry_bytes: u64,
    /// Index of its section in [`LocatedGpuCode::sections`].
    pub section: usize,
    /// Indices of its entries in [`LocatedGpuCode::entries`].
    pub entries: Range<usize>,
}

impl GpuContainer {
    /// End offset.
    pub fn end(&self) -> u64 {
        self.entries_at().saturating_add(self.entry_bytes)
    }

    /// Offset of the first entry.
    pub fn entries_at(&self) -> u64 {
        self.at.saturating_add(self.header_bytes)
    }
}

/// A section with containers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GpuSection {
    /// Name, safe to show.
    pub name: String,
    /// Offset in the file, in bytes.
    pub at: u64,
    /// Length, in bytes.
    pub bytes: u64,
}

/// The GPU code of a linked file. Only containers in its sections are listed that can be changed; for what looks like
/// GPU code otherwise there is a problem.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocatedGpuCode {
    /// Size of the file, in bytes.
    pub file_bytes: u64,
    /// Sections with containers, in order.
    pub sections: Vec<GpuSection>,
    /// Containers, in order; they do not overlap.
    pub containers: Vec<GpuContainer>,
    /// Entries of all containers, in order.
    pub entries: Vec<Entry>,
    /// Format violations and reached limits: what is left as it is, and why.
    pub problems: Vec<Problem>,
}

impl LocatedGpuCode {
    /// The containers of `found` inside `regions`.
    pub(in crate::formats) fn new(
        file_bytes: u64,
        regions: &[Region],
        found: Findings,
        problems: Problems,
        limits: &BinaryLimits,
    ) -> Self {
        let mut located = Self { file_bytes, ..Self::default() };
        let mut all = problems;
        // With fewer entries in the way, a second run would find more.
        let regions = if found.full_at.is_some() { &[] } else { regions };
        for region in regions {
            if located.sections.len() >= limits.gpu_sections {
                all.add(region.at, "too many sections with GPU code: the rest is left as it is");
                break;
            }
            let known = located.containers.len();
            located.add(region, &found, &mut all);
            if located.containers.len() > known {
                let Region { name, at, bytes, .. } = region.clone();
                located.sections.push(GpuSection { name, at, bytes });
            }
        }
        if let Some(at) = found.full_at {
            all.add(at, "too many containers or entries of GPU code: all are left as they are");
        }
        located.entries = found.entries;
        located.problems = all.finish();
        located
    }

    /// Entries of a container.
    pub fn entries_of(&self, container: &GpuContainer) -> &[Entry] {
        self.entries.get(container.entries.clone()).unwrap_or(&[])
    }

    /// Approximate size in memory, in bytes.
    pub fn kept_bytes(&self) -> usize {
        size_of::<Self>()
            + self.containers.capacity() * size_of::<GpuContainer>()
            + self.entries.capacity() * size_of::<Entry>()
            + self.sections.iter().map(|section| size_of::<GpuSection>() + section.name.len()).sum::<usize>()
            + self.problems.iter().map(Problem::kept_bytes).sum::<usize>()
    }

    fn add(&mut self, region: &Region, found: &Findings, problems: &mut Problems) {
        for one in changeable(region, found, problems) {
            let entries = one.first..one.first.saturating_add(one.count);
            self.containers.push(self.container(one, entries));
        }
    }

    fn container(&self, one: &Found, entries: Range<usize>) -> GpuContainer {
        GpuContainer {
            at: one.at,
            header_bytes: one.header,
            entry_bytes: one.end.saturating_sub(one.at).saturating_sub(one.header),
            section: self.sections.len(),
            entries,
        }
    }
}

/// The containers of a region that can be changed, in order.
pub(super) fn changeable<'f>(
    region: &Region,
    found: &'f Findings,
    problems: &mut Problems,
) -> Vec<&'f Found> {
    let first = found.containers.partition_point(|one| one.at < region.at);
    let inside = found.containers.get(first..).unwrap_or(&[]);
    let inside = inside.get(..inside.partition_point(|one| one.at < region.end())).unwrap_or(&[]);
    let mut list = Vec::new();
    // Offset from which on the next container may begin; in a section of nothing else it begins exactly there.
    let mut next = region.at;
    for one in inside {
        if region.exclusive && one.at != next {
            problems.add(next, format!("{}: no container here; {REST}", region.name));
            return list;
        }
        if one.at < next {
            continue;
        }
        let readable = one.whole && one.end <= region.end();
        if region.exclusive && !readable {
            problems.add(one.at, format!("{}: container cannot be read; {REST}", region.name));
            return list;
        }
        // What an unreadable one claims to contain may be its data.
        next = one.end;
        if region.exclusive {
            next = next.saturating_add(one.zeros).min(region.end());
        }
        let entries = one.first..one.first.saturating_add(one.count);
        let movable = found.entries.get(entries).is_some_and(|all| all.iter().all(Entry::is_movable));
        if !readable {
            continue;
        }
        if !movable {
            problems.add(one.at, format!("{}: unknown entry; container left as it is", region.name));
            continue;
        }
        list.push(one);
    }
    if region.exclusive && next < region.end() {
        problems.add(next, format!("{}: no container here; {REST}", region.name));
    }
    list
}

const REST: &str = "the rest is left as it is";
