//! A folder of records, each under a verified key.
//!
//! Every step is valid on its own, so that several processes need no lock: a record appears by a rename, an open one
//! stays readable while it is removed, and a missing one was removed by another process.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use rustix::io::Errno;

use crate::base::size::human;

use super::folder::{Folder, Usage, is, named, shown};
use super::record::{self, CacheRecord, FORMAT, Key, Refusal};
use super::sweep;

/// Maximum attempts to write if another process removes the folder.
const ATTEMPTS: usize = 4;
/// Mode bits that let others write. The folder chosen by the user may be writable by a group, because records are in a
/// folder below it.
const OTHERS: u32 = 0o002;
const GROUP_AND_OTHERS: u32 = 0o022;

/// A cache folder. Clones share their notes. Nothing here fails an analysis: faults become notes, and the run continues
/// without the record.
#[derive(Clone, Debug)]
pub struct Cache(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    limit: u64,
    state: Mutex<CacheState>,
}

/// State of this run.
#[derive(Debug, Default)]
struct CacheState {
    notes: Vec<String>,
    /// All notes of this run.
    told: Vec<String>,
    /// The folder is unusable or not trusted.
    unusable: bool,
    /// The folder cannot be written to.
    closed: bool,
    /// Something was written since the last pruning.
    grown: bool,
}

impl Cache {
    /// A cache in `folder` of at most `limit` bytes. Accesses nothing yet.
    pub fn new(folder: PathBuf, limit: u64) -> Self {
        Self(Arc::new(Inner { folder, limit, state: Mutex::default() }))
    }

    /// An empty, disabled cache, with the reason as its only note.
    pub fn without(reason: &str) -> Self {
        let cache = Self::new(PathBuf::new(), 0);
        cache.give_up(format!("Index cache disabled: {reason}."));
        cache
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// The size limit in bytes.
    pub fn limit(&self) -> u64 {
        self.0.limit
    }

    /// The intact record under `key`, if there is one. Marks it as used.
    pub fn get(&self, key: &Key) -> Option<CacheRecord> {
        let folder = self.records()?;
        let name = key.file_name();
        let read = |file: std::fs::File| {
            let found = record::read(&file, key)?;
            // Without permission, the record is removed earlier than necessary.
            file.set_modified(SystemTime::now()).ok();
            Ok(found)
        };
        let refusal = match folder.open(&name) {
            Ok(file) => match read(file) {
                Ok(found) => return Some(found),
                Err(refusal) => refusal,
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            // Errors of the system for links and sockets.
            Err(error) if is(&error, &[Errno::LOOP, Errno::NXIO]) => Refusal::NoFile,
            Err(error) => Refusal::Unreadable(error),
        };
        let file = shown(&folder.path().join(name));
        self.note(format!(
            "Ignoring {file} in the index cache: {refusal}; reading its source again and replacing the entry."
        ));
        None
    }

    /// Whether there is a record under `key`; it may be damaged.
    pub fn has(&self, key: &Key) -> bool {
        let file = self.records().and_then(|folder| folder.open(&key.file_name()).ok());
        file.and_then(|file| file.metadata().ok()).is_some_and(|facts| facts.is_file())
    }

    /// Whether records are stored; if not, they need not be built.
    pub fn is_open(&self) -> bool {
        self.0.limit > 0 && self.with_state(|state| !state.unusable && !state.closed)
    }

    /// Stores `bytes` under `key`; replaces an existing record. Does not wait for the disk: after a system crash the
    /// checksum rejects incomplete records.
    pub fn put(&self, key: &Key, bytes: &[u8]) {
        let size = record::file_bytes(key, bytes);
        if !self.is_open() {
            return;
        }
        if size > self.0.limit.min(record::RECORD_BYTES) {
            self.note(format!(
                "Some entries do not fit the index cache {}: the limit per entry is {}; increase CUTAWAY_CACHE_SIZE.",
                shown(&self.0.folder),
                human(self.0.limit.min(record::RECORD_BYTES))
            ));
            return;
        }
        let mut attempts = 0;
        loop {
            attempts += 1;
            match self.write(key, bytes) {
                Ok(()) => return self.with_state(|state| state.grown = true),
                // Another process removed the folder or the temporary file.
                Err(error) if error.kind() == io::ErrorKind::NotFound && attempts < ATTEMPTS => {}
                Err(error) => return self.cannot_put(key, &error),
            }
        }
    }

    /// Prunes least recently used records down to the limit, if this process has written something. For the end of a
    /// run.
    pub fn tidy(&self) {
        if self.with_state(|state| !std::mem::take(&mut state.grown)) {
            return;
        }
        if let Err(error) = self.prune(self.0.limit) {
            self.note(format!("Cannot prune the index cache {}: {error}.", shown(&self.0.folder)));
        }
    }

    /// Current usage.
    ///
    /// # Errors
    /// The folder exists and cannot be listed.
    pub fn usage(&self) -> io::Result<Usage> {
        Ok(sweep::survey(&self.0.folder)?.usage())
    }

    /// Unrecognized files in the folder, sorted: not counted and never removed.
    ///
    /// # Errors
    /// The folder exists and cannot be listed.
    pub fn others(&self) -> io::Result<Vec<PathBuf>> {
        Ok(sweep::survey(&self.0.folder)?.others)
    }

    /// Removes the least recently used records down to `limit` bytes, and unfinished files of killed runs; returns what
    /// was removed.
    ///
    /// # Errors
    /// The folder exists and cannot be listed, or a record cannot be removed.
    pub fn prune(&self, limit: u64) -> io::Result<Usage> {
        sweep::survey(&self.0.folder)?.prune(limit)
    }

    /// Checks whether the folder is usable; if not, the notes have the reason.
    pub fn check(&self) {
        self.records();
    }

    /// Faults since the last call, one sentence each, safe to show.
    pub fn take_notes(&self) -> Vec<String> {
        self.with_state(|state| std::mem::take(&mut state.notes))
    }

    /// The folder of this version's records; `None` if missing or not trusted.
    fn records(&self) -> Option<Folder> {
        if self.with_state(|state| state.unusable) {
            return None;
        }
        let opened = Folder::root(&self.0.folder).and_then(|root| {
            let folder = root.below(&version());
            let folder = folder.map_err(|error| named(&self.0.folder.join(version()), &error))?;
            Ok((folder, root))
        });
        let (folder, root) = match opened {
            Ok(opened) => opened,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            Err(error) => {
                self.give_up(format!("Index cache {} disabled: {error}.", shown(&self.0.folder)));
                return None;
            }
        };
        self.trusted(&root, OTHERS).then_some(())?;
        self.trusted(&folder, GROUP_AND_OTHERS).then_some(folder)
    }

    /// Whether a folder is trusted. Records determine what is shown of an image, so a writable folder allows forging.
    fn trusted(&self, folder: &Folder, shared: u32) -> bool {
        let place = shown(folder.path());
        match folder.distrust(shared) {
            Ok(None) => return true,
            Ok(Some(reason)) => {
                self.give_up(format!("Index cache {place} disabled: {reason}; see `cutaway explain cache`."));
            }
            Err(error) => self.give_up(format!("Index cache {place} disabled: {error}.")),
        }
        false
    }

    /// Writes a record under an unused name, and renames it when complete.
    fn write(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        let root = Folder::make_root(&self.0.folder)?;
        if !self.trusted(&root, OTHERS) {
            return Ok(());
        }
        let folder = root.make_below(&version())?;
        if !self.trusted(&folder, GROUP_AND_OTHERS) {
            return Ok(());
        }
        let (name, file) = folder.temporary()?;
        let written = record::write(&file, key, bytes).and_then(|()| {
            // The system's own time stamps are coarse: records used one after the other would get equal times.
            file.set_modified(SystemTime::now()).ok();
            folder.rename(&name, &key.file_name())
        });
        if written.is_err() {
            // A remaining file is removed after an hour.
            folder.remove(&name).ok();
        }
        written
    }

    fn cannot_put(&self, key: &Key, error: &io::Error) {
        let folder = shown(&self.0.folder);
        if is(error, &[Errno::ISDIR]) {
            // It obstructs only this record.
            let file = shown(&self.0.folder.join(version()).join(key.file_name()));
            return self
                .note(format!("Record not written to the index cache: {file} is a folder; remove it."));
        }
        self.with_state(|state| state.closed = true);
        self.note(format!("Index cache {folder} is read-only for this run: {error}."));
    }

    fn give_up(&self, note: String) {
        self.with_state(|state| state.unusable = true);
        self.note(note);
    }

    /// Adds a note once.
    fn note(&self, note: String) {
        self.with_state(|state| {
            if !state.told.contains(&note) {
                state.told.push(note.clone());
                state.notes.push(note);
            }
        });
    }

    fn with_state<T>(&self, act: impl FnOnce(&mut CacheState) -> T) -> T {
        act(&mut self.0.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Name of the folder with records of this version.
fn version() -> OsString {
    format!("{}{FORMAT}-{}", sweep::VERSIONS, env!("CUTAWAY_INDEX_FINGERPRINT")).into()
}
