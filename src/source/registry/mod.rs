//! Images at registries: names, credentials, documents, and blobs that are read as they arrive.
//!
//! Requests use `reqwest` on a private runtime, not the client of `oci-client`, of which version 0.18 drops
//! `Retry-After`, reads documents without a bound, hashes whole blobs a second time, has no identity tokens, and hides
//! the token server's message. Its names, media types and error documents are used, and `http-auth` parses challenges.
//! Asynchronous code stays inside: callers block, and return within 100 ms if cancelled.
//!
//! A `repository::Repository` has several locations (mirrors, then the registry), each a `session::Session` with its
//! own scheme, trust and token. A session retries until there is an answer; `documents` goes from a name to an image;
//! `blob` resumes interrupted transfers.

mod auth;
mod blob;
mod broken;
mod credentials;
mod documents;
mod environment;
mod error;
mod name;
mod repository;
mod retry;
mod session;
mod settings;
#[cfg(test)]
mod tests;
mod transport;

pub use blob::{BlobReader, RemoteBlob};
pub use documents::TagList;
pub use error::{Fault, RegistryError};

use super::access::Access;
use super::context::OpenContext;
use super::context::Select;
use super::error::SourceError;
use super::image::Image;
use super::reference::{Reference, Transport};
use crate::base::redact;
use crate::base::text::printable;
use crate::jobs::{CancelToken, Progress};
use name::Name;
use repository::Repository;
use session::Job;

/// A registry.
pub(super) static REGISTRY: Transport = Transport {
    name: "registry",
    prefixes: &["docker://", "registry:"],
    form: "docker://REF, registry:REF",
    about: "image in a registry",
    is_path: false,
    parse: |text| Ok((text.trim_start_matches("//"), Select::Only)),
    detect: |_| false,
    open,
};

/// Reads index, manifest and config of an image. Layers are fetched on demand.
fn open(reference: &Reference, context: &mut OpenContext<'_>) -> Result<Image, SourceError> {
    let job = Job { cancel: context.cancel, progress: context.progress };
    let repository = repository(reference, context.access, context.progress)?;
    documents::open(repository, &context.chosen(&reference.select), job)
}

/// The tags of a repository.
///
/// # Errors
/// `reference` is not a registry reference, or the registry does not return tags.
pub fn tags(
    reference: &Reference,
    access: &Access,
    cancel: &CancelToken,
    progress: &Progress,
) -> Result<TagList, SourceError> {
    documents::tags(&repository(reference, access, progress)?, Job { cancel, progress })
}

fn repository(
    reference: &Reference,
    access: &Access,
    progress: &Progress,
) -> Result<Repository, SourceError> {
    let unusable = |reason: String| SourceError::Reference {
        text: redact::reference(&printable(&reference.text), |text| REGISTRY.prefix_of(text)),
        reason,
        hint: Some(
            "image names have the form [HOST[:PORT]/]REPOSITORY[:TAG][@DIGEST], such as ghcr.io/team/app:1.2"
                .into(),
        ),
    };
    let name = name(reference).unwrap_or_else(|| Err("not a valid image name".into())).map_err(unusable)?;
    Repository::new(name, access, progress)
}

/// The host that opening `reference` would contact, with its port as in the reference (`docker.io` if it has none);
/// `None` if it is not a registry reference.
pub fn host(reference: &Reference) -> Option<String> {
    Some(name(reference)?.ok()?.host)
}

/// The name in a registry reference; `None` for another transport.
fn name(reference: &Reference) -> Option<Result<Name, String>> {
    (reference.transport?.name == REGISTRY.name).then(|| Name::parse(&reference.location))
}
