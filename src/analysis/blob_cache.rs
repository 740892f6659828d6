//! Access to the blob cache: compressed registry layers are stored under their verified digest while they are
//! read, and loaded from there the next time.

use std::io::{self, Read, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use crate::base::size::human;
use crate::cache::{Blobs, NewBlob};
use crate::jobs::{Cancelled, Progress};
use crate::layer::{Context, Expected, LayerRead, read_download};
use crate::source::registry::RemoteBlob;

/// Reads a registry layer from the blob cache; else from the registry, storing it in the cache.
pub(super) fn read_and_keep(
    blob: &RemoteBlob,
    blobs: &Blobs,
    expected: &Expected,
    context: &Context,
) -> Result<LayerRead, Cancelled> {
    let digest = blob.digest().as_ref();
    if let Some(file) = blobs.find(digest) {
        let file = Mutex::new(Some(file));
        let open = || -> Box<dyn Read + Send> {
            let first = file.lock().unwrap_or_else(PoisonError::into_inner).take();
            match first.or_else(|| blobs.find(digest)) {
                Some(file) => Box::new(file),
                None => Box::new(MissingBlob),
            }
        };
        let read = read_download(&open, blob.size(), expected, context)?;
        if read.digest.as_deref() == Some(digest) {
            return Ok(read);
        }
        blobs.remove(digest);
        context.progress.tell(format!("{digest} in the blob cache is damaged; fetching it again"));
    }
    let kept: PendingBlob = Arc::default();
    let open = || -> Box<dyn Read + Send> {
        let begun = begin(blobs, blob, &context.progress);
        // If the layer is read again from its start, the cached copy restarts too.
        *kept.lock().unwrap_or_else(PoisonError::into_inner) = begun;
        let stream = blob.stream(&context.cancel, &context.progress);
        Box::new(CachingReader { stream, kept: Arc::clone(&kept), progress: context.progress.clone() })
    };
    let read = read_download(&open, blob.size(), expected, context)?;
    let written = kept.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(written) = written.filter(|_| read.digest.as_deref() == Some(digest))
        && let Err(error) = written.keep(digest)
    {
        context.progress.tell(cannot_keep(digest, &error));
    }
    Ok(read)
}

type PendingBlob = Arc<Mutex<Option<NewBlob>>>;

fn begin(blobs: &Blobs, blob: &RemoteBlob, progress: &Progress) -> Option<NewBlob> {
    match blobs.begin(blob.size()) {
        Ok(Some(begun)) => return Some(begun),
        Ok(None) => progress.tell(format!(
            "{} not added to the blob cache: {}, limit {} including layers being fetched",
            blob.digest(),
            human(blob.size()),
            human(blobs.limit())
        )),
        Err(error) => progress.tell(cannot_keep(blob.digest().as_ref(), &error)),
    }
    None
}

fn cannot_keep(digest: &str, error: &io::Error) -> String {
    format!("{digest} not added to the blob cache: {error}")
}

/// A stream whose bytes are also written to the blob cache. After a write error the copy is dropped and
/// reading continues.
struct CachingReader<R> {
    stream: R,
    kept: PendingBlob,
    progress: Progress,
}

impl<R: Read> Read for CachingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.stream.read(buffer)?;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Err(error)) = kept.as_mut().map(|kept| kept.write_all(&buffer[..count])) {
            *kept = None;
            self.progress.tell(format!("layer not added to the blob cache: {error}"));
        }
        Ok(count)
    }
}

/// A cached blob that was removed after it was found; every read fails.
struct MissingBlob;

impl Read for MissingBlob {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        Err(io::ErrorKind::NotFound.into())
    }
}
