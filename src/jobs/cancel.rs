use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Cancels running work. Clones share one flag.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    set: AtomicBool,
    /// Cancels this one too.
    parent: Option<CancelToken>,
}

/// The work was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled")]
pub struct Cancelled;

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// A token for a part of the work: cancelled with this one, or alone.
    pub fn child(&self) -> Self {
        Self(Arc::new(Flag { set: AtomicBool::new(false), parent: Some(self.clone()) }))
    }

    /// Requests cancellation; work notices where it reads bytes.
    pub fn cancel(&self) {
        self.0.set.store(true, Ordering::Relaxed);
    }

    /// Whether [`Self::cancel`] was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.set.load(Ordering::Relaxed) || self.0.parent.as_ref().is_some_and(Self::is_cancelled)
    }

    /// For use with `?` in loops.
    ///
    /// # Errors
    /// When cancelled.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() { Err(Cancelled) } else { Ok(()) }
    }
}

impl Cancelled {
    /// Whether this is why a read failed.
    pub fn is_cause_of(error: &io::Error) -> bool {
        matches!(error.get_ref(), Some(inner) if inner.is::<Self>())
    }

    /// For errors of reads that are handled, unless the work was cancelled.
    ///
    /// # Errors
    /// When cancelled.
    pub fn check_error(error: &io::Error) -> Result<(), Self> {
        if Self::is_cause_of(error) { Err(Self) } else { Ok(()) }
    }
}

impl From<Cancelled> for io::Error {
    /// `Interrupted` would be retried by `Read` helpers, so it is `Other` with [`Cancelled`] inside.
    fn from(cancelled: Cancelled) -> Self {
        Self::other(cancelled)
    }
}
