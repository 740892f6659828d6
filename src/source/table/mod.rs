//! Tables of contents of layers (eStargz, zstd:chunked), fetched by range, and the bodies of single files.
//!
//! # Design
//!
//! **Tables of contents** (`formats/contents`, `source/table`). The entries of a table go straight into the
//! layer index, so that the tree is available before any file. Paths and modes select the files to fetch
//! (`layer/capture`); they are fetched in blob order, neighbours in one request, and processed like a stream
//! (`layer/listed`). The second pass fetches by range too. The table must match the digest in the manifest,
//! and each body the digest in the table; otherwise the layer is incomplete. The result is cached under both
//! digests, the table's and the blob's, and the bytes of the table as they are: they are verified each time.

mod claim;
mod cursor;
mod fetch;
mod ranges;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use cursor::Cursor;
pub use ranges::{Ranges, TocError};

use crate::base::{Limits, ReadAt, Section};
use crate::formats::contents::{ChunkMap, Contents, Format, Sum, chunked, estargz};
use crate::jobs::{CancelToken, Progress};
use claim::Claim;
use fetch::{Fetched, Window};

/// Bytes read of the first chunk of a file whose head may be sufficient, if the chunk is larger than [`WHOLE_PART`]: it
/// is then not verified.
const HEAD: u64 = 64 << 10;
/// Chunks up to this size are fetched whole, so that they can be verified.
const WHOLE_PART: u64 = 8 << 20;
/// Stretches with a smaller gap are fetched together: a request costs more than the gap.
const GAP: u64 = 256 << 10;

/// Required part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// All of it.
    Whole,
    /// Its first bytes, which determine whether the rest is needed.
    Head,
}

/// Size of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// Files to analyse.
    pub files: u64,
    /// Bytes to fetch for them.
    pub bytes: u64,
}

/// A table of contents verified by the manifest, and its location.
pub struct Table {
    /// Format.
    pub format: Format,
    /// Its digest in the manifest: of the JSON for eStargz, of the stored table for zstd:chunked.
    pub digest: String,
    /// Bytes of the whole blob, as the manifest claims.
    pub size: u64,
    bodies: ChunkMap,
    window: Arc<Mutex<Window>>,
    cursor: Mutex<Cursor>,
    unproven: Arc<AtomicU64>,
}

impl Table {
    /// Fetches the table in the annotations of a layer: its entries, and access to file contents. `None` if the
    /// annotations have none.
    ///
    /// # Errors
    /// It cannot be fetched, does not match its digest in the manifest, or is unusable.
    pub fn open(
        ranges: Arc<dyn Ranges>,
        annotations: &BTreeMap<String, String>,
        limits: &Limits,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> Result<Option<(Self, Contents)>, TocError> {
        let Some(claim) = Claim::of(annotations)? else { return Ok(None) };
        let size = ranges.size();
        let mut fetched = Fetched::new(ranges, cancel.clone(), progress.clone());
        let mut contents = claim.fetch(&mut fetched, limits)?;
        let bodies = std::mem::take(&mut contents.bodies);
        let window = Arc::new(Mutex::new(Window::new(fetched)));
        let unproven = Arc::default();
        let table = Self {
            format: claim.format(),
            digest: claim.digest().to_string(),
            bodies,
            size,
            cursor: Mutex::new(Cursor::new(&window, limits.inflated_bytes, &unproven)),
            window,
            unproven,
        };
        Ok(Some((table, contents)))
    }

    /// Whether the annotations have a table.
    pub fn is_named(annotations: &BTreeMap<String, String>) -> bool {
        [chunked::POSITION, estargz::DIGEST].iter().any(|name| annotations.contains_key(*name))
    }

    /// Digest of the table in the annotations.
    pub fn named(annotations: &BTreeMap<String, String>) -> Option<String> {
        Some(Claim::of(annotations).ok()??.digest().to_string())
    }

    /// Bytes fetched so far, the table included.
    pub fn fetched_bytes(&self) -> u64 {
        self.window().fetched()
    }

    /// Number of files with used bytes that no digest of the table verifies.
    pub fn unproven(&self) -> u64 {
        self.unproven.load(Ordering::Relaxed)
    }

    /// Why nothing more can be fetched after a failed request.
    pub fn broken(&self) -> Option<String> {
        self.window().broken()
    }

    /// Digest of a file in the table.
    pub fn sum(&self, entry: usize) -> Option<Sum> {
        self.bodies.sum(entry)
    }

    /// Whether the table has the location of a file's bytes.
    pub fn has_body(&self, entry: usize) -> bool {
        !self.bodies.parts(entry).is_empty()
    }

    /// Plans which files to fetch, in stretches. Replaces an earlier plan.
    pub fn plan(&self, wanted: impl Iterator<Item = (usize, Want)>) -> Planned {
        let mut planned = Planned::default();
        let mut stretches: Vec<Range<u64>> = Vec::new();
        for (entry, want) in wanted {
            let parts = self.bodies.parts(entry);
            planned.files += u64::from(!parts.is_empty());
            let first = parts.first().filter(|_| want == Want::Head);
            if let Some(part) = first {
                let length = part.end.saturating_sub(part.offset);
                let length = if length <= WHOLE_PART { length } else { HEAD };
                stretches.push(part.offset..part.offset.saturating_add(length));
            } else {
                let stored = parts.iter().filter(|part| !part.zeros);
                stretches.extend(stored.map(|part| part.offset..part.end));
            }
        }
        let plan = joined(stretches);
        planned.bytes = plan.iter().map(|stretch| stretch.end - stretch.start).sum();
        self.window().set_plan(plan);
        planned
    }

    /// The reader of file contents, one file after the other.
    pub fn cursor(&self) -> Reading<'_> {
        Reading { table: self, cursor: self.cursor.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// The contents of a file.
    pub fn body(self: &Arc<Self>, entry: usize) -> Section {
        let size = self.bodies.size(entry);
        Section::new(Arc::new(Body { table: Arc::clone(self), entry }), 0, size)
    }

    /// Frees the fetched bytes, until the next read.
    pub fn let_go(&self) {
        self.window().let_go();
        self.cursor.lock().unwrap_or_else(PoisonError::into_inner).let_go();
    }

    fn window(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Exclusive access to the reader of a table.
pub struct Reading<'a> {
    table: &'a Table,
    cursor: MutexGuard<'a, Cursor>,
}

impl Reading<'_> {
    /// Seeks to the start of a file.
    pub fn open(&mut self, entry: usize) {
        self.cursor.open(entry);
    }

    /// The next bytes of the file; 0 at its end.
    ///
    /// # Errors
    /// They cannot be fetched or decompressed, or do not match the table.
    pub fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.cursor.read(&self.table.bodies, buffer)
    }

    /// Verifies the bytes read so far.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn prove(&mut self) -> io::Result<()> {
        self.cursor.prove(&self.table.bodies, WHOLE_PART)
    }

    /// Why nothing more can be fetched after a failed request.
    pub fn broken(&self) -> Option<String> {
        self.table.broken()
    }
}

/// A file of a layer, fetched on read; most efficient from start to end.
struct Body {
    table: Arc<Table>,
    entry: usize,
}

impl ReadAt for Body {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut cursor = self.table.cursor.lock().unwrap_or_else(PoisonError::into_inner);
        cursor.seek(&self.table.bodies, self.entry, offset)?;
        cursor.read(&self.table.bodies, buffer)
    }
}

/// Stretches in blob order; overlapping and close ones are merged.
fn joined(mut stretches: Vec<Range<u64>>) -> Vec<Range<u64>> {
    stretches.sort_unstable_by_key(|stretch| (stretch.start, stretch.end));
    let mut plan: Vec<Range<u64>> = Vec::new();
    for stretch in stretches {
        if let Some(last) = plan.last_mut().filter(|last| stretch.start <= last.end.saturating_add(GAP)) {
            last.end = last.end.max(stretch.end);
        } else {
            plan.push(stretch);
        }
    }
    plan
}
