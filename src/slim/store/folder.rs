//! Folders: OCI image layouts, and skopeo's flat form.
//!
//! A new folder is a temporary one beside the destination, which is renamed. An image for an existing layout is a layout
//! of its own inside that folder until it is published: then its blobs are moved, and the index is replaced.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tempfile::{NamedTempFile, TempDir};

use super::copy::Origin;
use super::layout::{self, INDEX, MARK, blob_name, descriptor, index};
use super::temporary::{folder_of, shown, temporary_file, temporary_folder};
use super::{BUFFER, BlobSink, Documents, KeptBlob, Published, Staged, Store, check_size, failed, refused};
use crate::base::read_at::{open_regular, read_up_to};
use crate::base::save::save;
use crate::base::{Digest, Limits, Section};
use crate::jobs::{CancelToken, Progress};
use crate::slim::SlimError;
use crate::source::{Blob, LayerSource, redacted};

/// The manifest of the flat form.
const MANIFEST: &str = "manifest.json";
/// The file that marks the flat form.
const FLAT_MARK: (&str, &[u8]) = ("version", b"Directory Transport Version: 1.1\n");

/// How the folder is arranged.
#[derive(Clone, Debug)]
pub(in crate::slim) enum FolderForm {
    /// An OCI image layout, and the tag of the image there.
    Layout(Option<String>),
    /// Skopeo's flat folder.
    Flat,
}

/// A folder that is being written.
pub(in crate::slim) struct FolderStore {
    folder: PathBuf,
    form: FolderForm,
    /// Whether the folder is there already.
    exists: bool,
    work: TempDir,
    origin: Origin,
}

impl FolderStore {
    pub(in crate::slim) fn open(folder: &Path, form: FolderForm, origin: Origin) -> Result<Self, SlimError> {
        // Inside one that exists, because it may be on another file system than its parent.
        let place = Self::check(folder, &form)?;
        let exists = place == folder;
        Ok(Self { work: temporary_folder(&place)?, folder: folder.to_owned(), form, exists, origin })
    }

    /// Refuses a folder that cannot be written; the folder for temporary names.
    pub(in crate::slim) fn check(folder: &Path, form: &FolderForm) -> Result<PathBuf, SlimError> {
        if folder.symlink_metadata().is_err() {
            return folder_of(folder);
        }
        check_existing(folder, form)?;
        Ok(folder.to_owned())
    }

    fn failed(&self, error: &io::Error) -> SlimError {
        failed(format!("cannot write to the folder {}", shown(&self.folder)), error)
    }

    /// Name of a blob in the folder.
    fn name(&self, digest: &Digest) -> String {
        match self.form {
            FolderForm::Layout(_) => blob_name(digest),
            FolderForm::Flat => digest.digest().to_owned(),
        }
    }

    /// The path of a blob in the temporary folder.
    fn place(&self, digest: &Digest) -> io::Result<PathBuf> {
        let path = self.work.path().join(self.name(digest));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(path)
    }

    fn persist(&self, file: NamedTempFile, digest: &Digest) -> Result<(), SlimError> {
        let place = self.place(digest).map_err(|error| self.failed(&error))?;
        file.persist(place).map_err(|error| self.failed(&error.error))?;
        Ok(())
    }

    /// Links a blob that the existing layout has. Both names are of that layout, and one of them goes.
    fn link_present(&self, blob: &KeptBlob<'_>, progress: &Progress, cancel: &CancelToken) -> Option<()> {
        let there = self.folder.join(self.name(blob.digest));
        let file = self.exists.then(|| open_regular(&there).ok()).flatten()?;
        let length = file.metadata().ok()?.len();
        let section = Section::new(Arc::new(file), 0, length);
        let layer = LayerSource { blob: Blob::Section(section), ..blob.layer.clone() };
        // A damaged one is replaced.
        let present = KeptBlob { layer: &layer, ..*blob };
        self.origin.to_writer(&present, &mut io::sink(), progress, cancel).ok()?;
        fs::hard_link(&there, self.place(blob.digest).ok()?).ok()
    }
}

/// Refuses an existing folder that is neither empty nor a layout to add to.
fn check_existing(folder: &Path, form: &FolderForm) -> Result<(), SlimError> {
    let (transport, has_layout) = match form {
        FolderForm::Layout(_) => ("oci", folder.join(INDEX).is_file() || folder.join(MARK.0).is_file()),
        FolderForm::Flat => ("dir", false),
    };
    let invalid =
        |reason: String| SlimError::Destination { text: format!("{transport}:{}", shown(folder)), reason };
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(invalid("a file of this name exists".into()));
        }
        Err(error) => return Err(invalid(error.to_string())),
    };
    if has_layout || entries.next().is_none() {
        return Ok(());
    }
    let reason = match form {
        FolderForm::Layout(_) => "the folder exists, is not empty, and is not an OCI image layout",
        FolderForm::Flat => "the folder exists and is not empty",
    };
    Err(invalid(reason.into()))
}

impl Store for FolderStore {
    fn is_layout(&self) -> bool {
        matches!(self.form, FolderForm::Layout(_))
    }

    fn keep(&self, blob: &KeptBlob<'_>, progress: &Progress, cancel: &CancelToken) -> Result<(), SlimError> {
        if self.link_present(blob, progress, cancel).is_some() {
            return Ok(());
        }
        let mut file = temporary_file(self.work.path()).map_err(|error| self.failed(&error))?;
        self.origin.to_file(blob, file.as_file_mut(), progress, cancel)?;
        self.persist(file, blob.digest)
    }

    fn begin(&self) -> Result<Box<dyn BlobSink + Send + '_>, SlimError> {
        let file = temporary_file(self.work.path()).map_err(|error| self.failed(&error))?;
        Ok(Box::new(Sink { store: self, file: BufWriter::with_capacity(BUFFER, file), size: 0 }))
    }

    fn stage(self: Box<Self>, documents: Documents) -> Result<Box<dyn Staged>, SlimError> {
        documents.check()?;
        let write = |path: PathBuf, bytes: &[u8]| fs::write(path, bytes).map_err(|error| self.failed(&error));
        let blob = |digest: &Digest, bytes: &[u8]| {
            write(self.place(digest).map_err(|error| self.failed(&error))?, bytes)
        };
        let file = |name: &str, bytes: &[u8]| write(self.work.path().join(name), bytes);
        let entry = match &self.form {
            FolderForm::Layout(tag) => {
                documents.blobs().try_for_each(|(digest, bytes)| blob(digest, bytes))?;
                let entry = descriptor(&documents, tag.as_deref(), None);
                file(MARK.0, MARK.1)?;
                file(INDEX, &index(std::slice::from_ref(&entry)))?;
                entry
            }
            FolderForm::Flat => {
                documents.check_single("dir:")?;
                blob(&documents.config_digest, &documents.config)?;
                file(FLAT_MARK.0, FLAT_MARK.1)?;
                file(MANIFEST, &documents.manifest)?;
                Value::Null
            }
        };
        let (digest, choice) = (documents.top().0.clone(), documents.choice());
        Ok(Box::new(StagedFolder { store: *self, entry, digest, choice }))
    }
}

struct Sink<'a> {
    store: &'a FolderStore,
    file: BufWriter<NamedTempFile>,
    size: u64,
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write(bytes)?;
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl BlobSink for Sink<'_> {
    fn finish(self: Box<Self>, digest: &Digest, size: u64) -> Result<(), SlimError> {
        let Self { store, file, size: written } = *self;
        check_size(digest, size, written)?;
        let file = file.into_inner().map_err(|error| store.failed(error.error()))?;
        store.persist(file, digest)
    }
}

/// A complete folder under a temporary name.
struct StagedFolder {
    store: FolderStore,
    /// The image in the index of a layout.
    entry: Value,
    digest: Digest,
    /// Selects the new image of several.
    choice: String,
}

impl Staged for StagedFolder {
    fn reference(&self) -> String {
        let transport = match self.store.form {
            FolderForm::Layout(_) => "oci",
            FolderForm::Flat => "dir",
        };
        format!("{transport}:{}{}", self.store.work.path().display(), self.choice)
    }

    fn publish(self: Box<Self>) -> Result<Published, SlimError> {
        let Self { store, entry, digest, .. } = *self;
        let folder = store.folder.display();
        let reference = match &store.form {
            FolderForm::Layout(Some(tag)) => format!("oci:{folder}:{tag}"),
            FolderForm::Layout(None) if !store.exists => format!("oci:{folder}"),
            FolderForm::Layout(None) => format!("oci:{folder}@{digest}"),
            FolderForm::Flat => format!("dir:{folder}"),
        };
        match &store.form {
            _ if !store.exists => {
                // A folder that appeared meanwhile is replaced only if it is empty.
                fs::rename(store.work.path(), &store.folder).map_err(|error| store.failed(&error))?;
                let _renamed = store.work.keep();
            }
            FolderForm::Layout(_) => merge(&store, entry)?,
            FolderForm::Flat => {
                let failed = |error: io::Error| store.failed(&error);
                move_all(store.work.path(), &store.folder, Some(MANIFEST)).map_err(failed)?;
                fs::rename(store.work.path().join(MANIFEST), store.folder.join(MANIFEST)).map_err(failed)?;
            }
        }
        Ok(Published { reference: redacted(&reference) })
    }
}

/// Moves the blobs of the temporary layout into the existing one, then replaces its index.
fn merge(store: &FolderStore, entry: Value) -> Result<(), SlimError> {
    let failed = |error: io::Error| store.failed(&error);
    let path = store.folder.join(INDEX);
    let index = match File::open(&path) {
        Ok(file) => layout::add(&read_up_to(file, Limits::default().json_bytes).map_err(failed)?, entry)
            .map_err(|reason| refused(format!("cannot change {}", shown(&path)), reason, None))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => index(&[entry]),
        Err(error) => return Err(failed(error)),
    };
    for algorithm in fs::read_dir(store.work.path().join("blobs")).map_err(failed)? {
        let algorithm = algorithm.map_err(failed)?;
        let folder = store.folder.join("blobs").join(algorithm.file_name());
        fs::create_dir_all(&folder).map_err(failed)?;
        move_all(&algorithm.path(), &folder, None).map_err(failed)?;
    }
    save(&store.folder.join(MARK.0), MARK.1).map_err(failed)?;
    save(&path, &index).map_err(failed)
}

/// Moves what is in `from` to `to`.
fn move_all(from: &Path, to: &Path, except: Option<&str>) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if except.is_none_or(|except| entry.file_name() != except) {
            fs::rename(entry.path(), to.join(entry.file_name()))?;
        }
    }
    Ok(())
}
