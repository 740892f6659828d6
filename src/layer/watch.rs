//! A file whose bytes stream past: what is collected of it on the way.

use super::beside::BesideFile;
use super::facts::{ContentHash, content_hash};
use super::index::EntryId;
use crate::formats::binary::{BinaryLimits, HEAD_BYTES, Scan};
use crate::formats::document::DocumentKind;
use crate::formats::string_references::{Scanner, StringReferences};

/// The first line of a script, as far as the kernel reads it.
pub(super) const SCRIPT_BYTES: usize = 256;

/// Facts from the bytes of a streamed file.
pub(super) struct Watch {
    pub(super) entry: EntryId,
    pub(super) head: Vec<u8>,
    pub(super) file_name: Vec<u8>,
    pub(super) size: u64,
    pub(super) executable: bool,
    /// Whether it may be a binary or script.
    pub(super) look: bool,
    pub(super) scan: Option<Scan>,
    pub(super) document: Option<(DocumentKind, Vec<u8>, usize)>,
    pub(super) content: ContentAt,
}

/// Where the content is hashed and searched.
pub(super) enum ContentAt {
    Here(Content),
    Beside(BesideFile),
}

/// What needs every byte of a file, and nothing else of it.
pub(super) struct Content {
    pub(super) hashing: Hashing,
    pub(super) mentions: Option<Scanner>,
}

/// The hash and the references of a content.
pub(super) type Findings = (Option<ContentHash>, Option<StringReferences>);

impl Content {
    /// The next bytes of a file of `size` bytes.
    pub(super) fn push(&mut self, bytes: &[u8], size: u64) {
        self.hashing.push(bytes, size);
        if let Some(mentions) = &mut self.mentions {
            mentions.push(bytes);
        }
    }

    pub(super) fn finish(self) -> Findings {
        (self.hashing.finish(), self.mentions.map(Scanner::finish))
    }
}

impl Watch {
    /// The next bytes of the file.
    pub(super) fn push(&mut self, bytes: &[u8], limits: &BinaryLimits) {
        match &mut self.content {
            ContentAt::Here(content) => content.push(bytes, self.size),
            ContentAt::Beside(file) => file.push(bytes),
        }
        if let Some((_, kept, most)) = &mut self.document {
            let room = *most - kept.len();
            kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        if !self.look {
            return;
        }
        if let Some(scan) = &mut self.scan {
            scan.push(bytes);
            return;
        }
        let head_before = self.head.len();
        if head_before >= SCRIPT_BYTES.max(HEAD_BYTES) {
            return;
        }
        let room = SCRIPT_BYTES.max(HEAD_BYTES) - head_before;
        let taken = bytes.len().min(room);
        self.head.extend_from_slice(&bytes[..taken]);
        if head_before < HEAD_BYTES && self.head.len() >= HEAD_BYTES {
            self.begin(limits);
            if let Some(scan) = &mut self.scan {
                // The head contains some of these bytes already.
                scan.push(&bytes[taken..]);
            }
        }
    }

    /// Whether more bytes are needed, except for the hash and string references.
    pub(super) fn wants_more(&self) -> bool {
        if let Some((_, kept, most)) = &self.document {
            return kept.len() < *most;
        }
        self.scan.is_some() || (self.look && self.head.len() < HEAD_BYTES)
    }

    /// Ends the file early: facts that need all bytes are omitted.
    pub(super) fn stop_early(&mut self) {
        self.content = ContentAt::Here(Content { hashing: Hashing::Off, mentions: None });
    }

    /// Identifies the file by its head, or completely if it is shorter.
    pub(super) fn begin(&mut self, limits: &BinaryLimits) {
        let head = &self.head[..self.head.len().min(HEAD_BYTES)];
        self.scan = Scan::start(head, self.size, &self.file_name, limits);
        if let Some(scan) = &mut self.scan {
            scan.push(&self.head);
        }
    }
}

/// The hash of a streamed file. Most files arrive in one chunk, without hasher state.
pub(super) enum Hashing {
    Off,
    Waiting,
    Running(Box<GroupedHasher>),
    Done(ContentHash),
}

impl Hashing {
    fn push(&mut self, bytes: &[u8], size: u64) {
        match self {
            Self::Waiting if bytes.len() as u64 == size => {
                *self = Self::Done(content_hash(&blake3::hash(bytes)));
            }
            Self::Waiting => {
                let mut hasher = Box::new(GroupedHasher::default());
                hasher.push(bytes);
                *self = Self::Running(hasher);
            }
            Self::Running(hasher) => hasher.push(bytes),
            Self::Off | Self::Done(_) => {}
        }
    }

    pub(super) fn finish(self) -> Option<ContentHash> {
        match self {
            Self::Off | Self::Waiting => None,
            Self::Running(hasher) => Some(hasher.finish()),
            Self::Done(hash) => Some(hash),
        }
    }
}

/// BLAKE3 hashes sixteen blocks of 1 KiB at once, but only of a group that begins at a multiple of its length. Chunks of
/// a stream begin anywhere, and would cost a quarter more.
const GROUP_BYTES: usize = 16 << 10;

/// BLAKE3 of a stream, in whole groups.
#[derive(Default)]
pub(super) struct GroupedHasher {
    hasher: blake3::Hasher,
    /// The begun group.
    begun: Vec<u8>,
}

impl GroupedHasher {
    fn push(&mut self, mut bytes: &[u8]) {
        if !self.begun.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(GROUP_BYTES - self.begun.len()));
            self.begun.extend_from_slice(now);
            bytes = rest;
            if self.begun.len() < GROUP_BYTES {
                return;
            }
            self.hasher.update(&self.begun);
            self.begun.clear();
        }
        let (whole, rest) = bytes.split_at(bytes.len() - bytes.len() % GROUP_BYTES);
        self.hasher.update(whole);
        self.begun.extend_from_slice(rest);
    }

    fn finish(mut self) -> ContentHash {
        self.hasher.update(&self.begun);
        content_hash(&self.hasher.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::{GROUP_BYTES, Hashing, content_hash};

    #[test]
    fn a_hash_does_not_depend_on_the_chunks() {
        let bytes: Vec<u8> = (0..5 * GROUP_BYTES + 77).map(|at| (at * at / 3).to_le_bytes()[1]).collect();
        for chunk in [1, 500, 1024, GROUP_BYTES - 1, GROUP_BYTES, 3 * GROUP_BYTES + 1, bytes.len()] {
            let mut hashing = Hashing::Waiting;
            bytes.chunks(chunk).for_each(|part| hashing.push(part, bytes.len() as u64));
            assert_eq!(hashing.finish(), Some(content_hash(&blake3::hash(&bytes))), "{chunk}");
        }
    }
}
