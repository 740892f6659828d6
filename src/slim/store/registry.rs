//! Repositories of registries. The manifest is written by its digest, so that it can be read; its tag comes last.

use std::io::{self, Write};

use super::copy::Origin;
use super::temporary::large_folder;
use super::{BlobSink, Documents, KeptBlob, Manifest, Published, Staged, Store, check_size};
use crate::base::Digest;
use crate::jobs::{CancelToken, Progress};
use crate::slim::SlimError;
use crate::source::registry::{Push, Upload};
use crate::source::{Access, Image, Reference, SourceError};

/// A push.
pub(in crate::slim) struct RegistryStore {
    push: Push,
    origin: Origin,
    cancel: CancelToken,
}

impl RegistryStore {
    pub(in crate::slim) fn open(
        reference: &Reference,
        access: &Access,
        source: &Image,
        origin: Origin,
        cancel: &CancelToken,
    ) -> Result<Self, SlimError> {
        let push = Push::new(reference, access, source, &Progress::default())
            .map_err(|error| failed(format!("cannot push to {}", reference.location), error))?;
        Ok(Self { push, origin, cancel: cancel.clone() })
    }

    fn what(&self, object: &str) -> String {
        format!("cannot push {object} to {}", self.push.label())
    }

    fn failed(&self, object: &str, error: SourceError) -> SlimError {
        failed(self.what(object), error)
    }

    fn put(&self, name: &str, (_, media_type, bytes): Manifest<'_>) -> Result<(), SlimError> {
        let put = self.push.put_manifest(name, media_type, bytes, &self.cancel);
        put.map_err(|error| self.failed(&format!("the manifest {name}"), error))
    }

    fn has(&self, digest: &Digest, progress: &Progress, cancel: &CancelToken) -> Result<bool, SlimError> {
        self.push.has(digest, cancel, progress).map_err(|error| self.failed(&object(digest), error))
    }
}

/// Why a blob was not sent.
enum NotSent {
    Push(SourceError),
    Copy(SlimError),
}

impl From<SourceError> for NotSent {
    fn from(error: SourceError) -> Self {
        Self::Push(error)
    }
}

fn object(digest: &Digest) -> String {
    format!("the blob {digest}")
}

fn failed(what: String, error: SourceError) -> SlimError {
    let hint = error.hint();
    let reason = match error {
        SourceError::Cancelled(_) => return SlimError::Cancelled,
        SourceError::Registry(error) => error.why(),
        other => other.to_string(),
    };
    SlimError::Write { what, reason, hint }
}

impl Store for RegistryStore {
    fn keep(&self, blob: &KeptBlob<'_>, progress: &Progress, cancel: &CancelToken) -> Result<(), SlimError> {
        if self.has(blob.digest, progress, cancel)? {
            progress.tell(format!("{} is at {} already", blob.digest, self.push.label()));
            return Ok(());
        }
        let copy = |upload: &mut Upload<'_>| {
            self.origin.to_writer(blob, upload, progress, cancel).map_err(NotSent::Copy)
        };
        let sent = self.push.send(&blob.layer.blob, blob.digest, cancel, progress, copy);
        sent.map_err(|error| match error {
            NotSent::Push(error) => self.failed(&object(blob.digest), error),
            NotSent::Copy(error) => error,
        })
    }

    fn begin(&self) -> Result<Box<dyn BlobSink + Send + '_>, SlimError> {
        self.cancel.check()?;
        let mut upload = self.push.begin(&self.cancel, &Progress::default());
        // Without it a registry that loses an upload is an error.
        if let Ok(spool) = tempfile::tempfile_in(large_folder()) {
            upload = upload.with_spool(spool);
        }
        Ok(Box::new(Sink { store: self, upload, size: 0 }))
    }

    fn stage(self: Box<Self>, documents: Documents) -> Result<Box<dyn Staged>, SlimError> {
        documents.check()?;
        let progress = Progress::default();
        for (config, bytes) in documents.configs() {
            if self.has(config, &progress, &self.cancel)? {
                continue;
            }
            let mut upload = self.push.begin(&self.cancel, &progress);
            upload.write_all(bytes).map_err(|error| super::failed(self.what(&object(config)), &error))?;
            upload.finish(config).map_err(|error| self.failed(&object(config), error))?;
        }
        // An index is accepted after all that it names.
        for manifest in documents.manifests() {
            self.put(manifest.0.as_ref(), manifest)?;
        }
        Ok(Box::new(StagedPush { store: *self, documents }))
    }
}

struct Sink<'a> {
    store: &'a RegistryStore,
    upload: Upload<'a>,
    size: u64,
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.upload.write(bytes)?;
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.upload.flush()
    }
}

impl BlobSink for Sink<'_> {
    fn finish(self: Box<Self>, digest: &Digest, size: u64) -> Result<(), SlimError> {
        let Self { store, upload, size: written } = *self;
        check_size(digest, size, written)?;
        upload.finish(digest).map_err(|error| store.failed(&object(digest), error))
    }
}

/// An image without a tag.
struct StagedPush {
    store: RegistryStore,
    documents: Documents,
}

impl Staged for StagedPush {
    fn reference(&self) -> String {
        format!("docker://{}@{}", self.store.push.label(), self.documents.manifest_digest)
    }

    fn publish(self: Box<Self>) -> Result<Published, SlimError> {
        let tag = self.store.push.tag();
        self.store.put(tag, self.documents.top())?;
        Ok(Published { reference: format!("docker://{}:{tag}", self.store.push.label()) })
    }
}
