//! Inputs of a tar walk: a stream whose bodies pass, or a section whose bodies are skipped.

use std::io::{self, BufRead, BufReader};
use std::sync::Arc;

use zstd::stream::read::Decoder as ZstdDecoder;

use super::compression::Compression;
use super::inflate::Gunzip;
use super::tar::TarInput;
use crate::base::convert::in_memory;
use crate::base::read_at::ReadAt;
use crate::base::{Hasher, Section};
use crate::jobs::{CancelToken, Progress};

/// Buffer size of a stream; large, so that the decompressor runs in long stretches.
pub const BUFFER_BYTES: usize = 256 << 10;
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
