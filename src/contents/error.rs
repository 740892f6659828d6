//! Why a path has no bytes.

use crate::base::text::and_more;
use crate::jobs::Cancelled;
use crate::slim::SlimError;

/// A path that the merged view does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {path} in the image: {found}")]
pub struct LookupError {
    /// The path or pattern, escaped.
    pub path: String,
    /// What was found in its place.
    pub found: String,
    /// Paths with similar names, escaped.
    pub near: Vec<String>,
}

/// Similar names in a hint.
const NEAR: usize = 3;

impl LookupError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        let named: Vec<&str> = self.near.iter().take(NEAR).map(String::as_str).collect();
        (!named.is_empty())
            .then(|| format!("similar: {}{}", named.join(", "), and_more(self.near.len(), named.len())))
    }
}

/// Why bytes were not read or not written.
#[derive(Debug, thiserror::Error)]
pub enum ContentsError {
    /// The path is not there.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The path is there and has no bytes.
    #[error("cannot read {path}: {reason}")]
    NotAFile {
        /// The path, escaped.
        path: String,
        /// What it is.
        reason: String,
    },
    /// Its layer cannot be read.
    #[error("cannot read {object}: {reason}")]
    Unread {
        /// The layer.
        object: String,
        /// Reason.
        reason: String,
    },
    /// The destination failed.
    #[error("cannot write {to}: {reason}")]
    Write {
        /// What was written.
        to: String,
        /// Reason.
        reason: String,
    },
    /// Cancelled by the user.
    #[error("cancelled")]
    Cancelled,
}

impl ContentsError {
    /// What the user can do.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Lookup(error) => error.hint(),
            _ => None,
        }
    }
}

impl From<Cancelled> for ContentsError {
    fn from(_: Cancelled) -> Self {
        Self::Cancelled
    }
}

impl From<SlimError> for ContentsError {
    fn from(error: SlimError) -> Self {
        match error {
            SlimError::Cancelled => Self::Cancelled,
            SlimError::Refused { object, reason } => Self::Unread { object, reason },
            other => Self::Unread { object: "the image".to_owned(), reason: other.to_string() },
        }
    }
}
