//! What the user chooses to take away, and what the image is then.

use std::collections::{BTreeMap, BTreeSet};

use super::value::{Finding, Findings, Verdict};
use crate::layer::LayerRead;

/// Findings that are to be carried out, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    chosen: BTreeSet<String>,
}

/// Sizes of the image when a plan is carried out so that the files are never put in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Predicted {
    /// Bytes of the merged view.
    pub merged_bytes: u64,
    /// Bytes of the regular files of all layers.
    pub content_bytes: u64,
    /// Blobs as stored: each layer shrinks as its content does, which is an estimate. `None` where the size of
    /// a blob is not known.
    pub compressed_bytes: Option<u64>,
    /// Bytes that each layer loses, bottom first.
    pub layers: Vec<u64>,
}

impl Plan {
    /// All findings that are safe and have bytes of their own.
    pub fn of_safe(findings: &Findings) -> Self {
        let safe = findings.list.iter().filter(|one| one.verdict == Verdict::Safe && one.bytes > 0);
        let mut plan = Self { chosen: safe.map(|one| one.id.clone()).collect() };
        plan.settle(findings);
        plan
    }

    /// Takes out every finding that rests on one which is not in the plan. To be called after changes.
    pub fn settle(&mut self, findings: &Findings) {
        loop {
            let holds = |one: &&Finding| one.rests_on.iter().all(|id| self.contains(id));
            let chosen = findings.list.iter().filter(|one| self.contains(&one.id));
            let fallen: Vec<String> = chosen.filter(|one| !holds(one)).map(|one| one.id.clone()).collect();
            if fallen.is_empty() {
                return;
            }
            fallen.iter().for_each(|id| self.set(id, false));
        }
    }

    /// Whether a finding is in it.
    pub fn contains(&self, id: &str) -> bool {
        self.chosen.contains(id)
    }

    /// Puts a finding in, or takes it out.
    pub fn set(&mut self, id: &str, chosen: bool) {
        if chosen {
            self.chosen.insert(id.to_owned());
        } else {
            self.chosen.remove(id);
        }
    }

    /// The ids, in the order of `findings`; those that are not there any more are left out.
    pub fn ids<'f>(&self, findings: &'f Findings) -> Vec<&'f str> {
        findings.list.iter().map(|one| one.id.as_str()).filter(|id| self.contains(id)).collect()
    }

    /// What the image is when the plan is carried out. Files have one finding each, so sums of findings are
    /// sums of files.
    pub fn predict(
        &self,
        findings: &Findings,
        merged_bytes: u64,
        layers: &[Option<&LayerRead>],
    ) -> Predicted {
        let mut lost: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
        let mut merged_lost = 0;
        let mut plan = self.clone();
        plan.settle(findings);
        for finding in findings.list.iter().filter(|one| plan.contains(&one.id)) {
            for share in &finding.layers {
                let sum = lost.entry(share.layer).or_default();
                sum.0 += share.bytes;
                sum.1 += share.files;
                merged_lost += share.merged_bytes;
            }
        }
        let of = |layer: usize| u16::try_from(layer).ok().and_then(|layer| lost.get(&layer)).copied();
        let content: u64 = layers.iter().flatten().map(|read| read.index.counts().content_bytes).sum();
        let all_lost: u64 = lost.values().map(|(bytes, _)| bytes).sum();
        let compressed = layers.iter().enumerate().map(|(number, read)| {
            let read = (*read)?;
            let (bytes, files) = of(number).unwrap_or_default();
            Some(shrunk(read.compressed_bytes?, read.uncompressed_bytes?, bytes, files))
        });
        Predicted {
            merged_bytes: merged_bytes.saturating_sub(merged_lost),
            content_bytes: content.saturating_sub(all_lost),
            compressed_bytes: compressed.sum(),
            layers: (0..layers.len()).map(|number| of(number).unwrap_or_default().0).collect(),
        }
    }
}

/// A blob without so many bytes of content in so many files: each takes its header and padding along, 768
/// bytes on average, and what is left is compressed as well as the whole was.
fn shrunk(compressed: u64, uncompressed: u64, bytes: u64, files: u64) -> u64 {
    const BESIDE: u64 = 768;
    let gone = bytes.saturating_add(files.saturating_mul(BESIDE)).min(uncompressed);
    let left = u128::from(compressed) * u128::from(uncompressed - gone) / u128::from(uncompressed.max(1));
    u64::try_from(left).unwrap_or(compressed)
}
