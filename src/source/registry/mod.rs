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
//!
//! # Design
//!
//! `source/registry` and `source/engine` contain all asynchronous code; from outside they look like slow
//! files. They share one runtime, whose threads only move bytes: hashing, decompression and walking stay on
//! the threads of the layer pass, which wait for each chunk. The runtime is at most some MiB ahead, and no
//! file is written. Waiting observes the cancel token, except for credential helpers, which have ten seconds.
//!
//! **Requests use reqwest, rustls and ring; protocol types are oci-client's** (names, error bodies, media
//! types). Its client was evaluated and rejected: version 0.18 drops `Retry-After`, reads documents without a
//! bound, hashes a blob a second time, has no identity tokens, and hides the token server's message. Registry
//! images are opened through the same code as a layout (`source/manifests`, `source/choose`): only the origin
//! of documents and blobs differs. There, a manifest or config with a wrong digest is an error, because
//! another location can be tried or nothing is known; a blob with a wrong digest is a layer warning, as
//! everywhere.
//!
//! **A blob is a resumable stream** (`registry/blob`): after an interruption it requests the rest by range,
//! skips known bytes if the server restarts, and stops at the size in the manifest. It does not judge the
//! bytes; the reader hashes them.
//!
//! **A push** (`registry/push`) sends a blob in chunks and keeps the one at hand: after an interruption the registry
//! tells how much it has, and the rest follows. The manifest is written by its digest, so that it can be read
//! and verified, and by its tag last.
//!
//! **Secrets** exist only in `Credential`, whose `Debug` shows the kind. Redirects to another host drop them.
//! Each credential location, mirror and socket that was tried leaves a `Tried` for the error, with a result
//! that is safe to show.

mod auth;
mod blob;
mod broken;
mod credentials;
mod documents;
mod environment;
mod error;
mod message;
mod name;
mod push;
mod repository;
mod retry;
mod session;
mod settings;
#[cfg(test)]
mod tests;
mod transport;
mod upload;

pub use blob::{BlobReader, RemoteBlob};
pub use documents::TagList;
pub use error::{Fault, RegistryError};
pub use push::Push;
pub use upload::Upload;

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

/// The name of a new image, complete: host, repository and tag, such as `docker.io/library/app:latest`.
///
/// # Errors
/// Why it is not such a name.
pub fn full_name(text: &str) -> Result<String, String> {
    let name = Name::parse(text)?;
    match (name.digest, name.tag) {
        (None, Some(tag)) => Ok(format!("{}/{}:{tag}", name.host, name.repository)),
        _ => Err("a new image is named by a tag, not by a digest".into()),
    }
}

/// The name in a registry reference; `None` for another transport.
fn name(reference: &Reference) -> Option<Result<Name, String>> {
    (reference.transport?.name == REGISTRY.name).then(|| Name::parse(&reference.location))
}
