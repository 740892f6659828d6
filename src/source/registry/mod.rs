//! Images at registries: names, credentials, documents, and blobs that are read while they arrive.

mod blob;
mod credentials;
mod error;
mod kept;
mod name;
mod settings;

pub use blob::{BlobReader, RemoteBlob};
pub use error::{Fault, RegistryError};
pub use kept::KeptBlobs;

use super::access::Access;
use super::error::SourceError;
use super::image::Image;
use super::reference::Reference;
use super::{OpenContext, Transport};
use crate::jobs::{CancelToken, Progress};

/// Opens an image at a registry: reads its index, manifest and config. Layers are read when somebody asks.
pub(super) fn open(reference: &Reference, context: &mut OpenContext<'_>) -> Result<Image, SourceError> {
    let _ = (reference, context);
    todo!()
}

/// The tags of a repository, in the order that the registry gives.
///
/// # Errors
/// When `reference` is none of a registry, or the registry does not answer with tags.
pub fn tags(
    reference: &Reference,
    access: &Access,
    cancel: &CancelToken,
    progress: &Progress,
) -> Result<Vec<String>, SourceError> {
    let _ = (reference, access, cancel, progress);
    todo!()
}

/// The host that opening `reference` would contact, with its port, as in the reference (`docker.io` when it names
/// none); `None` when it is no reference to a registry.
pub fn host(reference: &Reference) -> Option<String> {
    if reference.transport != Transport::Registry {
        return None;
    }
    name::Name::parse(&reference.location).ok().map(|name| name.host)
}
