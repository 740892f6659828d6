//! Small numbers for names and texts, so that the search compares and stores numbers.

use std::collections::HashMap;

use crate::base::convert::index32;
use crate::base::text::escape;

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

    /// The name of a number.
    pub(super) fn get(&self, id: NameId) -> &[u8] {
        &self.list[id.0 as usize]
    }

    /// The name as it is shown.
    pub(super) fn shown(&self, id: NameId) -> String {
        escape(self.get(id))
    }
}
