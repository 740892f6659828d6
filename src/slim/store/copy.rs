//! Blobs that are taken over byte for byte, from wherever the image is.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Arc;

use super::{KeptBlob, SlimError, failed, refused};
use crate::base::read_at::SectionReader;
use crate::base::{Hasher, Section};
use crate::cache::Blobs;
use crate::jobs::{CancelToken, Progress};
use crate::source::Blob;

/// Bytes copied at once.
const PIECE: usize = 1 << 20;

/// Where the bytes of kept blobs come from: the image, or for a registry's image the blob cache.
#[derive(Clone, Default)]
pub(in crate::slim) struct Origin {
    pub(in crate::slim) blobs: Option<Blobs>,
}

impl Origin {
    /// Copies `blob` into the new file `file`, by reflink where the file system can: a link would let a later writer of
    /// either file change both.
    pub(super) fn to_file(
        &self,
        blob: &KeptBlob<'_>,
        file: &mut File,
        progress: &Progress,
        cancel: &CancelToken,
    ) -> Result<(), SlimError> {
        if let Some(section) = self.section(blob, cancel)
            && let Some(source) = section.whole_file()
            && shares_blocks(file, source)
        {
            // The copy is hashed: the source may change while it is read.
            let copy = file.try_clone().map_err(|error| failed(what(blob), &error))?;
            let section = Section::new(Arc::new(copy), 0, blob.size);
            return pump(blob, SectionReader::new(section), &mut std::io::sink(), Some(progress), cancel);
        }
        self.to_writer(blob, file, progress, cancel)
    }

    /// Copies `blob` to `out`.
    pub(super) fn to_writer(
        &self,
        blob: &KeptBlob<'_>,
        out: &mut dyn Write,
        progress: &Progress,
        cancel: &CancelToken,
    ) -> Result<(), SlimError> {
        if let Some(section) = self.section(blob, cancel) {
            return pump(blob, SectionReader::new(section), out, Some(progress), cancel);
        }
        match &blob.layer.blob {
            // The stream counts what it reads.
            Blob::Remote(remote) => pump(blob, remote.stream(cancel, progress), out, None, cancel),
            _ => Err(refused(what(blob), "its bytes cannot be read a second time", None)),
        }
    }

    /// The blob as bytes of this machine: of the image, or verified ones of the blob cache.
    fn section(&self, blob: &KeptBlob<'_>, cancel: &CancelToken) -> Option<Section> {
        match &blob.layer.blob {
            Blob::Section(section) => Some(section.clone()),
            Blob::Remote(_) => {
                let file = self.blobs.as_ref()?.find(blob.digest.as_ref())?;
                let section = Section::new(Arc::new(file), 0, blob.size);
                section.whole_file()?;
                let check = SectionReader::new(section.clone());
                pump(blob, check, &mut std::io::sink(), None, cancel).ok()?;
                Some(section)
            }
            _ => None,
        }
    }
}

/// Copies from `input` to `out`, and compares digest and size with those of `blob`.
fn pump(
    blob: &KeptBlob<'_>,
    mut input: impl Read,
    out: &mut dyn Write,
    progress: Option<&Progress>,
    cancel: &CancelToken,
) -> Result<(), SlimError> {
    let mut hasher = Hasher::for_digest(blob.digest)
        .ok_or_else(|| refused(what(blob), "unsupported digest algorithm", None))?;
    let mut piece = vec![0; PIECE];
    let mut size = 0_u64;
    loop {
        cancel.check()?;
        let count = match input.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(what(blob), &error)),
        };
        let bytes = &piece[..count];
        hasher.update(bytes);
        size += count as u64;
        if let Some(progress) = progress {
            progress.add_read(count as u64);
        }
        out.write_all(bytes).map_err(|error| failed(what(blob), &error))?;
    }
    let found = hasher.finish();
    if size == blob.size && found == blob.digest.as_ref() {
        return Ok(());
    }
    let reason = if size == blob.size {
        format!("its bytes have the digest {found}")
    } else {
        format!("it has {size} bytes, not {}", blob.size)
    };
    Err(refused(what(blob), reason, Some("the image changed since it was analysed; open it again")))
}

fn what(blob: &KeptBlob<'_>) -> String {
    format!("cannot copy the blob {}", blob.digest)
}

/// Makes `copy` share the blocks of `source` where the file system can.
#[cfg(target_os = "linux")]
fn shares_blocks(copy: &File, source: &File) -> bool {
    rustix::fs::ioctl_ficlone(copy, source).is_ok()
}

/// Elsewhere bytes are copied.
#[cfg(not(target_os = "linux"))]
fn shares_blocks(_: &File, _: &File) -> bool {
    false
}
