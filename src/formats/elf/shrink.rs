//! In: the tables of a shared object, and its contents as pieces in which ranges are zeros.
//! Out: pieces of a shorter file that loads the same bytes at the same addresses, or why there is none.
//! Must not know: GPU code, and why ranges are zeros.
//!
//! A run of zeros (a hole) becomes a segment without bytes in the file. Loaders differ in what they do with those:
//!
//! - musl fills memory behind the bytes of a segment with zeros only if the segment is writable; in others it maps
//!   whatever follows in the file. So a hole is a segment of its own, readable and writable, of whole pages.
//! - musl lists the program headers of a library to unwinders (`dl_iterate_phdr`) only if a segment contains them.
//!   GNU strip and patchelf expect them directly after the ELF header. So both are at the start of the new file, the
//!   old start follows on the next page, and one more segment after the highest address loads the new headers. The
//!   old ones stay at their address, as every other byte that is loaded.
//! - Linux before 5.18 finds the program headers of a program by its first segment, so programs stay as they are.

mod expand;
mod holes;
mod tables;
mod verify;
mod write;

use super::super::pieces::Pieces;
use tables::Parsed;

pub use expand::Expand;
pub use tables::{ElfTables, TableCollector};
pub use verify::{Mismatch, ShrinkCheck, verify};

/// Minimum size of a hole: smaller ones cost more mappings than they save.
pub const HOLE_MIN: u64 = 64 << 10;

/// Maximum number of program headers of a file. A process has 65,530 mappings by default, and the loader of glibc
/// keeps about 100 bytes for each on the stack.
pub const SEGMENTS_MAX: usize = 1_000;

/// Bytes after everything that the headers describe which are too few to be an archive or a signature: patchelf writes
/// one. They stay, before the new section table.
const TAIL_MAX: u64 = 15;

/// Why a file stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unshrunk {
    /// The first bytes are not those of an ELF file.
    #[error("not an ELF file")]
    NotElf,
    /// 32-bit, big endian, or another version.
    #[error("not a 64-bit little-endian ELF file")]
    Class,
    /// A program, an object, or a library that can also be run.
    #[error("a program or object; only shared libraries are shrunk")]
    Program,
    /// Another machine, by `e_machine`.
    #[error("machine {0} is not supported")]
    Machine(u16),
    /// A table has an unknown entry size, is truncated, or is before the end of the ELF header.
    #[error("the header tables are invalid or truncated")]
    Tables,
    /// No `PT_LOAD`.
    #[error("no segment is loaded")]
    NoSegments,
    /// A segment or a section ends after the end of the file.
    #[error("a segment or section extends beyond the end of the file")]
    BeyondEnd,
    /// Segments overlap or are out of order.
    #[error("loaded segments overlap or are not in order")]
    Overlap,
    /// A segment's offset and address disagree, or its alignment is below one page.
    #[error("offset and address of a loaded segment do not agree")]
    Misaligned,
    /// A section demands more than a page, which the parts of a segment cannot promise.
    #[error("a section is aligned to {0} bytes, more than a page")]
    SectionAlignment(u64),
    /// Data follows everything that the headers describe: an archive, or a signature.
    #[error("{0} bytes follow the last section")]
    Appended(u64),
    /// The pieces do not make a file of the old length with the old headers.
    #[error("the pieces change the length or the headers of the file")]
    Pieces,
    /// Too many sections.
    #[error("too many sections")]
    Sections,
    /// No hole is large enough, or the new headers cost more than the holes.
    #[error("nothing to gain")]
    NoGain,
}

/// Sums of a shrunk file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Length of the old file.
    pub bytes_before: u64,
    /// Length of the new file: the old one, less the holes and the old section table, and the headers.
    pub bytes_after: u64,
    /// Number of holes.
    pub holes: usize,
    /// Bytes in holes.
    pub hole_bytes: u64,
    /// Bytes of new headers with their padding, less those of an old section table that is left out.
    pub header_bytes: i64,
    /// Holes that are large enough and stay zeros in the file, because there are too many.
    pub holes_over_limit: usize,
    /// Program headers of the new file.
    pub segments: usize,
}

/// A shorter file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// Its parts.
    pub pieces: Pieces,
    /// Its tables.
    pub tables: ElfTables,
    /// Its sums.
    pub ledger: Ledger,
}

/// The file of `pieces`, without its large runs of zeros. `tables` are those of the old file, which `pieces` must
/// leave as they are. Libraries that can also be run have an interpreter or are marked as a program in their dynamic
/// table ([`ElfFacts::pie`](super::ElfFacts::pie)); the latter is not visible here and is for the caller to exclude.
///
/// # Errors
/// Why the file stays as it is.
pub fn shrink(tables: &ElfTables, pieces: &Pieces) -> Result<Shrunk, Unshrunk> {
    let old = Parsed::new(tables)?;
    let contents = holes::Contents::new(pieces, &old)?;
    let appended = old.file_bytes - old.described_end().min(old.file_bytes);
    if appended > TAIL_MAX {
        return Err(Unshrunk::Appended(appended));
    }
    let holes = holes::find(&old, &contents)?;
    write::write(&old, pieces, &holes)
}

/// Body of a fuzz target: a file with any headers stays as it is, or the shrunk one passes verification.
///
/// # Panics
/// If it does not.
#[cfg(any(test, feature = "fuzzing"))]
pub fn fuzz_shrink(data: &[u8]) {
    use super::super::pieces::{Piece, PiecesWriter};
    let mut file = data.to_vec();
    // The headers decide; the zeros are appended so that small inputs have holes.
    file.resize(data.len() + (256 << 10), 0);
    let mut pieces = Pieces::default();
    pieces.copy(0, data.len() as u64);
    pieces.zeros(256 << 10);
    let collect = |file: &[u8]| {
        let mut collector = TableCollector::default();
        file.chunks(1_000).for_each(|chunk| collector.push(chunk));
        collector.finish()
    };
    let old = collect(&file);
    let Ok(shrunk) = shrink(&old, &pieces) else { return };
    let mut written = Vec::new();
    let mut writer = PiecesWriter::new(&shrunk.pieces);
    let pushed = writer.push(&file, &mut written).and_then(|()| writer.finish(&mut written));
    assert!(pushed.is_ok(), "a piece is outside the file");
    assert_eq!(written.len() as u64, shrunk.ledger.bytes_after);
    assert_eq!(shrunk.pieces.list().iter().map(Piece::len).sum::<u64>(), shrunk.ledger.bytes_after);
    let verified = verify(&old, &collect(&written), file.as_slice(), written.as_slice());
    assert!(verified.is_ok(), "{verified:?}");
}

#[cfg(test)]
mod tests;
