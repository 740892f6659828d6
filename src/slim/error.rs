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
    /// The image, or a layer of it, cannot be rewritten.
    #[error("cannot rewrite {object}: {reason}")]
    Refused {
        /// The image or a layer, such as `layer 3 (sha256:…)`.
        object: String,
        /// Reason.
        reason: String,
    },
    /// The written image is not the predicted one.
    #[error("the written image was discarded: {path}: {what}")]
    Differs {
        /// The first path that differs, escaped.
        path: String,
        /// How it differs.
        what: String,
    },
    /// Cancelled by the user.
    #[error("cancelled")]
    Cancelled,
}

impl SlimError {
    pub(super) fn refused(object: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Refused { object: object.into(), reason: reason.into() }
    }

    /// What the user can do.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Self::Write { hint, .. } => hint.as_deref(),
            Self::Differs { .. } => Some("nothing was written; please report it"),
            Self::Destination { .. } | Self::Refused { .. } | Self::Cancelled => None,
        }
    }
}

impl From<Cancelled> for SlimError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}
