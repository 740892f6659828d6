//! Facts from the bytes of a single file: samples, hashes, string references.

use std::io::{self, Read as _};

use crate::base::convert::in_memory;
use crate::base::read_at::SectionReader;
use crate::base::{ReadAt, Section};
use crate::formats::contents::Sum;
use crate::formats::input::BUFFER_BYTES;
use crate::formats::string_references::{Scanner, Sort, StringReferences};
use crate::jobs::{CancelToken, Progress};
use crate::layer::{ContentHash, content_hash};

/// Bytes read for a sample at the start, in the middle and at the end. They distinguish most files of one
/// size.
pub(super) const SAMPLE_BYTES: u64 = 4 << 10;

/// The string references of a file; `None` if it is too large.
pub(super) fn search(
    section: Section,
    sort: Sort,
    cancel: &CancelToken,
) -> io::Result<Option<StringReferences>> {
    let Some(mut scanner) = Scanner::new(sort, section.len()) else { return Ok(None) };
    pass(section, cancel, |bytes| scanner.push(bytes))?;
    Ok(Some(scanner.finish()))
}

/// A section that reports every byte read to the progress.
pub(super) struct Compared {
    pub(super) section: Section,
    pub(super) progress: Progress,
}

impl ReadAt for Compared {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = self.section.read_full_at(buffer, offset)?;
        self.progress.add_compared(count as u64);
        Ok(count)
    }
}

/// The sample of a file with a digest in its table of contents. Different digests prove different files;
/// equal digests are unverified, so these files are read.
pub(super) fn mark_of(sum: &Sum) -> ContentHash {
    let mut hasher = blake3::Hasher::new_derive_key("cutaway sum of a file in a table of contents");
    hasher.update(sum);
    content_hash(&hasher.finalize())
}

pub(super) fn sample(section: &Section, size: u64) -> io::Result<ContentHash> {
    let mut hasher = blake3::Hasher::new_derive_key("cutaway sample of a file");
    hasher.update(&size.to_le_bytes());
    for at in [0, size / 2, size.saturating_sub(SAMPLE_BYTES)] {
        hasher.update(&section.part(at, SAMPLE_BYTES).read_all(SAMPLE_BYTES)?);
    }
    Ok(content_hash(&hasher.finalize()))
}

pub(super) fn whole(section: Section, cancel: &CancelToken) -> io::Result<ContentHash> {
    let mut hasher = blake3::Hasher::new();
    pass(section, cancel, |bytes| {
        hasher.update(bytes);
    })?;
    Ok(content_hash(&hasher.finalize()))
}

/// Passes all bytes of a file to `take`, in chunks.
pub(super) fn pass(section: Section, cancel: &CancelToken, mut take: impl FnMut(&[u8])) -> io::Result<()> {
    let size = section.len();
    let mut reader = SectionReader::new(section);
    let mut buffer = vec![0; BUFFER_BYTES.min(in_memory(size.saturating_add(1)))];
    let mut passed = 0;
    loop {
        cancel.check()?;
        let count = reader.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        take(&buffer[..count]);
        passed += count as u64;
    }
    if passed != size {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(())
}
