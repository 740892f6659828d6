//! Inputs of a tar walk: a stream whose bodies pass, or a section whose bodies are skipped.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};
use zstd::stream::read::Decoder as ZstdDecoder;

use super::compression::Compression;
use super::inflate::Gunzip;
use super::tar::TarInput;
use crate::base::convert::in_memory;
use crate::base::read_at::ReadAt;
use crate::base::{Hasher, Section};
use crate::jobs::{CancelToken, Cancelled, Progress};

/// Buffer size of a stream; large, so that the decompressor runs in long stretches.
pub const BUFFER_BYTES: usize = 256 << 10;
/// Buffer size of a stream that several threads decode: each buffer may wake a thread, which takes as long on a virtual
/// machine as hashing 64 KiB or more.
const WIDE_BUFFER_BYTES: usize = 1 << 20;

/// Decompresses a stream of any number of gzip members or zstd frames.
///
/// # Errors
/// The decoder cannot be created.
pub fn decoder<'a>(
    source: impl BufRead + 'a,
    compression: Compression,
    window_log: u32,
) -> io::Result<Box<dyn BufRead + 'a>> {
    Ok(match compression {
        Compression::None => Box::new(source),
        Compression::Gzip => Box::new(Gunzip::new(source, None)),
        Compression::Zstd => {
            let mut decoder = ZstdDecoder::with_buffer(source)?;
            decoder.window_log_max(window_log)?;
            Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
        }
    })
}

/// A stream: skipped bodies are decompressed and dropped without a copy.
pub struct StreamInput<R> {
    reader: R,
    /// Hashes all bytes if the diff id is to be verified.
    pub hasher: Option<Hasher>,
    /// Bytes read so far.
    pub passed: u64,
    limit: u64,
    cancel: CancelToken,
}

impl<R: BufRead> StreamInput<R> {
    /// An input over `reader` that fails after `limit` bytes and when cancelled.
    pub fn new(reader: R, hasher: Option<Hasher>, limit: u64, cancel: &CancelToken) -> Self {
        Self { reader, hasher, passed: 0, limit, cancel: cancel.clone() }
    }

    /// Passes up to `wanted` available bytes to `each` and returns their number; `None` at the end.
    fn take(&mut self, wanted: u64, each: impl FnOnce(&[u8])) -> io::Result<Option<u64>> {
        self.cancel.check()?;
        let buffer = loop {
            match self.reader.fill_buf() {
                Ok(_) => break self.reader.fill_buf()?,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        };
        if buffer.is_empty() {
            return Ok(None);
        }
        let count = usize::try_from(wanted).unwrap_or(usize::MAX).min(buffer.len());
        each(&buffer[..count]);
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&buffer[..count]);
        }
        self.reader.consume(count);
        self.passed += count as u64;
        if self.passed > self.limit {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("larger than {} bytes when decompressed", self.limit),
            ));
        }
        Ok(Some(count as u64))
    }

    /// Reads to the end of the stream and returns the number of nonzero bytes.
    ///
    /// # Errors
    /// Errors of the source.
    pub fn drain(&mut self) -> io::Result<u64> {
        let mut not_zero = 0;
        loop {
            // One pass over what is nearly always some KiB of zeros.
            let buffer = self.reader.fill_buf()?;
            not_zero += buffer.iter().filter(|byte| **byte != 0).count() as u64;
            let available = buffer.len() as u64;
            if self.take(available.max(1), |_| {})?.is_none() {
                return Ok(not_zero);
            }
        }
    }
}

impl<R: BufRead> TarInput for StreamInput<R> {
    fn read_full(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            let room = (buffer.len() - filled) as u64;
            let target = &mut buffer[filled..];
            match self.take(room, |bytes| target[..bytes.len()].copy_from_slice(bytes))? {
                Some(count) => filled += in_memory(count),
                None => break,
            }
        }
        Ok(filled)
    }

    fn skip(&mut self, count: u64) -> io::Result<u64> {
        let mut left = count;
        while left > 0 {
            match self.take(left, |_| {})? {
                Some(taken) => left -= taken,
                None => break,
            }
        }
        Ok(count - left)
    }

    fn pass(&mut self, count: u64, each: &mut dyn FnMut(&[u8])) -> io::Result<u64> {
        let mut left = count;
        while left > 0 {
            match self.take(left, &mut *each)? {
                Some(taken) => left -= taken,
                None => break,
            }
        }
        Ok(count - left)
    }
}

/// A section: headers are read, bodies are skipped, except requested parts.
pub struct SeekInput {
    section: Section,
    /// The same bytes; reads through it are counted.
    bodies: Section,
    position: u64,
    progress: Progress,
    /// Progress is reported in steps, because a shared counter for every header would cost more than the header.
    unreported: (u64, u64),
    cancel: CancelToken,
}

const REPORT_BYTES: u64 = 1 << 20;

impl SeekInput {
    /// An input over `section` that reports bytes read and skipped to `progress`.
    pub fn new(section: Section, progress: &Progress, cancel: &CancelToken) -> Self {
        let bodies = counted(section.clone(), progress);
        let (progress, cancel) = (progress.clone(), cancel.clone());
        Self { section, bodies, position: 0, progress, unreported: (0, 0), cancel }
    }

    fn passed(&mut self, read: u64, bytes: u64) {
        self.unreported.0 += read;
        self.unreported.1 += bytes;
        if self.unreported.1 >= REPORT_BYTES {
            self.report();
        }
    }

    fn report(&mut self) {
        self.progress.add_read(self.unreported.0);
        self.progress.add_passed(self.unreported.1);
        self.unreported = (0, 0);
    }
}

impl Drop for SeekInput {
    fn drop(&mut self) {
        self.report();
        self.progress.add_passed(self.section.len().saturating_sub(self.position));
    }
}

impl TarInput for SeekInput {
    fn read_full(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.cancel.check()?;
        let count = self.section.read_full_at(buffer, self.position)?;
        self.position += count as u64;
        self.passed(count as u64, count as u64);
        Ok(count)
    }

    fn skip(&mut self, count: u64) -> io::Result<u64> {
        let skipped = count.min(self.section.len() - self.position);
        self.position += skipped;
        self.passed(0, skipped);
        Ok(skipped)
    }

    fn pass(&mut self, count: u64, each: &mut dyn FnMut(&[u8])) -> io::Result<u64> {
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut left = count;
        while left > 0 {
            let room = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let filled = self.read_full(&mut buffer[..room])?;
            if filled == 0 {
                break;
            }
            each(&buffer[..filled]);
            left -= filled as u64;
        }
        Ok(count - left)
    }

    fn section(&self, at: u64, length: u64) -> Option<Section> {
        Some(self.bodies.part(at, length))
    }
}

/// The same bytes; reads are counted in `progress`.
pub fn counted(section: Section, progress: &Progress) -> Section {
    let length = section.len();
    Section::new(Arc::new(Counted { section, progress: progress.clone() }), 0, length)
}

struct Counted {
    section: Section,
    progress: Progress,
}

impl ReadAt for Counted {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = self.section.read_full_at(buffer, offset)?;
        self.progress.add_read(count as u64);
        Ok(count)
    }
}

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
fn fill(source: &mut impl Read, buffer: &mut [u8]) -> (usize, Option<io::Error>) {
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
