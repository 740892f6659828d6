//! In: closures with long work.
//! Out: progress, cancellation, the newest result, panics converted to errors.
//! Must not know: images, or how results are shown (only a waker that signals a new value).

mod cancel;
mod pool;
mod progress;
mod slot;

pub use cancel::{CancelToken, Cancelled};
pub use pool::{both, catch_panic, run_all, spawn, workers};
pub use progress::{Progress, Snapshot};
pub use slot::{Slot, Waker};
