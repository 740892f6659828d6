//! Facts about single files of a layer, read after the walk.

use std::collections::BTreeMap;

use super::facts::ContentHash;
use super::index::EntryId;
use crate::formats::binary::FileFacts;
use crate::formats::string_references::StringReferences;

/// Facts about single files of a seekable layer, by entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BodyFacts {
    /// Sampled hashes of files: files of equal size with different samples differ. Never equal to a content hash.
    pub samples: BTreeMap<EntryId, ContentHash>,
    /// Hashes of complete files.
    pub hashes: BTreeMap<EntryId, ContentHash>,
    /// Binaries whose deferred ranges were searched.
    pub binaries: BTreeMap<EntryId, FileFacts>,
    /// String references of a file; empty if it was searched and has none.
    pub mentions: BTreeMap<EntryId, StringReferences>,
}

impl BodyFacts {
    /// Whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
            && self.hashes.is_empty()
            && self.binaries.is_empty()
            && self.mentions.is_empty()
    }

    /// Merges `other`, facts about the same layer; its facts replace existing ones.
    pub fn merge(&mut self, other: Self) {
        self.samples.extend(other.samples);
        self.hashes.extend(other.hashes);
        self.binaries.extend(other.binaries);
        self.mentions.extend(other.mentions);
    }
}
