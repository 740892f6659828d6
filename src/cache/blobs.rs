//! The blob cache: compressed layers, for users who enable it.
//!
//! A blob is stored under the digest of its bytes. The reader hashes it again: a modified file only costs a download.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use rustix::io::Errno;

use super::folder::{Folder, Usage, is, is_temporary, named};

/// The folder of the blobs, beside those of the records.
pub(super) const BLOBS: &str = "blobs";
/// A newer file may not be locked by its writer yet.
const STARTING: Duration = Duration::from_secs(10);
/// Mode bits that let others write.
const SHARED: u32 = 0o022;

/// A folder of blobs by digest, with a size limit. Lazy: no access before the first use.
#[derive(Clone, Debug)]
pub struct Blobs {
    root: PathBuf,
    limit: u64,
    /// Bytes of blobs that are being written.
    reserved: Arc<AtomicU64>,
}

/// A blob that is being written. Dropped before [`NewBlob::keep`], it leaves no file.
pub struct NewBlob {
    folder: Folder,
    file: File,
    /// `None` once it has its name.
    temporary: Option<OsString>,
    /// Releases the reservation.
    _room: Room,
}

/// A reservation within the limit.
struct Room {
    reserved: Arc<AtomicU64>,
    bytes: u64,
}

impl Drop for Room {
    fn drop(&mut self) {
        self.reserved.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

impl Blobs {
    /// Blobs below the cache folder `root`, at most `limit` bytes of them.
    pub fn new(root: PathBuf, limit: u64) -> Self {
        Self { root, limit, reserved: Arc::default() }
    }

    /// The size limit in bytes.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The folder.
    pub fn folder(&self) -> PathBuf {
        self.root.join(BLOBS)
    }

    /// The blob of this digest, if cached. Marks it as used. Its bytes are unverified.
    pub fn find(&self, digest: &str) -> Option<File> {
        let name = file_name(digest)?;
        let file = self.existing().ok()??.open(&name).ok()?;
        file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        // Without permission, the blob is removed earlier than necessary.
        file.set_modified(SystemTime::now()).ok();
        Some(file)
    }

    /// Starts to store a blob of this size, and prunes to make room: stored and reserved bytes never exceed the limit.
    /// `None` if there is no room beside other writers.
    ///
    /// # Errors
    /// The folder cannot be created, pruned or written to, or belongs to another user.
    pub fn begin(&self, bytes: u64) -> io::Result<Option<NewBlob>> {
        let before = self.reserved.fetch_add(bytes, Ordering::Relaxed);
        let room = Room { reserved: Arc::clone(&self.reserved), bytes };
        let Some(left) = before.checked_add(bytes).and_then(|taken| self.limit.checked_sub(taken)) else {
            return Ok(None);
        };
        self.prune(left)?;
        let folder = Folder::make_root(&self.root)?.make_below(OsStr::new(BLOBS))?;
        reject_foreign_owner(&folder)?;
        let (temporary, file) = folder.temporary()?;
        // Locked while it is written; an unlocked one is left from a killed run.
        file.try_lock().ok();
        Ok(Some(NewBlob { folder, file, temporary: Some(temporary), _room: room }))
    }

    /// Removes a blob with a digest mismatch.
    pub fn remove(&self, digest: &str) {
        if let (Some(name), Ok(Some(folder))) = (file_name(digest), self.existing()) {
            folder.remove(&name).ok();
        }
    }

    /// Current usage.
    ///
    /// # Errors
    /// The folder exists and cannot be listed.
    pub fn usage(&self) -> io::Result<Usage> {
        let blobs = self.held()?.1;
        Ok(Usage { files: blobs.len() as u64, bytes: blobs.iter().map(|blob| blob.bytes).sum() })
    }

    /// Removes blobs down to `limit` bytes, least recently used first, and unfinished files of killed downloads;
    /// returns what was removed.
    ///
    /// # Errors
    /// The folder exists and cannot be listed, or a blob cannot be removed.
    pub fn prune(&self, limit: u64) -> io::Result<Usage> {
        self.remove_until(limit, false)
    }

    /// Removes all blobs, and all that downloads left unfinished or are writing now.
    ///
    /// # Errors
    /// Those of [`Self::prune`].
    pub fn clear(&self) -> io::Result<Usage> {
        self.remove_until(0, true)
    }

    fn remove_until(&self, limit: u64, all: bool) -> io::Result<Usage> {
        let (folder, blobs, unfinished) = self.held()?;
        let mut removed = Usage::default();
        let Some(folder) = folder else { return Ok(removed) };
        let mut remove = |file: &StoredBlob| -> io::Result<()> {
            folder.remove(&file.name).map_err(|error| named(&folder.path().join(&file.name), &error))?;
            removed.files += 1;
            removed.bytes += file.bytes;
            Ok(())
        };
        for file in &unfinished {
            if all || !is_held(&folder, file) {
                remove(file)?;
            }
        }
        let mut left: u64 = blobs.iter().map(|blob| blob.bytes).sum();
        for blob in &blobs {
            if left <= limit {
                break;
            }
            remove(blob)?;
            left = left.saturating_sub(blob.bytes);
        }
        Ok(removed)
    }

    fn existing(&self) -> io::Result<Option<Folder>> {
        match Folder::root(&self.root).and_then(|root| root.below(OsStr::new(BLOBS))) {
            Ok(folder) => {
                reject_foreign_owner(&folder)?;
                Ok(Some(folder))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Blobs, least recently used first, and unfinished ones.
    fn held(&self) -> io::Result<(Option<Folder>, Vec<StoredBlob>, Vec<StoredBlob>)> {
        let Some(folder) = self.existing()? else { return Ok((None, Vec::new(), Vec::new())) };
        let (mut blobs, mut unfinished) = (Vec::new(), Vec::new());
        for name in folder.names()? {
            let file = match folder.open(&name) {
                Ok(file) => file,
                Err(error) if is(&error, &[Errno::NOENT, Errno::LOOP, Errno::NXIO]) => continue,
                Err(error) => return Err(named(&folder.path().join(name), &error)),
            };
            let facts = file.metadata()?;
            let used = facts.modified()?;
            let held = StoredBlob { used, bytes: facts.len(), name };
            match held.name.as_bytes() {
                _ if !facts.is_file() => {}
                _ if is_temporary(&held.name) => unfinished.push(held),
                name if is_blob_name(name) => blobs.push(held),
                _ => {}
            }
        }
        blobs.sort();
        Ok((Some(folder), blobs, unfinished))
    }
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct StoredBlob {
    used: SystemTime,
    bytes: u64,
    name: OsString,
}

impl NewBlob {
    /// Stores the blob under the digest of all its bytes.
    ///
    /// # Errors
    /// The system cannot write the rest, or rename.
    pub fn keep(mut self, digest: &str) -> io::Result<()> {
        let Some(name) = file_name(digest) else { return Ok(()) };
        if let Some(temporary) = &self.temporary {
            self.folder.rename(temporary, &name)?;
            self.temporary = None;
        }
        Ok(())
    }
}

impl Write for NewBlob {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewBlob {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            self.folder.remove(temporary).ok();
        }
    }
}

/// Whether a file is being written.
fn is_held(folder: &Folder, file: &StoredBlob) -> bool {
    let young = SystemTime::now().duration_since(file.used).is_ok_and(|age| age < STARTING);
    let free = || folder.open(&file.name).is_ok_and(|file| file.try_lock().is_ok());
    young || !free()
}

fn reject_foreign_owner(folder: &Folder) -> io::Result<()> {
    match folder.distrust(SHARED)? {
        None => Ok(()),
        Some(why) => Err(named(folder.path(), &io::Error::new(io::ErrorKind::PermissionDenied, why))),
    }
}

/// `sha256:HEX` as a file name; `None` if it is not a digest.
fn file_name(digest: &str) -> Option<OsString> {
    let name = digest.replacen(':', "-", 1);
    is_blob_name(name.as_bytes()).then(|| name.into())
}

fn is_blob_name(name: &[u8]) -> bool {
    let hex = [&b"sha256-"[..], b"sha384-", b"sha512-"].iter().find_map(|start| name.strip_prefix(*start));
    hex.is_some_and(|hex| {
        (64..=128).contains(&hex.len()) && hex.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    })
}

/// Whether this is the folder of the blob cache in a cache folder.
pub(super) fn is_blobs(name: &Path) -> bool {
    name == Path::new(BLOBS)
}
