//! Sizes of the layers that result.

use std::sync::Arc;

use super::{Action, SelectedLayer, Selection};
use crate::analysis::Analysis;
use crate::formats::compression::Compression;
use crate::layer::{EntryId, EntryKind, LayerIndex};

impl Selection {
    /// Counts what each layer loses, and estimates what is left of it.
    pub(super) fn count(&mut self, analysis: &Analysis, layers: &[Arc<LayerIndex>]) {
        self.layers.clear();
        for output in &self.outputs {
            for number in output.layers.clone() {
                let (index, read) = (&layers[number], analysis.layers[number].read.as_deref());
                let lost = |entry: &EntryId| {
                    index.kind(*entry) == EntryKind::File && !self.kept[number].has(entry.0)
                };
                let lost: Vec<u64> = index.entries().filter(lost).map(|entry| index.size(entry)).collect();
                let contents = || self.changes[number].values().filter_map(|change| change.content.as_ref());
                let code = contents().filter(|content| content.proof.is_some());
                let pruned_bytes: u64 = code.map(|content| content.removed_bytes).sum();
                let compressed_bytes = read.and_then(|read| read.compressed_bytes);
                let left = || {
                    // How well the bytes of a layer compress that is stored without compression is not known.
                    if read?.compression.is_none_or(|known| known == Compression::None) {
                        return None;
                    }
                    let kept = index.entries().filter(|entry| self.kept[number].has(entry.0));
                    // A header, and half a block of padding.
                    let bytes = kept.map(|entry| u128::from(index.size(entry)) + 768).sum::<u128>() + 1024;
                    let whole = u128::from(read?.uncompressed_bytes?.max(1));
                    let share = |bytes: u128| {
                        u64::try_from(u128::from(compressed_bytes?) * bytes.min(whole) / whole).ok()
                    };
                    let pruned = contents().try_fold(0, |sum: u64, content| {
                        let known = content.removed_compressed_bytes;
                        Some(sum.saturating_add(known.or_else(|| share(u128::from(content.removed_bytes)))?))
                    })?;
                    Some(share(bytes)?.saturating_sub(pruned))
                };
                self.layers.push(SelectedLayer {
                    action: output.action,
                    removed_files: lost.len() as u64,
                    removed_bytes: lost.iter().sum(),
                    pruned_bytes,
                    compressed_bytes,
                    compressed_bytes_after: match output.action {
                        Action::Kept => compressed_bytes,
                        Action::Dropped => Some(0),
                        Action::Rewritten | Action::Merged => left(),
                    },
                });
            }
        }
        self.after.compressed_bytes = self.layers.iter().map(|layer| layer.compressed_bytes_after).sum();
    }
}
