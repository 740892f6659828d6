//! Archives: an OCI layout in a tar, and the form of `docker save`, which is the same with a manifest.json.
//!
//! The tar is written once, in sequence: the header of a blob is reserved and written at its end, when name and size are
//! known. So there is one blob at a time, and others wait.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use tar::{EntryType, Header};
use tempfile::NamedTempFile;

use super::copy::Origin;
use super::layout::{INDEX, MARK, blob_name, descriptor, index};
use super::temporary::{folder_of, shown, temporary_file};
use super::{BUFFER, BlobSink, Documents, KeptBlob, Published, Staged, Store, check_size, failed};
use crate::base::Digest;
use crate::jobs::{CancelToken, Progress};
use crate::slim::SlimError;
use crate::source::redacted;

/// Bytes of a tar block.
const BLOCK: u64 = 512;
/// Interval of checks for cancellation while another blob is written.
const INTERVAL: Duration = Duration::from_millis(50);

/// What the archive is.
#[derive(Clone, Debug)]
pub(in crate::slim) enum ArchiveForm {
    /// An OCI layout, and the tag of the image there.
    Oci(Option<String>),
    /// That of `docker save`, and the name with a tag.
    Docker(Option<ImageName>),
}

/// The name of an image for an engine.
#[derive(Clone, Debug)]
pub(in crate::slim) struct ImageName {
    /// As it was given, with a tag.
    pub(in crate::slim) name: String,
    /// With the host of its registry.
    pub(in crate::slim) full: String,
}

impl ArchiveForm {
    fn transport(&self) -> &'static str {
        match self {
            Self::Oci(_) => "oci-archive",
            Self::Docker(_) => "docker-archive",
        }
    }
}

/// An archive that is being written.
pub(in crate::slim) struct ArchiveStore {
    /// `None` when it only stays temporary.
    target: Option<PathBuf>,
    form: ArchiveForm,
    work: NamedTempFile,
    /// `None` while a blob is written.
    tar: Mutex<Option<Tar>>,
    free: Condvar,
    origin: Origin,
    cancel: CancelToken,
}

impl ArchiveStore {
    /// An archive that gets the name `target`.
    pub(in crate::slim) fn open(
        target: &Path,
        form: ArchiveForm,
        origin: Origin,
        cancel: &CancelToken,
    ) -> Result<Self, SlimError> {
        let folder = Self::check(target, &form)?;
        let store = Self::temporary(&folder, form, origin, cancel)?;
        Ok(Self { target: Some(target.to_owned()), ..store })
    }

    /// Refuses a name that is taken, or in no folder; the folder that it is in.
    pub(in crate::slim) fn check(target: &Path, form: &ArchiveForm) -> Result<PathBuf, SlimError> {
        if target.symlink_metadata().is_ok() {
            let text = format!("{}:{}", form.transport(), shown(target));
            let reason = "the file exists; remove it, or choose another name".into();
            return Err(SlimError::Destination { text, reason });
        }
        folder_of(target)
    }

    /// An archive in `folder` without a name of its own.
    pub(super) fn temporary(
        folder: &Path,
        form: ArchiveForm,
        origin: Origin,
        cancel: &CancelToken,
    ) -> Result<Self, SlimError> {
        let made = temporary_file(folder).and_then(|work| Ok((work.reopen()?, work)));
        let (file, work) =
            made.map_err(|error| failed(format!("cannot write to the folder {}", shown(folder)), &error))?;
        let tar = Tar { file, end: 0, names: BTreeSet::new() };
        let (tar, free) = (Mutex::new(Some(tar)), Condvar::new());
        Ok(Self { target: None, form, work, tar, free, origin, cancel: cancel.clone() })
    }

    fn failed(&self, error: &io::Error) -> SlimError {
        failed(
            format!("cannot write the archive {}", shown(self.target.as_deref().unwrap_or(self.work.path()))),
            error,
        )
    }

    /// The tar, when no blob is written.
    fn take(&self) -> Result<Tar, SlimError> {
        let mut tar = self.tar.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            self.cancel.check()?;
            if let Some(tar) = tar.take() {
                return Ok(tar);
            }
            tar = self.free.wait_timeout(tar, INTERVAL).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn sink(&self) -> Result<Sink<'_>, SlimError> {
        let tar = self.take()?;
        let mut sink = Sink { store: self, tar: Some(tar), body: None };
        let body = sink.tar.as_ref().map(|tar| Ok(Body { file: tar.file.try_clone()?, at: tar.end + BLOCK }));
        let body = body.transpose().map_err(|error: io::Error| self.failed(&error))?;
        sink.body = body.map(|body| BufWriter::with_capacity(BUFFER, body));
        Ok(sink)
    }

    /// Completes the archive.
    pub(super) fn complete(self, documents: &Documents) -> Result<StagedArchive, SlimError> {
        documents.check()?;
        if let ArchiveForm::Docker(_) = &self.form {
            documents.check_single("docker-archive:")?;
        }
        let mut tar = self.take()?;
        let write = |tar: &mut Tar| {
            documents.blobs().try_for_each(|(digest, bytes)| tar.add(&blob_name(digest), bytes))?;
            tar.add(MARK.0, MARK.1)?;
            let entry = match &self.form {
                ArchiveForm::Oci(tag) => descriptor(documents, tag.as_deref(), None),
                ArchiveForm::Docker(name) => {
                    let name = name.as_ref();
                    let layers: Vec<String> =
                        documents.layers.iter().map(|(digest, _)| blob_name(digest)).collect();
                    let saved = json!([{
                        "Config": blob_name(&documents.config_digest),
                        "RepoTags": name.map(|name| vec![&name.name]),
                        "Layers": layers,
                    }]);
                    tar.add("manifest.json", saved.to_string().as_bytes())?;
                    let tag = name.and_then(|name| name.name.rsplit_once(':')).map(|(_, tag)| tag);
                    descriptor(documents, tag, name.map(|name| name.full.as_str()))
                }
            };
            tar.add(INDEX, &index(&[entry]))?;
            // Two empty blocks end a tar.
            tar.file.set_len(tar.end + 2 * BLOCK)
        };
        write(&mut tar).map_err(|error| self.failed(&error))?;
        let Self { target, form, work, .. } = self;
        Ok(StagedArchive { target, form, work, choice: documents.choice() })
    }
}

impl Store for ArchiveStore {
    fn is_layout(&self) -> bool {
        matches!(self.form, ArchiveForm::Oci(_))
    }

    fn keep(&self, blob: &KeptBlob<'_>, progress: &Progress, cancel: &CancelToken) -> Result<(), SlimError> {
        let mut sink = self.sink()?;
        if sink.tar.as_ref().is_some_and(|tar| tar.names.contains(&blob_name(blob.digest))) {
            return Ok(());
        }
        self.origin.to_writer(blob, &mut sink, progress, cancel)?;
        Box::new(sink).finish(blob.digest, blob.size)
    }

    fn begin(&self) -> Result<Box<dyn BlobSink + Send + '_>, SlimError> {
        Ok(Box::new(self.sink()?))
    }

    fn stage(self: Box<Self>, documents: Documents) -> Result<Box<dyn Staged>, SlimError> {
        Ok(Box::new(self.complete(&documents)?))
    }
}

/// A tar up to its end.
struct Tar {
    file: File,
    end: u64,
    names: BTreeSet<String>,
}

impl Tar {
    /// Adds a member.
    fn add(&mut self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, self.end + BLOCK)?;
        self.seal(name, bytes.len() as u64)
    }

    /// Ends a member of which the body was written: adds its header, which has no time of this machine.
    fn seal(&mut self, name: &str, size: u64) -> io::Result<()> {
        if self.names.insert(name.to_owned()) {
            self.file.set_len(self.end + BLOCK + size)?;
            self.file.write_all_at(header(name, EntryType::Regular, size)?.as_bytes(), self.end)?;
            self.end += BLOCK + size.next_multiple_of(BLOCK);
        }
        // Also removes what was written of a member that is there already.
        self.file.set_len(self.end)
    }
}

fn header(name: &str, kind: EntryType, size: u64) -> io::Result<Header> {
    let mut header = Header::new_gnu();
    header.set_path(name)?;
    header.set_entry_type(kind);
    header.set_mode(0o644);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(0);
    header.set_size(size);
    header.set_cksum();
    Ok(header)
}

/// Writes the body of a member.
struct Body {
    file: File,
    at: u64,
}

impl Write for Body {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.file.write_at(bytes, self.at)?;
        self.at += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A blob that is being written. It has the tar until it ends.
struct Sink<'a> {
    store: &'a ArchiveStore,
    tar: Option<Tar>,
    body: Option<BufWriter<Body>>,
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.body.as_mut().map_or(Ok(0), |body| body.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.body.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl BlobSink for Sink<'_> {
    fn finish(mut self: Box<Self>, digest: &Digest, size: u64) -> Result<(), SlimError> {
        let store = self.store;
        if let (Some(body), Some(tar)) = (self.body.take(), self.tar.as_mut()) {
            let body = body.into_inner().map_err(|error| store.failed(error.error()))?;
            check_size(digest, size, body.at - tar.end - BLOCK)?;
            tar.seal(&blob_name(digest), size).map_err(|error| store.failed(&error))?;
        }
        Ok(())
    }
}

/// Gives the tar back. What was written of an incomplete blob is overwritten, or cut off by the next member.
impl Drop for Sink<'_> {
    fn drop(&mut self) {
        if let Some(body) = self.body.take() {
            // Without writing what is left in the buffer.
            let _parts = body.into_parts();
        }
        *self.store.tar.lock().unwrap_or_else(PoisonError::into_inner) = self.tar.take();
        self.store.free.notify_one();
    }
}

/// A complete archive under a temporary name.
pub(super) struct StagedArchive {
    target: Option<PathBuf>,
    form: ArchiveForm,
    work: NamedTempFile,
    /// Selects the new image of several.
    choice: String,
}

impl StagedArchive {
    /// The archive.
    pub(super) fn path(&self) -> &Path {
        self.work.path()
    }
}

impl Staged for StagedArchive {
    fn reference(&self) -> String {
        format!("{}:{}{}", self.form.transport(), self.path().display(), self.choice)
    }

    fn publish(self: Box<Self>) -> Result<Published, SlimError> {
        let Self { target, form, work, .. } = *self;
        let target = target.unwrap_or_else(|| work.path().to_owned());
        work.persist_noclobber(&target)
            .map_err(|error| failed(format!("cannot write the archive {}", shown(&target)), &error.error))?;
        let name = match &form {
            ArchiveForm::Oci(tag) => tag.as_deref(),
            ArchiveForm::Docker(name) => name.as_ref().map(|name| name.name.as_str()),
        };
        let name = name.map(|name| format!(":{name}")).unwrap_or_default();
        let reference = format!("{}:{}{name}", form.transport(), target.display());
        Ok(Published { reference: redacted(&reference) })
    }
}
