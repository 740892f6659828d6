//! Selects the entries of an image's layers that another image would have.

use std::collections::BTreeSet;

use crate::layer::EntryId;
use crate::rootfs::{Node, Rootfs};

/// Kept entries of layers. A rebuilt image keeps some layers of this one unchanged (those of its base image), and of
/// the others the entries that are copied or installed again.
#[derive(Clone, Debug)]
pub struct Selection {
    /// By layer, bottom first.
    layers: Vec<Kept>,
}

/// The kept part of a layer.
#[derive(Clone, Debug)]
enum Kept {
    /// So many entries.
    All(usize),
    /// By entry.
    Some(Vec<bool>),
}

impl Selection {
    /// Everything of layers with so many entries.
    pub fn all(entries: &[usize]) -> Self {
        Self { layers: entries.iter().map(|count| Kept::All(*count)).collect() }
    }

    /// The first `whole` layers as they are, and nothing of the others.
    pub fn prefix(entries: &[usize], whole: usize) -> Self {
        let kept = |(number, count): (usize, &usize)| {
            if number < whole { Kept::All(*count) } else { Kept::Some(vec![false; *count]) }
        };
        Self { layers: entries.iter().enumerate().map(kept).collect() }
    }

    /// Keeps or excludes an entry.
    pub fn set(&mut self, layer: u16, entry: EntryId, keep: bool) {
        let Some(kept) = self.layers.get_mut(usize::from(layer)) else { return };
        if let Kept::All(count) = *kept {
            if keep {
                return;
            }
            *kept = Kept::Some(vec![true; count]);
        }
        if let Kept::Some(list) = kept
            && let Some(one) = list.get_mut(entry.0 as usize)
        {
            *one = keep;
        }
    }

    /// Keeps or excludes the content and the entry of a path.
    pub(super) fn set_node(&mut self, node: Node<'_>, keep: bool) {
        let own = node.entry().map(|entry| (node.layer(), entry));
        for (layer, entry) in node.content().into_iter().chain(own) {
            self.set(layer, entry, keep);
        }
    }

    /// Excludes files with all of their names, which are entries too.
    pub(super) fn leave_out(&mut self, rootfs: &Rootfs, files: &BTreeSet<(u16, EntryId)>) {
        for (layer, entry) in files {
            self.set(*layer, *entry, false);
            for node in rootfs.names(*layer, *entry) {
                let node = rootfs.node(*node);
                if let Some(other) = node.entry() {
                    self.set(node.layer(), other, false);
                }
            }
        }
    }

    /// Whether an entry is kept.
    pub fn has(&self, layer: u16, entry: EntryId) -> bool {
        match self.layers.get(usize::from(layer)) {
            Some(Kept::All(_)) => true,
            Some(Kept::Some(list)) => list.get(entry.0 as usize).copied().unwrap_or(false),
            None => false,
        }
    }
}
