//! The bytes of a layer, hashed and decompressed as they are read again.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::bounded;

use super::SlimError;
use super::layer::Fault;
use crate::base::read_at::SectionReader;
use crate::base::{Digest, Hasher, Limits, Section};
use crate::cache::Blobs;
use crate::formats::compression::Compression;
use crate::formats::feed::{Fetch, feed};
use crate::formats::input::{BUFFER_BYTES, decoder};
use crate::jobs::{CancelToken, Progress};
use crate::layer::LayerRead;
use crate::source::{Blob, LayerSource};

/// Environment of reading layers again.
pub(super) struct Reading<'a> {
    pub(super) limits: &'a Limits,
    pub(super) blobs: Option<&'a Blobs>,
    pub(super) progress: &'a Progress,
    pub(super) cancel: &'a CancelToken,
}

/// The digest of a blob: declared, else found by the analysis. A plain layer's is its diff id.
pub(super) fn digest_of(source: &LayerSource, read: &LayerRead) -> Option<Digest> {
    let plain = || source.diff_id.clone().filter(|_| read.compression == Some(Compression::None));
    source.digest.clone().or_else(|| read.digest.as_ref()?.parse().ok()).or_else(plain)
}

struct Stoppable<'a> {
    source: Box<dyn Read + Send>,
    stop: &'a AtomicBool,
}

impl Read for Stoppable<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.load(Ordering::Relaxed) { Ok(0) } else { self.source.read(buffer) }
    }
}

impl Reading<'_> {
    /// Passes the tar stream of a layer to `work`, and compares the digest of the blob: one thread reads and hashes,
    /// this one decompresses.
    pub(super) fn inflate<T>(
        &self,
        source: &LayerSource,
        read: &LayerRead,
        work: impl FnOnce(&mut dyn BufRead) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let digest = digest_of(source, read);
        let stream = self.open(source, digest.as_ref())?;
        let hasher = digest.as_ref().and_then(Hasher::for_digest);
        let compression = read.compression.unwrap_or(Compression::None);
        let (full_sender, full) = bounded(4);
        let (empty, empty_receiver) = bounded(6);
        let stop = AtomicBool::new(false);
        let stream = Stoppable { source: stream, stop: &stop };
        let (progress, cancel) = (self.progress, self.cancel);
        let (worked, found) = std::thread::scope(|scope| {
            // It owns its end of the channel: closed is what the end of the stream is to the other side.
            let feeder =
                scope.spawn(move || feed(stream, hasher, &full_sender, &empty_receiver, progress, cancel));
            let worked = decoder(Fetch::new(full, empty), compression, self.limits.zstd_window_log)
                .map_err(|error| Fault::Read(error.to_string()))
                .and_then(|mut reader| work(&mut reader));
            // After a fault the rest is not needed; otherwise it belongs to the digest.
            stop.store(worked.is_err(), Ordering::Relaxed);
            let fed = feeder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            (worked, fed.digest)
        });
        let result = worked?;
        self.cancel.check().map_err(|_| Fault::Cancelled)?;
        match (digest, found) {
            (Some(digest), Some(found)) if digest.as_ref() != found => {
                Err(Fault::Read(format!("its bytes have the digest {found}")))
            }
            (Some(_), None) => Err(Fault::Read("it cannot be read to its end".to_owned())),
            _ => Ok(result),
        }
    }

    fn open(&self, source: &LayerSource, digest: Option<&Digest>) -> Result<Box<dyn Read + Send>, Fault> {
        match &source.blob {
            Blob::Section(section) => Ok(Box::new(SectionReader::new(section.clone()))),
            Blob::Remote(remote) => {
                let cached = digest.and_then(|digest| self.blobs?.find(digest.as_ref()));
                let Some(file) = cached else {
                    return Ok(Box::new(remote.stream(self.cancel, self.progress)));
                };
                let section = Section::new(Arc::new(file), 0, remote.size());
                Ok(Box::new(SectionReader::new(section)))
            }
            Blob::Missing(reason) => Err(Fault::Read(reason.clone())),
            Blob::Streamed(_) | Blob::Folder(_) => Err(Fault::Read("it has no bytes of its own".to_owned())),
        }
    }
}

/// Passes the tar stream of a layer that comes from a stream, such as a member of a compressed archive, to `work`.
pub(super) fn inflate_stream<T>(
    stream: &mut dyn Read,
    compression: Compression,
    limits: &Limits,
    work: impl FnOnce(&mut dyn BufRead) -> Result<T, Fault>,
) -> Result<T, Fault> {
    let source = BufReader::with_capacity(BUFFER_BYTES, stream);
    let mut reader = decoder(source, compression, limits.zstd_window_log)
        .map_err(|error| Fault::Read(error.to_string()))?;
    work(&mut reader)
}

/// A fault of a layer as an error.
pub(super) fn fault(fault: Fault, layer: &str) -> SlimError {
    match fault {
        Fault::Cancelled => SlimError::Cancelled,
        Fault::Read(reason) | Fault::Unproven(_, reason) => SlimError::refused(layer, reason),
        // A destination that says itself what failed keeps its words.
        Fault::Write(error) => error
            .downcast::<SlimError>()
            .unwrap_or_else(|error| super::store::failed(format!("cannot write {layer}"), &error)),
    }
}
