//! Sentences of a proof, as many as somebody reads.

use std::collections::HashMap;

/// Sentences of one list that are kept: an image may have a fault for each of its files.
const MOST: usize = 200;
/// Kinds of sentences beyond those that are kept, of which it is remembered that they were said.
const REMEMBERED: usize = 10_000;

/// What was found wrong, and what could not be proven.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// What is not found any more.
    pub(super) faults: Sentences,
    /// What was taken to be true, or could not be looked at.
    pub(super) unproven: Sentences,
}

/// A list of sentences. Those that say the same of several files stand once, with the first of them.
#[derive(Debug, Default)]
pub(super) struct Sentences {
    list: Vec<(String, usize)>,
    places: HashMap<String, Option<usize>>,
    beyond: usize,
}

impl Sentences {
    /// Adds a sentence, unless one with the same key was said before: then it counts as one more like that.
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

    /// Adds a sentence of its own.
    pub(super) fn add(&mut self, text: String) {
        self.say(text.clone(), || text);
    }

    /// Whether nothing was said.
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The sentences, in the order in which they were said.
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

/// So many of something: `1 file`, `2 files`.
pub(super) fn counted(count: impl Into<u64>, noun: &str) -> String {
    match count.into() {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}
