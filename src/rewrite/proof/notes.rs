//! The notes of a proof, limited in number.

use hashbrown::HashMap;

/// Maximum sentences kept per list: an image may have a fault for each of its files.
const MOST: usize = 200;
/// Maximum keys remembered beyond the kept sentences.
const REMEMBERED: usize = 10_000;

/// Faults, and what could not be proven.
#[derive(Debug, Default)]
pub(super) struct ProofNotes {
    /// What no longer resolves.
    pub(super) faults: Sentences,
    /// Assumptions, and what could not be checked.
    pub(super) unproven: Sentences,
}

/// A list of sentences. Those with the same key appear once, with the first file and a count.
#[derive(Debug, Default)]
pub(super) struct Sentences {
    list: Vec<(String, usize)>,
    places: HashMap<String, Option<usize>>,
    beyond: usize,
}

impl Sentences {
    /// Adds a sentence; one with a key that exists is only counted.
    pub(super) fn say(&mut self, key: impl Into<String>, text: impl FnOnce() -> String) {
        let key = key.into();
        if let Some(place) = self.places.get(&key) {
            if let Some((_, more)) = place.and_then(|place| self.list.get_mut(place)) {
                *more += 1;
            }
            return;
        }
        let place = (self.list.len() < MOST).then_some(self.list.len());
        match place {
            Some(_) => self.list.push((text(), 0)),
            None => self.beyond += 1,
        }
        if self.places.len() < REMEMBERED {
            self.places.insert(key, place);
        }
    }

    /// Adds a sentence without a key.
    pub(super) fn add(&mut self, text: String) {
        self.say(text.clone(), || text);
    }

    /// Whether it has no sentence.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The sentences, in the order of their addition.
    pub(super) fn finish(self) -> Vec<String> {
        let told = |(text, more): (String, usize)| match more {
            0 => text,
            more => format!("{text} (and {more} more like it)"),
        };
        let mut list: Vec<String> = self.list.into_iter().map(told).collect();
        list.extend((self.beyond > 0).then(|| format!("and {} more", self.beyond)));
        list
    }
}
