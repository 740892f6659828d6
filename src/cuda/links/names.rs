//! Small numbers for names and texts, so that the search compares and stores numbers.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::base::convert::index32;
use crate::base::text::escape;

/// Maps by small numbers of our own: no image chooses them, so a quick hash is safe.
pub(super) type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Multiplies by an odd constant (from the golden ratio), so that neighbours spread.
#[derive(Default)]
pub(super) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u32(u32::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.0 = (self.0.rotate_left(5) ^ u64::from(number)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// A name that is searched for, by its place in [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NameId(u32);

/// Names, each once.
#[derive(Default)]
pub(super) struct Names {
    list: Vec<Vec<u8>>,
    by_name: HashMap<Vec<u8>, u32>,
}

impl Names {
    /// The number of a name.
    pub(super) fn id(&mut self, name: &[u8]) -> NameId {
        if let Some(id) = self.by_name.get(name) {
            return NameId(*id);
        }
        let id = index32(self.list.len());
        self.list.push(name.to_vec());
        self.by_name.insert(name.to_vec(), id);
        NameId(id)
    }

    /// The number of a name, when it has one.
    pub(super) fn known(&self, name: &[u8]) -> Option<NameId> {
        self.by_name.get(name).map(|id| NameId(*id))
    }

    /// The name of a number.
    pub(super) fn get(&self, id: NameId) -> &[u8] {
        &self.list[id.0 as usize]
    }

    /// The name as it is shown.
    pub(super) fn shown(&self, id: NameId) -> String {
        escape(self.get(id))
    }
}
