//! In: closures that do long work.
//! Out: progress, cancellation, the newest result, a panic turned into an error.
//! Must not know: images, or how results are shown (only a waker that says something is new).

mod cancel;
mod pool;
mod progress;
mod slot;

pub use cancel::{CancelToken, Cancelled};
pub use pool::{both, catch_panic, run_all, spawn, workers};
pub use progress::{Progress, Snapshot};
pub use slot::{Slot, Waker};
