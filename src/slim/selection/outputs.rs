//! Layers of the image, and which of them become one of the result.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::SlimError;
use super::super::bits::Bits;
use super::{Action, Change, Output};
use crate::analysis::Analysis;
use crate::base::digest::short;
use crate::base::text::escape;
use crate::layer::{EntryId, LayerIndex};
use crate::source::Blob;

/// The indexes of all layers, if all of them are known to their last byte.
pub(super) fn readable(analysis: &Analysis) -> Result<Vec<Arc<LayerIndex>>, SlimError> {
    if !analysis.image.intact {
        return Err(SlimError::refused("the image", "its manifest or config is damaged"));
    }
    let read = |(number, layer): (usize, &crate::analysis::Layer)| {
        let refused = |reason: &str| SlimError::refused(named(analysis, number), reason);
        if let Some(fault) = &layer.fault {
            return Err(refused(&fault.message));
        }
        if layer.table.is_some() {
            return Err(refused("only its table of contents was read"));
        }
        let Some(read) = layer.read.as_ref().filter(|_| layer.is_complete()) else {
            let fault = layer.read.as_ref().and_then(|read| read.warnings.first());
            return Err(refused(fault.map_or("it was not read to its end", |fault| fault.message.as_str())));
        };
        if let Blob::Folder(_) = analysis.image.layers[number].blob {
            let marks = |entry: &EntryId| read.index.name(*entry).starts_with(b".wh.");
            if let Some(entry) = read.index.entries().find(marks) {
                let path = escape(&read.index.path(entry));
                return Err(refused(&format!("{path} would be a whiteout in a layer")));
            }
        }
        Ok(Arc::clone(&read.index))
    };
    analysis.layers.iter().enumerate().map(read).collect()
}

/// What a layer is called in messages.
pub(in crate::slim) fn named(analysis: &Analysis, number: usize) -> String {
    let source = analysis.image.layers.get(number);
    match source.and_then(|source| source.digest.as_ref().or(source.diff_id.as_ref())) {
        Some(digest) => format!("layer {number} ({}:{})", digest.algorithm(), short(digest.as_ref())),
        None => format!("layer {number}"),
    }
}

pub(super) fn outputs(layers: usize, squash_from: Option<usize>) -> Vec<Output> {
    let from = squash_from.filter(|from| from + 1 < layers).unwrap_or(layers);
    let single = (0..from).map(|number| number..number + 1);
    let merged = (from < layers).then_some(from..layers);
    single.chain(merged).map(|layers| Output { layers, action: Action::Kept }).collect()
}

pub(super) fn action(
    output: &Output,
    layers: &[Arc<LayerIndex>],
    kept: &[Bits],
    changes: &[BTreeMap<EntryId, Change>],
    analysis: &Analysis,
) -> Action {
    let is_merged = output.layers.len() > 1;
    let mut range = output.layers.clone();
    let empty = output.layers.clone().all(|number| kept[number].count() == 0);
    let is_folder = |number: usize| matches!(analysis.image.layers[number].blob, Blob::Folder(_));
    let whole = |number: usize| {
        kept[number].count() == layers[number].len() && changes[number].is_empty() && !is_folder(number)
    };
    if is_merged {
        return if empty { Action::Dropped } else { Action::Merged };
    }
    if range.all(whole) {
        Action::Kept
    } else if empty && !output.layers.clone().any(is_folder) {
        Action::Dropped
    } else {
        Action::Rewritten
    }
}
