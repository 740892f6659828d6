//! In: a zstd stream of any number of frames.
//! Out: its bytes, or the errors of [`zstd::stream::read::Decoder`], decoded beside the thread that reads.
//! Must not know: what the bytes are.
//!
//! [`ParallelZstd`] is read on one thread. Another one cuts the compressed bytes where frames end, which their headers and
//! those of blocks say, and others decode what is between the cuts. A layer of one frame is decoded by one thread beside
//! the one that walks; one of many frames (`zstd:chunked`, `pzstd`) by all workers, for the same processor time.

mod frames;
mod parallel;

pub use frames::zstd_window;
pub use parallel::{Division, ParallelZstd};
