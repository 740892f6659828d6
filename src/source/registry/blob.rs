//! Blobs at a registry, as a stream that goes on where it broke, or in ranges.

use std::io::{self, Read};

use crate::base::Digest;
use crate::jobs::{CancelToken, Progress};

/// A blob at a registry. Clones share the connection.
#[derive(Clone)]
pub struct RemoteBlob {
    digest: Digest,
    size: u64,
}

impl RemoteBlob {
    /// The digest that the manifest names it by.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Its length in bytes, as the manifest claims.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Starts to fetch it from its first byte. Nothing is sent before the first read. Errors are those of the
    /// network, after all retries, with a [`super::RegistryError`] inside; the bytes are not judged here, since who
    /// reads them hashes them.
    pub fn stream(&self, cancel: &CancelToken, progress: &Progress) -> BlobReader {
        let _ = (cancel, progress);
        BlobReader {}
    }

    /// Fetches a part of it. What comes is not proven by the digest of the blob.
    ///
    /// # Errors
    /// Those of the network, and when the registry does not know ranges ([`io::ErrorKind::Unsupported`]).
    pub fn range(
        &self,
        offset: u64,
        length: u64,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> io::Result<Vec<u8>> {
        let _ = (offset, length, cancel, progress);
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// The bytes of a blob, as they arrive.
pub struct BlobReader {}

impl Read for BlobReader {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
