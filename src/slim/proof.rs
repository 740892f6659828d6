//! Compares a file that loses GPU code with the old one, while both pass.

use std::io::{self, Write};

use crate::cuda::pruning::PruneCheck;
use crate::formats::binary::BinaryLimits;
use crate::formats::elf::shrink::{ElfTables, ShrinkCheck};
use crate::formats::fatbin::LocatedGpuCode;
use crate::formats::pieces::{Pieces, PiecesWriter};

/// What must be true of the new file: it is the old one without entries that do not stay.
#[derive(Clone, Debug)]
pub(super) struct Proof {
    pub(super) code: LocatedGpuCode,
    /// Whether each entry of `code` stays.
    pub(super) stays: Vec<bool>,
    pub(super) shrunk: Option<ShrunkTables>,
}

/// A file that is also shorter.
#[derive(Clone, Debug)]
pub(super) struct ShrunkTables {
    /// The file of the old length that it is made from.
    pub(super) pruned: Pieces,
    /// Tables of both.
    pub(super) old: ElfTables,
    pub(super) new: ElfTables,
}

/// A check in progress.
pub(super) struct Check<'a> {
    pruned: PruneCheck<'a>,
    shrunk: Option<(PiecesWriter<'a>, ShrinkCheck)>,
}

impl<'a> Check<'a> {
    pub(super) fn new(proof: &'a Proof) -> Result<Self, String> {
        let pruned = PruneCheck::new(&proof.code, &proof.stays, &BinaryLimits::default());
        let start = |shrunk: &'a ShrunkTables| {
            let check =
                ShrinkCheck::new(&shrunk.old, &shrunk.new).map_err(|mismatch| mismatch.to_string())?;
            Ok::<_, String>((PiecesWriter::new(&shrunk.pruned), check))
        };
        Ok(Self { pruned, shrunk: proof.shrunk.as_ref().map(start).transpose()? })
    }

    /// The next bytes of the old file.
    pub(super) fn push_old(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.pruned.push_old(bytes);
        match &mut self.shrunk {
            Some((writer, shrunk)) => writer.push(bytes, &mut Between { pruned: &mut self.pruned, shrunk }),
            None => Ok(()),
        }
    }

    /// The next bytes of the new file, as they are written.
    pub(super) fn push_new(&mut self, bytes: &[u8]) {
        match &mut self.shrunk {
            Some((_, shrunk)) => shrunk.push_new(bytes),
            None => self.pruned.push_new(bytes),
        }
    }

    /// The first difference, after both files.
    pub(super) fn finish(mut self) -> Result<(), String> {
        if let Some((writer, mut shrunk)) = self.shrunk {
            let mut between = Between { pruned: &mut self.pruned, shrunk: &mut shrunk };
            writer.finish(&mut between).map_err(|error| error.to_string())?;
            shrunk.finish().map_err(|mismatch| mismatch.to_string())?;
        }
        self.pruned.finish().map_err(|mismatch| mismatch.to_string())
    }
}

/// Takes the file of the old length, which is the new one for pruning and the old one for shrinking.
struct Between<'a, 'b> {
    pruned: &'a mut PruneCheck<'b>,
    shrunk: &'a mut ShrinkCheck,
}

impl Write for Between<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pruned.push_new(bytes);
        self.shrunk.push_old(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
