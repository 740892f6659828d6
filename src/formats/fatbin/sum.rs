//! Sums of containers by section and by architecture.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry as MapEntry;

use super::super::binary::{BinaryLimits, Problems};
use super::found::Found;
use super::groups::Grouping;
use super::located::changeable;
use super::region::Region;
use super::walk::Walk;
use super::{Compression, Deferred, GpuFacts, GpuKind, Row, SectionSum, Suffix};

type Key = (GpuKind, u32, Option<Suffix>, Option<(u16, u16)>, Compression);

impl SectionSum {
    fn of(region: &Region) -> Self {
        Self {
            name: region.name.clone(),
            at: region.at,
            bytes: region.bytes,
            exclusive: region.exclusive,
            ..Self::default()
        }
    }
}

/// Sums over the sections of a file, or over the members of an archive.
#[derive(Debug)]
pub(in crate::formats) struct Summing {
    rows: BTreeMap<Key, Row>,
    sections: Vec<SectionSum>,
    /// Index in `sections` of the first section of a name: for sections with other data, and for exclusive ones.
    index: [BTreeMap<String, usize>; 2],
    problems: Problems,
    deferred: Vec<Deferred>,
    most_rows: usize,
    most_sections: usize,
    left_out: u64,
    groups: Grouping,
    /// See [`GpuFacts::is_changeable`].
    is_changeable: bool,
}

impl Summing {
    /// Empty sums.
    pub(in crate::formats) fn new(limits: &BinaryLimits) -> Self {
        Self {
            rows: BTreeMap::new(),
            sections: Vec::new(),
            index: Default::default(),
            problems: Problems::new(limits.problems),
            deferred: Vec::new(),
            most_rows: limits.rows,
            most_sections: limits.gpu_sections,
            left_out: 0,
            groups: Grouping::new(limits),
            is_changeable: false,
        }
    }

    /// Continues from existing facts.
    pub(in crate::formats) fn resume(facts: GpuFacts, limits: &BinaryLimits) -> Self {
        let mut sum = Self::new(limits);
        sum.is_changeable = facts.is_changeable;
        sum.merge(facts, 0, false);
        sum
    }

    /// Says that a tool can change containers of the file.
    pub(in crate::formats) fn set_changeable(&mut self, is: bool) {
        self.is_changeable = is;
    }

    /// A range for a later search.
    pub(in crate::formats) fn defer(&mut self, region: Region) {
        if self.deferred.len() < self.most_sections {
            let Region { name, at, bytes, .. } = region;
            self.deferred.push(Deferred { name, at, bytes, base: 0 });
        } else {
            self.problems.add(region.at, "too many sections that may hold GPU code");
        }
    }

    /// Adds the containers of `walk` in `regions`, and a problem if a limit was reached.
    pub(in crate::formats) fn add_all(&mut self, regions: &[Region], walk: &Walk) {
        for region in regions {
            self.add(region, walk, false);
        }
        self.add_limit(walk);
    }

    /// Adds the containers of `walk`, which searched `region` alone.
    pub(in crate::formats) fn search(&mut self, region: &Region, walk: &Walk, by_name: bool) {
        self.add(region, walk, by_name);
        self.add_limit(walk);
    }

    fn add(&mut self, region: &Region, walk: &Walk, by_name: bool) {
        let mut section = SectionSum::of(region);
        let all = &walk.found().containers;
        let first = all.partition_point(|found| found.at < region.at);
        let inside = all.get(first..).unwrap_or(&[]);
        let inside = inside.get(..inside.partition_point(|found| found.at < region.end())).unwrap_or(&[]);
        // Those left as they are are described where they are changed.
        let mut free = changeable(region, walk.found(), &mut Problems::new(0)).into_iter().peekable();
        let mut next = inside.iter().skip(1).map(|found| found.at);
        for found in inside {
            let limit = next.next().unwrap_or(region.end());
            let is_free = free.next_if(|free| free.at == found.at).is_some();
            if found.end <= region.end() && (found.whole || region.exclusive) {
                self.add_container(&mut section, found, limit, walk, is_free);
            }
        }
        if region.exclusive {
            let counted = section.entry_bytes.saturating_add(section.overhead_bytes);
            section.unaccounted_bytes = region.bytes.saturating_sub(counted);
            if section.unaccounted_bytes > 0 {
                self.problems.add(
                    region.at,
                    format!(
                        "{} of {} bytes of GPU code {} cannot be read",
                        section.unaccounted_bytes,
                        region.bytes,
                        if region.name.is_empty() { "file" } else { &region.name },
                    ),
                );
            }
        }
        if region.exclusive || section.containers > 0 {
            self.add_section(section, by_name);
        }
    }

    fn add_container(
        &mut self,
        section: &mut SectionSum,
        found: &Found,
        limit: u64,
        walk: &Walk,
        is_free: bool,
    ) {
        let entries = walk.found().entries.get(found.first..).and_then(|rest| rest.get(..found.count));
        let entries = entries.unwrap_or(&[]);
        if is_free {
            self.groups.add(entries);
        } else {
            self.groups.fix(entries.iter().map(|entry| entry.bytes).fold(0, u64::saturating_add));
        }
        let samples = walk.samples();
        let samples = samples.get(samples.partition_point(|sample| sample.entry < found.first)..);
        for sample in samples.unwrap_or(&[]) {
            let Some(entry) = sample.entry.checked_sub(found.first).and_then(|at| entries.get(at)) else {
                break;
            };
            self.groups.sample(entry, sample.bytes, sample.deflated);
        }
        section.containers += 1;
        section.overhead_bytes += found.header;
        for entry in entries {
            section.entries += 1;
            section.entry_bytes += entry.bytes;
            self.add_row(entry.row());
        }
        if section.exclusive && found.whole {
            section.overhead_bytes += found.zeros.min(limit.saturating_sub(found.end));
        }
    }

    fn add_row(&mut self, row: Row) {
        let key = (row.kind, row.arch, row.suffix, row.isa, row.compression);
        if self.rows.len() >= self.most_rows && !self.rows.contains_key(&key) {
            self.left_out = self.left_out.saturating_add(row.entries);
            return;
        }
        match self.rows.entry(key) {
            MapEntry::Vacant(place) => {
                place.insert(row);
            }
            MapEntry::Occupied(place) => {
                let sum = place.into_mut();
                sum.entries = sum.entries.saturating_add(row.entries);
                sum.without_kernel = sum.without_kernel.saturating_add(row.without_kernel);
                sum.bytes = sum.bytes.saturating_add(row.bytes);
                sum.uncompressed_bytes = sum.uncompressed_bytes.saturating_add(row.uncompressed_bytes);
            }
        }
    }

    /// Adds the facts of a file that begins at `base`; with `by_name`, as one of many whose sections of the same name
    /// are summed.
    pub(in crate::formats) fn merge(&mut self, facts: GpuFacts, base: u64, by_name: bool) {
        facts.rows.into_iter().for_each(|row| self.add_row(row));
        self.groups.merge(facts.containers);
        for section in facts.sections {
            self.add_section(section, by_name);
        }
        self.problems.take(facts.problems, base);
        for mut range in facts.deferred {
            (range.at, range.base) = (range.at.saturating_add(base), range.base.saturating_add(base));
            if self.deferred.len() < self.most_sections {
                self.deferred.push(range);
            } else {
                self.problems.add(range.at, "too many sections that may hold GPU code");
            }
        }
    }

    fn add_section(&mut self, mut section: SectionSum, by_name: bool) {
        let index = &mut self.index[usize::from(section.exclusive)];
        let same = index.get(&section.name).filter(|_| by_name);
        if let Some(sum) = same.and_then(|place| self.sections.get_mut(*place)) {
            sum.bytes = sum.bytes.saturating_add(section.bytes);
            sum.containers = sum.containers.saturating_add(section.containers);
            sum.entries = sum.entries.saturating_add(section.entries);
            sum.entry_bytes = sum.entry_bytes.saturating_add(section.entry_bytes);
            sum.overhead_bytes = sum.overhead_bytes.saturating_add(section.overhead_bytes);
            sum.unaccounted_bytes = sum.unaccounted_bytes.saturating_add(section.unaccounted_bytes);
        } else if self.sections.len() < self.most_sections {
            section.at = if by_name { 0 } else { section.at };
            index.entry(section.name.clone()).or_insert(self.sections.len());
            self.sections.push(section);
        } else {
            self.problems.add(section.at, "too many sections with GPU code");
        }
    }

    /// Adds a problem if no `budget` is left.
    pub(in crate::formats) fn give_up(&mut self, budget: u64) {
        if budget == 0 {
            self.problems.add(0, "search for GPU code stopped: too many bytes to search");
            self.is_changeable = false;
        }
    }

    /// Adds a problem if `walk` reached a limit.
    fn add_limit(&mut self, walk: &Walk) {
        if let Some(at) = walk.found().full_at {
            self.problems.add(at, "too many containers or entries of GPU code: the rest is omitted");
            // With fewer entries in the way, a second run would find more.
            self.is_changeable = false;
        }
    }

    /// The facts; `None` if there is no GPU code and nothing was deferred.
    pub(in crate::formats) fn finish(mut self) -> Option<GpuFacts> {
        if self.left_out > 0 {
            let what = format!("{} entries of rare kinds not listed", self.left_out);
            self.problems.add(0, what);
        }
        self.sections.sort_by(|a, b| (a.at, &a.name).cmp(&(b.at, &b.name)));
        let facts = GpuFacts {
            rows: self.rows.into_values().collect(),
            sections: self.sections,
            problems: self.problems.finish(),
            deferred: self.deferred,
            containers: self.groups.finish(self.is_changeable),
            is_changeable: false,
        };
        let known = facts != GpuFacts::default();
        known.then_some(GpuFacts { is_changeable: self.is_changeable, ..facts })
    }
}

/// Sums over one range that contains only GPU code: a loose file.
pub(in crate::formats) fn loose(size: u64, walk: &Walk, budget: u64, limits: &BinaryLimits) -> GpuFacts {
    let mut sum = Summing::new(limits);
    sum.add_all(&[Region::whole(size)], walk);
    sum.give_up(budget);
    sum.finish().unwrap_or_default()
}

/// A bare cubin as one row.
pub(in crate::formats) fn cubin(arch: u32, suffix: Option<Suffix>, size: u64) -> GpuFacts {
    let row = Row::single(GpuKind::Sass, arch, suffix, None, size);
    let section =
        SectionSum { bytes: size, entries: 1, entry_bytes: size, ..SectionSum::of(&Region::whole(size)) };
    GpuFacts { rows: vec![row], sections: vec![section], ..GpuFacts::default() }
}
