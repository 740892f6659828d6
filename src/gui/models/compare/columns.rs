//! Which images are compared, and in which order.

use std::sync::Arc;

use super::words::letter;
use crate::analysis::Analysis;

/// An open image.
#[derive(Clone)]
pub struct OpenImage {
    /// Its ID in the window.
    pub id: u64,
    /// Its title, safe to show.
    pub title: String,
    /// Its reference, safe to show.
    pub shown: String,
    /// Progress of the work on it.
    pub state: ImageState,
}

/// Progress of the work on an open image.
#[derive(Clone)]
pub enum ImageState {
    /// It can be compared.
    Ready(Arc<Analysis>),
    /// It is being read: how much is done, and in words.
    Reading(Option<f32>, String),
    /// There is no result: why.
    Failed(String),
    /// It was stopped before its layers were merged.
    Stopped,
    /// A saved report, without files.
    Saved,
}

impl ImageState {
    /// Why it cannot be compared; `None` when it can, now or later.
    pub const fn refused(&self) -> Option<&'static str> {
        match self {
            Self::Saved => Some("Cannot compare: a saved report contains no files"),
            _ => None,
        }
    }
}

/// The images that are compared, by their ids; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageColumns {
    own: u64,
    list: Vec<u64>,
    /// The baseline; `None` for the first image.
    baseline: Option<u64>,
}

impl ImageColumns {
    /// The image whose view it is, alone.
    pub fn new(own: u64) -> Self {
        Self { own, list: vec![own], baseline: None }
    }

    /// The image whose view it is; it stays.
    pub fn own(&self) -> u64 {
        self.own
    }

    /// All of them in order.
    pub fn list(&self) -> &[u64] {
        &self.list
    }

    /// How an image is called in short, by its place; `?` for one that is not among them.
    pub fn letter(&self, id: u64) -> String {
        self.list.iter().position(|one| *one == id).map_or_else(|| "?".to_owned(), letter)
    }

    /// Whether an image is among them.
    pub fn has(&self, id: u64) -> bool {
        self.list.contains(&id)
    }

    /// Adds an image at the end; whether it is new.
    pub fn add(&mut self, id: u64) -> bool {
        let new = !self.has(id);
        if new {
            self.list.push(id);
        }
        new
    }

    /// Takes an image out, but for the own one.
    pub fn remove(&mut self, id: u64) {
        self.retain(|one| one != id);
    }

    /// Takes out all that are not kept, but for the own one.
    pub fn retain(&mut self, keep: impl Fn(u64) -> bool) {
        let own = self.own;
        self.list.retain(|id| *id == own || keep(*id));
        self.baseline = self.baseline.filter(|id| self.list.contains(id));
    }

    /// Moves an image one place to the right, or to the left.
    pub fn shift(&mut self, id: u64, right: bool) {
        let Some(at) = self.list.iter().position(|one| *one == id) else { return };
        let to = if right { at + 1 } else { at.wrapping_sub(1) };
        if to < self.list.len() {
            self.list.swap(at, to);
        }
    }

    /// The baseline.
    pub fn baseline(&self) -> u64 {
        self.baseline.or_else(|| self.list.first().copied()).unwrap_or(self.own)
    }

    /// Makes this image the baseline.
    pub fn set_baseline(&mut self, id: u64) {
        if self.has(id) {
            self.baseline = Some(id);
        }
    }

    /// Makes the next image the baseline, wrapping at the end.
    pub fn next_baseline(&mut self) {
        let now = self.baseline();
        let at = self.list.iter().position(|id| *id == now).unwrap_or(0);
        self.baseline = self.list.get((at + 1) % self.list.len().max(1)).copied();
    }
}

#[cfg(test)]
mod tests {
    use super::ImageColumns;

    #[test]
    fn columns_move_go_and_leave_the_baseline_to_the_first() {
        let mut columns = ImageColumns::new(4);
        assert!(columns.add(7) && columns.add(9) && !columns.add(7));
        assert_eq!((columns.list(), columns.baseline()), (&[4, 7, 9][..], 4));
        columns.shift(9, false);
        columns.shift(9, false);
        columns.shift(9, false);
        assert_eq!((columns.list(), columns.baseline()), (&[9, 4, 7][..], 9));
        columns.shift(7, true);
        columns.set_baseline(7);
        columns.set_baseline(1);
        assert_eq!((columns.list(), columns.baseline()), (&[9, 4, 7][..], 7));
        assert_eq!(
            (columns.letter(9), columns.letter(7), columns.letter(5)),
            ("A".into(), "C".into(), "?".into())
        );
        columns.next_baseline();
        assert_eq!(columns.baseline(), 9);
        columns.set_baseline(7);
        columns.remove(7);
        columns.remove(4);
        assert_eq!((columns.list(), columns.baseline()), (&[9, 4][..], 9));
        columns.retain(|_| false);
        assert_eq!((columns.list(), columns.baseline()), (&[4][..], 4));
    }
}
