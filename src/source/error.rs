use std::io;

use super::access::Tried;
use super::registry::RegistryError;
use crate::jobs::Cancelled;

/// Why an image cannot be opened: object and reason.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Invalid image reference.
    #[error("'{text}' is not an image reference: {reason}")]
    Reference {
        /// The text as given.
        text: String,
        /// Why.
        reason: String,
        /// What to try.
        hint: Option<String>,
    },
    /// A file or folder cannot be opened or read.
    #[error("cannot open {object}: {source}")]
    Open {
        /// The path.
        object: String,
        /// System error.
        source: io::Error,
        /// What to try.
        hint: Option<String>,
    },
    /// Not a container image.
    #[error("{object} is not a container image: {reason}")]
    NotAnImage {
        /// The path.
        object: String,
        /// Why.
        reason: String,
        /// What to try.
        hint: Option<String>,
    },
    /// A manifest, index or archive breaks its form.
    #[error("{object} cannot be read: {reason}")]
    Malformed {
        /// The document and its location.
        object: String,
        /// Why.
        reason: String,
    },
    /// The image has no part of this name.
    #[error("{object} has no image '{name}'; available: {}", list(.offered))]
    NoSuchImage {
        /// The source.
        object: String,
        /// Requested name or digest.
        name: String,
        /// The names that are there.
        offered: Vec<String>,
    },
    /// Several images and no name to choose by.
    #[error("{object} has {} images; specify one of: {}", .names.len(), list(.names))]
    SeveralImages {
        /// The source.
        object: String,
        /// Their names.
        names: Vec<String>,
    },
    /// No image for the platform.
    #[error("{object} has no image for {wanted}; available: {}", list(.offered))]
    NoPlatform {
        /// The source.
        object: String,
        /// Requested platform.
        wanted: String,
        /// The platforms that are there.
        offered: Vec<String>,
    },
    /// A form that is known and not supported.
    #[error("{object}: {reason}")]
    Unsupported {
        /// Object.
        object: String,
        /// Why.
        reason: String,
        /// What to try.
        hint: Option<String>,
    },
    /// A registry request failed.
    #[error(transparent)]
    Registry(#[from] Box<RegistryError>),
    /// No container engine gives the image.
    #[error("image {object} not found in any container engine: {}", list(&.tried.iter().map(ToString::to_string).collect::<Vec<_>>()))]
    Engine {
        /// The image.
        object: String,
        /// Sockets that were tried, with the results.
        tried: Vec<Tried>,
        /// What to try.
        hint: Option<String>,
    },
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Why a text is not a reference, and what to try.
#[derive(Debug)]
pub(super) struct Invalid {
    pub(super) reason: String,
    pub(super) hint: Option<String>,
}

impl Invalid {
    pub(super) fn new(reason: &str, hint: impl Into<String>) -> Self {
        Self { reason: reason.into(), hint: Some(hint.into()) }
    }
}

impl From<String> for Invalid {
    fn from(reason: String) -> Self {
        Self { reason, hint: None }
    }
}

impl SourceError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Reference { hint, .. }
            | Self::Open { hint, .. }
            | Self::NotAnImage { hint, .. }
            | Self::Engine { hint, .. }
            | Self::Unsupported { hint, .. } => hint.clone(),
            Self::Registry(error) => error.hint(),
            Self::NoPlatform { offered, .. } => {
                let known = offered.iter().find(|platform| platform.contains('/'));
                known.map(|platform| format!("choose one with --platform {platform}"))
            }
            Self::SeveralImages { object, names } => {
                // A digest brings its own sign.
                let sign = |name: &str| if name.starts_with('@') { "" } else { ":" };
                let add = |name: &String| {
                    format!("add the name to the reference, such as {object}{}{name}", sign(name))
                };
                names.first().map(add)
            }
            Self::Malformed { .. } | Self::NoSuchImage { .. } | Self::Cancelled(_) => None,
        }
    }

    /// The host to log in to, when that may help.
    pub fn login(&self) -> Option<&str> {
        match self {
            Self::Registry(error) => error.login(),
            _ => None,
        }
    }

    pub(super) fn open(object: impl Into<String>, source: io::Error) -> Self {
        let hint = (source.kind() == io::ErrorKind::PermissionDenied)
            .then(|| "owned by another user; copy it or ask for read permission".to_owned());
        Self::Open { object: object.into(), source, hint }
    }
}

fn list(names: &[String]) -> String {
    const SHOWN: usize = 20;
    match names.len() {
        0 => "none".to_owned(),
        count if count > SHOWN => format!("{}, and {} more", names[..SHOWN].join(", "), count - SHOWN),
        _ => names.join(", "),
    }
}
