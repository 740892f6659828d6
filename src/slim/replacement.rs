//! New bytes of a file that stays, made from its old ones while they pass.

use std::io::{self, Write};
use std::sync::OnceLock;

use super::proof::{Check, Proof};
use crate::base::Hasher;
use crate::formats::pieces::{Pieces, PiecesWriter};
use crate::layer::{ContentHash, content_hash};

/// What a file becomes.
#[derive(Clone, Debug)]
pub(super) struct Replacement {
    /// The new file, as parts of the old one.
    pub(super) pieces: Pieces,
    /// BLAKE3 hash of the old file: other bytes are refused.
    pub(super) old: ContentHash,
    /// Bytes of the old file that the new one does not have: zeros are there instead, or nothing.
    pub(super) removed_bytes: u64,
    /// By so much a compressed layer shrinks; `None` if unknown.
    pub(super) removed_compressed_bytes: Option<u64>,
    /// What is compared while it is written.
    pub(super) proof: Option<Proof>,
    /// SHA-256 digests before and after, once it is written.
    pub(super) digests: OnceLock<(String, String)>,
}

/// Writes a body that passes: as it is, or what it becomes.
pub(super) struct Body<'a> {
    old: blake3::Hasher,
    change: Option<Changing<'a>>,
}

struct Changing<'a> {
    to: &'a Replacement,
    writer: PiecesWriter<'a>,
    new: Counted<'a>,
    old_digest: Hasher,
}

/// What is computed of the new bytes.
struct Counted<'a> {
    hasher: blake3::Hasher,
    /// Users compare files by SHA-256.
    digest: Hasher,
    check: Option<Check<'a>>,
}

/// Why a new body is not written.
pub(super) enum BodyFault {
    /// The old bytes were not the expected ones.
    OtherBytes,
    /// The new file is not what it must be.
    Unproven(String),
}

impl<'a> Body<'a> {
    pub(super) fn new(replacement: Option<&'a Replacement>) -> Result<Self, BodyFault> {
        let changing = |to: &'a Replacement| {
            let check = to.proof.as_ref().map(Check::new).transpose().map_err(BodyFault::Unproven)?;
            Ok(Changing {
                to,
                writer: PiecesWriter::new(&to.pieces),
                new: Counted { hasher: blake3::Hasher::new(), digest: Hasher::sha256(), check },
                old_digest: Hasher::sha256(),
            })
        };
        Ok(Self { old: blake3::Hasher::new(), change: replacement.map(changing).transpose()? })
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
        self.old.update(bytes);
        let Some(change) = &mut self.change else { return out.write_all(bytes) };
        change.old_digest.update(bytes);
        if let Some(check) = &mut change.new.check {
            check.push_old(bytes)?;
        }
        change.writer.push(bytes, &mut Counting { out, counted: &mut change.new })
    }

    /// Writes what follows the last byte; returns the hash of what was written.
    pub(super) fn finish(self, out: &mut dyn Write) -> io::Result<Result<ContentHash, BodyFault>> {
        let old = content_hash(&self.old.finalize());
        let Some(mut change) = self.change else { return Ok(Ok(old)) };
        if change.to.old != old {
            return Ok(Err(BodyFault::OtherBytes));
        }
        change.writer.finish(&mut Counting { out, counted: &mut change.new })?;
        let Counted { hasher, digest, check } = change.new;
        if let Err(what) = check.map_or(Ok(()), Check::finish) {
            return Ok(Err(BodyFault::Unproven(what)));
        }
        change.to.digests.get_or_init(|| (change.old_digest.finish(), digest.finish()));
        Ok(Ok(content_hash(&hasher.finalize())))
    }
}

struct Counting<'a, 'b> {
    out: &'a mut dyn Write,
    counted: &'a mut Counted<'b>,
}

impl Write for Counting<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.out.write(bytes)?;
        let written = &bytes[..count];
        self.counted.hasher.update(written);
        self.counted.digest.update(written);
        if let Some(check) = &mut self.counted.check {
            check.push_new(written);
        }
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
