//! Facts about the files of one layer, collected while it is read.

use std::cell::RefCell;
use std::io;

use zstd::bulk::Decompressor;

use super::index::{EntryId, LayerIndex};
use crate::formats::binary::{FileFacts, HEAD_BYTES};
use crate::formats::document::DocumentKind;
use crate::formats::elf::ElfKind;
use crate::formats::string_references::{Sort, StringReferences};

/// The first 160 bits of BLAKE3 of a file's bytes. A cryptographic hash proves equality, at a cost acceptable for a
/// single pass: two different files with the same hash take some 2⁸⁰ attempts to make. Every file of an image has one, so
/// the other 96 bits would be an eighth of the memory.
pub type ContentHash = [u8; 20];

/// What is kept of a hash.
pub fn content_hash(hash: &blake3::Hash) -> ContentHash {
    let bytes = hash.as_bytes();
    std::array::from_fn(|at| bytes[at])
}

/// Memory of a hash with its entry.
pub(super) const HASH_BYTES: u64 = 24;

/// Facts about single files, ordered by entry.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LayerFacts {
    pub(super) binaries: Vec<(EntryId, FileFacts)>,
    pub(super) scripts: Vec<(EntryId, Box<[u8]>)>,
    pub(super) documents: Vec<Document>,
    pub(super) hashes: Vec<(EntryId, ContentHash)>,
    pub(super) heads: Vec<(EntryId, [u8; HEAD_BYTES])>,
    pub(super) mentions: Vec<(EntryId, StringReferences)>,
    pub(super) lost_string_references: u64,
    pub(super) passed: bool,
    /// Whether facts were omitted because the budget of the image is exhausted.
    pub(super) left_out: bool,
}

thread_local! {
    /// An image has thousands of documents, and creating a decoder takes longer than decoding a small one.
    static UNPACKER: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// A small file that is stored completely.
#[derive(Debug, PartialEq, Eq)]
pub struct Document {
    /// Its entry.
    pub entry: EntryId,
    /// Kind of document.
    pub kind: DocumentKind,
    /// Size of the file in bytes; larger than [`Self::bytes`] if only its head is stored.
    pub size: u64,
    pub(super) packed: Packed,
}

/// Bytes of a document: plain, or as a zstd frame.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Packed {
    Plain(Box<[u8]>),
    Zstd(Box<[u8]>, usize),
}

impl Packed {
    /// The bytes in memory.
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Self::Plain(bytes) | Self::Zstd(bytes, _) => bytes,
        }
    }
}

impl Document {
    /// The stored bytes.
    ///
    /// # Errors
    /// They cannot be decompressed, which indicates faulty memory.
    pub fn bytes(&self) -> io::Result<Vec<u8>> {
        match &self.packed {
            Packed::Plain(bytes) => Ok(bytes.to_vec()),
            Packed::Zstd(frame, size) => UNPACKER.with_borrow_mut(|unpacker| match unpacker {
                Some(unpacker) => unpacker.decompress(frame, *size),
                none => none.insert(Decompressor::new()?).decompress(frame, *size),
            }),
        }
    }
}

impl LayerFacts {
    /// ELF files, static archives and loose GPU code.
    pub fn binaries(&self) -> &[(EntryId, FileFacts)] {
        &self.binaries
    }

    /// What an entry is, when it is a binary.
    #[inline]
    pub fn binary(&self, entry: EntryId) -> Option<&FileFacts> {
        let place = self.binaries.binary_search_by_key(&entry, |(entry, _)| *entry).ok()?;
        Some(&self.binaries[place].1)
    }

    /// All scripts with their first lines, `#!` left out.
    pub fn scripts(&self) -> impl Iterator<Item = (EntryId, &[u8])> {
        self.scripts.iter().map(|(entry, line)| (*entry, &**line))
    }

    /// The first line of a script, `#!` left out.
    #[inline]
    pub fn script(&self, entry: EntryId) -> Option<&[u8]> {
        let place = self.scripts.binary_search_by_key(&entry, |(entry, _)| *entry).ok()?;
        Some(&self.scripts[place].1)
    }

    /// All documents.
    pub fn documents(&self) -> &[Document] {
        &self.documents
    }

    /// The document of an entry.
    #[inline]
    pub fn document(&self, entry: EntryId) -> Option<&Document> {
        let place = self.documents.binary_search_by_key(&entry, |document| document.entry).ok()?;
        Some(&self.documents[place])
    }

    /// First bytes of a large file that is not a binary, for format detection.
    #[inline]
    pub fn head(&self, entry: EntryId) -> Option<&[u8]> {
        let place = self.heads.binary_search_by_key(&entry, |(entry, _)| *entry).ok()?;
        Some(&self.heads[place].1)
    }

    /// Whether the layer was streamed, so that facts from file contents are known.
    #[inline]
    pub fn was_streamed(&self) -> bool {
        self.passed
    }

    /// How a file is searched for string references, by its name or its first bytes; `None` if it is neither script,
    /// settings nor program.
    pub fn search_kind(&self, index: &LayerIndex, entry: EntryId) -> Option<Sort> {
        let by_path = Sort::by_path(index.dir_name(index.dir(entry)), index.name(entry));
        by_path.or_else(|| self.script(entry).map(|_| Sort::Script)).or_else(|| match self.binary(entry) {
            Some(FileFacts::Elf(elf)) => {
                matches!(elf.kind, ElfKind::Executable | ElfKind::SharedObject).then_some(Sort::Binary)
            }
            Some(_) => None,
            None => {
                let is_plain = index.size(entry) <= Sort::Plain.most()
                    && Sort::is_plain(index.name(entry))
                    && self.document(entry).is_none();
                is_plain.then_some(Sort::Plain)
            }
        })
    }

    /// String references of a streamed file; `None` if there are none.
    #[inline]
    pub fn mentions(&self, entry: EntryId) -> Option<&StringReferences> {
        let place = self.mentions.binary_search_by_key(&entry, |(entry, _)| *entry).ok()?;
        Some(&self.mentions[place].1)
    }

    /// Number of files whose string references exceeded the budget.
    pub fn lost_string_references(&self) -> u64 {
        self.lost_string_references
    }

    /// Hash of a file that was streamed completely and is not empty. `None` for layers that were not streamed.
    #[inline]
    pub fn hash(&self, entry: EntryId) -> Option<&ContentHash> {
        let place = self.hashes.binary_search_by_key(&entry, |(entry, _)| *entry).ok()?;
        Some(&self.hashes[place].1)
    }

    /// All hashes, by entry.
    pub fn hashes(&self) -> &[(EntryId, ContentHash)] {
        &self.hashes
    }

    /// Entries with a hash.
    pub fn hashed(&self) -> impl Iterator<Item = EntryId> + '_ {
        self.hashes.iter().map(|(entry, _)| *entry)
    }

    /// Bytes charged to the budget of the image: approximate memory, without facts bounded by number.
    pub fn kept_bytes(&self) -> u64 {
        let binaries = self.binaries.iter().map(|(_, facts)| facts.kept_bytes() as u64);
        let mentions = self.mentions.iter().map(|(_, mentions)| mentions.kept_bytes() as u64);
        let documents = self.documents.iter().map(|document| document.packed.bytes().len() as u64);
        let hashes = HASH_BYTES.saturating_mul(self.hashes.len() as u64);
        binaries.chain(mentions).chain(documents).fold(hashes, u64::saturating_add)
    }

    /// Removes the facts of `entry` and all later ones.
    pub(super) fn forget_from(&mut self, entry: EntryId) {
        self.binaries.retain(|(known, _)| *known < entry);
        self.scripts.retain(|(known, _)| *known < entry);
        self.documents.retain(|document| document.entry < entry);
        self.hashes.retain(|(known, _)| *known < entry);
        self.heads.retain(|(known, _)| *known < entry);
        self.mentions.retain(|(known, _)| *known < entry);
    }
}
