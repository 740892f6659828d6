//! Tables of contents of layers (eStargz, zstd:chunked), fetched by range, and the bodies of single files.

mod claim;
mod cursor;
mod fetch;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use cursor::Cursor;

use super::registry::RemoteBlob;
use crate::base::{Limits, ReadAt, Section};
use crate::formats::contents::{Bodies, Contents, Format, Sum, chunked, estargz};
use crate::jobs::{CancelToken, Progress};
use claim::Claim;
use fetch::{Fetched, Window};

/// Bytes read of the first chunk of a file of which only the head is needed, if the chunk is larger than
/// [`WHOLE_PART`]: it is then not verified.
const HEAD: u64 = 64 << 10;
/// Parts up to this size are fetched whole, so that they can be proven.
const WHOLE_PART: u64 = 8 << 20;
/// Stretches with a smaller gap between them are fetched together: a request costs more than the gap.
const GAP: u64 = 256 << 10;

/// Bytes that can be fetched by range.
pub trait Ranges: Send + Sync {
    /// Bytes in all.
    fn size(&self) -> u64;

    /// The bytes `offset..offset + length`, all of them.
    ///
    /// # Errors
    /// Those of the source; [`io::ErrorKind::Unsupported`] when it gives no ranges.
    fn range(
        &self,
        offset: u64,
        length: u64,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> io::Result<Vec<u8>>;

    /// Bytes of those given so far that had not to be fetched.
    fn spared(&self) -> u64 {
        0
    }
}

impl Ranges for RemoteBlob {
    fn size(&self) -> u64 {
        Self::size(self)
    }

    fn range(
        &self,
        offset: u64,
        length: u64,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> io::Result<Vec<u8>> {
        Self::range(self, offset, length, cancel, progress)
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
pub struct NoTable {
    /// The reason. Safe to show.
    pub why: String,
    /// Whether the bytes contradict a digest of the manifest.
    pub contradicts: bool,
    /// Whether the job is cancelled.
    pub cancelled: bool,
}

/// Required bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// All of it.
    Whole,
    /// Its first bytes, which determine whether the rest is needed.
    Head,
}

/// What a plan fetches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// Files that are analysed.
    pub files: u64,
    /// Bytes that are fetched for them.
    pub bytes: u64,
}

/// A table of contents verified by the manifest, and its location.
pub struct Table {
    format: Format,
    digest: String,
    bodies: Bodies,
    size: u64,
    window: Arc<Mutex<Window>>,
    cursor: Mutex<Cursor>,
    unproven: Arc<AtomicU64>,
}

impl Table {
    /// Fetches the table that the annotations of a layer name: its entries, and what serves their bodies. `None` when
    /// they name none.
    ///
    /// # Errors
    /// When it cannot be had, does not have the digest that the manifest has for it, or cannot be used.
    pub fn open(
        ranges: Arc<dyn Ranges>,
        annotations: &BTreeMap<String, String>,
        limits: &Limits,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> Result<Option<(Self, Contents)>, NoTable> {
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

    /// Whether annotations name a table at all.
    pub fn is_named(annotations: &BTreeMap<String, String>) -> bool {
        [chunked::POSITION, estargz::DIGEST].iter().any(|name| annotations.contains_key(*name))
    }

    /// The digest that annotations name the table by.
    pub fn named(annotations: &BTreeMap<String, String>) -> Option<String> {
        Some(Claim::of(annotations).ok()??.digest().to_string())
    }

    /// Which format it has.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Its digest in the manifest: of the JSON for eStargz, of the stored table for zstd:chunked.
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// Bytes of the whole blob, as the manifest claims.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Bytes that were fetched so far, the table included.
    pub fn fetched_bytes(&self) -> u64 {
        self.window().fetched()
    }

    /// Files of which bytes were used that no digest of the table proves.
    pub fn unproven(&self) -> u64 {
        self.unproven.load(Ordering::Relaxed)
    }

    /// Why nothing more can be fetched, after a request failed.
    pub fn broken(&self) -> Option<String> {
        self.window().broken()
    }

    /// The sum that the table has for all bytes of a file.
    pub fn sum(&self, entry: usize) -> Option<Sum> {
        self.bodies.sum(entry)
    }

    /// Whether the table has the location of a file's bytes.
    pub fn has_body(&self, entry: usize) -> bool {
        !self.bodies.parts(entry).is_empty()
    }

    /// Prepares to fetch files in stretches. Instead of what was prepared before.
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

    /// What reads the bodies, one after the other.
    pub fn cursor(&self) -> Reading<'_> {
        Reading { table: self, cursor: self.cursor.lock().unwrap_or_else(PoisonError::into_inner) }
    }

    /// The bytes of a file.
    pub fn body(self: &Arc<Self>, entry: usize) -> Section {
        let size = self.bodies.size(entry);
        Section::new(Arc::new(Body { table: Arc::clone(self), entry }), 0, size)
    }

    /// Frees the blob's bytes in memory, until the next read.
    pub fn let_go(&self) {
        self.window().let_go();
        self.cursor.lock().unwrap_or_else(PoisonError::into_inner).let_go();
    }

    fn window(&self) -> MutexGuard<'_, Window> {
        self.window.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one place of a table at which bodies are read.
pub struct Reading<'a> {
    table: &'a Table,
    cursor: MutexGuard<'a, Cursor>,
}

impl Reading<'_> {
    /// Goes to the start of a file.
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

    /// Verifies what was read so far.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn prove(&mut self) -> io::Result<()> {
        self.cursor.prove(&self.table.bodies, WHOLE_PART)
    }

    /// Why nothing more can be fetched, after a request failed.
    pub fn broken(&self) -> Option<String> {
        self.table.broken()
    }
}

/// A file of a layer, fetched on read, ideally from its start to its end.
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

/// Stretches in the order of the blob, those that overlap or are near each other as one.
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
