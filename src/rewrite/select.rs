//! Selects the entries of an image's layers that another image would have.

use crate::layer::EntryId;

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
    All,
    /// By entry.
    Some(Vec<bool>),
}

impl Selection {
    /// Everything of layers with so many entries.
    pub fn all(entries: &[usize]) -> Self {
        Self { layers: entries.iter().map(|_| Kept::All).collect() }
    }

    /// The first `whole` layers as they are, and nothing of the others.
    pub fn prefix(entries: &[usize], whole: usize) -> Self {
        let kept = |(number, count): (usize, &usize)| {
            if number < whole { Kept::All } else { Kept::Some(vec![false; *count]) }
        };
        Self { layers: entries.iter().enumerate().map(kept).collect() }
    }

    /// Keeps or excludes an entry.
    pub fn set(&mut self, layer: u16, entry: EntryId, keep: bool, entries: usize) {
        let Some(kept) = self.layers.get_mut(usize::from(layer)) else { return };
        if matches!(kept, Kept::All) {
            if keep {
                return;
            }
            *kept = Kept::Some(vec![true; entries]);
        }
        if let Kept::Some(list) = kept
            && let Some(one) = list.get_mut(entry.0 as usize)
        {
            *one = keep;
        }
    }

    /// Whether an entry is kept.
    pub fn has(&self, layer: u16, entry: EntryId) -> bool {
        match self.layers.get(usize::from(layer)) {
            Some(Kept::All) => true,
            Some(Kept::Some(list)) => list.get(entry.0 as usize).copied().unwrap_or(false),
            None => false,
        }
    }
}
