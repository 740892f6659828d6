//! What a caller of [`open`](super::open) provides.

use std::io::Read;

use super::access::Access;
use crate::base::text::printable;
use crate::base::{Digest, FileIdentity, Limits, Platform};
use crate::jobs::{CancelToken, Cancelled, Progress};

/// Environment of opening an image.
pub struct OpenContext<'a> {
    /// Limits for untrusted input.
    pub limits: &'a Limits,
    /// The platform to choose from an index; `None` for Linux on this machine's architecture.
    pub platform: Option<&'a Platform>,
    /// Access to registries and engines.
    pub access: &'a Access,
    /// Cancels the opening.
    pub cancel: &'a CancelToken,
    /// Receives byte counts if an archive is streamed.
    pub progress: &'a Progress,
    /// Gets every member of a compressed archive that may be a layer.
    pub sink: &'a mut dyn Sink,
}

impl<'a> OpenContext<'a> {
    /// The choice among the images of a source.
    pub(super) fn chosen<'c>(&self, select: &'c Select) -> Chosen<'c>
    where
        'a: 'c,
    {
        Chosen { select, platform: self.platform, limits: self.limits, cancel: self.cancel }
    }
}

/// Selects one of several images of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Select {
    /// The only one.
    Only,
    /// By name or tag.
    Name(String),
    /// By the digest of its manifest or index.
    Digest(Digest),
    /// By its place in a docker archive, from 0.
    Place(usize),
}

impl Select {
    /// What was selected, for messages.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Only => "any".to_owned(),
            Self::Name(name) => printable(name),
            Self::Digest(digest) => digest.to_string(),
            Self::Place(place) => format!("@{place}"),
        }
    }
}

/// The selection, in addition to the location.
pub(super) struct Chosen<'a> {
    pub(super) select: &'a Select,
    pub(super) platform: Option<&'a Platform>,
    pub(super) limits: &'a Limits,
    pub(super) cancel: &'a CancelToken,
}

/// A member of a compressed archive that may be a layer.
pub struct StreamedMember {
    /// Name in the archive, safe to show.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// Digest in its name.
    pub digest: Option<Digest>,
}

/// Identifies a stream of members seen before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceKey {
    /// A local file.
    File(FileIdentity),
    /// An image of an engine, by the engine's image id and address.
    Engine(String),
}

/// Receives the members of a compressed archive.
pub trait Sink {
    /// Reads the bytes of a possible layer, and returns a number for its result.
    ///
    /// # Errors
    /// Cancelled.
    fn layer(&mut self, member: &StreamedMember, bytes: &mut dyn Read) -> Result<usize, Cancelled>;

    /// The listing passed to [`Self::keep`] for this key, if the results of all layers passed to [`Self::layer`] then
    /// are still known. `None` to read the archive.
    fn recall(&mut self, _key: &SourceKey) -> Option<Vec<u8>> {
        None
    }

    /// Receives the listing of an archive that was read completely without a fault.
    fn keep(&mut self, _key: &SourceKey, _members: &[u8]) {}
}
