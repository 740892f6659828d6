//! Content digests: the type is oci-spec's, the hashing is sha2's.

use std::fmt::Write as _;

pub use oci_spec::image::{Digest, DigestAlgorithm};
use sha2::{Digest as _, Sha256, Sha384, Sha512};

/// Hashes a stream with the algorithm that a digest names.
#[derive(Clone)]
pub enum Hasher {
    /// SHA-256, what nearly every image uses.
    Sha256(Sha256),
    /// SHA-384, registered by the OCI image specification.
    Sha384(Sha384),
    /// SHA-512, registered by the OCI image specification.
    Sha512(Sha512),
}

impl Hasher {
    /// A SHA-256 hasher, used where no digest names an algorithm.
    pub fn sha256() -> Self {
        Self::Sha256(Sha256::new())
    }

    /// The hasher for `digest`; `None` if its algorithm is not supported.
    pub fn for_digest(digest: &Digest) -> Option<Self> {
        match digest.algorithm() {
            DigestAlgorithm::Sha256 => Some(Self::sha256()),
            DigestAlgorithm::Sha384 => Some(Self::Sha384(Sha384::new())),
            DigestAlgorithm::Sha512 => Some(Self::Sha512(Sha512::new())),
            _ => None,
        }
    }

    /// Adds bytes to the hash.
    pub fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha256(hasher) => hasher.update(bytes),
            Self::Sha384(hasher) => hasher.update(bytes),
            Self::Sha512(hasher) => hasher.update(bytes),
        }
    }

    /// The digest of all bytes given so far, as `algorithm:hex`.
    pub fn finish(self) -> String {
        match self {
            Self::Sha256(hasher) => named("sha256", &hasher.finalize()),
            Self::Sha384(hasher) => named("sha384", &hasher.finalize()),
            Self::Sha512(hasher) => named("sha512", &hasher.finalize()),
        }
    }
}

/// The SHA-256 digest of `bytes`, as `sha256:hex`.
pub fn sha256_of(bytes: &[u8]) -> String {
    named("sha256", &Sha256::digest(bytes))
}

/// Whether `bytes` have the digest `digest`; `None` if its algorithm is not supported.
pub fn matches(digest: &Digest, bytes: &[u8]) -> Option<bool> {
    let mut hasher = Hasher::for_digest(digest)?;
    hasher.update(bytes);
    Some(hasher.finish() == digest.as_ref())
}

/// The first twelve hexadecimal digits, as in Docker; the whole text if it is not a digest.
pub fn short(digest: &str) -> &str {
    let hex = digest.split_once(':').map_or(digest, |(_, hex)| hex);
    hex.get(..12).unwrap_or(hex)
}

fn named(algorithm: &str, bytes: &[u8]) -> String {
    let mut text = String::with_capacity(algorithm.len() + 1 + bytes.len() * 2);
    text.push_str(algorithm);
    text.push(':');
    for byte in bytes {
        // Writing to a String cannot fail.
        write!(text, "{byte:02x}").ok();
    }
    text
}
