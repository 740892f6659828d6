//! Which entries of an image's layers another image would have, and the merged view of it.

use crate::layer::EntryId;

/// Entries of layers that are kept. An image that is built anew holds some layers of this one as they are
/// (those of its base image), and of the others what is copied or installed again.
#[derive(Clone, Debug)]
pub struct Selection {
    /// By layer, bottom first.
    layers: Vec<Kept>,
}

/// What is kept of a layer.
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

    /// Keeps an entry or leaves it out.
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
