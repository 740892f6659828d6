//! Reads and hashes a stream on one thread, for another one that decompresses it.

use std::io::{self, BufRead, Read};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

use super::input::BUFFER_BYTES;
use crate::base::Hasher;
use crate::jobs::{CancelToken, Cancelled, Progress};

/// Buffer size of a stream that several threads decode. With a quarter of it, the thread that hashes spent 55 to 100 µs a
/// buffer outside of its work on a virtual machine, probably until it was woken.
const WIDE_BUFFER_BYTES: usize = 1 << 20;

/// Result of the reading side of a [`feed`].
#[derive(Debug, Default)]
pub struct Fed {
    /// Bytes read in total.
    pub bytes: u64,
    /// Their digest, if all bytes were read.
    pub digest: Option<String>,
}

/// Reads `source` to its end on this thread, hashes it, and sends it in buffers. Hashing continues after the other side
/// has hung up, because the digest is checked even if the stream cannot be decompressed.
pub fn feed(
    source: impl Read,
    hasher: Option<Hasher>,
    full: &Sender<io::Result<Vec<u8>>>,
    empty: &Receiver<Vec<u8>>,
    progress: &Progress,
    cancel: &CancelToken,
) -> Fed {
    feed_buffers(source, BUFFER_BYTES, hasher, full, empty, progress, cancel)
}

fn feed_buffers(
    mut source: impl Read,
    buffer_bytes: usize,
    mut hasher: Option<Hasher>,
    full: &Sender<io::Result<Vec<u8>>>,
    empty: &Receiver<Vec<u8>>,
    progress: &Progress,
    cancel: &CancelToken,
) -> Fed {
    let mut fed = Fed::default();
    let mut spare = None;
    loop {
        let mut buffer = spare.take().or_else(|| empty.try_recv().ok()).unwrap_or_default();
        // A used buffer has this length already, except the last one of a stream.
        buffer.resize(buffer_bytes, 0);
        let (filled, error) =
            if cancel.is_cancelled() { (0, Some(Cancelled.into())) } else { fill(&mut source, &mut buffer) };
        buffer.truncate(filled);
        match error.map_or(Ok(filled as u64), Err) {
            Ok(0) => {
                fed.digest = hasher.map(Hasher::finish);
                return fed;
            }
            Ok(count) => {
                fed.bytes += count;
                progress.add_read(count);
                progress.add_passed(count);
                if let Some(hasher) = &mut hasher {
                    hasher.update(&buffer);
                }
                if let Err(back) = full.send(Ok(buffer)) {
                    spare = back.into_inner().ok();
                }
            }
            Err(error) => {
                // The bytes before the error are still useful.
                if !buffer.is_empty() {
                    progress.add_read(buffer.len() as u64);
                    progress.add_passed(buffer.len() as u64);
                    full.send(Ok(buffer)).ok();
                }
                // The receiver may be gone; then the error has no reader.
                full.send(Err(error)).ok();
                return fed;
            }
        }
    }
}

/// [`feed`] in larger buffers, hashed on another thread: for streams that are decompressed faster than they are hashed.
pub fn feed_and_hash(
    source: impl Read,
    mut hasher: Hasher,
    full: Sender<io::Result<Vec<u8>>>,
    empty: &Receiver<Vec<u8>>,
    progress: &Progress,
    cancel: &CancelToken,
) -> Fed {
    let (sender, read) = bounded::<io::Result<Vec<u8>>>(4);
    thread::scope(|scope| {
        let hashing = scope.spawn(move || {
            let mut is_whole = true;
            for buffer in read {
                match &buffer {
                    Ok(bytes) => hasher.update(bytes),
                    Err(_) => is_whole = false,
                }
                // The digest counts even if nobody reads on.
                full.send(buffer).ok();
            }
            is_whole.then(|| hasher.finish())
        });
        let mut fed = feed_buffers(source, WIDE_BUFFER_BYTES, None, &sender, empty, progress, cancel);
        drop(sender);
        fed.digest = hashing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        fed
    })
}

/// Fills a buffer, at least [`BUFFER_BYTES`] as far as the source has them: how many it has, and why there are no more. A
/// slow source must not hold back what it gave for the rest of a larger buffer.
pub(super) fn fill(source: &mut impl Read, buffer: &mut [u8]) -> (usize, Option<io::Error>) {
    let mut filled = 0;
    while let Some(room @ [_, ..]) = buffer.get_mut(filled..) {
        match source.read(room) {
            Ok(0) => break,
            Ok(count) => {
                filled += count;
                if filled >= BUFFER_BYTES {
                    break;
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return (filled, Some(error)),
        }
    }
    (filled, None)
}

/// The receiving end of a [`feed`].
pub struct Fetch {
    full: Receiver<io::Result<Vec<u8>>>,
    empty: Sender<Vec<u8>>,
    buffer: Vec<u8>,
    position: usize,
}

impl Fetch {
    /// A receiver of filled buffers that returns used ones.
    pub fn new(full: Receiver<io::Result<Vec<u8>>>, empty: Sender<Vec<u8>>) -> Self {
        Self { full, empty, buffer: Vec::new(), position: 0 }
    }
}

impl BufRead for Fetch {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.position >= self.buffer.len() {
            // A closed channel is the end of the stream.
            if let Ok(next) = self.full.recv() {
                let used = std::mem::replace(&mut self.buffer, next?);
                self.position = 0;
                self.empty.try_send(used).ok();
            } else {
                return Ok(&[]);
            }
        }
        Ok(&self.buffer[self.position..])
    }

    fn consume(&mut self, count: usize) {
        self.position = (self.position + count).min(self.buffer.len());
    }
}

impl Read for Fetch {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}
