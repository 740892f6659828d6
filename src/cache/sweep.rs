//! Contents of a cache folder, of all versions, and its pruning.
//!
//! A file belongs to the cache by its folder, the form of its name, and its first bytes. All other files are foreign,
//! and stay.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::io::Errno;

use super::blobs::is_blobs;
use super::folder::{Folder, Usage, is, is_hex, is_temporary, named};
use super::record::is_ours;

/// Prefix of the versions' folders.
pub(super) const VERSIONS: &str = "index-";
/// Younger temporary files may belong to a running process.
const UNFINISHED: Duration = Duration::from_hours(1);

/// One file of the cache.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct StoredFile {
    /// Time of the last use.
    used: SystemTime,
    version: OsString,
    name: OsString,
    bytes: u64,
}

/// Contents of a cache folder.
#[derive(Default)]
pub(super) struct Survey {
    root: Option<Folder>,
    versions: Vec<OsString>,
    records: Vec<StoredFile>,
    /// Unfinished files of running or killed processes.
    unfinished: Vec<StoredFile>,
    /// Unrecognized files.
    pub(super) others: Vec<PathBuf>,
}

/// Reads a cache folder; a missing one is empty.
pub(super) fn survey(folder: &Path) -> io::Result<Survey> {
    let mut survey = Survey::default();
    let root = match Folder::root(folder) {
        Ok(root) => root,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(survey),
        Err(error) => return Err(error),
    };
    for name in root.names()? {
        if is_blobs(Path::new(&name)) {
            continue;
        }
        if !is_version(&name) {
            survey.others.push(name.into());
            continue;
        }
        match root.below(&name) {
            Ok(version) => {
                survey.look(&name, &version).map_err(|error| named(version.path(), &error))?;
                survey.versions.push(name);
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // A link, or not a folder.
            Err(error) if is(&error, &[Errno::NOTDIR, Errno::LOOP]) => survey.others.push(name.into()),
            Err(error) => return Err(named(&folder.join(name), &error)),
        }
    }
    survey.records.sort();
    survey.root = Some(root);
    Ok(survey)
}

impl Survey {
    pub(super) fn usage(&self) -> Usage {
        let mut usage = Usage::default();
        self.records.iter().for_each(|record| usage.add(record.bytes));
        usage
    }

    /// Removes least recently used records until at most `limit` bytes are left.
    pub(super) fn prune(&self, limit: u64) -> io::Result<Usage> {
        let mut removed = Usage::default();
        let Some(root) = &self.root else { return Ok(removed) };
        for file in &self.unfinished {
            // A limit of 0 removes these too; a running process writes its file again.
            let old = SystemTime::now().duration_since(file.used).is_ok_and(|age| age > UNFINISHED);
            if (old || limit == 0) && file.remove(root)? {
                removed.add(file.bytes);
            }
        }
        let mut left = self.usage().bytes;
        for record in &self.records {
            if left <= limit {
                break;
            }
            if record.remove(root)? {
                removed.add(record.bytes);
                left = left.saturating_sub(record.bytes);
            }
        }
        // A running process creates these again.
        self.versions.iter().for_each(|version| root.remove_empty(version));
        Ok(removed)
    }

    /// Classifies the files in the folder of a version.
    fn look(&mut self, version: &OsStr, folder: &Folder) -> io::Result<()> {
        for name in folder.names()? {
            let is_record = is_hex(name.as_bytes(), 64);
            let file =
                (is_record || is_temporary(&name)).then(|| folder.open(&name).and_then(|file| ours(&file)));
            let (used, bytes) = match file {
                Some(Ok(Some(facts))) => facts,
                // Another process is pruning.
                Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => continue,
                _ => {
                    self.others.push(Path::new(version).join(name));
                    continue;
                }
            };
            let held = StoredFile { used, version: version.to_owned(), name, bytes };
            if is_record {
                self.records.push(held);
            } else {
                self.unfinished.push(held);
            }
        }
        Ok(())
    }
}

impl StoredFile {
    /// Removes it, unless it was used or replaced since it was listed.
    fn remove(&self, root: &Folder) -> io::Result<bool> {
        let folder = match root.below(&self.version) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            folder => folder?,
        };
        let used = match folder.open(&self.name).and_then(|file| file.metadata()?.modified()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
            used => used.map_err(|error| named(&folder.path().join(&self.name), &error))?,
        };
        if used != self.used {
            return Ok(false);
        }
        folder.remove(&self.name).map_err(|error| named(&folder.path().join(&self.name), &error))?;
        Ok(true)
    }
}

/// Time of the last use and length of a file, if this program wrote it.
fn ours(file: &File) -> io::Result<Option<(SystemTime, u64)>> {
    let facts = file.metadata()?;
    if !facts.is_file() || !is_ours(file)? {
        return Ok(None);
    }
    Ok(Some((facts.modified()?, facts.len())))
}

/// Whether this is the name of a folder of records of any version.
fn is_version(name: &OsStr) -> bool {
    let parts = name.to_str().and_then(|name| name.strip_prefix(VERSIONS)?.split_once('-'));
    parts.is_some_and(|(format, fingerprint)| {
        !format.is_empty()
            && format.bytes().all(|digit| digit.is_ascii_digit())
            && is_hex(fingerprint.as_bytes(), 16)
    })
}
