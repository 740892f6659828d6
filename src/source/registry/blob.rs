//! Blobs at a registry, as a resumable stream, or in ranges.
//!
//! The reader waits for each chunk; between it and the socket are at most a chunk of some 400 KiB and the system's
//! buffers. A slow reader makes the registry wait, and dropping the reader closes the connection.

use std::io::{self, Read};
use std::sync::Arc;

use bytes::{Buf as _, Bytes};
use reqwest::header::{CONTENT_RANGE, HeaderMap, RANGE};
use reqwest::{Response, StatusCode};

use super::super::error::SourceError;
use super::super::table::Ranges;
use super::broken::io_error;
use super::error::Fault;
use super::repository::Repository;
use super::retry::Retries;
use super::session::{Ask, Job, Session};
use super::transport::{Failure, Stop, failure, wait_for, within};
use crate::base::Digest;
use crate::base::convert::in_memory;
use crate::base::digest::short;
use crate::jobs::{CancelToken, Progress};

/// Progress that resets the number of attempts.
const PROGRESS: u64 = 1 << 20;

/// A blob at a registry. Clones share the connection.
#[derive(Clone)]
pub struct RemoteBlob {
    repository: Arc<Repository>,
    digest: Digest,
    size: u64,
}

/// The bytes of a range cannot be verified with the digest of the blob.
impl Ranges for RemoteBlob {
    fn size(&self) -> u64 {
        self.size
    }

    fn range(
        &self,
        offset: u64,
        length: u64,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> io::Result<Vec<u8>> {
        cancel.check()?;
        let end = offset.checked_add(length).filter(|end| *end <= self.size);
        let Some(end) = end else {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "range outside the blob"));
        };
        if length == 0 {
            return Ok(Vec::new());
        }
        let bytes =
            wait_for(self.fetch(offset, end, Job { cancel, progress })).flatten().map_err(io_error)?;
        let bytes = bytes.ok_or(io::ErrorKind::Unsupported)?;
        progress.add_read(length);
        Ok(bytes)
    }
}

impl RemoteBlob {
    pub(super) fn new(repository: Arc<Repository>, digest: Digest, size: u64) -> Self {
        Self { repository, digest, size }
    }

    /// Where it is.
    pub(super) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Digest in the manifest.
    pub fn digest(&self) -> &Digest {
        &self.digest
    }

    /// Length in bytes in the manifest.
    pub fn size(&self) -> u64 {
        self.size
    }

    fn other_size(&self, bytes: &str) -> Fault {
        Fault::Cut(format!("size mismatch: {bytes} bytes at the registry, {} declared", self.size))
    }

    fn wanted(&self) -> String {
        format!("blob {}:{}", self.digest.algorithm(), short(self.digest.as_ref()))
    }

    /// Starts at the first byte. Nothing is sent before the first read. Errors are network errors, after all retries,
    /// with a [`super::RegistryError`] as their source; the bytes are not verified here, because the reader hashes
    /// them.
    pub fn stream(&self, cancel: &CancelToken, progress: &Progress) -> BlobReader {
        BlobReader {
            retries: Retries::new(&self.repository.times),
            blob: self.clone(),
            cancel: cancel.clone(),
            progress: progress.clone(),
            at: 0,
            since_break: 0,
            answer: None,
            piece: Bytes::new(),
            too_long: false,
            ended: false,
        }
    }

    /// The bytes `start..end`; `None` if the registry does not support ranges.
    async fn fetch(&self, start: u64, end: u64, job: Job<'_>) -> Result<Option<Vec<u8>>, SourceError> {
        let wanted = self.wanted();
        let path = format!("blobs/{}", self.digest);
        let headers = [(RANGE, format!("bytes={start}-{}", end - 1))];
        let ask = Ask { path: &path, wanted: &wanted, headers: &headers };
        let mut retries = Retries::new(&self.repository.times);
        let work = async |session: &Arc<Session>, retries: &mut Retries| loop {
            let mut answer = session.get(&ask, retries, job).await?;
            if answer.status() == StatusCode::OK {
                return Ok(None);
            }
            let range = content_range(answer.headers());
            let total = range.and_then(|range| range.total).filter(|total| *total != self.size);
            let stop = if let Some(total) = total {
                Stop::Failed(Failure { again: false, ..Failure::of(self.other_size(&total.to_string())) })
            } else if answer.status() == StatusCode::RANGE_NOT_SATISFIABLE {
                Stop::Failed(Failure {
                    again: false,
                    ..Failure::of(Fault::Cut("shorter at the registry".into()))
                })
            } else if range.is_none_or(|range| range.start != start) {
                Fault::NotARegistry("unexpected range in the answer".into()).into()
            } else {
                match session.body(&mut answer, end - start, job).await {
                    Ok(bytes) if bytes.len() as u64 == end - start => return Ok(Some(bytes)),
                    Ok(_) => Fault::Cut("truncated range".into()).into(),
                    Err(stop) => stop,
                }
            };
            session.again(stop, &wanted, retries, job).await?;
        };
        self.repository.first(&wanted, &mut retries, job, work).await
    }
}

/// A response that is being read.
struct Answer {
    session: Arc<Session>,
    response: Response,
    /// Received bytes that are repeated, because the registry does not support ranges.
    skip: u64,
    /// Length of the blob at the registry, if the response has it.
    length: Option<u64>,
}

/// The bytes of a blob, as they arrive.
pub struct BlobReader {
    blob: RemoteBlob,
    cancel: CancelToken,
    progress: Progress,
    retries: Retries,
    /// Received bytes.
    at: u64,
    /// Bytes received since the last interruption.
    since_break: u64,
    answer: Option<Answer>,
    /// Received bytes that were not read yet.
    piece: Bytes,
    /// Whether more bytes were received than the manifest declares.
    too_long: bool,
    ended: bool,
}

impl Read for BlobReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.cancel.check()?;
        if self.piece.is_empty() && !self.ended {
            match wait_for(self.next_piece()).flatten() {
                Ok(Some(piece)) => self.piece = piece,
                Ok(None) => self.end(),
                Err(error) => {
                    self.end();
                    return Err(io_error(error));
                }
            }
        }
        let count = buffer.len().min(self.piece.len());
        self.piece.split_to(count).copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}

impl BlobReader {
    fn end(&mut self) {
        self.ended = true;
        self.answer = None;
    }

    /// The next nonempty bytes; `None` at the end.
    async fn next_piece(&mut self) -> Result<Option<Bytes>, SourceError> {
        let (cancel, progress) = (self.cancel.clone(), self.progress.clone());
        let job = Job { cancel: &cancel, progress: &progress };
        let size = self.blob.size;
        loop {
            if self.too_long {
                let has = self.answer.as_ref().and_then(|answer| answer.length).filter(|has| *has > size);
                let has = has.map_or_else(|| format!("more than {size}"), |has| has.to_string());
                let fault = self.blob.other_size(&has);
                return Err(self.give_up(fault).await);
            }
            let answer = match &mut self.answer {
                Some(answer) => answer,
                None if self.at >= size => return Ok(None),
                None => {
                    let answer = self.open(job).await?;
                    self.answer.insert(answer)
                }
            };
            let times = answer.session.times;
            let stop = match within(answer.response.chunk(), times.idle, job.cancel).await {
                Ok(Ok(Some(mut piece))) => {
                    let known = usize::try_from(answer.skip).unwrap_or(usize::MAX).min(piece.len());
                    piece.advance(known);
                    answer.skip -= known as u64;
                    if piece.is_empty() {
                        continue;
                    }
                    let room = size - self.at;
                    if piece.len() as u64 > room {
                        // The declared bytes are read first.
                        self.too_long = true;
                        piece.truncate(in_memory(room));
                        if piece.is_empty() {
                            continue;
                        }
                    }
                    let length = piece.len() as u64;
                    self.at += length;
                    self.since_break += length;
                    if self.since_break >= PROGRESS {
                        self.retries.reset();
                    }
                    return Ok(Some(piece));
                }
                Ok(Ok(None)) if self.at == size => return Ok(None),
                // The blob is complete.
                Ok(Ok(None)) if answer.length == Some(self.at) => {
                    let fault = self.blob.other_size(&self.at.to_string());
                    return Err(self.give_up(fault).await);
                }
                Ok(Ok(None)) => Fault::Cut(format!("ended after {} of {size} bytes", self.at)).into(),
                Ok(Err(error)) => {
                    let secure = answer.response.url().scheme() == "https";
                    Stop::Failed(failure(&error, secure, times.connect))
                }
                Err(stop) => stop,
            };
            self.broke(stop, job).await?;
        }
    }

    /// Requests the remaining bytes.
    async fn open(&mut self, job: Job<'_>) -> Result<Answer, SourceError> {
        let (blob, at) = (&self.blob, self.at);
        let (path, wanted) = (format!("blobs/{}", blob.digest), blob.wanted());
        let headers = match at {
            0 => Vec::new(),
            _ => vec![(RANGE, format!("bytes={at}-"))],
        };
        let ask = Ask { path: &path, wanted: &wanted, headers: &headers };
        let work = async |session: &Arc<Session>, retries: &mut Retries| loop {
            let response = session.get(&ask, retries, job).await?;
            let length = response.content_length();
            let range = content_range(response.headers());
            let session = Arc::clone(session);
            let fault = match (response.status(), range) {
                (StatusCode::PARTIAL_CONTENT, Some(range)) if range.start == at => {
                    return Ok(Answer { session, response, skip: 0, length: range.total });
                }
                (StatusCode::PARTIAL_CONTENT, _) => Fault::Cut("resumed at another offset".into()),
                (StatusCode::RANGE_NOT_SATISFIABLE, _) => {
                    let fault = Fault::Cut(format!("only {at} of {} bytes at the registry", blob.size));
                    let failure = Failure { again: false, ..Failure::of(fault) };
                    return Err(SourceError::Registry(Box::new(session.error(&wanted, failure).await)));
                }
                _ => return Ok(Answer { session, response, skip: at, length }),
            };
            session.again(fault.into(), &wanted, retries, job).await?;
        };
        blob.repository.first(&wanted, &mut self.retries, job, work).await
    }

    /// Handles an interruption: waits for the next attempt, or returns the error.
    async fn broke(&mut self, stop: Stop, job: Job<'_>) -> Result<(), SourceError> {
        let Some(answer) = self.answer.take() else { return Ok(()) };
        self.since_break = 0;
        // The connection is closed before the wait.
        drop(answer.response);
        if self.retries.made() > 1
            && let Stop::Failed(failure) = &stop
        {
            self.blob.repository.give_up(&answer.session, &failure.fault.to_string(), job);
        }
        answer.session.again(stop, &self.blob.wanted(), &mut self.retries, job).await
    }

    async fn give_up(&mut self, fault: Fault) -> SourceError {
        let wanted = self.blob.wanted();
        match self.answer.take() {
            Some(answer) => {
                SourceError::Registry(Box::new(answer.session.error(&wanted, Failure::of(fault)).await))
            }
            None => self.blob.repository.error(&wanted, fault),
        }
    }
}

/// Values of `Content-Range: bytes START-END/TOTAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ContentRange {
    start: u64,
    total: Option<u64>,
}

fn content_range(headers: &HeaderMap) -> Option<ContentRange> {
    parse_range(headers.get(CONTENT_RANGE)?.to_str().ok()?)
}

fn parse_range(text: &str) -> Option<ContentRange> {
    let (range, total) = text.trim().strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.split_once('-')?;
    let total = match total.trim() {
        "*" => None,
        total => Some(total.parse().ok()?),
    };
    Some(ContentRange { start: start.trim().parse().ok()?, total })
}

#[cfg(test)]
mod tests {
    use super::{ContentRange, parse_range};

    #[test]
    fn a_content_range_is_read_with_and_without_its_total() {
        let range = |start, total| Some(ContentRange { start, total });
        assert_eq!(parse_range("bytes 5-9/10"), range(5, Some(10)));
        assert_eq!(parse_range("bytes 5-9/*"), range(5, None));
        assert_eq!(parse_range("bytes */10"), None);
        assert_eq!(parse_range("items 0-1/2"), None);
        assert_eq!(parse_range("bytes 99999999999999999999-9/10"), None);
    }
}
