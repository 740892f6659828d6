//! What `slim` would keep and remove for chosen GPUs.

use std::collections::{BTreeMap, BTreeSet};

use super::{ArchMatrix, CodeTarget};
use crate::base::size::human;
use crate::cuda::pruning::{CodeRatios, EstimateRow, PruneRule};
use crate::formats::fatbin::Suffix;

/// GPU code of an image, pruned for some GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrunedCode {
    /// By row of the matrix.
    pub rows: Vec<EstimateRow>,
    /// All files.
    pub total: EstimateRow,
    /// Bytes that are removed, by architecture.
    pub architectures: BTreeMap<(u32, Option<Suffix>), u64>,
    /// The total in a sentence.
    pub sentence: String,
}

impl PrunedCode {
    /// `None` if no GPU is chosen: then nothing is removed.
    pub fn new(matrix: &ArchMatrix, targets: &[CodeTarget], chosen: &BTreeSet<String>) -> Option<Self> {
        let sms: Vec<u32> =
            targets.iter().filter(|target| chosen.contains(&target.id)).map(CodeTarget::sm).collect();
        if sms.is_empty() {
            return None;
        }
        let rule = PruneRule::new(sms, false);
        let ratios = CodeRatios::of(matrix.rows.iter().map(|row| &row.containers));
        let mut architectures: BTreeMap<_, u64> = BTreeMap::new();
        let mut total = EstimateRow::NONE;
        let mut rows = Vec::with_capacity(matrix.rows.len());
        for row in &matrix.rows {
            let estimate = rule.estimate(&row.containers, &ratios);
            for ((_, arch, suffix), part) in &estimate.rows {
                let sum = architectures.entry((*arch, *suffix)).or_default();
                *sum = sum.saturating_add(part.removed_bytes);
            }
            let part = estimate.total();
            // Code outside containers stays.
            let part = EstimateRow { kept_bytes: row.bytes.saturating_sub(part.removed_bytes), ..part };
            total.add(&part);
            rows.push(part);
        }
        let sentence = match total.removed_bytes {
            0 => "Nothing to remove for these GPUs.".to_owned(),
            removed => format!(
                "cutaway slim keeps {} and removes {}, {}.",
                human(total.kept_bytes),
                human(removed),
                match total.removed_compressed_bytes {
                    Some(bytes) => format!("compressed about {}", human(bytes)),
                    None => "compressed unknown".to_owned(),
                },
            ),
        };
        Some(Self { rows, total, architectures, sentence })
    }
}
