//! Sums of what stays and of what is removed.

use std::collections::BTreeMap;

use crate::formats::fatbin::{Entry, GpuKind, LocatedGpuCode, Suffix, arch_name};

type Key = (GpuKind, u32, Option<Suffix>);

/// Entries of one kind and architecture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneRow {
    /// Entries that stay.
    pub kept_entries: u64,
    /// Their bytes in the file: headers and padded payloads.
    pub kept_bytes: u64,
    /// Entries that are removed.
    pub removed_entries: u64,
    /// Their bytes in the file.
    pub removed_bytes: u64,
}

impl PruneRow {
    fn add(&mut self, other: &Self) {
        for (sum, more) in [
            (&mut self.kept_entries, other.kept_entries),
            (&mut self.kept_bytes, other.kept_bytes),
            (&mut self.removed_entries, other.removed_entries),
            (&mut self.removed_bytes, other.removed_bytes),
        ] {
            *sum = sum.saturating_add(more);
        }
    }
}

/// What a rule does to one file, or to several. Always `before_bytes = overhead_bytes + kept_bytes + removed_bytes`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PruneLedger {
    /// Containers that can be changed, and so are counted here.
    pub containers: u64,
    /// Those that lose entries.
    pub changed: u64,
    /// Those that lose all of them, and keep only their header.
    pub emptied: u64,
    /// Bytes of the containers in the old file, headers included.
    pub before_bytes: u64,
    /// Bytes of the containers' headers, which stay.
    pub overhead_bytes: u64,
    rows: BTreeMap<Key, PruneRow>,
}

impl PruneLedger {
    /// The ledger of a file whose entries stay as `stays` says.
    pub(super) fn of(code: &LocatedGpuCode, stays: &[bool]) -> Self {
        let mut ledger = Self::default();
        for container in &code.containers {
            ledger.containers += 1;
            ledger.before_bytes =
                ledger.before_bytes.saturating_add(container.end().saturating_sub(container.at));
            ledger.overhead_bytes = ledger.overhead_bytes.saturating_add(container.header_bytes);
            let (mut kept, mut removed) = (0, 0);
            for (entry, stay) in
                code.entries_of(container).iter().zip(stays.get(container.entries.clone()).unwrap_or(&[]))
            {
                *(if *stay { &mut kept } else { &mut removed }) += 1;
                ledger.row(entry).add(&if *stay {
                    PruneRow { kept_entries: 1, kept_bytes: entry.bytes, ..PruneRow::default() }
                } else {
                    PruneRow { removed_entries: 1, removed_bytes: entry.bytes, ..PruneRow::default() }
                });
            }
            ledger.changed += u64::from(removed > 0);
            ledger.emptied += u64::from(removed > 0 && kept == 0);
        }
        ledger
    }

    fn row(&mut self, entry: &Entry) -> &mut PruneRow {
        self.rows.entry((entry.kind, entry.arch, entry.suffix)).or_default()
    }

    /// Adds the ledger of another file.
    pub fn add(&mut self, other: &Self) {
        self.containers = self.containers.saturating_add(other.containers);
        self.changed = self.changed.saturating_add(other.changed);
        self.emptied = self.emptied.saturating_add(other.emptied);
        self.before_bytes = self.before_bytes.saturating_add(other.before_bytes);
        self.overhead_bytes = self.overhead_bytes.saturating_add(other.overhead_bytes);
        for (key, row) in &other.rows {
            self.rows.entry(*key).or_default().add(row);
        }
    }

    /// Sums by kind, architecture and suffix, in this order.
    pub fn rows(&self) -> impl Iterator<Item = (GpuKind, u32, Option<Suffix>, PruneRow)> {
        self.rows.iter().map(|((kind, arch, suffix), row)| (*kind, *arch, *suffix, *row))
    }

    /// Sums by name of the architecture, such as `sm_90a`.
    pub fn named_rows(&self) -> impl Iterator<Item = (String, PruneRow)> {
        self.rows().map(|(kind, arch, suffix, row)| (arch_name(kind, arch, suffix), row))
    }

    fn sum(&self, of: impl Fn(&PruneRow) -> u64) -> u64 {
        self.rows.values().fold(0, |sum, row| sum.saturating_add(of(row)))
    }

    /// Entries that stay.
    pub fn kept_entries(&self) -> u64 {
        self.sum(|row| row.kept_entries)
    }

    /// Bytes of entries that stay.
    pub fn kept_bytes(&self) -> u64 {
        self.sum(|row| row.kept_bytes)
    }

    /// Entries that are removed.
    pub fn removed_entries(&self) -> u64 {
        self.sum(|row| row.removed_entries)
    }

    /// Bytes of entries that are removed.
    pub fn removed_bytes(&self) -> u64 {
        self.sum(|row| row.removed_bytes)
    }
}
