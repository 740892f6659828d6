//! In: a compressed stream of gzip members, and how it is divided.
//! Out: its bytes, or the errors of [`flate2::bufread::MultiGzDecoder`], from one thread or several.
//! Must not know: what the bytes are.
//!
//! [`Gunzip`] decodes on the thread that reads.
//!
//! [`ParallelGunzip`] is read on one thread and decoded by others. The compressed bytes are cut into pieces. A coordinator
//! goes along the stream; workers go ahead. They search a piece for the first place where a block may begin, and decode
//! from there; a byte of the window before it, which is not known yet, is a marker. A part that begins where the one
//! before it ended is accepted, its window is handed on, and a worker replaces the markers. Where a guess was wrong, a
//! part has more bytes than a worker may hold, or there is no worker, the coordinator decodes itself. Once that window
//! is known, a worker that still decodes goes on without markers.
//!
//! What a worker decodes costs up to 1.8 times the processor time of what the coordinator does, so this is for layers
//! that others wait for. On two cores there is no worker: checks, hashes and the walk take more than half of the second
//! core, and the thread that does them decodes a piece ahead of the coordinator where it would wait for it.
//!
//! # Restart points
//!
//! While a stream passes, both readers note about every 4 MiB of output where a block begins, with the window before it,
//! and a checksum of each stretch of 128 to 384 KiB. A later reader begins at the point before the wanted place, and
//! returns a stretch only if its checksum is right.

#![allow(
    clippy::cast_possible_truncation,
    reason = "bits of a stream, masked to their width, and lengths of buffers in memory"
)]
#![allow(clippy::inline_always, reason = "steps of the inner loop, 20 % slower as calls")]

mod bits;
mod chunk;
mod codes;
mod coordinator;
mod crc;
mod decoder;
mod output;
mod own;
mod parallel;
mod points;
mod search;
mod seek;
mod serial;
mod tables;
mod workers;

pub use parallel::ParallelGunzip;
pub use points::{DISTANCE, GroupHash, LoadGroup, PointsSlot, RestartPoints, StoreGroup};
pub use seek::SeekableGunzip;
pub use serial::Gunzip;

/// How a stream is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Threads that decode ahead of the coordinator.
    pub workers: usize,
    /// Whether the thread that reads decodes ahead of the coordinator where it would wait, if there are no workers.
    pub reader_helps: bool,
    /// Compressed bytes of a piece.
    pub piece: usize,
    /// Pieces that are read ahead.
    pub ahead: usize,
    /// Symbols of two bytes that the decoded part of one piece may take.
    pub symbols: usize,
}

/// Shorter streams than this, compressed, are decoded by one thread.
const SHORTEST: u64 = 32 << 20;
/// Up to so many cores are kept busy by few threads.
pub const FEW_CORES: usize = 4;
/// Threads beyond these gain nothing: the reader hashes and walks what they decode.
const MOST_WORKERS: usize = 16;
/// Bytes of decoded parts for each worker; a part of a usual layer takes 6 MiB.
const BYTES_PER_WORKER: usize = 48 << 20;
/// Buffers of each kind that are kept for the next parts, for each worker: as many as a part of a usual layer has.
const BUFFERS_PER_WORKER: usize = 16;
/// Pieces between the coordinator and what the reader decodes ahead of it, so that the coordinator need not wait.
const LEAD: u64 = 3;
/// Decoded buffers that wait for the reader, 5 MiB: what evens out bytes that take long to walk.
const BUFFERS_AHEAD: usize = 32;
/// The same where there are workers.
const WIDE_BUFFERS_AHEAD: usize = 128;
/// So many go to the reader at once where there are workers: each time it may have to be woken.
const BUFFERS_AT_ONCE: usize = 8;
/// Bytes of decoded parts at most.
const MOST_BYTES: usize = 400 << 20;

impl Division {
    /// For so many threads.
    pub fn of(workers: usize) -> Self {
        let workers = workers.min(MOST_WORKERS);
        let ahead = 2 * workers + 1;
        let bytes = (workers * BYTES_PER_WORKER).min(MOST_BYTES);
        let piece = match bytes {
            0 => 64 << 10,
            MOST_BYTES => 512 << 10,
            // More memory is left for each part; what does not fit is left to the coordinator.
            _ => 1 << 20,
        };
        Self { workers, reader_helps: false, piece, ahead, symbols: bytes / 2 / ahead }
    }

    /// For two threads that both decode: the coordinator, and the one that reads where it would wait.
    pub const fn of_two() -> Self {
        let ahead = 2 * LEAD as usize;
        let symbols = BYTES_PER_WORKER / 2 / ahead;
        Self { workers: 0, reader_helps: true, piece: 512 << 10, ahead, symbols }
    }

    /// Whether a stream of so many compressed bytes is long enough for several threads.
    pub const fn is_long(bytes: u64) -> bool {
        bytes >= SHORTEST
    }

    /// Decoded buffers that wait for the reader.
    const fn buffers_ahead(self) -> usize {
        if self.workers > 0 { WIDE_BUFFERS_AHEAD } else { BUFFERS_AHEAD }
    }

    /// How many of them are handed on at once.
    const fn buffers_at_once(self) -> usize {
        if self.workers > 0 { BUFFERS_AT_ONCE } else { 1 }
    }

    /// For a stream of `bytes` compressed bytes of `all`, in `long` streams that are long enough and others, that `cores`
    /// have to decode: its share of the cores, rounded. `None` if that is one, and other streams keep the other cores
    /// busy, for less processor time.
    pub fn for_share(bytes: u64, all: u64, long: usize, cores: usize) -> Option<Self> {
        let (wide, all, of) = (u128::from(bytes), u128::from(all.max(1)), cores as u128);
        let share = ((2 * wide * of + all) / (2 * all)).min(MOST_WORKERS as u128) as usize;
        match share {
            _ if !Self::is_long(bytes) => None,
            // A share of the bytes says little of the time: a layer of many small files takes three times as long as
            // one of libraries. Short layers are done soon, and a thread that decodes costs little more.
            0 | 1 if cores > FEW_CORES && 2 * long <= cores => Some(Self::of(0)),
            0 | 1 => None,
            // One thread decodes, the other one checks, hashes and walks, and decodes where it would wait.
            2 if cores == 2 => Some(Self::of_two()),
            2 if cores <= FEW_CORES => Some(Self::of(0)),
            // Of more cores some wait for such a stream: a torch image takes 5.6 to 6.3 s on eight, with
            // that one thread 7.5 s.
            2 => Some(Self::of(3)),
            workers => Some(Self::of(workers)),
        }
    }
}
