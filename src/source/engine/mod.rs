//! Images of container engines on this machine, through their API: docker, podman.

use super::OpenContext;
use super::access::Tried;
use super::error::SourceError;
use super::image::Image;
use super::reference::Reference;
use crate::jobs::CancelToken;

/// An image that an engine holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocalImage {
    /// What holds it, such as `docker` or `podman (rootless)`.
    pub engine: String,
    /// The reference that opens it, such as `docker-daemon:nginx:latest`.
    pub reference: String,
    /// Its id: a digest.
    pub id: String,
    /// Its names with tags; none for an image that lost them.
    pub tags: Vec<String>,
    /// Bytes that the engine says it has unpacked, layers that it shares with others included; `None` when it does
    /// not say.
    pub bytes: Option<u64>,
    /// When it was made, in seconds since 1970.
    pub created: Option<i64>,
}

/// What the engines of this machine hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// Images, those made last first.
    pub images: Vec<LocalImage>,
    /// Sockets that were tried, and what came of it.
    pub tried: Vec<Tried>,
}

/// Asks the engines of this machine what they hold. Engines that do not answer soon are left out and named.
pub fn list(cancel: &CancelToken) -> Listing {
    let _ = cancel;
    Listing::default()
}

/// Opens an image of an engine by streaming what `docker save` would write, once and without a copy.
pub(super) fn open(reference: &Reference, context: &mut OpenContext<'_>) -> Result<Image, SourceError> {
    let _ = (reference, context);
    todo!()
}
