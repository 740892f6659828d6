//! The reader of a stream that other threads decode.

use std::io::{self, BufRead, Read};
use std::thread::{Builder, Scope};

use crossbeam_channel::{Receiver, Sender, bounded};
use zstd::stream::read::Decoder;
use zstd::zstd_safe::DCtx;

use super::frames::Frames;
use crate::formats::feed::{Fetch, fill};
use crate::formats::input::BUFFER_BYTES;

/// Threads beyond these gain nothing: eight decode faster than one hashes what they read.
const MOST_WORKERS: usize = 8;
/// Frames of `zstd:chunked` are as short as a file.
const PORTION_BYTES: usize = 1 << 20;
/// Compressed buffers of a portion that wait: a frame may be as long as the stream.
const COMPRESSED_AHEAD: usize = 8;
/// Decoded buffers of a portion that wait, 3 MiB: what evens out bytes that take long to walk. With 8 MiB they leave the
/// caches, which costs 5 % of processor time.
const DECODED_AHEAD: usize = 12;
/// The fault that a thread of this module is gone.
const BROKEN: &str = "internal error while decompressing; please report it";

/// How a stream is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Division {
    /// Threads that decode. Each allocates up to two to the power of `window_log` bytes.
    pub workers: usize,
    /// Compressed bytes of whole frames that one of them takes at least.
    pub portion_bytes: usize,
    /// The binary logarithm of the largest window.
    pub window_log: u32,
}

impl Division {
    /// For at most so many threads, with such windows.
    pub fn of(workers: usize, window_log: u32) -> Self {
        Self { workers: workers.clamp(1, MOST_WORKERS), portion_bytes: PORTION_BYTES, window_log }
    }
}

/// A buffer, or why there is none.
type Bytes = io::Result<Vec<u8>>;

/// Whole frames, or the rest of a stream.
struct Portion {
    compressed: Fetch,
    /// Receives an empty buffer at the end.
    decoded: Sender<Bytes>,
}

/// The decompressed bytes of a zstd stream of any number of frames, as [`Decoder`] returns them, with its errors.
pub struct ParallelZstd {
    /// What is decoded of each portion, in their order; `None` at the end.
    portions: Receiver<Option<Receiver<Bytes>>>,
    portion: Option<Receiver<Bytes>>,
    used: Sender<Vec<u8>>,
    buffer: Vec<u8>,
    position: usize,
    is_end: bool,
}

impl ParallelZstd {
    /// Reads the stream that arrives in `full`, and gives its buffers back to `empty`. The workers and one more thread
    /// end soon after this reader.
    ///
    /// # Errors
    /// If no thread can be created.
    pub fn new<'scope>(
        scope: &'scope Scope<'scope, '_>,
        full: Receiver<Bytes>,
        empty: Sender<Vec<u8>>,
        division: Division,
    ) -> io::Result<Self> {
        let Division { workers, portion_bytes, window_log } = division;
        let (order, portions) = bounded(workers + 1);
        let (work, waiting) = bounded(workers);
        let (used, free) = bounded(DECODED_AHEAD);
        let spawn = |run: Box<dyn FnOnce() + Send + 'scope>| {
            // A reader finds that what it waits for ended too early.
            let caught = move || crate::jobs::catch_panic(run).unwrap_or_default();
            Builder::new().name("zstd".to_owned()).spawn_scoped(scope, caught)
        };
        for _ in 0..workers {
            let (waiting, free) = (waiting.clone(), free.clone());
            spawn(Box::new(move || work_on(&waiting, &free, window_log)))?;
        }
        spawn(Box::new(move || {
            // Without a receiver the reader is gone.
            Splitter { portion_bytes, order, work, empty, begun: None }.split(&full).unwrap_or_default();
        }))?;
        Ok(Self { portions, portion: None, used, buffer: Vec::new(), position: 0, is_end: false })
    }

    /// Takes what follows; all bytes before were read.
    fn advance(&mut self) -> io::Result<()> {
        let broken = |_| io::Error::other(BROKEN);
        let Some(portion) = &self.portion else {
            self.portion = self.portions.recv().map_err(broken)?;
            self.is_end = self.portion.is_none();
            return Ok(());
        };
        let next = portion.recv().map_err(broken)??;
        if next.is_empty() {
            self.portion = None;
            return Ok(());
        }
        let used = std::mem::replace(&mut self.buffer, next);
        self.position = 0;
        self.used.try_send(used).ok();
        Ok(())
    }
}

impl BufRead for ParallelZstd {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.position >= self.buffer.len() && !self.is_end {
            self.advance()?;
        }
        Ok(&self.buffer[self.position..])
    }

    fn consume(&mut self, count: usize) {
        self.position = (self.position + count).min(self.buffer.len());
    }
}

impl Read for ParallelZstd {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.fill_buf()?;
        let count = bytes.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

/// Cuts a stream into portions.
struct Splitter {
    portion_bytes: usize,
    order: Sender<Option<Receiver<Bytes>>>,
    work: Sender<Portion>,
    empty: Sender<Vec<u8>>,
    /// The begun portion, and its bytes so far.
    begun: Option<(Sender<Bytes>, usize)>,
}

impl Splitter {
    /// Hands the stream on to its end; `None` if a receiver is gone.
    fn split(mut self, full: &Receiver<Bytes>) -> Option<()> {
        let mut frames = Frames::new();
        for buffer in full {
            match buffer {
                Ok(buffer) => self.cut(buffer, &mut frames)?,
                Err(error) => self.hand_on(Err(error))?,
            }
        }
        self.begun = None;
        self.order.send(None).ok()
    }

    /// Hands a buffer on. A portion that is long enough ends where a frame ends.
    fn cut(&mut self, mut buffer: Vec<u8>, frames: &mut Frames) -> Option<()> {
        let mut start = 0;
        while start < buffer.len() {
            let before = self.begun.as_ref().map_or(0, |(_, bytes)| *bytes);
            let mut at = start;
            let is_whole = loop {
                let Some(count) = frames.next_end(&buffer[at..]) else { break false };
                at += count;
                if before + at - start >= self.portion_bytes {
                    break true;
                }
            };
            let end = if is_whole { at } else { buffer.len() };
            if (start, end) == (0, buffer.len()) {
                self.hand_on(Ok(std::mem::take(&mut buffer)))?;
            } else {
                self.hand_on(Ok(buffer[start..end].to_vec()))?;
            }
            if is_whole {
                self.begun = None;
            }
            start = end;
        }
        if !buffer.is_empty() {
            self.empty.try_send(buffer).ok();
        }
        Some(())
    }

    /// Hands bytes on to the begun portion, or to a new one.
    fn hand_on(&mut self, bytes: Bytes) -> Option<()> {
        let count = bytes.as_ref().map_or(0, Vec::len);
        let (sender, so_far) = if let Some(begun) = self.begun.take() {
            begun
        } else {
            let (sender, compressed) = bounded(COMPRESSED_AHEAD);
            let (decoded, receiver) = bounded(DECODED_AHEAD);
            self.order.send(Some(receiver)).ok()?;
            let compressed = Fetch::new(compressed, self.empty.clone());
            self.work.send(Portion { compressed, decoded }).ok()?;
            (sender, 0)
        };
        sender.send(bytes).ok()?;
        self.begun = Some((sender, so_far + count));
        Some(())
    }
}

/// Decodes portions until there are no more.
fn work_on(portions: &Receiver<Portion>, free: &Receiver<Vec<u8>>, window_log: u32) {
    // Without it, the reader finds that this thread is gone.
    let Some(mut context) = DCtx::try_create() else { return };
    for Portion { compressed, decoded } in portions {
        let mut decoder = Decoder::with_context(compressed, &mut context);
        match decoder.window_log_max(window_log) {
            // Without a receiver the reader is gone.
            Ok(()) => hand_on(decoder, &decoded, free).unwrap_or_default(),
            Err(fault) => decoded.send(Err(fault)).unwrap_or_default(),
        }
    }
}

/// Hands on what is decoded, to the end or an error; `None` if the receiver is gone.
fn hand_on(mut frames: impl Read, decoded: &Sender<Bytes>, free: &Receiver<Vec<u8>>) -> Option<()> {
    loop {
        let mut buffer = free.try_recv().unwrap_or_default();
        // A used buffer has this length already, except the last one of a portion.
        buffer.resize(BUFFER_BYTES, 0);
        let (filled, fault) = fill(&mut frames, &mut buffer);
        buffer.truncate(filled);
        let is_end = filled == 0;
        if let Some(fault) = fault {
            if !is_end {
                decoded.send(Ok(buffer)).ok()?;
            }
            return decoded.send(Err(fault)).ok();
        }
        decoded.send(Ok(buffer)).ok()?;
        if is_end {
            return Some(());
        }
    }
}
