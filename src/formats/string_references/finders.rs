//! Where keys occur: two searches for short literals, one for texts and one for binaries.
//!
//! Measured on one core: in shared libraries the vectorised search passes 7 GB/s with up to 64 keys, the other 1.3 GB/s
//! with any number. In Python and JavaScript half of all letters begin some key, so the vectorised one falls to 0.6 to
//! 1.0 GB/s for 64 of them, and five of them for all 300 to 0.3 to 0.5 GB/s; the other stays at 1.1 to 1.3 GB/s.

use regex::bytes::Regex;

use super::words::WORDS;

/// Bytes of the longest key, and of the shortest.
pub(super) const LONGEST: usize = 4;
pub(super) const SHORTEST: usize = 3;

/// A few bytes that occur in some words, or a short word with an adjacent character.
pub(super) struct Key {
    pub(super) text: &'static str,
    /// Indexes in [`WORDS`], and the start of the word relative to the key.
    pub(super) words: Vec<(usize, isize)>,
    /// Whether it shows how a binary stores its strings, and stands for no word.
    pub(super) is_habit: bool,
}

impl Key {
    /// A key that occurs in words, or contains a word and an adjacent character: `n/ld` stands for `bin/ld`.
    pub(super) fn of_words(text: &'static str) -> Self {
        let mut words = Vec::new();
        let bare = text.trim_matches(|c: char| !c.is_ascii_alphanumeric() && c != '+');
        let bare = bare.strip_prefix("n/").unwrap_or(bare);
        for (place, word) in WORDS.iter().enumerate() {
            // Preparing a search takes longer than comparing: words are short.
            let mut parts = word.as_bytes().windows(text.len());
            let inside = parts.position(|part| part == text.as_bytes()).map(|at| -at.cast_signed());
            let around = || (*word == bare).then(|| text.find(bare).map(usize::cast_signed)).flatten();
            words.extend(inside.or_else(around).map(|shift| (place, shift)));
        }
        Self { text, words, is_habit: false }
    }
}

/// A search that cannot run: its keys are invalid.
pub(super) struct Broken;

pub(super) trait Finder {
    /// The next position from `at` on where a key begins, and keys of which at least one does. `Err` if the search
    /// cannot run.
    fn next(&self, bytes: &[u8], at: usize) -> Result<Option<(usize, &[Key])>, Broken>;
}

/// Finds some 40 keys of three bytes and more, or 64 of four. Of those that begin at one position it knows one.
pub(super) struct Vectorised {
    regex: Option<Regex>,
    keys: Vec<Key>,
}

impl Vectorised {
    pub(super) fn of(keys: Vec<Key>) -> Self {
        let escaped: Vec<String> = keys.iter().map(|key| regex::escape(key.text)).collect();
        Self { regex: Regex::new(&escaped.join("|")).ok(), keys }
    }

    #[cfg(test)]
    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }
}

impl Finder for Vectorised {
    fn next(&self, bytes: &[u8], at: usize) -> Result<Option<(usize, &[Key])>, Broken> {
        let regex = self.regex.as_ref().ok_or(Broken)?;
        let Some(hit) = (at <= bytes.len()).then(|| regex.find_at(bytes, at)).flatten() else {
            return Ok(None);
        };
        let place = self.keys.iter().position(|key| key.text.as_bytes() == hit.as_bytes()).ok_or(Broken)?;
        Ok(Some((hit.start(), &self.keys[place..=place])))
    }
}

const SLOTS: usize = 1 << 13;

/// Finds any number of keys by a hash of their first three bytes.
pub(super) struct Hashed {
    /// For each hash the fourth bytes of its keys: a bit for each value of their last three bits.
    fourths: Box<[u8; SLOTS]>,
    /// For each hash the index of its first key. The keys of a hash follow each other.
    firsts: Vec<u16>,
    keys: Vec<Key>,
}

impl Hashed {
    pub(super) fn of(mut keys: Vec<Key>) -> Self {
        let slot = |key: &Key| match *key.text.as_bytes() {
            [a, b, c, ..] => Self::slot([a, b, c, 0]),
            _ => 0,
        };
        keys.sort_by_key(slot);
        let (mut fourths, mut firsts) = (Box::new([0; SLOTS]), vec![0; SLOTS + 1]);
        for key in &keys {
            fourths[slot(key)] |= key.text.as_bytes().get(SHORTEST).map_or(u8::MAX, |last| 1 << (last & 7));
            firsts[slot(key) + 1] += 1;
        }
        for at in 0..SLOTS {
            firsts[at + 1] += firsts[at];
        }
        Self { fourths, firsts, keys }
    }

    /// The hash of the first three bytes, the one behind them left out: Fibonacci hashing, whose upper bits are best.
    fn slot(bytes: [u8; LONGEST]) -> usize {
        let product = (u32::from_le_bytes(bytes) << 8).wrapping_mul(0x9E37_79B1);
        (product >> (u32::BITS - SLOTS.ilog2())) as usize
    }

    #[cfg(test)]
    pub(super) fn keys(&self) -> &[Key] {
        &self.keys
    }

    fn keys_of(&self, slot: usize) -> &[Key] {
        &self.keys[usize::from(self.firsts[slot])..usize::from(self.firsts[slot + 1])]
    }
}

impl Finder for Hashed {
    fn next(&self, bytes: &[u8], at: usize) -> Result<Option<(usize, &[Key])>, Broken> {
        let rest = bytes.get(at..).unwrap_or_default();
        for (place, window) in rest.array_windows::<LONGEST>().enumerate() {
            let slot = Self::slot(*window);
            if self.fourths[slot] >> (window[SHORTEST] & 7) & 1 != 0 {
                let keys = self.keys_of(slot);
                if keys.iter().any(|key| window.starts_with(key.text.as_bytes())) {
                    return Ok(Some((at + place, keys)));
                }
            }
        }
        let Some(&[a, b, c]) = rest.last_chunk() else { return Ok(None) };
        let keys = self.keys_of(Self::slot([a, b, c, 0]));
        let begins = keys.iter().any(|key| key.text.as_bytes() == [a, b, c]);
        Ok(begins.then_some((bytes.len() - SHORTEST, keys)))
    }
}
