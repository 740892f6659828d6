//! Blocking access to asynchronous clients: one shared runtime, and cancellable waiting.

use std::future::Future;
use std::io;
use std::sync::OnceLock;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::jobs::{CancelToken, Cancelled};

/// Interval of checks for cancellation.
pub(super) const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Threads that move bytes between sockets and readers; decompression happens elsewhere.
const THREADS: usize = 2;

/// The runtime of all connections; it exists until the program ends.
pub(super) fn runtime() -> io::Result<&'static Runtime> {
    static SHARED: OnceLock<Runtime> = OnceLock::new();
    if let Some(runtime) = SHARED.get() {
        return Ok(runtime);
    }
    let made =
        Builder::new_multi_thread().worker_threads(THREADS).thread_name("network").enable_all().build()?;
    Ok(SHARED.get_or_init(|| made))
}

/// Waits for `work` on this thread, at most for `limit`; `None` on timeout.
pub(super) fn wait<T>(
    cancel: &CancelToken,
    limit: Duration,
    work: impl Future<Output = T>,
) -> Result<Option<T>, Cancelled> {
    cancel.check()?;
    let Ok(runtime) = runtime() else { return Ok(None) };
    let cancelled = async {
        while !cancel.is_cancelled() {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    };
    runtime.block_on(async {
        tokio::select! {
            done = tokio::time::timeout(limit, work) => Ok(done.ok()),
            () = cancelled => Err(Cancelled),
        }
    })
}
