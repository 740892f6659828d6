//! An engine's stream for a blocking reader: a task fetches ahead, within a limit.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};
use futures_util::{Stream, StreamExt as _};
use tokio::runtime::Runtime;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::super::runtime::POLL_INTERVAL;
use super::client::Failure;
use crate::jobs::{CancelToken, Cancelled, Progress};

/// Bytes fetched ahead of the reader.
const AHEAD: u32 = 2 << 20;

/// How long to wait for bytes.
#[derive(Clone, Copy)]
pub(super) struct StreamTimeouts {
    /// For the first: engines write an image to a temporary file before they send it.
    pub(super) start: Duration,
    /// Between two chunks.
    pub(super) pause: Duration,
}

impl Default for StreamTimeouts {
    fn default() -> Self {
        Self { start: Duration::from_mins(30), pause: Duration::from_mins(2) }
    }
}

/// Reads a stream; dropping it closes the connection.
pub(super) struct Reader<B> {
    chunks: Receiver<Result<B, Failure>>,
    room: Arc<Semaphore>,
    task: JoinHandle<()>,
    chunk: Option<B>,
    at: usize,
    failed: Option<Failure>,
    patience: StreamTimeouts,
    cancel: CancelToken,
    progress: Progress,
}

impl<B: AsRef<[u8]> + Send + 'static> Reader<B> {
    /// Starts to fetch, and waits for the first bytes.
    pub(super) fn start(
        mut stream: impl Stream<Item = Result<B, Failure>> + Unpin + Send + 'static,
        runtime: &Runtime,
        patience: StreamTimeouts,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> Result<Result<Self, Failure>, Cancelled> {
        let (sender, chunks) = unbounded();
        let room = Arc::new(Semaphore::new(AHEAD as usize));
        let taken = Arc::clone(&room);
        let task = runtime.spawn(async move {
            while let Some(chunk) = stream.next().await {
                let ends = chunk.is_err();
                let bytes = chunk.as_ref().map_or(0, |chunk| weight(chunk.as_ref().len()));
                let Ok(permit) = taken.acquire_many(bytes).await else { return };
                permit.forget();
                if sender.send(chunk).is_err() || ends {
                    return;
                }
            }
        });
        let (cancel, progress) = (cancel.clone(), progress.clone());
        let mut reader =
            Self { chunks, room, task, chunk: None, at: 0, failed: None, patience, cancel, progress };
        let first = reader.next(patience.start)?;
        Ok(match first {
            Ok(chunk) => {
                reader.chunk = chunk;
                Ok(reader)
            }
            Err(failure) => Err(failure),
        })
    }

    /// The next chunk; `None` at the end.
    fn next(&mut self, limit: Duration) -> Result<Result<Option<B>, Failure>, Cancelled> {
        let started = Instant::now();
        loop {
            self.cancel.check()?;
            match self.chunks.recv_timeout(POLL_INTERVAL) {
                Ok(Ok(chunk)) => {
                    let count = chunk.as_ref().len();
                    self.room.add_permits(weight(count) as usize);
                    self.progress.add_read(count as u64);
                    self.progress.add_passed(count as u64);
                    if count > 0 {
                        return Ok(Ok(Some(chunk)));
                    }
                }
                Ok(Err(failure)) => return Ok(Err(failure)),
                Err(RecvTimeoutError::Disconnected) => return Ok(Ok(None)),
                Err(RecvTimeoutError::Timeout) if started.elapsed() < limit => {}
                Err(RecvTimeoutError::Timeout) => return Ok(Err(Failure::TimedOut(limit))),
            }
        }
    }
}

/// Share of a chunk in the bound; a chunk larger than the bound uses all of it.
fn weight(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX).min(AHEAD)
}

impl<B: AsRef<[u8]> + Send + 'static> BufRead for Reader<B> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.chunk.as_ref().is_some_and(|chunk| self.at >= chunk.as_ref().len()) {
            self.chunk = None;
            self.at = 0;
            match self.next(self.patience.pause)? {
                Ok(chunk) => self.chunk = chunk,
                Err(failure) => self.failed = Some(failure),
            }
        }
        // The layer reader keeps its error; the archive reader must not see an end of stream.
        if let Some(failure) = &self.failed {
            return Err(broken(failure));
        }
        let chunk = self.chunk.as_ref().map_or(&[][..], AsRef::as_ref);
        Ok(chunk.get(self.at..).unwrap_or_default())
    }

    fn consume(&mut self, count: usize) {
        self.at = self.at.saturating_add(count);
    }
}

impl<B: AsRef<[u8]> + Send + 'static> Read for Reader<B> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<B> Drop for Reader<B> {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn broken(failure: &Failure) -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionAborted, format!("stream of the engine interrupted: {failure}"))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::stream;

    use super::super::super::runtime::runtime;
    use super::*;

    const SHORT: StreamTimeouts =
        StreamTimeouts { start: Duration::from_millis(300), pause: Duration::from_millis(300) };

    type Chunk = Result<Vec<u8>, Failure>;

    fn started(
        stream: impl Stream<Item = Chunk> + Unpin + Send + 'static,
        cancel: &CancelToken,
        progress: &Progress,
    ) -> Result<Result<Reader<Vec<u8>>, Failure>, Cancelled> {
        Reader::start(stream, runtime().unwrap(), SHORT, cancel, progress)
    }

    #[test]
    fn chunks_become_bytes_and_are_counted() {
        let chunks = [b"ab".to_vec(), Vec::new(), b"cde".to_vec()];
        let progress = Progress::default();
        let mut reader =
            started(stream::iter(chunks.map(Ok)), &CancelToken::new(), &progress).unwrap().unwrap();
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, b"abcde");
        assert_eq!((progress.snapshot().bytes_read, progress.snapshot().bytes_passed), (5, 5));
    }

    #[test]
    fn nobody_fetches_far_ahead() {
        const CHUNK: usize = 512 << 10;
        let fetched = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&fetched);
        let endless = stream::repeat_with(move || {
            counter.fetch_add(1, Ordering::SeqCst);
            Ok(vec![0; CHUNK])
        });
        let mut reader = started(endless, &CancelToken::new(), &Progress::default()).unwrap().unwrap();
        std::thread::sleep(Duration::from_millis(200));
        // One chunk is with the reader, four fill the bound, one waits for room.
        let ahead = fetched.load(Ordering::SeqCst);
        assert!((2..=6).contains(&ahead), "{ahead}");
        reader.read_exact(&mut vec![0; 40 * CHUNK]).unwrap();
        assert!(fetched.load(Ordering::SeqCst) >= 40);
    }

    #[test]
    fn a_failure_after_some_bytes_is_an_error_behind_them() {
        let chunks: [Chunk; 2] = [Ok(b"ab".to_vec()), Err(Failure::Other("gone".into()))];
        let mut reader =
            started(stream::iter(chunks), &CancelToken::new(), &Progress::default()).unwrap().unwrap();
        let mut two = [0; 2];
        reader.read_exact(&mut two).unwrap();
        let error = reader.read(&mut two).unwrap_err();
        assert!(error.to_string().contains("interrupted: gone"), "{error}");
        assert!(reader.read(&mut two).is_err(), "an end after an error");
    }

    #[test]
    fn silence_is_a_failure_before_and_between_bytes() {
        let cancel = CancelToken::new();
        let silent = started(stream::pending(), &cancel, &Progress::default()).unwrap();
        assert_eq!(silent.err(), Some(Failure::TimedOut(SHORT.start)));
        let stops = stream::iter([Ok(b"a".to_vec())]).chain(stream::pending());
        let mut reader = started(stops, &cancel, &Progress::default()).unwrap().unwrap();
        let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("no answer within"), "{error}");
    }

    #[test]
    fn cancelling_ends_a_wait() {
        let cancel = CancelToken::new();
        let stops = stream::iter([Ok(b"a".to_vec())]).chain(stream::pending());
        let mut reader = started(stops, &cancel, &Progress::default()).unwrap().unwrap();
        cancel.cancel();
        let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
        assert!(Cancelled::is_cause_of(&error), "{error:?}");
        assert!(started(stream::pending(), &cancel, &Progress::default()).is_err());
    }
}
