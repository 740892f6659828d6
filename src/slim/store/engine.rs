//! Container engines: an archive of `docker save` in a temporary file, which is loaded when it is published.

use super::archive::{ArchiveForm, ArchiveStore, ImageName, StagedArchive};
use super::copy::Origin;
use super::temporary::large_folder;
use super::{BlobSink, Documents, KeptBlob, Published, Staged, Store};
use crate::jobs::{CancelToken, Progress};
use crate::slim::SlimError;
use crate::source::engine::{Engine, EngineError};
use crate::source::{Reference, redacted};

/// An image for an engine.
pub(in crate::slim) struct EngineStore {
    engine: Engine,
    reference: String,
    archive: ArchiveStore,
    cancel: CancelToken,
}

impl EngineStore {
    /// Looks for the engine first: an archive of many gigabytes would be in vain.
    pub(in crate::slim) fn open(
        reference: &Reference,
        name: ImageName,
        origin: Origin,
        cancel: &CancelToken,
    ) -> Result<Self, SlimError> {
        let engine = Engine::find(reference, cancel).map_err(|error| failed(&reference.text, error))?;
        let archive =
            ArchiveStore::temporary(&large_folder(), ArchiveForm::Docker(Some(name)), origin, cancel)?;
        Ok(Self { engine, reference: reference.text.clone(), archive, cancel: cancel.clone() })
    }
}

fn failed(reference: &str, error: EngineError) -> SlimError {
    match error {
        EngineError::Failed { reason, hint } => {
            SlimError::Write { what: format!("cannot write {}", redacted(reference)), reason, hint }
        }
        EngineError::Cancelled(cancelled) => cancelled.into(),
    }
}

impl Store for EngineStore {
    fn keep(&self, blob: &KeptBlob<'_>, progress: &Progress, cancel: &CancelToken) -> Result<(), SlimError> {
        self.archive.keep(blob, progress, cancel)
    }

    fn begin(&self) -> Result<Box<dyn BlobSink + Send + '_>, SlimError> {
        self.archive.begin()
    }

    fn stage(self: Box<Self>, documents: Documents) -> Result<Box<dyn Staged>, SlimError> {
        let Self { engine, reference, archive, cancel } = *self;
        let archive = archive.complete(&documents)?;
        Ok(Box::new(StagedLoad { engine, reference, archive, cancel }))
    }
}

/// A complete archive that no engine has yet.
struct StagedLoad {
    engine: Engine,
    reference: String,
    archive: StagedArchive,
    cancel: CancelToken,
}

impl Staged for StagedLoad {
    fn reference(&self) -> String {
        self.archive.reference()
    }

    fn publish(self: Box<Self>) -> Result<Published, SlimError> {
        self.engine
            .load(self.archive.path(), &self.cancel)
            .map_err(|error| failed(&self.reference, error))?;
        Ok(Published { reference: redacted(&self.reference) })
    }
}
