//! Compression on all cores, with the same bytes whatever their number.
//!
//! Input is divided into blocks of a fixed size. Blocks are compressed independently by a shared pool of threads and
//! written in order. gzip works as pigz does: each block is deflated with the end of the previous one as its
//! dictionary and ended by a sync flush, so that all of them are one member. zstd makes a frame of each block, and
//! any decoder reads frames in sequence. Memory is bounded by the number of blocks that wait to be written.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::str::FromStr;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use flate2::{Compress, Compression as Level, Crc, FlushCompress, Status};
use zstd::bulk::Compressor;

use crate::base::Hasher;
use crate::formats::compression::Compression;

/// How layers are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// gzip, which every engine and registry reads, by level 1 to 9.
    Gzip(u32),
    /// zstd, by level 1 to 19.
    Zstd(i32),
}

impl Default for Encoding {
    fn default() -> Self {
        Self::Gzip(6)
    }
}

impl FromStr for Encoding {
    type Err = String;

    /// `gzip`, `gzip:LEVEL`, `zstd` or `zstd:LEVEL`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, level) = text.split_once(':').map_or((text, None), |(name, level)| (name, Some(level)));
        let within = |most: u32, usual: u32| {
            let level = level.map_or(Some(usual), |level| level.parse().ok());
            level
                .filter(|level| (1..=most).contains(level))
                .ok_or(format!("expected a level from 1 to {most}"))
        };
        match name {
            "gzip" => within(9, 6).map(Self::Gzip),
            "zstd" => within(19, 3).map(|level| Self::Zstd(level.cast_signed())),
            _ => Err("expected gzip or zstd[:LEVEL]".to_owned()),
        }
    }
}

impl Encoding {
    /// What the result is.
    pub fn compression(self) -> Compression {
        match self {
            Self::Gzip(_) => Compression::Gzip,
            Self::Zstd(_) => Compression::Zstd,
        }
    }

    /// Bytes of a block. A frame of zstd knows nothing of the one before, so it is longer.
    fn block_bytes(self) -> usize {
        match self {
            Self::Gzip(_) => 256 << 10,
            Self::Zstd(_) => 2 << 20,
        }
    }
}

/// What deflate can refer back to.
const WINDOW_BYTES: usize = 32 << 10;
/// Memory of all blocks in the pool, with their results.
const POOL_BYTES: usize = 48 << 20;
/// Deflate, unknown time, no name, unknown system: nothing of this machine.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

struct Job {
    encoding: Encoding,
    block: Vec<u8>,
    dictionary: Vec<u8>,
    last: bool,
    done: Sender<io::Result<Done>>,
}

struct Done {
    bytes: Vec<u8>,
    checksum: Crc,
}

/// Threads that compress blocks of several layers.
pub(super) struct Pool {
    jobs: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
    streams: usize,
}

impl Pool {
    /// `threads` threads for at most `streams` encoders at a time.
    pub(super) fn new(threads: usize, streams: usize) -> io::Result<Self> {
        let (jobs, queue) = unbounded::<Job>();
        let mut pool = Self { jobs: Some(jobs), threads: Vec::new(), streams: streams.max(1) };
        for _ in 0..threads.max(1) {
            let queue = queue.clone();
            let work = move || {
                let mut worker = Worker::default();
                for job in queue {
                    let result = worker.compress(&job);
                    // The encoder may be gone: its layer failed.
                    job.done.send(result).ok();
                }
            };
            let thread = std::thread::Builder::new().name("compression".to_owned()).spawn(work)?;
            pool.threads.push(thread);
        }
        Ok(pool)
    }

    /// An encoder that writes to `out`.
    pub(super) fn encoder<W: Write>(&self, encoding: Encoding, out: W) -> Encoder<'_, W> {
        let share = POOL_BYTES / self.streams / (2 * encoding.block_bytes());
        Encoder {
            pool: self,
            encoding,
            out: Digested { out, hasher: Hasher::sha256(), bytes: 0 },
            block: Vec::with_capacity(encoding.block_bytes()),
            dictionary: Vec::new(),
            waiting: VecDeque::new(),
            most: share.clamp(2, 2 * self.threads.len().max(1)),
            begun: false,
            checksum: Crc::new(),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.jobs = None;
        for thread in self.threads.drain(..) {
            thread.join().ok();
        }
    }
}

/// State of the compressors, reused for each block.
#[derive(Default)]
struct Worker {
    zstd: Option<(i32, Compressor<'static>)>,
}

impl Worker {
    fn compress(&mut self, job: &Job) -> io::Result<Done> {
        match job.encoding {
            Encoding::Gzip(level) => {
                // A state that was reset keeps the window of the block before, and its bytes decide on the hash of the
                // dictionary's last ones: which matches are found would depend on which thread took which block.
                let mut deflate = Compress::new(Level::new(level), false);
                let mut checksum = Crc::new();
                checksum.update(&job.block);
                Ok(Done { bytes: deflated(&mut deflate, job)?, checksum })
            }
            Encoding::Zstd(level) => {
                if self.zstd.as_ref().is_none_or(|(known, _)| *known != level) {
                    let mut compressor = Compressor::new(level)?;
                    compressor.include_checksum(true)?;
                    self.zstd = Some((level, compressor));
                }
                let Some((_, zstd)) = &mut self.zstd else { return Err(io::ErrorKind::Other.into()) };
                Ok(Done { bytes: zstd.compress(&job.block)?, checksum: Crc::new() })
            }
        }
    }
}

/// One block as raw deflate, which ends at a byte.
fn deflated(deflate: &mut Compress, job: &Job) -> io::Result<Vec<u8>> {
    if !job.dictionary.is_empty() {
        deflate.set_dictionary(&job.dictionary).map_err(io::Error::other)?;
    }
    let flush = if job.last { FlushCompress::Finish } else { FlushCompress::Sync };
    let mut bytes = Vec::with_capacity(job.block.len() / 2 + 1024);
    loop {
        let taken = usize::try_from(deflate.total_in()).unwrap_or(usize::MAX);
        let rest = job.block.get(taken..).unwrap_or_default();
        let status = deflate.compress_vec(rest, &mut bytes, flush).map_err(io::Error::other)?;
        let all = deflate.total_in() == job.block.len() as u64;
        // A flush is complete when it leaves room in the output.
        let done = if job.last { status == Status::StreamEnd } else { all && bytes.len() < bytes.capacity() };
        if done {
            return Ok(bytes);
        }
        bytes.reserve(bytes.capacity().max(1024) / 2);
    }
}

/// Compresses what is written to it.
pub(super) struct Encoder<'a, W: Write> {
    pool: &'a Pool,
    encoding: Encoding,
    out: Digested<W>,
    block: Vec<u8>,
    dictionary: Vec<u8>,
    waiting: VecDeque<Receiver<io::Result<Done>>>,
    most: usize,
    begun: bool,
    checksum: Crc,
}

/// Digest and size of what was written, and where to.
pub(super) struct Encoded<W> {
    pub(super) out: W,
    pub(super) digest: String,
    pub(super) bytes: u64,
}

impl<W: Write> Encoder<'_, W> {
    /// Completes the stream.
    pub(super) fn finish(mut self) -> io::Result<Encoded<W>> {
        if matches!(self.encoding, Encoding::Gzip(_)) || !self.block.is_empty() || !self.begun {
            self.submit(true)?;
        }
        while !self.waiting.is_empty() {
            self.write_first()?;
        }
        if matches!(self.encoding, Encoding::Gzip(_)) {
            self.out.write_all(&self.checksum.sum().to_le_bytes())?;
            self.out.write_all(&self.checksum.amount().to_le_bytes())?;
        }
        self.out.flush()?;
        let Digested { out, hasher, bytes } = self.out;
        Ok(Encoded { out, digest: hasher.finish(), bytes })
    }

    fn submit(&mut self, last: bool) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            if matches!(self.encoding, Encoding::Gzip(_)) {
                self.out.write_all(&GZIP_HEADER)?;
            }
        }
        while self.waiting.len() >= self.most {
            self.write_first()?;
        }
        let block = std::mem::replace(&mut self.block, Vec::with_capacity(self.encoding.block_bytes()));
        let mut dictionary = Vec::new();
        if matches!(self.encoding, Encoding::Gzip(_)) {
            let end = block[block.len().saturating_sub(WINDOW_BYTES)..].to_vec();
            dictionary = std::mem::replace(&mut self.dictionary, end);
        }
        let (done, result) = bounded(1);
        let job = Job { encoding: self.encoding, block, dictionary, last, done };
        let sent = self.pool.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        if !sent {
            return Err(io::Error::other("the compression threads ended"));
        }
        self.waiting.push_back(result);
        Ok(())
    }

    fn write_first(&mut self) -> io::Result<()> {
        let Some(result) = self.waiting.pop_front() else { return Ok(()) };
        // Without a result the thread panicked.
        let done = result.recv().map_err(|_| io::Error::other("a compression thread ended"))??;
        self.checksum.combine(&done.checksum);
        self.out.write_all(&done.bytes)
    }
}

impl<W: Write> Write for Encoder<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = self.encoding.block_bytes() - self.block.len();
        let count = room.min(bytes.len());
        self.block.extend_from_slice(&bytes[..count]);
        if self.block.len() == self.encoding.block_bytes() {
            self.submit(false)?;
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hashes and counts what is written.
pub(super) struct Digested<W> {
    pub(super) out: W,
    pub(super) hasher: Hasher,
    pub(super) bytes: u64,
}

impl<W: Write> Write for Digested<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.bytes += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::{Encoded, Encoding, Pool};

    fn encode(encoding: Encoding, threads: usize, bytes: &[u8]) -> Encoded<Vec<u8>> {
        let pool = Pool::new(threads, 1).unwrap();
        let mut encoder = pool.encoder(encoding, Vec::new());
        for part in bytes.chunks(70_001) {
            encoder.write_all(part).unwrap();
        }
        encoder.finish().unwrap()
    }

    #[test]
    fn threads_change_nothing_and_everything_comes_back() {
        let text: Vec<u8> = (0..900_000_u64).flat_map(|n| (n * n % 1009).to_string().into_bytes()).collect();
        for size in [0, 1, 256 << 10, (256 << 10) + 1, text.len()] {
            let text = &text[..size];
            for encoding in [Encoding::Gzip(6), Encoding::Gzip(1), Encoding::Zstd(3)] {
                let one = encode(encoding, 1, text);
                assert_eq!(one.out, encode(encoding, 5, text).out);
                assert_eq!(one.digest, crate::base::digest::sha256_of(&one.out));
                assert_eq!(one.bytes, one.out.len() as u64);
                let mut back = Vec::new();
                match encoding {
                    // One member: readers that stop after the first read all.
                    Encoding::Gzip(_) => {
                        flate2::read::GzDecoder::new(&one.out[..]).read_to_end(&mut back).unwrap();
                    }
                    Encoding::Zstd(_) => {
                        zstd::stream::Decoder::new(&one.out[..]).unwrap().read_to_end(&mut back).unwrap();
                    }
                }
                assert!(back == text, "{encoding:?}, {size}");
            }
        }
    }

    #[test]
    fn a_block_is_the_same_after_any_other() {
        // Words that recur within a window, and never with the same neighbours.
        let mut state = 1_u32;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 20
        };
        let text: Vec<u8> = (0..1_500_000).flat_map(|_| (next() % 600).to_string().into_bytes()).collect();
        let whole = encode(Encoding::Gzip(6), 1, &text).out;
        for threads in [2, 3, 5] {
            assert!(encode(Encoding::Gzip(6), threads, &text).out == whole, "{threads} threads");
        }
    }

    #[test]
    fn blocks_cost_next_to_nothing() {
        let text: Vec<u8> = (0..400_000_u64).flat_map(|n| (n * n % 1009).to_string().into_bytes()).collect();
        let mut whole = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::new(6));
        whole.write_all(&text).unwrap();
        let whole = whole.finish().unwrap().len();
        let blocks = encode(Encoding::Gzip(6), 2, &text).out.len();
        assert!(blocks * 100 <= whole * 101, "{blocks} bytes, {whole} without blocks");
    }
}
