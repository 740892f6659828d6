//! In: closures with long work.
//! Out: progress, cancellation, the newest result, panics converted to errors.
//! Must not know: images, or how results are shown (only a waker that signals a new value).
//!
//! # Jobs, progress, cancellation
//!
//! A job carries a cancel token and atomic counters; both are used where bytes are read. The core knows a
//! waker and never egui. A panic in a job becomes an error that is shown, so the release profile unwinds.
//! Dialogs run on a worker thread: a desktop portal may hang.

mod cancel;
mod pool;
mod progress;
mod slot;

pub use cancel::{CancelToken, Cancelled};
pub use pool::{both, catch_panic, map_all, map_stretches, run_all, run_from_both_ends, spawn, workers};
pub use progress::{Progress, Snapshot};
pub use slot::{Slot, Waker};
