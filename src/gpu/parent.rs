//! Starts a child, reads what it tells, and ends it when its time is over.

use std::path::PathBuf;
use std::time::Duration;

use super::{Check, ChildRequest};
use crate::jobs::CancelToken;

/// What to check, and by which program.
#[derive(Clone, Debug)]
pub struct CheckRequest {
    /// This program: the child is the same one.
    pub executable: PathBuf,
    /// What the child is to do.
    pub child: ChildRequest,
    /// How long it may take in all.
    pub limit: Duration,
}

impl CheckRequest {
    /// How long a whole check may take: over ten times what it takes on a healthy machine; drivers that are
    /// loaded at first use take seconds.
    pub const LIMIT: Duration = Duration::from_secs(60);

    /// A request to this program.
    ///
    /// # Errors
    /// When the system does not say where this program lies.
    pub fn new(child: ChildRequest) -> std::io::Result<Self> {
        Ok(Self { executable: std::env::current_exe()?, child, limit: Self::LIMIT })
    }
}

/// Runs a check in a child process and waits for it. `news` is called with all that is known after each step.
/// Whatever the child does, this returns: within the limit, or soon after `cancel`.
pub fn check(_request: &CheckRequest, _cancel: &CancelToken, _news: &mut dyn FnMut(&Check)) -> Check {
    Check::default()
}
