//! Serialises the facts about single files.

use super::bytes::{Reader, StoredError, Writer};
use crate::formats::string_references::StringReferences;
use crate::layer::bodies::BodyFacts;
use crate::layer::builder::MAX_CONTENT_BYTES;
use crate::layer::index::EntryId;

impl BodyFacts {
    /// Serialises the facts.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::default();
        out.pieces(self.samples.iter().map(|(entry, sample)| (*entry, sample)));
        out.pieces(self.hashes.iter().map(|(entry, hash)| (*entry, hash)));
        out.known(self.binaries.iter().map(|(entry, facts)| (*entry, facts)));
        out.known(self.mentions.iter().map(|(entry, mentions)| (*entry, mentions)));
        out.finish()
    }

    /// Reads the output of [`Self::to_bytes`] for a layer with this number of `entries`. The bytes are untrusted, as
    /// for [`LayerRead::from_bytes`](crate::layer::LayerRead::from_bytes).
    ///
    /// # Errors
    /// `bytes` are damaged, of another version, or about other entries.
    pub fn from_bytes(bytes: &[u8], entries: usize) -> Result<Self, StoredError> {
        let mut from = Reader::new(bytes);
        let is_one = |entry: EntryId| (entry.0 as usize) < entries;
        let facts = Self {
            samples: from.pieces_of(&is_one)?.into_iter().collect(),
            hashes: from.pieces_of(&is_one)?.into_iter().collect(),
            binaries: from.known(&is_one)?.into_iter().collect(),
            mentions: from.known(&is_one)?.into_iter().collect(),
        };
        from.finish()?;
        // File sizes are unknown here: the limit of a layer applies.
        let possible = facts.binaries.values().all(|facts| facts.is_possible(MAX_CONTENT_BYTES))
            && facts.mentions.values().all(StringReferences::is_possible);
        from.expect(possible, "facts that no file has")?;
        Ok(facts)
    }
}
