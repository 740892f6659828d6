//! OCI image layouts.
//!
//! A new layout is a temporary folder beside the destination, which is renamed. An image for an existing layout is a
//! layout of its own inside that folder until it is published: then its blobs are moved, and the index is replaced.

use std::fs::{self, File, Permissions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::{NamedTempFile, TempDir};

use super::copy::Origin;
use super::{BlobSink, Documents, KeptBlob, Published, Staged, Store, failed, folder_of, refused, shown};
use crate::base::digest::matches;
use crate::base::read_at::{open_regular, read_up_to};
use crate::base::save::save;
use crate::base::{Digest, Limits};
use crate::jobs::{CancelToken, Progress};
use crate::slim::SlimError;
use crate::source::{LayerSource, redacted};

const INDEX: &str = "index.json";
/// Annotation with the tag of an image in a layout.
const REF_NAME: &str = "org.opencontainers.image.ref.name";
/// Start of temporary names.
pub(super) const TEMPORARY: &str = ".cutaway-";
/// Bytes collected before they are written to a file.
const BUFFER: usize = 128 << 10;

/// The file that marks a layout.
pub(super) const MARK: (&str, &[u8]) = ("oci-layout", br#"{"imageLayoutVersion":"1.0.0"}"#);

/// Name of a blob in a layout.
pub(super) fn blob_name(digest: &Digest) -> String {
    format!("blobs/{}/{}", digest.algorithm(), digest.digest())
}

/// The descriptor of an image in an index.
pub(super) fn descriptor(documents: &Documents, tag: Option<&str>) -> Value {
    let mut descriptor = json!({
        "mediaType": documents.media_type,
        "digest": documents.manifest_digest.to_string(),
        "size": documents.manifest.len(),
    });
    if let (Some(tag), Some(fields)) = (tag, descriptor.as_object_mut()) {
        fields.insert("annotations".into(), json!({ REF_NAME: tag }));
    }
    descriptor
}

/// An index of these images.
pub(super) fn index(manifests: &[Value]) -> Vec<u8> {
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": manifests,
    });
    index.to_string().into_bytes()
}

/// A temporary folder in `folder`, with the permissions that a new folder has.
pub(super) fn temporary_folder(folder: &Path) -> Result<TempDir, SlimError> {
    tempfile::Builder::new()
        .prefix(TEMPORARY)
        .permissions(Permissions::from_mode(0o777))
        .tempdir_in(folder)
        // Its message names the temporary folder, which is irrelevant.
        .map_err(|error| {
            failed(format!("cannot write to the folder {}", shown(folder)), &error.kind().into())
        })
}

/// A temporary file in `folder`, with the permissions that a new file has.
pub(super) fn temporary_file(folder: &Path) -> io::Result<NamedTempFile> {
    tempfile::Builder::new()
        .prefix(TEMPORARY)
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(|error| error.kind().into())
}

/// A layout that is being written.
pub(in crate::slim) struct LayoutStore {
    folder: PathBuf,
    tag: Option<String>,
    /// Whether the folder is there already.
    exists: bool,
    work: TempDir,
    origin: Origin,
}

impl LayoutStore {
    pub(in crate::slim) fn open(folder: &Path, tag: Option<&str>, origin: Origin) -> Result<Self, SlimError> {
        let exists = folder.symlink_metadata().is_ok();
        let work = if exists {
            check_layout(folder)?;
            // Inside, because the folder may be on another file system than its parent.
            temporary_folder(folder)?
        } else {
            temporary_folder(&folder_of(folder)?)?
        };
        let store = Self { folder: folder.to_owned(), tag: tag.map(str::to_owned), exists, work, origin };
        fs::create_dir(store.work.path().join("blobs")).map_err(|error| store.failed(&error))?;
        Ok(store)
    }

    fn failed(&self, error: &io::Error) -> SlimError {
        failed(format!("cannot write to the layout {}", shown(&self.folder)), error)
    }

    /// The path of a blob in the temporary layout, with its folder.
    fn place(&self, digest: &Digest) -> io::Result<PathBuf> {
        let path = self.work.path().join(blob_name(digest));
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(path)
    }

    /// Links a blob that the existing layout has. Both names are of that layout, and one of them goes.
    fn link_present(&self, blob: &KeptBlob<'_>, progress: &Progress, cancel: &CancelToken) -> Option<()> {
        let there = self.folder.join(blob_name(blob.digest));
        let file = self.exists.then(|| open_regular(&there).ok()).flatten()?;
        let length = file.metadata().ok()?.len();
        let section = crate::base::Section::new(std::sync::Arc::new(file), 0, length);
        let layer = LayerSource { blob: crate::source::Blob::Section(section), ..blob.layer.clone() };
        // A damaged one is replaced.
        let present = KeptBlob { layer: &layer, ..*blob };
        self.origin.to_writer(&present, &mut io::sink(), progress, cancel).ok()?;
        fs::hard_link(&there, self.place(blob.digest).ok()?).ok()
    }
}

impl Store for LayoutStore {
    fn keep(&self, blob: &KeptBlob<'_>, progress: &Progress, cancel: &CancelToken) -> Result<(), SlimError> {
        if self.link_present(blob, progress, cancel).is_some() {
            return Ok(());
        }
        let mut file = temporary_file(self.work.path()).map_err(|error| self.failed(&error))?;
        self.origin.to_file(blob, file.as_file_mut(), progress, cancel)?;
        let place = self.place(blob.digest).map_err(|error| self.failed(&error))?;
        file.persist(place).map_err(|error| self.failed(&error.error))?;
        Ok(())
    }

    fn begin(&self) -> Result<Box<dyn BlobSink + Send + '_>, SlimError> {
        let file = temporary_file(self.work.path()).map_err(|error| self.failed(&error))?;
        Ok(Box::new(Sink { store: self, file: BufWriter::with_capacity(BUFFER, file), size: 0 }))
    }

    fn stage(self: Box<Self>, documents: Documents) -> Result<Box<dyn Staged>, SlimError> {
        let write = |name: &Path, bytes: &[u8]| {
            fs::write(self.work.path().join(name), bytes).map_err(|error| self.failed(&error))
        };
        let documented = [
            (&documents.config_digest, &documents.config),
            (&documents.manifest_digest, &documents.manifest),
        ];
        for (digest, bytes) in documented {
            if matches(digest, bytes) != Some(true) {
                return Err(refused(
                    format!("cannot write {digest}"),
                    "the document has another digest",
                    None,
                ));
            }
            write(&self.place(digest).map_err(|error| self.failed(&error))?, bytes)?;
        }
        let descriptor = descriptor(&documents, self.tag.as_deref());
        write(Path::new(MARK.0), MARK.1)?;
        write(Path::new(INDEX), &index(std::slice::from_ref(&descriptor)))?;
        Ok(Box::new(StagedLayout { store: *self, descriptor, digest: documents.manifest_digest }))
    }
}

/// Refuses an existing folder that is neither a layout nor empty.
fn check_layout(folder: &Path) -> Result<(), SlimError> {
    let invalid = |reason: String| SlimError::Destination { text: format!("oci:{}", shown(folder)), reason };
    let mut entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(invalid("a file of this name exists".into()));
        }
        Err(error) => return Err(invalid(error.to_string())),
    };
    if entries.next().is_some() && !folder.join(INDEX).is_file() && !folder.join(MARK.0).is_file() {
        return Err(invalid("the folder exists, is not empty, and is not an OCI image layout".into()));
    }
    Ok(())
}

struct Sink<'a> {
    store: &'a LayoutStore,
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
        let place = store.place(digest).map_err(|error| store.failed(&error))?;
        file.persist(place).map_err(|error| store.failed(&error.error))?;
        Ok(())
    }
}

/// Refuses a blob of which another number of bytes was written than its descriptor will declare.
pub(super) fn check_size(digest: &Digest, size: u64, written: u64) -> Result<(), SlimError> {
    if size == written {
        return Ok(());
    }
    Err(refused(
        format!("cannot write the blob {digest}"),
        format!("{written} bytes written, not {size}"),
        None,
    ))
}

/// A complete layout under a temporary name.
struct StagedLayout {
    store: LayoutStore,
    descriptor: Value,
    digest: Digest,
}

impl Staged for StagedLayout {
    fn reference(&self) -> String {
        format!("oci:{}", self.store.work.path().display())
    }

    fn publish(self: Box<Self>) -> Result<Published, SlimError> {
        let Self { store, descriptor, digest } = *self;
        let folder = store.folder.display();
        let reference = match &store.tag {
            Some(tag) => format!("oci:{folder}:{tag}"),
            None => format!("oci:{folder}@{digest}"),
        };
        if store.exists {
            merge(&store, descriptor)?;
        } else {
            // A folder that appeared meanwhile is replaced only if it is empty.
            fs::rename(store.work.path(), &store.folder).map_err(|error| store.failed(&error))?;
            let _renamed = store.work.keep();
        }
        Ok(Published { reference: redacted(&reference) })
    }
}

/// Moves the blobs of the temporary layout into the existing one, then replaces its index.
fn merge(store: &LayoutStore, descriptor: Value) -> Result<(), SlimError> {
    let failed = |error: io::Error| store.failed(&error);
    let old = store.folder.join(INDEX);
    let index = match File::open(&old) {
        Ok(file) => add(&read_up_to(file, Limits::default().json_bytes).map_err(failed)?, descriptor)
            .map_err(|reason| refused(format!("cannot change {}", shown(&old)), reason, None))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => index(&[descriptor]),
        Err(error) => return Err(failed(error)),
    };
    for algorithm in fs::read_dir(store.work.path().join("blobs")).map_err(failed)? {
        let algorithm = algorithm.map_err(failed)?;
        let folder = store.folder.join("blobs").join(algorithm.file_name());
        fs::create_dir_all(&folder).map_err(failed)?;
        for blob in fs::read_dir(algorithm.path()).map_err(failed)? {
            let blob = blob.map_err(failed)?;
            fs::rename(blob.path(), folder.join(blob.file_name())).map_err(failed)?;
        }
    }
    save(&store.folder.join(MARK.0), MARK.1).map_err(failed)?;
    save(&old, &index).map_err(failed)
}

/// The index with `descriptor` in place of what has the same tag.
fn add(index: &[u8], descriptor: Value) -> Result<Vec<u8>, String> {
    let mut index: Value = serde_json::from_slice(index).map_err(|_| "not JSON".to_owned())?;
    let manifests = index.get_mut("manifests").and_then(Value::as_array_mut);
    let manifests = manifests.ok_or_else(|| "no list of manifests".to_owned())?;
    let tag =
        |descriptor: &Value| descriptor.pointer("/annotations").and_then(|all| all.get(REF_NAME)).cloned();
    let new = tag(&descriptor);
    // Without a tag an image has only its digest as a name.
    manifests.retain(|old| tag(old) != new || new.is_none() && old.get("digest") != descriptor.get("digest"));
    manifests.push(descriptor);
    serde_json::to_vec(&index).map_err(|error| error.to_string())
}
