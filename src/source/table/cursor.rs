//! Reads the bodies of files: fetches, decompresses, and verifies them against the digests of the table.

use std::io::{self, BufReader, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use flate2::bufread::GzDecoder;
use sha2::{Digest as _, Sha256};
use zstd::stream::read::Decoder as ZstdDecoder;

use super::fetch::{Compressed, Window};
use crate::base::convert::in_memory;
use crate::formats::compression::{Compression, sniff};
use crate::formats::contents::{Chunk, ChunkMap};

/// Bytes passed to a decoder in one step.
const PIECE: usize = 16 << 10;
/// Step size when bytes of a file are skipped.
const SKIP: usize = 64 << 10;
/// The largest window of zstd:chunked frames: its writer never uses a larger one.
const WINDOW_LOG: u32 = 23;

/// A position in one file of the layer.
pub struct Cursor {
    window: Arc<Mutex<Window>>,
    stream: Option<Stream>,
    entry: usize,
    /// The chunk, and how many of its bytes were read.
    part: usize,
    within: u64,
    /// Bytes before the chunk.
    before: u64,
    /// Hashes the chunk, and the file while it is read from its start.
    part_sum: Option<Sha256>,
    file_sum: Option<Sha256>,
    /// Whether unverified bytes were returned.
    unproven: bool,
    unproven_files: Arc<AtomicU64>,
    /// Remaining budget of decompressed bytes.
    room: u64,
}

/// A stream that is being decompressed.
struct Stream {
    offset: u64,
    position: u64,
    inflater: Box<dyn Read + Send>,
}

impl Cursor {
    pub(super) fn new(window: &Arc<Mutex<Window>>, room: u64, unproven_files: &Arc<AtomicU64>) -> Self {
        Self {
            window: Arc::clone(window),
            stream: None,
            entry: usize::MAX,
            part: 0,
            within: 0,
            before: 0,
            part_sum: None,
            file_sum: None,
            unproven: false,
            unproven_files: Arc::clone(unproven_files),
            room,
        }
    }

    /// Seeks to the start of a file.
    pub(super) fn open(&mut self, entry: usize) {
        self.leave();
        self.enter(entry, 0, 0);
        self.file_sum = Some(Sha256::new());
    }

    fn enter(&mut self, entry: usize, part: usize, before: u64) {
        (self.entry, self.part, self.within, self.before) = (entry, part, 0, before);
        self.part_sum = Some(Sha256::new());
        self.file_sum = None;
    }

    /// Ends the read of the current file.
    fn leave(&mut self) {
        if std::mem::take(&mut self.unproven) {
            self.unproven_files.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Drops the stream that is being decompressed.
    pub(super) fn let_go(&mut self) {
        self.stream = None;
    }

    /// Seeks to an offset in a file.
    pub(super) fn seek(&mut self, bodies: &ChunkMap, entry: usize, offset: u64) -> io::Result<()> {
        let here = self.before.saturating_add(self.within);
        if entry == self.entry && offset == here {
            return Ok(());
        }
        let parts = bodies.parts(entry);
        let part = parts.partition_point(|part| part.at <= offset).saturating_sub(1);
        if offset == 0 {
            self.open(entry);
        } else if entry != self.entry || offset < here || part > self.part {
            self.leave();
            self.enter(entry, part, parts.get(part).map_or(0, |part| part.at));
        }
        let mut left = offset.saturating_sub(self.before.saturating_add(self.within));
        let mut buffer = vec![0; SKIP];
        while left > 0 {
            let most = in_memory(left).min(buffer.len());
            match self.read(bodies, buffer.get_mut(..most).unwrap_or_default())? {
                0 => break,
                count => left -= count as u64,
            }
        }
        Ok(())
    }

    /// The next bytes of the file; 0 at its end.
    pub(super) fn read(&mut self, bodies: &ChunkMap, buffer: &mut [u8]) -> io::Result<usize> {
        let Some(part) = bodies.parts(self.entry).get(self.part).copied() else { return Ok(0) };
        let most = in_memory(part.size - self.within).min(buffer.len());
        let Some(wanted) = buffer.get_mut(..most).filter(|wanted| !wanted.is_empty()) else { return Ok(0) };
        let count = match self.give(&part, wanted) {
            Ok(0) => Err(damaged("truncated")),
            given => given,
        };
        let count = count.inspect_err(|_| {
            self.stream = None;
            self.unproven = false;
        })?;
        let given = wanted.get(..count).unwrap_or_default();
        for sum in [&mut self.part_sum, &mut self.file_sum].into_iter().flatten() {
            sum.update(given);
        }
        self.unproven = true;
        self.within += count as u64;
        if self.within == part.size {
            self.finish_part(bodies, &part)?;
        }
        Ok(count)
    }

    /// Reads on to the next digest that verifies what was returned. More than `most` bytes stay unverified.
    pub(super) fn prove(&mut self, bodies: &ChunkMap, most: u64) -> io::Result<()> {
        let mut buffer = vec![0; SKIP];
        while self.unproven {
            let Some(part) = bodies.parts(self.entry).get(self.part) else { break };
            if self.within == 0 || part.sum.is_none() || part.end.saturating_sub(part.offset) > most {
                break;
            }
            let left = in_memory(part.size - self.within).min(buffer.len());
            self.read(bodies, buffer.get_mut(..left).unwrap_or_default())?;
        }
        self.leave();
        Ok(())
    }

    fn finish_part(&mut self, bodies: &ChunkMap, part: &Chunk) -> io::Result<()> {
        let found = self.part_sum.replace(Sha256::new()).map(|sum| <[u8; 32]>::from(sum.finalize()));
        if part.sum.is_some() && part.sum != found {
            self.unproven = false;
            return Err(damaged("digest mismatch with the table of contents"));
        }
        // One chunk without a digest leaves the file unverified until its end.
        let parts = bodies.parts(self.entry);
        let all = parts.get(..=self.part).unwrap_or_default().iter().all(|part| part.sum.is_some());
        self.unproven = self.file_sum.is_some() && !all || part.sum.is_none();
        self.before = self.before.saturating_add(part.size);
        self.part += 1;
        self.within = 0;
        if self.part < parts.len() {
            return Ok(());
        }
        let file = self.file_sum.take().map(|sum| <[u8; 32]>::from(sum.finalize()));
        match (bodies.sum(self.entry), file) {
            (Some(claimed), Some(found)) if claimed != found => {
                self.unproven = false;
                Err(damaged("digest mismatch with the table of contents"))
            }
            (Some(_), Some(_)) => {
                self.unproven = false;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The next bytes of a chunk.
    fn give(&mut self, part: &Chunk, wanted: &mut [u8]) -> io::Result<usize> {
        let count = wanted.len() as u64;
        self.room = self.room.checked_sub(count).ok_or_else(too_much)?;
        if part.zeros {
            wanted.fill(0);
            return Ok(wanted.len());
        }
        let target = part.inner.saturating_add(self.within);
        let usable = |stream: &Stream| stream.offset == part.offset && stream.position <= target;
        let stream = if let Some(stream) = self.stream.take().filter(usable) {
            self.stream.insert(stream)
        } else {
            let inflater = inflater(&self.window, part)?;
            self.stream.insert(Stream { offset: part.offset, position: 0, inflater })
        };
        let skip = target - stream.position;
        if skip > 0 {
            self.room = self.room.checked_sub(skip).ok_or_else(too_much)?;
            let skipped = io::copy(&mut stream.inflater.by_ref().take(skip), &mut io::sink())?;
            stream.position += skipped;
            if skipped < skip {
                return Ok(0);
            }
        }
        let count = stream.inflater.read(wanted)?;
        stream.position += count as u64;
        Ok(count)
    }
}

fn inflater(window: &Arc<Mutex<Window>>, part: &Chunk) -> io::Result<Box<dyn Read + Send>> {
    let compressed = Compressed { window: Arc::clone(window), at: part.offset, end: part.end };
    let mut reader = BufReader::with_capacity(PIECE, compressed);
    match sniff(io::BufRead::fill_buf(&mut reader)?.get(..4).unwrap_or_default()) {
        Ok(Compression::Gzip) => Ok(Box::new(GzDecoder::new(reader))),
        Ok(Compression::Zstd) => {
            let mut decoder = ZstdDecoder::with_buffer(reader)?.single_frame();
            decoder.window_log_max(WINDOW_LOG)?;
            Ok(Box::new(decoder))
        }
        _ => Err(damaged("no compressed data at the offset given by the table of contents")),
    }
}

fn damaged(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why)
}

fn too_much() -> io::Error {
    damaged("more decompressed bytes than a layer may have")
}
