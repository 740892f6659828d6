//! What was read of single files of a layer after it was walked.

use std::collections::BTreeMap;

use super::facts::ContentHash;
use super::index::EntryId;
use crate::formats::binary::FileFacts;
use crate::formats::mentions::Mentions;

/// What was read of single files of a layer that can be seeked, by their entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyFacts {
    /// Marks of some bytes of a file: files of one size with different marks differ. Never equal to a content hash.
    pub samples: BTreeMap<EntryId, ContentHash>,
    /// Hashes of all bytes of a file.
    pub hashes: BTreeMap<EntryId, ContentHash>,
    /// Binaries of which the ranges were searched that the walk had left out.
    pub binaries: BTreeMap<EntryId, FileFacts>,
    /// Words that were found in a file; no words where it was searched and has none.
    pub mentions: BTreeMap<EntryId, Mentions>,
}

impl BodyFacts {
    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
            && self.hashes.is_empty()
            && self.binaries.is_empty()
            && self.mentions.is_empty()
    }

    /// Adds what `other` knows of the same layer. Where both know a file, `other` is the newer one.
    pub fn merge(&mut self, other: Self) {
        self.samples.extend(other.samples);
        self.hashes.extend(other.hashes);
        self.binaries.extend(other.binaries);
        self.mentions.extend(other.mentions);
    }
}
