//! The one pass over a layer: hash, inflate, walk.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::bounded;

use super::builder::IndexBuilder;
use super::context::Context;
use super::outcome::{Expected, LayerRead, Verified};
use super::walk::{Fault, Walked, walk};
use crate::base::read_at::SectionReader;
use crate::base::size::human;
use crate::base::{Hasher, Section, Warning, WarningCode};
use crate::formats::compression::{Compression, SNIFF_BYTES, sniff};
use crate::formats::feed::{Fed, Fetch, feed, feed_and_hash};
use crate::formats::inflate::{Gunzip, ParallelGunzip};
use crate::formats::input::{BUFFER_BYTES, SeekInput, StreamInput, decoder};
use crate::formats::tar::TarInput;
use crate::formats::zstd::{self, ParallelZstd, zstd_window};
use crate::jobs::Cancelled;

/// A larger window is allocated by one layer at a time, so that memory stays bounded.
const COMMON_WINDOW: u64 = 8 << 20;
const COMMON_WINDOW_LOG: u32 = 23;
static LARGE_WINDOW: Mutex<()> = Mutex::new(());

/// Reads a seekable layer. A plain one is walked from header to header without its bodies, unless `expected.verify`; a
/// compressed one is hashed as it is read. Nothing is judged here: see [`LayerRead::check`].
///
/// # Errors
/// Only cancellation: faults of the layer are warnings, and the readable part is returned.
pub fn read_layer(section: &Section, expected: &Expected, context: &Context) -> Result<LayerRead, Cancelled> {
    let mut pass = Pass::new(expected, context);
    pass.read.compressed_bytes = Some(section.len());
    let mut start = [0; SNIFF_BYTES];
    let compression = match section.read_full_at(&mut start, 0) {
        Ok(count) => pass.sniff(&start[..count]),
        Err(error) => {
            pass.unreadable(&error.to_string());
            None
        }
    };
    let Some(compression) = compression else {
        context.progress.add_passed(section.len());
        return pass.finish(None);
    };
    if compression == Compression::None && !expected.verify {
        let input = SeekInput::new(section.clone(), &context.progress, &context.cancel);
        if pass.walk(input)?.is_some() {
            pass.read.uncompressed_bytes = Some(section.len());
        }
        return pass.finish(None);
    }
    let open = || -> Box<dyn Read + Send> { Box::new(SectionReader::new(section.clone())) };
    pass.inflate_all(&start, &open, None, section.len())
}

/// Reads a remote layer, hashing, decompressing and walking it as it arrives. `open` starts the stream from its first
/// byte, possibly again if the layer needs a larger window than its first frame declares. `claimed_bytes` is the length
/// in the manifest; the received length counts.
///
/// # Errors
/// Only cancellation: faults of the stream are warnings, and the readable part is returned.
pub fn read_download(
    open: &dyn Fn() -> Box<dyn Read + Send>,
    claimed_bytes: u64,
    expected: &Expected,
    context: &Context,
) -> Result<LayerRead, Cancelled> {
    let mut pass = Pass::new(expected, context);
    let mut stream = open();
    let mut start = Vec::with_capacity(SNIFF_BYTES);
    if let Err(error) = stream.by_ref().take(SNIFF_BYTES as u64).read_to_end(&mut start) {
        Cancelled::check_error(&error)?;
        pass.unreadable(&error.to_string());
        context.progress.add_passed(claimed_bytes);
        return pass.finish(None);
    }
    pass.sniff(&start);
    let begun = Box::new(io::Cursor::new(start.clone()).chain(stream));
    let mut read = pass.inflate_all(&start, open, Some(begun), claimed_bytes)?;
    if read.digest.is_none() {
        // Its length is known only at its end, and its identity only by its digest.
        read.compressed_bytes = None;
        if read.complete {
            read.complete = false;
            let message = "truncated: the bytes before the end are not verified";
            read.warnings.push(Warning::new(WarningCode::LayerCutShort, context.subject.clone(), message));
        }
    }
    Ok(read)
}

/// Reads a layer from a stream, such as a member of a compressed archive. The stream is always hashed and read to its
/// end.
///
/// # Errors
/// Only when cancelled.
pub fn read_stream(
    stream: &mut dyn Read,
    expected: &Expected,
    context: &Context,
) -> Result<LayerRead, Cancelled> {
    let mut pass = Pass::new(expected, context);
    let mut start = Vec::with_capacity(SNIFF_BYTES);
    if let Err(error) = stream.take(SNIFF_BYTES as u64).read_to_end(&mut start) {
        pass.unreadable(&error.to_string());
        return pass.finish(None);
    }
    let sniffed = pass.sniff(&start);
    let hasher = expected.digest.as_ref().and_then(Hasher::for_digest).unwrap_or_else(Hasher::sha256);
    let mut tap = Tap { inner: start.as_slice().chain(stream), hasher, bytes: 0 };
    let admitted = sniffed != Some(Compression::Zstd) || pass.admit_window(zstd_window(&start)).is_some();
    if let Some(compression) = sniffed.filter(|_| admitted) {
        let source = BufReader::with_capacity(BUFFER_BYTES, &mut tap);
        pass.walk_inflated(source, compression, context.limits.zstd_window_log)?;
    }
    // What the walk left unread still belongs to the digest.
    let rest = io::copy(&mut tap, &mut io::sink());
    if let Err(error) = rest {
        pass.unreadable(&error.to_string());
        return pass.finish(None);
    }
    let fed = Fed { bytes: tap.bytes, digest: Some(tap.hasher.finish()) };
    pass.read.compressed_bytes = Some(fed.bytes);
    pass.finish(Some(fed))
}

/// A stream that ends if its reader is gone.
struct Stoppable<'a> {
    source: Box<dyn Read + Send>,
    stop: &'a AtomicBool,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) { Ok(0) } else { self.source.read(buffer) }
    }
}

struct Tap<R> {
    inner: R,
    hasher: Hasher,
    bytes: u64,
}

impl<R: Read> Read for Tap<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hasher.update(&buffer[..count]);
        self.bytes += count as u64;
        Ok(count)
    }
}

/// One pass over one layer, with the result so far.
struct Pass<'a> {
    expected: &'a Expected,
    context: &'a Context,
    read: LayerRead,
    wants_larger_window: bool,
}

impl<'a> Pass<'a> {
    fn new(expected: &'a Expected, context: &'a Context) -> Self {
        let read = LayerRead {
            index: Arc::default(),
            facts: Arc::default(),
            compression: None,
            compressed_bytes: None,
            uncompressed_bytes: None,
            digest: None,
            diff_id: None,
            verified: Verified::default(),
            complete: true,
            warnings: Vec::new(),
        };
        let mut pass = Self { expected, context, read, wants_larger_window: false };
        pass.read.index = Arc::new(IndexBuilder::new(&context.limits).finish());
        pass
    }

    fn warn(&mut self, code: WarningCode, message: impl Into<String>) {
        self.read.warnings.push(Warning::new(code, self.context.subject.clone(), message));
    }

    fn unreadable(&mut self, why: &str) {
        self.read.complete = false;
        self.warn(WarningCode::LayerCutShort, format!("cannot be read: {why}"));
    }

    fn sniff(&mut self, start: &[u8]) -> Option<Compression> {
        match sniff(start) {
            Ok(compression) => {
                self.read.compression = Some(compression);
                Some(compression)
            }
            Err(error) => {
                self.read.complete = false;
                self.warn(WarningCode::LayerMalformed, error.to_string());
                None
            }
        }
    }

    /// The window limit to use; `None` if the first frame exceeds the maximum.
    fn admit_window(&mut self, window: Option<u64>) -> Option<u32> {
        let largest = self.context.limits.zstd_window_log;
        if let Some(window) = window.filter(|window| *window > 1 << largest) {
            self.refuse_window(&format!("a zstd window of {}", human(window)));
            return None;
        }
        Some(largest)
    }

    fn refuse_window(&mut self, needs: &str) {
        let most = human(1 << self.context.limits.zstd_window_log);
        self.read.complete = false;
        self.warn(WarningCode::LayerMalformed, format!("needs {needs}, limit {most}"));
    }

    /// Reads a streamed layer completely. `begun` is a stream that was already started.
    fn inflate_all(
        mut self,
        start: &[u8],
        open: &dyn Fn() -> Box<dyn Read + Send>,
        begun: Option<Box<dyn Read + Send>>,
        bytes: u64,
    ) -> Result<LayerRead, Cancelled> {
        let mut begun = begun;
        let mut stream = || begun.take().unwrap_or_else(open);
        let Some(compression) = self.read.compression else {
            self.context.progress.add_passed(bytes);
            return self.finish(None);
        };
        if compression != Compression::Zstd {
            let fed = self.inflate(stream(), compression, 0)?;
            return self.finish(Some(fed));
        }
        let window = zstd_window(start);
        let Some(largest) = self.admit_window(window) else {
            self.context.progress.add_passed(bytes);
            return self.finish(None);
        };
        if window.is_none_or(|window| window <= COMMON_WINDOW) {
            let fed = self.inflate(stream(), compression, COMMON_WINDOW_LOG.min(largest))?;
            if !self.wants_larger_window {
                return self.finish(Some(fed));
            }
            // A later frame needs a larger window than the first: restart.
            let compressed_bytes = self.read.compressed_bytes;
            self = Pass::new(self.expected, self.context);
            self.read.compressed_bytes = compressed_bytes;
            self.sniff(start);
        }
        let _one_at_a_time = LARGE_WINDOW.lock().unwrap_or_else(PoisonError::into_inner);
        let fed = self.inflate(stream(), compression, largest)?;
        self.finish(Some(fed))
    }

    /// Reads and hashes the stream on another thread; decompresses and walks it on this one.
    fn inflate(
        &mut self,
        source: Box<dyn Read + Send>,
        compression: Compression,
        window_log: u32,
    ) -> Result<Fed, Cancelled> {
        let context = self.context;
        let division = context.inflate.filter(|_| compression != Compression::None);
        // Workers take bytes in bursts, and get them in larger buffers.
        let ahead = division.map_or(4, |division| if division.workers > 0 { 24 } else { 12 });
        let (full_sender, full) = bounded(ahead);
        let (empty, empty_receiver) = bounded(ahead + 2);
        let hasher =
            self.expected.digest.as_ref().and_then(Hasher::for_digest).unwrap_or_else(Hasher::sha256);
        let stop = AtomicBool::new(false);
        let source = Stoppable { source, stop: &stop };
        std::thread::scope(|scope| {
            let feeder = scope.spawn(move || {
                let (progress, cancel) = (&context.progress, &context.cancel);
                if division.is_some_and(|division| division.workers > 0) {
                    feed_and_hash(source, hasher, full_sender, &empty_receiver, progress, cancel)
                } else {
                    feed(source, Some(hasher), &full_sender, &empty_receiver, progress, cancel)
                }
            });
            let walked = match division {
                Some(division) if compression == Compression::Zstd => {
                    // Each worker allocates a window.
                    let workers = if window_log > COMMON_WINDOW_LOG { 1 } else { division.workers };
                    let division = zstd::Division::of(workers, window_log);
                    self.walk_opened(ParallelZstd::new(scope, full, empty, division))
                }
                Some(division) => {
                    let fetch = Fetch::new(full, empty);
                    self.walk_opened(ParallelGunzip::new(scope, fetch, division, context.points.clone()))
                }
                None => self.walk_inflated(Fetch::new(full, empty), compression, window_log),
            };
            // The stream is opened again: the rest of this one is not needed.
            stop.store(self.wants_larger_window, Ordering::Relaxed);
            let fed = feeder.join();
            walked?;
            context.cancel.check()?;
            // A panic on the reading side belongs to the job that runs this layer.
            fed.map_or_else(|panic| std::panic::resume_unwind(panic), Ok)
        })
    }

    fn walk_inflated(
        &mut self,
        source: impl BufRead,
        compression: Compression,
        window_log: u32,
    ) -> Result<(), Cancelled> {
        if compression == Compression::Gzip {
            return self.walk_stream(Gunzip::new(source, self.context.points.clone()));
        }
        self.walk_opened(decoder(source, compression, window_log))
    }

    fn walk_opened(&mut self, reader: io::Result<impl BufRead>) -> Result<(), Cancelled> {
        match reader {
            Ok(reader) => self.walk_stream(reader),
            Err(error) => {
                self.unreadable(&error.to_string());
                Ok(())
            }
        }
    }

    fn walk_stream(&mut self, reader: impl BufRead) -> Result<(), Cancelled> {
        let plain = self.read.compression == Some(Compression::None);
        // For an uncompressed layer digest and diff id are equal: hash only once.
        let hasher = (self.expected.verify && !plain).then(|| {
            self.expected.diff_id.as_ref().and_then(Hasher::for_digest).unwrap_or_else(Hasher::sha256)
        });
        let limit = self.context.limits.inflated_bytes;
        let input = StreamInput::new(reader, hasher, limit, &self.context.cancel);
        let Some(mut input) = self.walk(input)? else { return Ok(()) };
        match input.drain() {
            Ok(0) => {}
            Ok(count) => {
                let message = format!("{count} non-zero bytes after the end of the tar archive");
                self.warn(WarningCode::TrailingData, message);
            }
            Err(error) => {
                Cancelled::check_error(&error)?;
                let message = format!("after the end of the tar archive: {error}");
                // Messages of flate2 and zstd for trailing bytes that are not a member.
                let words = error.to_string();
                let trailing = ["invalid gzip header", "Unknown frame descriptor"];
                if !trailing.iter().any(|known| words.contains(known)) {
                    // The rest of the stream is missing, its checksum is wrong, or it has no end.
                    let code = match error.kind() {
                        io::ErrorKind::InvalidInput
                        | io::ErrorKind::InvalidData
                        | io::ErrorKind::FileTooLarge => WarningCode::LayerMalformed,
                        _ => WarningCode::LayerCutShort,
                    };
                    self.read.complete = false;
                    self.warn(code, message);
                    return Ok(());
                }
                self.warn(WarningCode::TrailingData, message);
            }
        }
        self.read.uncompressed_bytes = Some(input.passed);
        self.read.diff_id = input.hasher.take().map(Hasher::finish);
        Ok(())
    }

    /// Walks the tar into the result. Gives the input back when the end of the archive was reached.
    fn walk<I: TarInput>(&mut self, input: I) -> Result<Option<I>, Cancelled> {
        let Walked { index, facts, warnings, end } = walk(input, self.context)?;
        self.read.index = Arc::new(index);
        self.read.facts = Arc::new(facts);
        self.read.warnings.extend(warnings);
        Ok(end.map_err(|fault| self.fault(fault)).ok())
    }

    fn fault(&mut self, fault: Fault) {
        let seen = self.read.index.len();
        let kept = format!("{} entries before it were read", crate::base::size::grouped(seen as u64));
        self.read.complete = false;
        match fault {
            Fault::Cut(what) => self.warn(WarningCode::LayerCutShort, format!("{what}; {kept}")),
            Fault::Malformed(what) => self.warn(WarningCode::LayerMalformed, format!("{what}; {kept}")),
            Fault::Window(what) => {
                if self.context.limits.zstd_window_log > COMMON_WINDOW_LOG {
                    self.wants_larger_window = true;
                }
                self.refuse_window(&format!("a larger zstd window ({what})"));
            }
        }
    }

    fn finish(mut self, fed: Option<Fed>) -> Result<LayerRead, Cancelled> {
        self.context.cancel.check()?;
        if let Some(fed) = fed.as_ref().filter(|fed| fed.digest.is_some()) {
            self.read.compressed_bytes = Some(fed.bytes);
        }
        let digest = fed.and_then(|fed| fed.digest);
        if self.read.compression == Some(Compression::None) && self.read.diff_id.is_none() {
            self.read.diff_id.clone_from(&digest);
        }
        self.read.digest = digest;
        Ok(self.read)
    }
}
