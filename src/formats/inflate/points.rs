//! Restart points of a stream: where a decoder may begin, and checksums of what it must then produce.

use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::crc::Crc;
use super::output::WINDOW;

/// Decompressed bytes between two points. A file is read from the point before it, so this bounds what is decoded in
/// vain: 2 MiB in the mean.
pub const DISTANCE: u64 = 4 << 20;
/// Bytes from which a span is complete.
const SPAN: u32 = 128 << 10;
/// No span is longer: what a record may make a reader allocate.
const LONGEST_SPAN: u32 = 1 << 20;
/// Points whose windows are stored together: 128 MiB of the stream, and some 400 KiB of windows.
const GROUP: usize = 32;
/// Spans of a stream, at most: those of 128 GiB.
const MOST_SPANS: usize = 1 << 20;
/// Level for windows: five times as fast as the next ones.
const WINDOW_LEVEL: i32 = 1;

/// Content hash of a group of windows, and the name that it is stored under.
pub type GroupHash = [u8; blake3::OUT_LEN];
/// Stores a group of windows under the hash of its bytes.
pub type StoreGroup = dyn Fn(&GroupHash, &[u8]) + Send + Sync;
/// Loads the group of windows with this hash.
pub type LoadGroup = dyn Fn(&GroupHash) -> Option<Vec<u8>> + Send + Sync;

/// Where the decoder of a stream may begin beside its start: at a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Point {
    /// Position of the block in the compressed stream, in bits.
    bit: u64,
    /// The first span behind it.
    span: u32,
}

/// Consecutive decompressed bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Span {
    pub(super) length: u32,
    /// CRC-32 of the bytes.
    pub(super) crc: u32,
}

/// The restart points of one stream. The windows before them are stored apart, in groups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RestartPoints {
    points: Vec<Point>,
    spans: Vec<Span>,
    groups: Vec<GroupHash>,
    /// Where each span begins, and the end of the last.
    starts: Vec<u64>,
}

impl RestartPoints {
    fn new(points: Vec<Point>, spans: Vec<Span>, groups: Vec<GroupHash>) -> Option<Self> {
        let mut starts = Vec::with_capacity(spans.len() + 1);
        let mut at: u64 = 0;
        for span in &spans {
            if span.length == 0 || span.length > LONGEST_SPAN {
                return None;
            }
            starts.push(at);
            at += u64::from(span.length);
        }
        starts.push(at);
        let ascending =
            points.windows(2).all(|pair| pair[0].span < pair[1].span && pair[0].bit < pair[1].bit);
        let inside = points.iter().all(|point| (point.span as usize) < spans.len());
        (ascending && inside && groups.len() == points.len().div_ceil(GROUP)).then_some(Self {
            points,
            spans,
            groups,
            starts,
        })
    }

    /// Reads what [`Self::to_bytes`] wrote; `None` if it is anything else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (points, spans, groups) = postcard::from_bytes(bytes).ok()?;
        Self::new(points, spans, groups)
    }

    /// The points, spans and names of groups as bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        postcard::to_allocvec(&(&self.points, &self.spans, &self.groups)).unwrap_or_default()
    }

    /// How many points there are beside the start of the stream.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether the stream can be read from its start only.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Decompressed bytes of the whole stream.
    pub fn bytes(&self) -> u64 {
        self.starts.last().copied().unwrap_or_default()
    }

    /// Bytes that are decoded to read `ranges` (offset and length, ascending), each from the point before it, or by
    /// going on from the range before.
    pub fn cost(&self, ranges: impl IntoIterator<Item = (u64, u64)>) -> u64 {
        let (mut cost, mut next) = (0, 0);
        for (offset, length) in ranges {
            let (Some(first), Some(last)) = (
                self.span_at(offset),
                offset.checked_add(length.max(1)).and_then(|end| self.span_at(end - 1)),
            ) else {
                continue;
            };
            let from = self.start_for(first).0.max(next);
            let end = last + 1;
            if end > from {
                cost += self.starts[end] - self.starts[from];
                next = end;
            }
        }
        cost
    }

    /// The number of the span that holds the byte at `offset`.
    pub(super) fn span_at(&self, offset: u64) -> Option<usize> {
        (offset < self.bytes()).then(|| self.starts.partition_point(|start| *start <= offset) - 1)
    }

    pub(super) fn span(&self, number: usize) -> Option<Span> {
        self.spans.get(number).copied()
    }

    /// Where a span begins in the decompressed stream.
    pub(super) fn offset_of(&self, span: usize) -> u64 {
        self.starts.get(span).copied().unwrap_or_else(|| self.bytes())
    }

    /// Where to begin for a span: the span there, and the number of its point, or `None` for the start of the stream.
    pub(super) fn start_for(&self, span: usize) -> (usize, Option<usize>) {
        match self.points.partition_point(|point| point.span as usize <= span).checked_sub(1) {
            Some(number) => (self.points[number].span as usize, Some(number)),
            None => (0, None),
        }
    }

    /// The bit of a point, and the window before it; `None` if its group cannot be loaded or is not what it was.
    pub(super) fn open(&self, number: usize, load: &LoadGroup) -> Option<(u64, Vec<u8>)> {
        let hash = self.groups.get(number / GROUP)?;
        let group = load(hash)?;
        if blake3::hash(&group).as_bytes() != hash {
            return None;
        }
        let windows: Vec<&[u8]> = postcard::from_bytes(&group).ok()?;
        let window = zstd::bulk::decompress(windows.get(number % GROUP)?, WINDOW).ok()?;
        Some((self.points[number].bit, window))
    }
}

/// Where the points of a stream arrive at its end, and where windows go before.
#[derive(Clone)]
pub struct PointsSlot {
    store: Arc<StoreGroup>,
    points: Arc<Mutex<Option<RestartPoints>>>,
    distance: u64,
}

impl std::fmt::Debug for PointsSlot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PointsSlot").field("distance", &self.distance).finish_non_exhaustive()
    }
}

impl PointsSlot {
    /// A slot for points about `distance` bytes apart, usually [`DISTANCE`]. `store` receives the windows, in groups.
    pub fn new(distance: u64, store: Arc<StoreGroup>) -> Self {
        Self { store, points: Arc::default(), distance }
    }

    /// Bytes between two points.
    pub(super) fn distance(&self) -> u64 {
        self.distance
    }

    /// Takes the points, if the stream was read to its end without a fault.
    pub fn take(&self) -> Option<RestartPoints> {
        self.points.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// A place in the output at which a point may be set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    span: u32,
    at: u64,
}

/// Notes points and checksums while a stream passes.
pub(super) struct Recorder {
    slot: PointsSlot,
    points: Vec<Point>,
    spans: Vec<Span>,
    groups: Vec<GroupHash>,
    /// The span that is not complete.
    open: Crc,
    /// Windows of the group that is not complete.
    windows: Vec<Vec<u8>>,
    passed: u64,
    /// Where the last point is.
    last: u64,
    packer: Option<zstd::bulk::Compressor<'static>>,
}

impl Recorder {
    pub(super) fn new(slot: PointsSlot) -> Self {
        slot.take();
        Self {
            slot,
            points: Vec::new(),
            spans: Vec::new(),
            groups: Vec::new(),
            open: Crc::default(),
            windows: Vec::new(),
            passed: 0,
            last: 0,
            packer: zstd::bulk::Compressor::new(WINDOW_LEVEL).ok(),
        }
    }

    /// Bytes until the next point is due.
    pub(super) fn due_in(&self) -> u64 {
        if self.packer.is_none() || self.spans.len() >= MOST_SPANS {
            return u64::MAX;
        }
        (self.last + self.slot.distance).saturating_sub(self.passed)
    }

    /// Bytes with this checksum passed.
    pub(super) fn bytes(&mut self, crc: &Crc) {
        self.passed += u64::from(crc.amount());
        self.open.combine(crc);
        if self.open.amount() >= SPAN {
            self.close();
        }
    }

    fn close(&mut self) {
        if self.open.amount() > 0 && self.spans.len() < MOST_SPANS {
            self.spans.push(Span { length: self.open.amount(), crc: self.open.sum() });
            self.open = Crc::default();
        }
    }

    /// The place behind all bytes so far.
    pub(super) fn place(&mut self) -> Place {
        self.close();
        Place { span: crate::base::convert::index32(self.spans.len()), at: self.passed }
    }

    /// A block begins at `bit`, at this place, with `window` before it.
    pub(super) fn point(&mut self, place: Place, bit: u64, window: &[u8]) {
        let Some(packer) = &mut self.packer else { return };
        if self.points.last().is_some_and(|last| last.span >= place.span) {
            return;
        }
        let Ok(bytes) = packer.compress(window) else {
            self.packer = None;
            return;
        };
        self.last = place.at;
        self.points.push(Point { bit, span: place.span });
        self.windows.push(bytes);
        if self.windows.len() == GROUP {
            self.store_group();
        }
    }

    fn store_group(&mut self) {
        let Ok(bytes) = postcard::to_allocvec(&std::mem::take(&mut self.windows)) else {
            self.packer = None;
            return;
        };
        let hash = *blake3::hash(&bytes).as_bytes();
        (self.slot.store)(&hash, &bytes);
        self.groups.push(hash);
    }

    /// The stream ended without a fault.
    pub(super) fn finish(mut self) {
        self.close();
        // A point behind the last byte has no span.
        while self.points.last().is_some_and(|point| point.span as usize >= self.spans.len()) {
            self.points.pop();
            self.windows.pop();
        }
        if !self.windows.is_empty() {
            self.store_group();
        }
        let is_whole = self.spans.len() < MOST_SPANS && self.packer.is_some();
        let points = RestartPoints::new(self.points, self.spans, self.groups);
        *self.slot.points.lock().unwrap_or_else(PoisonError::into_inner) =
            points.filter(|points| is_whole && !points.is_empty());
    }
}
