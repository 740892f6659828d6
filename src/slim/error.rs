//! Why an image cannot be written.

use crate::jobs::Cancelled;

/// Why an image was not written. Nothing is left under the name of the destination.
#[derive(Debug, thiserror::Error)]
pub enum SlimError {
    /// The destination cannot be used as given.
    #[error("invalid destination {text}: {reason}")]
    Destination {
        /// The destination, redacted.
        text: String,
        /// Reason.
        reason: String,
    },
    /// The destination failed while it was written.
    #[error("{what}: {reason}")]
    Write {
        /// What was written and where, such as `blob sha256:… to registry.example/app`.
        what: String,
        /// Reason.
        reason: String,
        /// What the user can do.
        hint: Option<String>,
    },
    /// Cancelled by the user.
    #[error("cancelled")]
    Cancelled,
}

impl From<Cancelled> for SlimError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}
