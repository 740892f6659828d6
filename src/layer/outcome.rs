//! Result of one pass over a layer, and its comparison with what is declared.

use std::sync::Arc;

use super::facts::LayerFacts;
use super::index::LayerIndex;
use crate::base::{Digest, Hasher, Warning, WarningCode};
use crate::formats::compression::Compression;

/// Declared properties of a layer; each is verified or stays unverified.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// Digest of the blob as stored.
    pub digest: Option<Digest>,
    /// Digest of the uncompressed tar.
    pub diff_id: Option<Digest>,
    /// Bytes of the blob as stored.
    pub size: Option<u64>,
    /// Media type of the descriptor.
    pub media_type: Option<String>,
    /// Read and hash everything, also what could be skipped.
    pub verify: bool,
}

/// Which claims were proven by hashing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// The digest of the blob.
    pub digest: bool,
    /// The digest of the uncompressed tar.
    pub diff_id: bool,
}

/// Result of one pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayerRead {
    /// All entries that could be read.
    pub index: Arc<LayerIndex>,
    /// Facts about its files.
    pub facts: Arc<LayerFacts>,
    /// Compression, detected by content; `None` if unknown.
    pub compression: Option<Compression>,
    /// Bytes of the blob as stored; `None` for a folder.
    pub compressed_bytes: Option<u64>,
    /// Bytes of the tar stream; `None` for a folder, and if the end was not reached.
    pub uncompressed_bytes: Option<u64>,
    /// Digest of the blob, if it was read completely.
    pub digest: Option<String>,
    /// Digest of the uncompressed tar, if it was hashed.
    pub diff_id: Option<String>,
    /// Verified properties.
    pub verified: Verified,
    /// Whether all bytes were available and no digest mismatched.
    pub complete: bool,
    /// Faults, in order.
    pub warnings: Vec<Warning>,
}

impl LayerRead {
    /// Whether the result is reusable for the same bytes in other images: everything was read, and nothing was omitted
    /// because of other layers.
    pub fn is_cacheable(&self) -> bool {
        self.complete && self.is_fully_analysed()
    }

    /// Whether everything that this version analyses was analysed: nothing was omitted because of other layers or read
    /// errors.
    pub fn is_fully_analysed(&self) -> bool {
        let unread = || self.warnings.iter().any(|warning| warning.code == WarningCode::NotRead);
        !self.facts.left_out && self.facts.lost_string_references == 0 && !unread()
    }

    /// Compares the result with the declared properties of one layer. A blob shared by several layers is read once and
    /// compared for each.
    pub fn check(&mut self, expected: &Expected, subject: &str) {
        self.check_media_type(expected, subject);
        let (digest, diff_id) = (self.digest.clone(), self.diff_id.clone());
        self.verified.digest = self.judge("digest", expected.digest.as_ref(), digest, subject);
        self.verified.diff_id = self.judge("diff id", expected.diff_id.as_ref(), diff_id, subject);
        let (Some(claimed), Some(found)) = (expected.size, self.compressed_bytes) else { return };
        if claimed != found {
            // Also if the digest matches: engines reject a blob of another size.
            self.complete = false;
            let message = format!("the blob has {found} bytes, the manifest declares {claimed}");
            self.warnings.push(Warning::new(WarningCode::SizeMismatch, subject, message));
        }
    }

    fn check_media_type(&mut self, expected: &Expected, subject: &str) {
        let (Some(media_type), Some(compression)) = (&expected.media_type, self.compression) else { return };
        let claimed = match media_type.rsplit(['.', '+']).next() {
            Some("gzip") => Compression::Gzip,
            Some("zstd") => Compression::Zstd,
            Some("tar") => Compression::None,
            _ => return,
        };
        if claimed != compression {
            let media_type = crate::base::text::printable(media_type);
            let found =
                if compression == Compression::None { "not compressed" } else { compression.as_str() };
            let message = format!("media type {media_type} does not match the contents ({found})");
            self.warnings.push(Warning::new(WarningCode::MediaTypeMismatch, subject, message));
        }
    }

    fn judge(&mut self, what: &str, claimed: Option<&Digest>, found: Option<String>, subject: &str) -> bool {
        let (Some(claimed), Some(found)) = (claimed, found) else { return false };
        if claimed.as_ref() == found {
            return true;
        }
        if Hasher::for_digest(claimed).is_none() {
            let message = format!("{what} {claimed} not verified: unknown algorithm");
            self.warnings.push(Warning::new(WarningCode::ManifestOddity, subject, message));
        } else if !same_algorithm(claimed, &found) {
            let message = format!("{what} {claimed} not verified: the bytes were hashed to {found}");
            self.warnings.push(Warning::new(WarningCode::ManifestOddity, subject, message));
        } else {
            self.complete = false;
            let message = format!("computed {what} {found}, declared {claimed}");
            self.warnings.push(Warning::new(WarningCode::DigestMismatch, subject, message));
        }
        false
    }
}

fn same_algorithm(claimed: &Digest, found: &str) -> bool {
    found.split_once(':').is_some_and(|(algorithm, _)| algorithm == claimed.algorithm().as_ref())
}
