//! Containers by the set of their entries, and how samples of the entries compress: enough to know what removing code
//! saves, without the file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::super::binary::BinaryLimits;
use super::{Compression, Entry, GpuKind, Suffix, header};

/// What determines whether an entry is needed, and how well it compresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CodeClass {
    /// Kind.
    pub kind: GpuKind,
    /// Decimal architecture number.
    pub arch: u32,
    /// Suffix of the architecture.
    pub suffix: Option<Suffix>,
    /// Compression of the payload.
    pub compression: Compression,
    /// Whether what it is for is known ([`Entry::is_known`]).
    pub is_known: bool,
    /// Whether it is too small to contain a kernel ([`Entry::is_without_kernel`]).
    pub without_kernel: bool,
}

impl CodeClass {
    /// The class of an entry.
    pub fn of(entry: &Entry) -> Self {
        Self {
            kind: entry.kind,
            arch: entry.arch,
            suffix: entry.suffix,
            compression: entry.compression,
            is_known: entry.is_known(),
            without_kernel: entry.is_without_kernel(),
        }
    }

    /// An entry of this class, for rules about entries. Its sizes say only whether it contains a kernel.
    pub fn entry(&self) -> Entry {
        let payload = if self.without_kernel { Entry::SMALLEST_WITHOUT_KERNEL } else { u64::from(u32::MAX) };
        Entry {
            kind: self.kind,
            version: header::ENTRY_VERSION,
            arch: self.arch,
            suffix: self.suffix,
            isa: None,
            compression: self.compression,
            flags: if self.is_known { header::known_flags(self.suffix) } else { 0 },
            header_bytes: header::ENTRY as u64,
            bytes: payload.saturating_add(header::ENTRY as u64),
            uncompressed_bytes: payload,
        }
    }
}

/// The entries of one class in the containers of one group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassSum {
    /// Class.
    pub class: CodeClass,
    /// Number of entries.
    pub entries: u64,
    /// Bytes in the file: headers and padded payloads.
    pub bytes: u64,
    /// Decompressed size of the payloads, as the headers declare it.
    pub uncompressed_bytes: u64,
}

/// Containers whose entries have the same classes: a rule decides the same for all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerGroup {
    /// Number of containers.
    pub containers: u64,
    /// Their entries by class, sorted.
    pub classes: Vec<ClassSum>,
}

/// How samples of the code of one kind, architecture and compression compress.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeSample {
    /// Kind.
    pub kind: GpuKind,
    /// Decimal architecture number.
    pub arch: u32,
    /// Suffix of the architecture.
    pub suffix: Option<Suffix>,
    /// Compression of the payloads.
    pub compression: Compression,
    /// Bytes of the samples.
    pub bytes: u64,
    /// The same, deflated.
    pub deflated_bytes: u64,
}

/// The containers of one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContainerFacts {
    /// Containers that a tool can change, by their entries.
    pub groups: Vec<ContainerGroup>,
    /// Bytes of entries that stay whatever the rule: in containers that cannot be changed, in files that are not
    /// linked, or beyond the maximum number of groups.
    pub fixed_bytes: u64,
    /// How the code compresses, as far as it was sampled; sorted.
    pub samples: Vec<CodeSample>,
}

impl ContainerFacts {
    /// Approximate size in memory, in bytes, without the struct itself.
    pub(super) fn kept_bytes(&self) -> usize {
        let classes: usize = self.groups.iter().map(|group| group.classes.len()).sum();
        self.groups.len() * size_of::<ContainerGroup>()
            + classes * size_of::<ClassSum>()
            + self.samples.len() * size_of::<CodeSample>()
    }
}

/// Entries, bytes and decompressed bytes.
type Sums = [u64; 3];
type SampleKey = (GpuKind, u32, Option<Suffix>, Compression);

/// Groups while containers are added.
#[derive(Debug)]
pub(super) struct Grouping {
    groups: BTreeMap<Vec<CodeClass>, (u64, Vec<Sums>)>,
    classes: usize,
    most: usize,
    fixed_bytes: u64,
    samples: BTreeMap<SampleKey, [u64; 2]>,
}

impl Grouping {
    pub(super) fn new(limits: &BinaryLimits) -> Self {
        Self {
            groups: BTreeMap::new(),
            classes: 0,
            most: limits.rows,
            fixed_bytes: 0,
            samples: BTreeMap::new(),
        }
    }

    /// A container that can be changed.
    pub(super) fn add(&mut self, entries: &[Entry]) {
        let mut sums: BTreeMap<CodeClass, Sums> = BTreeMap::new();
        for entry in entries {
            let sum = sums.entry(CodeClass::of(entry)).or_default();
            accumulate(sum, [1, entry.bytes, entry.uncompressed_bytes]);
        }
        self.add_group(1, sums.into_iter().unzip());
    }

    /// Bytes that stay.
    pub(super) fn fix(&mut self, bytes: u64) {
        self.fixed_bytes = self.fixed_bytes.saturating_add(bytes);
    }

    /// A sample of an entry.
    pub(super) fn sample(&mut self, entry: &Entry, bytes: u64, deflated: u64) {
        self.add_sample((entry.kind, entry.arch, entry.suffix, entry.compression), [bytes, deflated]);
    }

    /// The facts of another part of the file.
    pub(super) fn merge(&mut self, facts: ContainerFacts) {
        for group in facts.groups {
            let sums = group
                .classes
                .into_iter()
                .map(|sum| (sum.class, [sum.entries, sum.bytes, sum.uncompressed_bytes]));
            self.add_group(group.containers, sums.unzip());
        }
        self.fix(facts.fixed_bytes);
        for sample in facts.samples {
            let key = (sample.kind, sample.arch, sample.suffix, sample.compression);
            self.add_sample(key, [sample.bytes, sample.deflated_bytes]);
        }
    }

    fn add_group(&mut self, containers: u64, (classes, sums): (Vec<CodeClass>, Vec<Sums>)) {
        if classes.is_empty() {
            return;
        }
        if let Some((count, known)) = self.groups.get_mut(&classes) {
            *count = count.saturating_add(containers);
            known.iter_mut().zip(sums).for_each(|(known, more)| accumulate(known, more));
        } else if self.classes.saturating_add(classes.len()) > self.most {
            self.fix(sums.iter().map(|sum| sum[1]).fold(0, u64::saturating_add));
        } else {
            self.classes = self.classes.saturating_add(classes.len());
            self.groups.insert(classes, (containers, sums));
        }
    }

    fn add_sample(&mut self, key: SampleKey, sample: [u64; 2]) {
        if self.samples.len() >= self.most && !self.samples.contains_key(&key) {
            return;
        }
        accumulate(self.samples.entry(key).or_default(), sample);
    }

    /// The facts. In a file that is not `changeable` everything stays.
    pub(super) fn finish(mut self, changeable: bool) -> ContainerFacts {
        if !changeable {
            let bytes = self.groups.values().flat_map(|(_, sums)| sums).map(|sum| sum[1]);
            let bytes = bytes.fold(0, u64::saturating_add);
            self.fix(bytes);
            self.groups.clear();
        }
        let group = |(classes, (containers, sums)): (Vec<CodeClass>, (u64, Vec<Sums>))| {
            let classes = classes.into_iter().zip(sums);
            let classes = classes.map(|(class, [entries, bytes, uncompressed_bytes])| ClassSum {
                class,
                entries,
                bytes,
                uncompressed_bytes,
            });
            ContainerGroup { containers, classes: classes.collect() }
        };
        let sample = |((kind, arch, suffix, compression), [bytes, deflated_bytes]): (SampleKey, [u64; 2])| {
            CodeSample { kind, arch, suffix, compression, bytes, deflated_bytes }
        };
        ContainerFacts {
            groups: self.groups.into_iter().map(group).collect(),
            fixed_bytes: self.fixed_bytes,
            samples: self.samples.into_iter().map(sample).collect(),
        }
    }
}

fn accumulate<const N: usize>(sum: &mut [u64; N], more: [u64; N]) {
    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum = sum.saturating_add(more));
}
