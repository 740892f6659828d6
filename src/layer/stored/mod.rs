//! Serialises a layer for the cache.
//!
//! Regular data (entries, hashes, documents) is stored in columns, which decode by little more than copying; irregular
//! data (facts of binaries, warnings) is written by serde as postcard. The cache knows which version wrote the bytes,
//! so they have no version.

mod bodies;
mod bytes;
mod entries;
mod files;

use std::str::FromStr as _;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::builder::MAX_CONTENT_BYTES;
use super::index::{EntryKind, LayerIndex};
use super::outcome::{LayerRead, Verified};
use crate::base::text::is_unsafe;
use crate::base::{Digest, Limits, Warning, WarningCode};
use crate::formats::compression::Compression;
pub use bytes::StoredError;
pub(crate) use bytes::{Reader, Rows, Writer};

/// Facts of the layer as a whole.
#[derive(Serialize, Deserialize)]
struct Whole {
    /// Index in [`Compression::ALL`].
    compression: Option<usize>,
    compressed_bytes: Option<u64>,
    uncompressed_bytes: Option<u64>,
    digest: Option<String>,
    diff_id: Option<String>,
    complete: bool,
    warnings: Vec<StoredWarning>,
}

/// A warning.
#[derive(Serialize, Deserialize)]
struct StoredWarning {
    /// Index in [`WarningCode::ALL`].
    code: usize,
    message: String,
    /// `None` for the layer itself.
    subject: Option<String>,
}

impl LayerRead {
    /// Serialises the layer. Warnings about `subject`, the layer itself, are marked, because it has another number in
    /// another image. Verification is not stored, because it is specific to an image: call this before [`Self::check`].
    pub fn to_bytes(&self, subject: &str) -> Vec<u8> {
        let mut out = Writer::default();
        entries::write(&mut out, &self.index);
        files::write(&mut out, &self.facts);
        let told = |warning: &Warning| StoredWarning {
            code: WarningCode::ALL.iter().position(|code| *code == warning.code).unwrap_or(usize::MAX),
            message: warning.message.clone(),
            subject: (warning.subject != subject).then(|| warning.subject.clone()),
        };
        out.value(&Whole {
            compression: self.compression.and_then(|one| Compression::ALL.iter().position(|all| *all == one)),
            compressed_bytes: self.compressed_bytes,
            uncompressed_bytes: self.uncompressed_bytes,
            digest: self.digest.clone(),
            diff_id: self.diff_id.clone(),
            complete: self.complete,
            warnings: self.warnings.iter().map(told).collect(),
        });
        out.finish()
    }

    /// Reads the output of [`Self::to_bytes`], with warnings about `subject`. The bytes are untrusted: impossible
    /// layers are rejected, and allocations never exceed the available bytes.
    ///
    /// # Errors
    /// `bytes` are damaged, of another version, or exceed `limits`.
    pub fn from_bytes(bytes: &[u8], subject: &str, limits: &Limits) -> Result<Self, StoredError> {
        let mut from = Reader::new(bytes);
        let index = entries::read(&mut from, limits)?;
        let facts = files::read(&mut from, &index, limits)?;
        let whole: Whole = from.value()?;
        from.finish()?;
        let compression = match whole.compression {
            None => None,
            Some(place) => Some(*Compression::ALL.get(place).ok_or_else(|| from.fault("no compression"))?),
        };
        let sizes = [whole.compressed_bytes, whole.uncompressed_bytes];
        let sizes_fit = sizes.into_iter().flatten().all(|size| size <= MAX_CONTENT_BYTES);
        from.expect(sizes_fit, "more bytes than a layer may have")?;
        from.expect(bodies_fit(&index, &whole), "a body behind the end of the layer")?;
        let digests = [&whole.digest, &whole.diff_id];
        let all = digests.into_iter().flatten().all(|digest| Digest::from_str(digest).is_ok());
        from.expect(all, "no digest")?;
        from.expect(few(&whole.warnings, limits), "more warnings than a layer may have")?;
        let warnings =
            whole.warnings.into_iter().map(|told| told.warning(subject)).collect::<Option<Vec<_>>>();
        Ok(Self {
            index: Arc::new(index),
            facts: Arc::new(facts),
            compression,
            compressed_bytes: whole.compressed_bytes,
            uncompressed_bytes: whole.uncompressed_bytes,
            digest: whole.digest,
            diff_id: whole.diff_id,
            verified: Verified::default(),
            complete: whole.complete,
            warnings: warnings.ok_or_else(|| from.fault("no warning"))?,
        })
    }
}

/// Whether bodies of files are within the tar stream, if its length is known.
fn bodies_fit(index: &LayerIndex, whole: &Whole) -> bool {
    let Some(length) = whole.uncompressed_bytes else { return true };
    let files = index.kind.iter().zip(index.body_after.iter()).zip(index.size.iter());
    let mut files = files.filter(|((kind, after), _)| **kind == EntryKind::File && *after > 0);
    files.all(|((_, after), size)| (after - 1).checked_add(size).is_some_and(|end| end <= length))
}

/// Whether no code has more warnings than a pass stores, which limits them in four places.
fn few(warnings: &[StoredWarning], limits: &Limits) -> bool {
    let most = limits.warnings_per_code.saturating_add(1).saturating_mul(4);
    let mut counts = [0_usize; WarningCode::ALL.len()];
    warnings.iter().all(|told| {
        counts.get_mut(told.code).is_some_and(|count| {
            *count += 1;
            *count <= most
        })
    })
}

impl StoredWarning {
    /// The warning; `None` if its code is invalid, or its text not safe to show.
    fn warning(self, subject: &str) -> Option<Warning> {
        let code = *WarningCode::ALL.get(self.code)?;
        let safe = |text: &str| !text.chars().any(is_unsafe);
        let shown = safe(&self.message) && self.subject.as_deref().is_none_or(safe);
        let subject = self.subject.unwrap_or_else(|| subject.to_owned());
        shown.then(|| Warning::new(code, subject, self.message))
    }
}
