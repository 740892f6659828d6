//! New bytes of a file that stays, made from its old ones while they pass.

use std::io::{self, Write};

use super::pruned::Digests;
use crate::base::Hasher;
use crate::formats::pieces::{Pieces, PiecesWriter};
use crate::layer::ContentHash;

/// What a file becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Replacement {
    /// The new file, as parts of the old one.
    pub(super) pieces: Pieces,
    /// BLAKE3 hash of the old file: other bytes are refused.
    pub(super) old: ContentHash,
    /// Bytes of the old file that the new one does not have, neither in the file nor as zeros.
    pub(super) removed_bytes: u64,
    /// SHA-256 digests before and after, once it is written.
    pub(super) digests: Digests,
}

/// Writes a body that passes: as it is, or what it becomes.
pub(super) struct Body<'a> {
    old: blake3::Hasher,
    change: Option<Changing<'a>>,
}

struct Changing<'a> {
    to: &'a Replacement,
    writer: PiecesWriter<'a>,
    new: blake3::Hasher,
    /// Users compare files by SHA-256.
    digests: (Hasher, Hasher),
}

/// The old bytes were not the expected ones.
pub(super) struct OtherBytes;

impl<'a> Body<'a> {
    pub(super) fn new(replacement: Option<&'a Replacement>) -> Self {
        let changing = |to: &'a Replacement| Changing {
            to,
            writer: PiecesWriter::new(&to.pieces),
            new: blake3::Hasher::new(),
            digests: (Hasher::sha256(), Hasher::sha256()),
        };
        Self { old: blake3::Hasher::new(), change: replacement.map(changing) }
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
        self.old.update(bytes);
        match &mut self.change {
            None => out.write_all(bytes),
            Some(change) => {
                change.digests.0.update(bytes);
                let mut out = Hashing { out, hasher: &mut change.new, digest: &mut change.digests.1 };
                change.writer.push(bytes, &mut out)
            }
        }
    }

    /// Writes what follows the last byte; returns the hash of what was written.
    pub(super) fn finish(self, out: &mut dyn Write) -> io::Result<Result<ContentHash, OtherBytes>> {
        let old = *self.old.finalize().as_bytes();
        let Some(mut change) = self.change else { return Ok(Ok(old)) };
        if change.to.old != old {
            return Ok(Err(OtherBytes));
        }
        change.writer.finish(&mut Hashing { out, hasher: &mut change.new, digest: &mut change.digests.1 })?;
        let (before, after) = change.digests;
        change.to.digests.get_or_init(|| (before.finish(), after.finish()));
        Ok(Ok(*change.new.finalize().as_bytes()))
    }
}

struct Hashing<'a> {
    out: &'a mut dyn Write,
    hasher: &'a mut blake3::Hasher,
    digest: &'a mut Hasher,
}

impl Write for Hashing<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.digest.update(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
