//! Places that images are written to.

mod copy;
mod layout;

pub(super) use copy::Origin;
pub(super) use layout::LayoutStore;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::SlimError;
use crate::base::Digest;
use crate::base::text::printable;
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::source::LayerSource;

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

/// The error of a failed write; a cancelled one stays cancelled.
fn failed(what: impl Into<String>, error: &io::Error) -> SlimError {
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
    refused(what, error, hint)
}

fn refused(what: impl Into<String>, reason: impl Display, hint: Option<&str>) -> SlimError {
    SlimError::Write { what: what.into(), reason: reason.to_string(), hint: hint.map(str::to_owned) }
}

/// A path for messages.
fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

/// The folder that `path` is in, which must exist: temporary names are created there.
fn folder_of(path: &Path) -> Result<PathBuf, SlimError> {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let what = || format!("cannot write to the folder {}", shown(folder));
    match folder.metadata() {
        Ok(facts) if facts.is_dir() => Ok(folder.to_owned()),
        Ok(_) => Err(refused(what(), "not a folder", None)),
        Err(error) => Err(refused(what(), error, Some("create it first"))),
    }
}
