//! Cached tables of contents: not fetched again, and verified on each use.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::jobs::{CancelToken, Progress};
use crate::source::table::Ranges;

/// A range of a blob.
#[derive(Serialize, Deserialize)]
struct Piece {
    at: u64,
    bytes: Vec<u8>,
}

/// A blob with cached ranges. Records further ranges that are read, until [`Self::record`] is called.
pub(super) struct TocCache {
    blob: Arc<dyn Ranges>,
    here: Vec<Piece>,
    noted: Mutex<Option<Vec<Piece>>>,
    spared: AtomicU64,
}

impl TocCache {
    /// `record` is the result of [`Self::record`] in an earlier run. It is not trusted: the reader verifies the bytes.
    pub(super) fn new(blob: Arc<dyn Ranges>, record: Option<&[u8]>) -> Self {
        let here = record.and_then(|bytes| postcard::from_bytes(bytes).ok()).unwrap_or_default();
        Self { blob, here, noted: Mutex::new(Some(Vec::new())), spared: AtomicU64::new(0) }
    }

    /// Stops recording; returns new ranges, if there are any.
    pub(super) fn record(&self) -> Option<Vec<u8>> {
        let noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        (!noted.is_empty()).then(|| postcard::to_allocvec(&noted).ok()).flatten()
    }
}

impl Ranges for TocCache {
    fn size(&self) -> u64 {
        self.blob.size()
    }

    fn range(
        &self,
        offset: u64,
        length: u64,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> io::Result<Vec<u8>> {
        let here = self.here.iter().find(|piece| piece.at == offset && piece.bytes.len() as u64 == length);
        if let Some(piece) = here {
            self.spared.fetch_add(length, Ordering::Relaxed);
            return Ok(piece.bytes.clone());
        }
        let bytes = self.blob.range(offset, length, cancel, progress)?;
        if let Some(noted) = self.noted.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
            noted.push(Piece { at: offset, bytes: bytes.clone() });
        }
        Ok(bytes)
    }

    fn spared(&self) -> u64 {
        self.spared.load(Ordering::Relaxed)
    }
}
