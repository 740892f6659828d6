//! Sources that are read by range, and why a table of contents in one is not used.

use std::io;

use crate::base::Section;
use crate::jobs::{CancelToken, Progress};

/// A source with range requests.
pub trait Ranges: Send + Sync {
    /// Size in bytes.
    fn size(&self) -> u64;

    /// The complete range `offset..offset + length`.
    ///
    /// # Errors
    /// Errors of the source; [`io::ErrorKind::Unsupported`] if it does not support ranges.
    fn range(
        &self,
        offset: u64,
        length: u64,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> io::Result<Vec<u8>>;

    /// Bytes returned so far that were not fetched, because they were cached.
    fn spared(&self) -> u64 {
        0
    }
}

impl Ranges for Section {
    fn size(&self) -> u64 {
        self.len()
    }

    fn range(
        &self,
        offset: u64,
        length: u64,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> io::Result<Vec<u8>> {
        cancel.check()?;
        progress.add_read(length);
        self.part(offset, length).read_all(length)
    }
}

/// Why a table is not used.
#[derive(Debug)]
pub struct TocError {
    /// The reason. Safe to show.
    pub why: String,
    /// Whether the bytes contradict a digest of the manifest.
    pub contradicts: bool,
    /// Whether the job is cancelled.
    pub cancelled: bool,
}
