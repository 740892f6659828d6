//! The upload of one blob, in chunks, resumed after an interruption.
//!
//! The chunk at hand is in memory. Some registries forget an upload whose chunk was interrupted (Docker's own, which
//! takes a part of it for all of it): then the blob is sent again, from its source by the caller, or from a spool.

use std::fs::File;
use std::io::{self, Write};
use std::mem::take;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, HeaderMap, HeaderName, RANGE};
use reqwest::{Method, Response, StatusCode, Url};

use super::super::error::SourceError;
use super::broken::io_error;
use super::error::Fault;
use super::message::{Message, Place, target};
use super::push::{has_blob, wanted};
use super::repository::Repository;
use super::retry::Retries;
use super::session::{Job, Session};
use super::transport::{Failure, Stop, wait_for};
use crate::base::Digest;
use crate::base::convert::in_memory;
use crate::jobs::{CancelToken, Progress};

/// Bytes of a chunk. They stay in memory until the registry has them.
const CHUNK: usize = 8 << 20;
/// Maximum bytes of a chunk that a registry may ask for.
const LARGEST_CHUNK: usize = 64 << 20;
/// Header with the least bytes of a chunk that the registry accepts.
const LEAST_CHUNK: HeaderName = HeaderName::from_static("oci-chunk-min-length");
/// Where uploads start.
pub(super) const UPLOADS: &str = "blobs/uploads/";
/// How often a blob is sent from its start.
pub(super) const MOST_STARTS: u32 = 5;
/// Time to tell the registry that an upload is given up.
const FAREWELL: Duration = Duration::from_secs(2);

/// The upload of one blob; dropped before its end, the registry is told to discard it.
pub struct Upload<'a> {
    repository: &'a Repository,
    cancel: CancelToken,
    progress: Progress,
    session: Option<Arc<Session>>,
    /// Where the next request goes; `None` before the first and after the last.
    place: Option<Url>,
    chunk: Vec<u8>,
    capacity: usize,
    /// Bytes that the registry has.
    sent: u64,
    spool: Option<Spool>,
    starts: u32,
    /// Whether it failed because the registry lost it.
    lost: bool,
}

/// What was sent, in a file without a name.
struct Spool {
    file: File,
    end: u64,
}

impl Write for Upload<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.cancel.check()?;
        if self.chunk.len() >= self.capacity {
            wait_for(self.send_chunk()).flatten().map_err(|error| {
                self.lost = is_lost(&error);
                io_error(error)
            })?;
        }
        let count = bytes.len().min(self.capacity - self.chunk.len());
        self.chunk.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    /// Chunks are sent whole.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> Upload<'a> {
    pub(super) fn new(repository: &'a Repository, cancel: &CancelToken, progress: &Progress) -> Self {
        Self {
            repository,
            cancel: cancel.clone(),
            progress: progress.clone(),
            session: None,
            place: None,
            chunk: Vec::new(),
            capacity: CHUNK,
            sent: 0,
            spool: None,
            starts: 0,
            lost: false,
        }
    }

    /// Keeps what is sent in `file`, which has no name, so that it can be sent again.
    #[must_use]
    pub fn with_spool(mut self, file: File) -> Self {
        self.spool = Some(Spool { file, end: 0 });
        self
    }

    /// Sends what is left, and gives the blob its name.
    ///
    /// # Errors
    /// The registry refuses it, or computed another digest.
    pub fn finish(mut self, digest: &Digest) -> Result<(), SourceError> {
        wait_for(self.end(digest)).flatten()
    }

    /// Whether a write failed because the registry lost what it had.
    pub(super) fn is_lost(&self) -> bool {
        self.lost
    }

    fn retries(&self) -> Retries {
        Retries::new(&self.repository.times)
    }

    async fn session(&mut self) -> Result<Arc<Session>, SourceError> {
        if let Some(session) = &self.session {
            return Ok(Arc::clone(session));
        }
        let work = async |session: &Arc<Session>, _: &mut Retries| Ok(Arc::clone(session));
        let session = self.repository.last("an upload", &mut self.retries(), work).await?;
        Ok(Arc::clone(self.session.insert(session)))
    }

    /// Opens the upload; returns whether the registry mounted the blob instead.
    pub(super) async fn start(&mut self, path: &str) -> Result<bool, SourceError> {
        let session = self.session().await?;
        let job = Job { cancel: &self.cancel, progress: &self.progress };
        let headers = [(CONTENT_LENGTH, "0".to_owned())];
        let message = Message::new(Method::POST, &headers);
        let place = Place::Repository(path);
        let answer = session.request(&place, &message, "an upload", &mut self.retries(), job).await?;
        if answer.status() == StatusCode::CREATED {
            return Ok(true);
        }
        let least = answer.headers().get(LEAST_CHUNK).and_then(|value| value.to_str().ok()?.parse().ok());
        self.capacity = least.unwrap_or(0).clamp(CHUNK, LARGEST_CHUNK);
        match next_place(&answer) {
            Ok(place) => self.place = Some(place),
            Err(fault) => return Err(failed(&session, "an upload", fault).await),
        }
        self.sent = 0;
        Ok(false)
    }

    /// Sends the chunk at hand.
    async fn send_chunk(&mut self) -> Result<(), SourceError> {
        let bytes = Bytes::from(take(&mut self.chunk));
        let start = self.sent;
        loop {
            match self.send(bytes.clone()).await {
                Err(error) if is_lost(&error) => self.send_again(start, error).await?,
                sent => break sent?,
            }
        }
        if let Some(spool) = &mut self.spool {
            let kept = spool.file.write_all_at(&bytes, spool.end);
            spool.end += bytes.len() as u64;
            if kept.is_err() {
                // A full disk is no reason to end: the upload may well not be interrupted.
                self.spool = None;
            }
        }
        Ok(())
    }

    /// Sends the first `end` bytes again, in another upload.
    async fn send_again(&mut self, end: u64, lost: SourceError) -> Result<(), SourceError> {
        let mut lost = Some(lost);
        while let Some(error) = lost.take() {
            self.starts += 1;
            if self.starts >= MOST_STARTS || end > self.spool.as_ref().map_or(0, |spool| spool.end) {
                return Err(error);
            }
            self.progress.tell(format!("{}; sending the blob again", io_error(error)));
            self.place = None;
            self.start(UPLOADS).await?;
            while self.sent < end {
                let length = in_memory(end - self.sent).min(self.capacity);
                let mut piece = vec![0; length];
                if let Some(spool) = &self.spool {
                    let read = spool.file.read_exact_at(&mut piece, self.sent);
                    read.map_err(|error| SourceError::open("what was sent", error))?;
                }
                match self.send(piece.into()).await {
                    Err(error) if is_lost(&error) => {
                        lost = Some(error);
                        break;
                    }
                    sent => sent?,
                }
            }
        }
        Ok(())
    }

    /// Sends the bytes that follow those that the registry has. After an interruption it tells how much it has now, and
    /// the rest follows.
    async fn send(&mut self, bytes: Bytes) -> Result<(), SourceError> {
        const WANTED: &str = "a part of a blob";
        let (start, length) = (self.sent, bytes.len() as u64);
        let session = self.session().await?;
        let mut retries = self.retries();
        if self.place.is_none() {
            self.start(UPLOADS).await?;
        }
        while self.sent < start + length {
            let Some(place) = self.place.clone() else { break };
            let job = Job { cancel: &self.cancel, progress: &self.progress };
            let rest = bytes.slice(in_memory(self.sent - start)..);
            let headers = [
                (CONTENT_TYPE, "application/octet-stream".to_owned()),
                (CONTENT_RANGE, format!("{}-{}", self.sent, start + length - 1)),
            ];
            let message = Message { body: Some(rest), ..Message::new(Method::PATCH, &headers) };
            let stop = match session.exchange(&Place::Url(&place), &message, job).await {
                Ok(answer) => match next_place(&answer) {
                    Ok(next) => {
                        self.place = Some(next);
                        self.sent = start + length;
                        continue;
                    }
                    Err(fault) => fault.into(),
                },
                Err(Stop::Failed(failure)) if is_about_offset(&failure.fault) => {
                    Stop::Failed(Failure { again: true, ..failure })
                }
                Err(stop) => stop,
            };
            session.again(stop, WANTED, &mut retries, job).await?;
            let has = self.resume(&session, &place).await?;
            let Some(offset) = has.filter(|offset| (start..=start + length).contains(offset)) else {
                let fault = Fault::UploadLost { sent: self.sent, has };
                return Err(failed(&session, WANTED, fault).await);
            };
            if offset > self.sent {
                retries.reset();
            }
            self.sent = offset;
        }
        Ok(())
    }

    /// Bytes that the registry has of the upload; `None` if it does not know it.
    async fn resume(&mut self, session: &Session, place: &Url) -> Result<Option<u64>, SourceError> {
        let job = Job { cancel: &self.cancel, progress: &self.progress };
        let message = Message::new(Method::GET, &[]);
        let place = Place::Url(place);
        match session.request(&place, &message, "the state of an upload", &mut self.retries(), job).await {
            Ok(answer) => {
                // Some registries answer without one.
                if let Ok(next) = next_place(&answer) {
                    self.place = Some(next);
                }
                Ok(offset(answer.headers()))
            }
            Err(SourceError::Registry(error)) if error.fault == Fault::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn end(&mut self, digest: &Digest) -> Result<(), SourceError> {
        let session = self.session().await?;
        let wanted = wanted(digest);
        // A small blob goes along with the last request.
        let small = self.sent == 0;
        if !small && !self.chunk.is_empty() {
            self.send_chunk().await?;
        }
        let size = self.sent;
        let body = Bytes::from(take(&mut self.chunk));
        let mut retries = self.retries();
        loop {
            if self.place.is_none() {
                self.start(UPLOADS).await?;
            }
            let Some(mut place) = self.place.clone() else { return Ok(()) };
            place.query_pairs_mut().append_pair("digest", digest.as_ref());
            let job = Job { cancel: &self.cancel, progress: &self.progress };
            let headers = [(CONTENT_TYPE, "application/octet-stream".to_owned())];
            let message = Message { body: Some(body.clone()), ..Message::new(Method::PUT, &headers) };
            let Err(stop) = session.exchange(&Place::Url(&place), &message, job).await else {
                self.place = None;
                return Ok(());
            };
            let stop = match stop {
                Stop::Failed(failure) if is_about_offset(&failure.fault) => {
                    Stop::Failed(Failure { again: true, ..failure })
                }
                stop => stop,
            };
            session.again(stop, &wanted, &mut retries, job).await?;
            // It may have arrived before the connection broke.
            if has_blob(&session, digest, &mut retries, job).await? {
                self.place = None;
                return Ok(());
            }
            if small {
                self.place = None;
            } else if self.resume(&session, &place).await? != Some(size) {
                let fault = Fault::UploadLost { sent: size, has: None };
                let lost = failed(&session, &wanted, fault).await;
                self.send_again(size, lost).await?;
            }
        }
    }
}

impl Drop for Upload<'_> {
    fn drop(&mut self) {
        let (Some(place), Some(session)) = (self.place.take(), self.session.take()) else { return };
        // Also when the job is cancelled. Registries discard forgotten uploads themselves, later.
        let (cancel, progress) = (CancelToken::new(), Progress::default());
        let job = Job { cancel: &cancel, progress: &progress };
        let work = async {
            let message = Message::new(Method::DELETE, &[]);
            let place = Place::Url(&place);
            tokio::time::timeout(FAREWELL, session.exchange(&place, &message, job)).await.is_ok()
        };
        wait_for(work).ok();
    }
}

async fn failed(session: &Session, wanted: &str, fault: Fault) -> SourceError {
    SourceError::Registry(Box::new(session.error(wanted, Failure::of(fault)).await))
}

/// Whether the blob must be sent from its start.
pub(super) fn is_lost(error: &SourceError) -> bool {
    matches!(error, SourceError::Registry(error) if matches!(error.fault, Fault::UploadLost { .. }))
}

/// Whether the registry has another number of bytes than expected, or forgot the upload.
fn is_about_offset(fault: &Fault) -> bool {
    matches!(fault, Fault::NotFound | Fault::Refused(416))
}

/// Where the upload continues. A proxy may hide from the registry that it is reached by TLS.
fn next_place(answer: &Response) -> Result<Url, Fault> {
    let from = answer.url();
    let mut next = target(from, answer.headers())?;
    if from.scheme() == "https" && next.scheme() == "http" {
        let same = from.host_str() == next.host_str();
        if !same || next.set_scheme("https").is_err() {
            return Err(Fault::NotARegistry("the upload leads from TLS to plain HTTP".into()));
        }
        if next.port() != from.port() && next.set_port(from.port()).is_err() {
            return Err(Fault::NotARegistry("the upload has no address".into()));
        }
    }
    Ok(next)
}

/// The bytes that an upload has by `Range: 0-LAST`; registries write `0-0` for none.
fn offset(headers: &HeaderMap) -> Option<u64> {
    let text = headers.get(RANGE)?.to_str().ok()?;
    let (_, last) = text.trim().trim_start_matches("bytes=").split_once('-')?;
    match last.trim().parse::<u64>().ok()? {
        0 => Some(0),
        last => last.checked_add(1),
    }
}
