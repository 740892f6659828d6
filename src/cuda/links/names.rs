//! Interned names, so that the search compares and stores numbers.

use std::hash::{BuildHasherDefault, Hasher};

use hashbrown::HashMap;

use crate::base::convert::index32;
use crate::base::text::escape;

/// Map with interned numbers as keys; untrusted input does not determine them, so a fast hash is safe.
pub(super) type NumberMap<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// Multiplicative hash with an odd constant from the golden ratio, so that adjacent numbers spread.
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

/// An interned name, as index in [`Names`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct NameId(u32);

/// Interned names.
#[derive(Default)]
pub(super) struct Names {
    list: Vec<Vec<u8>>,
    by_name: HashMap<Vec<u8>, u32>,
}

impl Names {
    /// The id of a name, interning it if new.
    pub(super) fn id(&mut self, name: &[u8]) -> NameId {
        if let Some(id) = self.by_name.get(name) {
            return NameId(*id);
        }
        let id = index32(self.list.len());
        self.list.push(name.to_vec());
        self.by_name.insert(name.to_vec(), id);
        NameId(id)
    }

    /// The id of a name; `None` if not interned.
    pub(super) fn known(&self, name: &[u8]) -> Option<NameId> {
        self.by_name.get(name).map(|id| NameId(*id))
    }

    /// The name with this id.
    pub(super) fn get(&self, id: NameId) -> &[u8] {
        &self.list[id.0 as usize]
    }

    /// The name, escaped for display.
    pub(super) fn shown(&self, id: NameId) -> String {
        escape(self.get(id))
    }
}
