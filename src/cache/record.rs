//! One file of the cache: a header that identifies it, and the payload.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read as _, Write as _};

use super::folder::is_own;

/// Magic of every cache file, in every version: a file without it is foreign.
pub(super) const MAGIC: [u8; 8] = *b"cutaway\x1a";
/// Version of the header, also part of the folder name.
pub(super) const FORMAT: u32 = 1;
/// Maximum file size: the index of an image with the maximum number of entries is smaller.
pub(super) const RECORD_BYTES: u64 = 4 << 30;
/// Magic, format, both lengths, checksum.
const HEAD_BYTES: usize = 8 + 4 + 8 + 8 + blake3::OUT_LEN;
/// Offset of the checksum.
const CHECKSUM: usize = HEAD_BYTES - blake3::OUT_LEN;

/// Subject of a record: content that was hashed, or a file with its identity. A claim in a document or name is never a
/// key, because one image could forge another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(String);

impl Key {
    /// A key; the same text has the same meaning in every run of this version.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Text of the key.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// File name of its record. All records of a version are in one folder: there are some thousands at most, and every
    /// common file system looks them up fast.
    pub(super) fn file_name(&self) -> OsString {
        blake3::hash(self.0.as_bytes()).to_hex().as_str().into()
    }
}

/// A record that was found and is intact.
#[derive(Debug)]
pub struct CacheRecord {
    file: Vec<u8>,
    start: usize,
}

impl CacheRecord {
    /// The stored bytes.
    pub fn bytes(&self) -> &[u8] {
        self.file.get(self.start..).unwrap_or_default()
    }
}

/// Why a file is not a valid record of a key.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("not a regular file")]
    NoFile,
    #[error("owned by another user")]
    Foreign,
    #[error("larger than an entry can be")]
    TooLarge,
    #[error("header of another entry")]
    Head,
    #[error("checksum mismatch")]
    Checksum,
    #[error("out of memory ({0} bytes)")]
    Memory(u64),
    #[error("{0}")]
    Unreadable(#[from] io::Error),
}

/// Everything before the payload. A reader computes it and compares: no number in a file is trusted.
fn head(key: &Key, payload: &[u8]) -> Vec<u8> {
    let key = key.as_str().as_bytes();
    let mut head = Vec::with_capacity(HEAD_BYTES + key.len());
    head.extend(MAGIC);
    head.extend(FORMAT.to_le_bytes());
    head.extend((key.len() as u64).to_le_bytes());
    head.extend((payload.len() as u64).to_le_bytes());
    head.extend(blake3::hash(payload).as_bytes());
    head.extend(key);
    head
}

/// File size of a record.
pub(super) fn file_bytes(key: &Key, payload: &[u8]) -> u64 {
    (HEAD_BYTES as u64).saturating_add(key.as_str().len() as u64).saturating_add(payload.len() as u64)
}

/// Writes a record.
pub(super) fn write(mut file: &File, key: &Key, payload: &[u8]) -> io::Result<()> {
    file.write_all(&head(key, payload))?;
    file.write_all(payload)
}

/// Reads a record completely, and accepts it only if every byte is as written for this key.
pub(super) fn read(file: &File, key: &Key) -> Result<CacheRecord, Refusal> {
    let facts = file.metadata()?;
    if !facts.is_file() {
        return Err(Refusal::NoFile);
    }
    if !is_own(&facts) {
        return Err(Refusal::Foreign);
    }
    let length = facts.len();
    if length > RECORD_BYTES {
        return Err(Refusal::TooLarge);
    }
    let start = HEAD_BYTES + key.as_str().len();
    // A file that is too short or has another header is not read to its end: it may be large.
    let mut bytes = Vec::new();
    file.take(start as u64).read_to_end(&mut bytes)?;
    let payload = length.checked_sub(start as u64).ok_or(Refusal::Head)?;
    if !is_head(&bytes, key, payload) {
        return Err(Refusal::Head);
    }
    // The length of the file, which equals the declared one.
    let room = usize::try_from(payload).map_err(|_| Refusal::Memory(payload))?;
    bytes.try_reserve_exact(room).map_err(|_| Refusal::Memory(payload))?;
    file.take(payload).read_to_end(&mut bytes)?;
    let found = CacheRecord { file: bytes, start };
    let same =
        found.file.get(CHECKSUM..HEAD_BYTES) == Some(blake3::hash(found.bytes()).as_bytes().as_slice());
    if same { Ok(found) } else { Err(Refusal::Checksum) }
}

/// Whether this is the header of a record of `key` with a payload of this size, whatever its checksum.
fn is_head(bytes: &[u8], key: &Key, payload: u64) -> bool {
    let text = key.as_str().as_bytes();
    let parts: [&[u8]; 4] =
        [&MAGIC, &FORMAT.to_le_bytes(), &(text.len() as u64).to_le_bytes(), &payload.to_le_bytes()];
    bytes.get(..CHECKSUM).is_some_and(|head| head == parts.concat()) && bytes.get(HEAD_BYTES..) == Some(text)
}

/// Whether this program wrote a file, judged by its first bytes. A shorter file contains nothing worth keeping: a
/// system crash leaves such files.
pub(super) fn is_ours(file: &File) -> io::Result<bool> {
    let mut begins = Vec::new();
    file.take(MAGIC.len() as u64).read_to_end(&mut begins)?;
    Ok(MAGIC.starts_with(&begins))
}
