//! Places that images are written to.

mod archive;
mod copy;
mod engine;
mod folder;
mod layout;
mod registry;
mod temporary;

pub(super) use archive::{ArchiveForm, ArchiveStore, ImageName};
pub(super) use copy::Origin;
pub(super) use engine::EngineStore;
pub(super) use folder::{FolderForm, FolderStore};
pub(super) use registry::RegistryStore;

use std::fmt::Display;
use std::io::{self, Write};

use super::SlimError;
use crate::base::Digest;
use crate::base::digest::matches;
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::source::LayerSource;
use crate::source::registry::RegistryError;

/// A blob that is taken over byte for byte.
#[derive(Clone, Copy)]
pub struct KeptBlob<'a> {
    /// Where its bytes are: `blob` is a [`crate::source::Blob::Section`] or `Remote`; other kinds arrive by
    /// [`Store::begin`].
    pub layer: &'a LayerSource,
    /// Its digest, verified by the analysis.
    pub digest: &'a Digest,
    /// Its bytes.
    pub size: u64,
}

/// A place that receives the blobs of an image, in any order and from several threads, and then its documents. It shows
/// nothing under the name of the destination before [`Staged::publish`]. Dropping it removes what was written.
pub trait Store: Sync {
    /// Takes over a blob without decompressing it: by reflink or hard link where the file system can, by mount at the
    /// same registry, else by copying. A blob that is already there is not sent. The digest is verified on the way.
    ///
    /// # Errors
    /// The blob cannot be read or written, its bytes do not match its digest, or cancelled.
    fn keep(&self, blob: &KeptBlob<'_>, progress: &Progress, cancel: &CancelToken) -> Result<(), SlimError>;

    /// Starts a blob whose digest is known at its end. May wait while another one is written.
    ///
    /// # Errors
    /// The destination refuses it.
    fn begin(&self) -> Result<Box<dyn BlobSink + Send + '_>, SlimError>;

    /// Whether it is an OCI image layout, which readers open only with documents of OCI's media types.
    fn is_layout(&self) -> bool {
        false
    }

    /// Completes the image under a temporary name.
    ///
    /// # Errors
    /// The documents cannot be written.
    fn stage(self: Box<Self>, documents: Documents) -> Result<Box<dyn Staged>, SlimError>;
}

/// A blob that is being written; dropping it discards it.
pub trait BlobSink: Write {
    /// Completes the blob.
    ///
    /// # Errors
    /// The destination fails, or computed another digest.
    fn finish(self: Box<Self>, digest: &Digest, size: u64) -> Result<(), SlimError>;
}

/// Manifest and config of the written image, and its layers.
#[derive(Clone, Debug)]
pub struct Documents {
    /// The bytes of the manifest.
    pub manifest: Vec<u8>,
    /// Its media type.
    pub media_type: String,
    /// Its digest.
    pub manifest_digest: Digest,
    /// The bytes of the config.
    pub config: Vec<u8>,
    /// Its digest.
    pub config_digest: Digest,
    /// Digest and size of each layer's blob, bottom first.
    pub layers: Vec<(Digest, u64)>,
    /// The index of this and other images; their layers are in the store.
    pub platforms: Option<Platforms>,
}

/// An index of several platforms, and the documents of its other images.
#[derive(Clone, Debug)]
pub struct Platforms {
    /// The bytes of the index.
    pub index: Vec<u8>,
    /// Its media type.
    pub media_type: String,
    /// Its digest.
    pub digest: Digest,
    /// The images that are carried over.
    pub images: Vec<CarriedDocuments>,
}

/// Manifest and config of an image that is carried over.
#[derive(Clone, Debug)]
pub struct CarriedDocuments {
    /// The bytes of the manifest.
    pub manifest: Vec<u8>,
    /// Its media type.
    pub media_type: String,
    /// Its digest.
    pub manifest_digest: Digest,
    /// The bytes of the config.
    pub config: Vec<u8>,
    /// Its digest.
    pub config_digest: Digest,
}

/// A manifest or index: its digest, its media type, its bytes.
type Manifest<'a> = (&'a Digest, &'a str, &'a [u8]);

impl Documents {
    /// The configs of all images.
    fn configs(&self) -> impl Iterator<Item = (&Digest, &[u8])> {
        let own = (&self.config_digest, self.config.as_slice());
        std::iter::once(own).chain(self.carried().map(|one| (&one.config_digest, one.config.as_slice())))
    }

    /// The manifests of all images, without their index.
    fn manifests(&self) -> impl Iterator<Item = Manifest<'_>> {
        let own = (&self.manifest_digest, self.media_type.as_str(), self.manifest.as_slice());
        std::iter::once(own).chain(
            self.carried()
                .map(|one| (&one.manifest_digest, one.media_type.as_str(), one.manifest.as_slice())),
        )
    }

    fn carried(&self) -> impl Iterator<Item = &CarriedDocuments> {
        self.platforms.iter().flat_map(|platforms| &platforms.images)
    }

    /// What the name of the image is given to: the index, or without one the manifest.
    fn top(&self) -> Manifest<'_> {
        match &self.platforms {
            Some(index) => (&index.digest, &index.media_type, &index.index),
            None => (&self.manifest_digest, &self.media_type, &self.manifest),
        }
    }

    /// All documents by their digests, the index last.
    fn blobs(&self) -> impl Iterator<Item = (&Digest, &[u8])> {
        let index = self.platforms.iter().map(|index| (&index.digest, index.index.as_slice()));
        self.configs().chain(self.manifests().map(|(digest, _, bytes)| (digest, bytes))).chain(index)
    }

    /// What the ordinary reader adds to the name of the store to open the new image.
    fn choice(&self) -> String {
        self.platforms.as_ref().map(|_| format!("@{}", self.manifest_digest)).unwrap_or_default()
    }

    /// Refuses an index where there is none.
    fn check_single(&self, transport: &str) -> Result<(), SlimError> {
        match self.platforms {
            Some(_) => Err(single(transport.to_owned())),
            None => Ok(()),
        }
    }

    /// Refuses documents that do not have their digests.
    fn check(&self) -> Result<(), SlimError> {
        for (digest, bytes) in self.blobs() {
            if matches(digest, bytes) != Some(true) {
                return Err(refused(
                    format!("cannot write {digest}"),
                    "the document has another digest",
                    None,
                ));
            }
        }
        Ok(())
    }
}

/// A complete image that is not yet visible under its name; dropping it removes it.
pub trait Staged {
    /// A reference by which the ordinary reader opens it.
    fn reference(&self) -> String;

    /// Gives it its name.
    ///
    /// # Errors
    /// The destination fails; the image is then not there.
    fn publish(self: Box<Self>) -> Result<Published, SlimError>;
}

/// Where an image was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Published {
    /// The destination as a reference that opens it, redacted.
    pub reference: String,
}

/// The error of a destination that holds one platform.
pub(super) fn single(text: String) -> SlimError {
    let reason =
        "it holds images of one platform; use oci:, oci-archive: or docker://, or omit --all-platforms";
    SlimError::Destination { text, reason: reason.to_owned() }
}

/// Bytes collected before they are written to a file.
const BUFFER: usize = 128 << 10;

/// The error of a failed write; a cancelled one stays cancelled.
pub(super) fn failed(what: impl Into<String>, error: &io::Error) -> SlimError {
    if Cancelled::is_cause_of(error) {
        return SlimError::Cancelled;
    }
    let hint = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            Some("free space, or choose another destination")
        }
        io::ErrorKind::PermissionDenied => Some("choose a folder that you may write to"),
        _ => None,
    };
    let network = error.get_ref().and_then(|inner| inner.source()).and_then(|cause| cause.downcast_ref());
    match network {
        Some(cause) => {
            let cause: &RegistryError = cause;
            SlimError::Write { what: what.into(), reason: cause.why(), hint: cause.hint() }
        }
        None => refused(what, error, hint),
    }
}

fn refused(what: impl Into<String>, reason: impl Display, hint: Option<&str>) -> SlimError {
    SlimError::Write { what: what.into(), reason: reason.to_string(), hint: hint.map(str::to_owned) }
}

/// Refuses a blob of which another number of bytes was written than its descriptor will declare.
fn check_size(digest: &Digest, size: u64, written: u64) -> Result<(), SlimError> {
    if size == written {
        return Ok(());
    }
    Err(refused(
        format!("cannot write the blob {digest}"),
        format!("{written} bytes written, not {size}"),
        None,
    ))
}
