//! A layer that was read, as bytes that can be kept and read again.

use super::outcome::LayerRead;
use crate::base::Limits;

/// Why bytes are no layer that this version stored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at}: {what}")]
pub struct StoredError {
    /// Offset of what is wrong.
    pub at: usize,
    /// What is wrong there.
    pub what: &'static str,
}

impl LayerRead {
    /// All of it as bytes. Warnings about `subject`, the layer itself, are marked, since it has another number in
    /// another image. What was judged of it against claims is not kept: that is each image's own.
    pub fn to_bytes(&self, _subject: &str) -> Vec<u8> {
        Vec::new()
    }

    /// The layer that [`Self::to_bytes`] wrote, with warnings about `subject`. Trusts nothing: bytes that no layer
    /// could have given are refused.
    ///
    /// # Errors
    /// When `bytes` are damaged, of another version, or more than `limits` allow.
    pub fn from_bytes(_bytes: &[u8], _subject: &str, _limits: &Limits) -> Result<Self, StoredError> {
        Err(StoredError { at: 0, what: "not written yet" })
    }
}
