//! The layers that a selection gives, as indexes: what the reader of the written image must find.

use std::sync::Arc;

use super::{Selection, Step};
use crate::base::Limits;
use crate::layer::{DirId, EntryKind, IndexBuilder, IndexFull, LayerIndex, NewEntry, parts};

/// One index for each output that is not dropped.
pub(super) fn predict(
    selection: &Selection,
    layers: &[Arc<LayerIndex>],
    limits: &Limits,
) -> Result<Vec<Arc<LayerIndex>>, IndexFull> {
    let mut predicted = Vec::new();
    for output in selection.written() {
        // An untouched layer is its own index.
        if output.is_kept() {
            predicted.extend(layers.get(output.layers.start).cloned());
            continue;
        }
        let mut builder = IndexBuilder::new(limits);
        for (number, index) in layers.iter().enumerate().take(output.layers.end).skip(output.layers.start) {
            add(selection, number, index, &mut builder)?;
        }
        predicted.push(Arc::new(builder.finish()));
    }
    Ok(predicted)
}

fn add(
    selection: &Selection,
    number: usize,
    index: &LayerIndex,
    builder: &mut IndexBuilder,
) -> Result<(), IndexFull> {
    // Folders of the layer to those of the new index.
    let mut dirs = vec![None; index.dir_count()];
    if let Some(root) = dirs.first_mut() {
        *root = Some(DirId::ROOT);
    }
    for entry in index.entries() {
        let change = match selection.step(number, entry) {
            Step::Leave => continue,
            Step::Keep => None,
            Step::Change(change) => Some(change),
        };
        let facts = change.and_then(|change| change.facts);
        let link = change.and_then(|change| change.link.as_deref());
        let content = change.and_then(|change| change.content.as_deref());
        let (uid, gid) = facts.map_or_else(|| index.owner(entry), |facts| (facts.uid, facts.gid));
        let kind = index.kind(entry);
        let new = NewEntry {
            kind,
            size: content.map_or_else(|| index.size(entry), |new| new.pieces.len()),
            mode: u32::from(facts.map_or_else(|| index.mode(entry), |facts| facts.mode)),
            uid,
            gid,
            mtime: facts.map_or_else(|| index.mtime(entry), |facts| facts.mtime),
            link: link.or_else(|| index.link(entry)).unwrap_or_default(),
            body_at: None,
        };
        if let Some(path) = change.and_then(|change| change.path.as_deref()) {
            let parts: Vec<&[u8]> = parts(path).collect();
            let Some((name, folders)) = parts.split_last() else { continue };
            let dir = folders.iter().try_fold(DirId::ROOT, |dir, part| builder.dir(dir, part))?;
            builder.add(dir, name, new, kind != EntryKind::File)?;
            continue;
        }
        let dir = folder(index, index.dir(entry), builder, &mut dirs)?;
        let name = index.name(entry);
        match kind {
            EntryKind::Whiteout => builder.add(dir, &[b".wh.", name].concat(), new, true)?,
            EntryKind::Opaque => builder.add(dir, b".wh..wh..opq", new, true)?,
            _ => builder.add(dir, name, new, false)?,
        };
    }
    Ok(())
}

fn folder(
    index: &LayerIndex,
    dir: DirId,
    builder: &mut IndexBuilder,
    dirs: &mut [Option<DirId>],
) -> Result<DirId, IndexFull> {
    let mut missing = Vec::new();
    let mut at = dir;
    let mut new = loop {
        if let Some(known) = dirs.get(at.0 as usize).copied().flatten() {
            break known;
        }
        missing.push(at);
        at = index.dir_parent(at);
    };
    for dir in missing.into_iter().rev() {
        new = builder.dir(new, index.dir_name(dir))?;
        if let Some(known) = dirs.get_mut(dir.0 as usize) {
            *known = Some(new);
        }
    }
    Ok(new)
}
