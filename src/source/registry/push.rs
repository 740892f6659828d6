//! Writes blobs and manifests to a repository (OCI distribution specification).

use std::sync::Arc;

use bytes::Bytes;
use reqwest::Method;
use reqwest::header::CONTENT_TYPE;

use super::super::access::Access;
use super::super::error::SourceError;
use super::super::image::{Blob, Image};
use super::super::reference::Reference;
use super::blob::RemoteBlob;
use super::error::Fault;
use super::message::{Message, Place};
use super::repository::Repository;
use super::retry::Retries;
use super::session::{Job, Session};
use super::transport::wait_for;
use super::upload::{MOST_STARTS, UPLOADS, Upload, is_lost};
use crate::base::Digest;
use crate::base::digest::short;
use crate::jobs::{CancelToken, Progress};

/// A repository that an image is written to.
pub struct Push {
    repository: Repository,
    tag: String,
}

impl Push {
    /// Prepares a push; nothing is sent yet. Blobs of `source` at the same registry can be mounted.
    ///
    /// # Errors
    /// `reference` is not a name at a registry with a tag, or the settings of this machine block it.
    pub fn new(
        reference: &Reference,
        access: &Access,
        source: &Image,
        progress: &Progress,
    ) -> Result<Self, SourceError> {
        let repository = super::repository(reference, access, progress)?;
        let tag = repository.name.tag.clone().filter(|_| repository.name.digest.is_none());
        let Some(tag) = tag else {
            let fault = Fault::Settings("a new image is named by a tag, not by a digest".into());
            return Err(repository.error("the name", fault));
        };
        let mut sources: Vec<String> = source
            .layers
            .iter()
            .filter_map(|layer| match &layer.blob {
                Blob::Remote(remote) => mountable(remote, &repository),
                _ => None,
            })
            .map(str::to_owned)
            .collect();
        sources.sort_unstable();
        sources.dedup();
        Ok(Self { repository: repository.for_push(sources), tag })
    }

    /// Host and repository.
    pub fn label(&self) -> String {
        self.repository.label()
    }

    /// The tag.
    pub fn tag(&self) -> &str {
        &self.tag
    }

    /// Whether the repository has this blob.
    ///
    /// # Errors
    /// The registry does not tell.
    pub fn has(
        &self,
        digest: &Digest,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> Result<bool, SourceError> {
        let job = Job { cancel, progress };
        let work = async |session: &Arc<Session>, retries: &mut Retries| {
            has_blob(session, digest, retries, job).await
        };
        self.run(&wanted(digest), work)
    }

    /// Takes over a blob of another repository of the same registry without sending it. Else an upload for its bytes.
    ///
    /// # Errors
    /// The registry refuses the upload.
    fn mount(
        &self,
        blob: &RemoteBlob,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> Result<Option<Upload<'_>>, SourceError> {
        let mut upload = self.begin(cancel, progress);
        let Some(from) = mountable(blob, &self.repository) else { return Ok(Some(upload)) };
        // Digests and names of repositories have no characters that a query escapes, except `/`, which may stay.
        let path = format!("{UPLOADS}?mount={}&from={from}", blob.digest());
        match wait_for(upload.start(&path)).flatten() {
            Ok(mounted) => Ok((!mounted).then_some(upload)),
            // A registry need not mount.
            Err(SourceError::Registry(error))
                if matches!(error.fault, Fault::NotFound | Fault::Refused(_)) =>
            {
                Ok(Some(upload))
            }
            Err(error) => Err(error),
        }
    }

    /// An upload of a blob. Nothing is sent before its first chunk is full or it ends.
    pub fn begin(&self, cancel: &CancelToken, progress: &Progress) -> Upload<'_> {
        Upload::new(&self.repository, cancel, progress)
    }

    /// Sends a blob whose bytes `write` gives, again if the registry loses them. Blobs at the same registry are mounted.
    ///
    /// # Errors
    /// Those of `write`, or the registry refuses the blob.
    pub fn send<E: From<SourceError>>(
        &self,
        blob: &Blob,
        digest: &Digest,
        cancel: &CancelToken,
        progress: &Progress,
        write: impl Fn(&mut Upload<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut starts = 1;
        loop {
            let upload = match blob {
                Blob::Remote(remote) => self.mount(remote, cancel, progress)?,
                _ => Some(self.begin(cancel, progress)),
            };
            let Some(mut upload) = upload else { return Ok(()) };
            let written = write(&mut upload);
            let lost = upload.is_lost();
            let sent = match written {
                Ok(()) => upload.finish(digest).map_err(|error| (is_lost(&error), E::from(error))),
                Err(error) => Err((lost, error)),
            };
            match sent {
                Err((true, _)) if starts < MOST_STARTS => starts += 1,
                sent => return sent.map_err(|(_, error)| error),
            }
            progress.tell(format!(
                "{}: the registry lost {}; sending it again",
                self.label(),
                wanted(digest)
            ));
        }
    }

    /// Writes the manifest under a name: its digest, or a tag.
    ///
    /// # Errors
    /// The registry refuses it.
    pub fn put_manifest(
        &self,
        name: &str,
        media_type: &str,
        bytes: &[u8],
        cancel: &CancelToken,
    ) -> Result<(), SourceError> {
        let progress = Progress::default();
        let job = Job { cancel, progress: &progress };
        let (path, wanted) = (format!("manifests/{name}"), format!("the manifest {name}"));
        let headers = [(CONTENT_TYPE, media_type.to_owned())];
        let body = Some(Bytes::copy_from_slice(bytes));
        let message = Message { body, ..Message::new(Method::PUT, &headers) };
        let work = async |session: &Arc<Session>, retries: &mut Retries| {
            session.request(&Place::Repository(&path), &message, &wanted, retries, job).await
        };
        self.run(&wanted, work)?;
        Ok(())
    }

    /// Runs `work` at the registry itself: mirrors are for reading.
    fn run<T>(
        &self,
        wanted: &str,
        work: impl AsyncFn(&Arc<Session>, &mut Retries) -> Result<T, SourceError>,
    ) -> Result<T, SourceError> {
        let mut retries = Retries::new(&self.repository.times);
        wait_for(self.repository.last(wanted, &mut retries, work)).flatten()
    }
}

/// The repository to mount `blob` from, if it is at the same registry.
fn mountable<'a>(blob: &'a RemoteBlob, target: &Repository) -> Option<&'a str> {
    let from = &blob.repository().name;
    (from.host == target.name.host && from.repository != target.name.repository).then_some(&*from.repository)
}

pub(super) fn wanted(digest: &Digest) -> String {
    format!("blob {}:{}", digest.algorithm(), short(digest.as_ref()))
}

pub(super) async fn has_blob(
    session: &Session,
    digest: &Digest,
    retries: &mut Retries,
    job: Job<'_>,
) -> Result<bool, SourceError> {
    let path = format!("blobs/{digest}");
    let message = Message::new(Method::HEAD, &[]);
    match session.request(&Place::Repository(&path), &message, &wanted(digest), retries, job).await {
        Ok(_) => Ok(true),
        Err(SourceError::Registry(error)) if error.fault == Fault::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
