//! What a rule would remove, from the facts of files: without reading them again.

use std::collections::BTreeMap;

use super::PruneRule;
use crate::formats::fatbin::{ClassSum, Compression, ContainerFacts, GpuKind, Suffix};

/// Sampled bytes that are enough to know how one architecture compresses.
const ENOUGH: u64 = 128 << 10;

/// How GPU code compresses, by the samples of some files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CodeRatios {
    /// Bytes of samples, before and after.
    sums: BTreeMap<Compression, [u64; 2]>,
}

impl CodeRatios {
    /// The samples of all `files`.
    pub fn of<'a>(files: impl IntoIterator<Item = &'a ContainerFacts>) -> Self {
        let mut sums: BTreeMap<Compression, [u64; 2]> = BTreeMap::new();
        for sample in files.into_iter().flat_map(|file| &file.samples) {
            let sum = sums.entry(sample.compression).or_default();
            sum[0] = sum[0].saturating_add(sample.bytes);
            sum[1] = sum[1].saturating_add(sample.deflated_bytes);
        }
        Self { sums }
    }

    fn get(&self, compression: Compression) -> Option<[u64; 2]> {
        self.sums.get(&compression).copied().filter(|[bytes, _]| *bytes > 0)
    }
}

/// Bytes of GPU code of one kind and architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EstimateRow {
    /// Bytes of entries that stay.
    pub kept_bytes: u64,
    /// Bytes of entries that are removed.
    pub removed_bytes: u64,
    /// By so much a compressed layer shrinks; `None` if no sample says how such code compresses.
    pub removed_compressed_bytes: Option<u64>,
}

impl EstimateRow {
    /// Nothing.
    pub const NONE: Self = Self { kept_bytes: 0, removed_bytes: 0, removed_compressed_bytes: Some(0) };

    /// Adds the bytes of other code. What is unknown of a part is unknown of the sum.
    pub fn add(&mut self, other: &Self) {
        self.kept_bytes = self.kept_bytes.saturating_add(other.kept_bytes);
        self.removed_bytes = self.removed_bytes.saturating_add(other.removed_bytes);
        let both = self.removed_compressed_bytes.zip(other.removed_compressed_bytes);
        self.removed_compressed_bytes = both.map(|(one, two)| one.saturating_add(two));
    }
}

/// What a rule would remove from files. Exact but for compressed sizes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PruneEstimate {
    /// By kind, architecture and suffix.
    pub rows: BTreeMap<(GpuKind, u32, Option<Suffix>), EstimateRow>,
    /// Bytes of entries that stay because their containers cannot be changed.
    pub fixed_bytes: u64,
}

impl PruneEstimate {
    /// Adds the estimate of another file.
    pub fn add(&mut self, other: &Self) {
        self.fixed_bytes = self.fixed_bytes.saturating_add(other.fixed_bytes);
        for (key, row) in &other.rows {
            self.rows.entry(*key).or_insert(EstimateRow::NONE).add(row);
        }
    }

    /// Sum over all code that can be changed.
    pub fn total(&self) -> EstimateRow {
        let mut sum = EstimateRow::NONE;
        self.rows.values().for_each(|row| sum.add(row));
        sum
    }
}

impl PruneRule {
    /// What the rule would remove from a file with these containers; `ratios` are those of all files, for code of which
    /// this file has no sample.
    pub fn estimate(&self, file: &ContainerFacts, ratios: &CodeRatios) -> PruneEstimate {
        let own = CodeRatios::of([file]);
        let mut estimate = PruneEstimate { fixed_bytes: file.fixed_bytes, ..PruneEstimate::default() };
        for group in &file.groups {
            let entries: Vec<_> = group.classes.iter().map(|sum| sum.class.entry()).collect();
            for (sum, stays) in group.classes.iter().zip(self.stays(&entries)) {
                let row = if stays {
                    EstimateRow { kept_bytes: sum.bytes, ..EstimateRow::NONE }
                } else {
                    EstimateRow {
                        kept_bytes: 0,
                        removed_bytes: sum.bytes,
                        removed_compressed_bytes: compressed(file, sum, &[&own, ratios]),
                    }
                };
                let class = &sum.class;
                let key = (class.kind, class.arch, class.suffix);
                estimate.rows.entry(key).or_insert(EstimateRow::NONE).add(&row);
            }
        }
        estimate
    }
}

/// Compressed bytes of entries, by the samples of this architecture, else by those of this compression. Without any,
/// what zstd or an obfuscation left compresses no further; of other code that is unknown.
fn compressed(file: &ContainerFacts, sum: &ClassSum, ratios: &[&CodeRatios]) -> Option<u64> {
    let class = &sum.class;
    let same = file.samples.iter().find(|sample| {
        (sample.kind, sample.arch, sample.suffix, sample.compression)
            == (class.kind, class.arch, class.suffix, class.compression)
    });
    let same = same.filter(|sample| sample.bytes >= ENOUGH);
    let same = same.map(|sample| [sample.bytes, sample.deflated_bytes]);
    let dense = matches!(class.compression, Compression::Zstd | Compression::Other).then_some([1, 1]);
    let ratio = same.or_else(|| ratios.iter().find_map(|all| all.get(class.compression))).or(dense);
    let [bytes, deflated] = ratio?;
    let estimate = u128::from(sum.bytes) * u128::from(deflated) / u128::from(bytes.max(1));
    u64::try_from(estimate).ok()
}
