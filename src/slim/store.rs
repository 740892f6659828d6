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
}

impl Documents {
    /// Refuses documents that do not have their digests.
    fn check(&self) -> Result<(), SlimError> {
        for (digest, bytes) in [(&self.config_digest, &self.config), (&self.manifest_digest, &self.manifest)]
        {
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
