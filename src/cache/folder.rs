//! An open folder, so that it cannot be replaced between two steps.

use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, mkdirat, openat, renameat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::base::text::printable;

/// Usage of the cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Records, those of other versions included.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

impl Usage {
    pub(super) fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes = self.bytes.saturating_add(bytes);
    }
}

/// Prefix of temporary file names.
const TEMPORARY: &str = ".new-";
/// Maximum attempts to find an unused name.
const DRAWN: usize = 16;

/// An open folder.
pub(super) struct Folder {
    handle: File,
    path: PathBuf,
}

impl Folder {
    /// The folder chosen by the user; a link to it is their choice too.
    pub(super) fn root(path: &Path) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = File::from(openat(CWD, path, flags, Mode::empty())?);
        Ok(Self { handle, path: path.to_owned() })
    }

    /// [`Self::root`]; creates a missing one, for this user only, with its parents.
    pub(super) fn make_root(path: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)?;
        Self::root(path)
    }

    /// A folder in it; never follows a link.
    pub(super) fn below(&self, name: &OsStr) -> io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let handle = File::from(openat(&self.handle, name, flags, Mode::empty())?);
        Ok(Self { handle, path: self.path.join(name) })
    }

    /// [`Self::below`]; creates a missing one, for this user only.
    pub(super) fn make_below(&self, name: &OsStr) -> io::Result<Self> {
        match mkdirat(&self.handle, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => self.below(name),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Why the folder is not trusted; `None` if it is. `shared` mode bits are rejected.
    pub(super) fn distrust(&self, shared: u32) -> io::Result<Option<&'static str>> {
        let facts = self.handle.metadata()?;
        Ok(if !is_own(&facts) {
            Some("it belongs to another user, who could forge entries")
        } else if facts.mode() & shared != 0 {
            Some("other users can write to it and could forge entries")
        } else {
            None
        })
    }

    /// Names of all entries, sorted.
    pub(super) fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name.to_vec()));
            }
        }
        names.sort();
        Ok(names)
    }

    /// Opens a file to read. Follows no link, and never blocks on a FIFO.
    pub(super) fn open(&self, name: &OsStr) -> io::Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(File::from(openat(&self.handle, name, flags, Mode::empty())?))
    }

    /// Creates a file that only this user may read, under an unused name.
    pub(super) fn temporary(&self) -> io::Result<(OsString, File)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for _ in 0..DRAWN {
            // Not the process id: containers that share the folder have the same ones.
            let drawn = RandomState::new().build_hasher().finish();
            let name = OsString::from(format!("{TEMPORARY}{drawn:016x}"));
            match openat(&self.handle, &name, flags, Mode::RUSR | Mode::WUSR) {
                Ok(file) => return Ok((name, File::from(file))),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(Errno::EXIST.into())
    }

    /// Replaces one file with another.
    pub(super) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(&self.handle, from, &self.handle, to)?)
    }

    /// Removes a file; a missing one is not an error.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        match unlinkat(&self.handle, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a folder in it, if empty.
    pub(super) fn remove_empty(&self, name: &OsStr) {
        // A folder that is not empty stays.
        unlinkat(&self.handle, name, AtFlags::REMOVEDIR).ok();
    }
}

/// Whether a file belongs to the current user.
pub(super) fn is_own(facts: &Metadata) -> bool {
    facts.uid() == geteuid().as_raw()
}

/// Whether this is the name of a temporary file.
pub(super) fn is_temporary(name: &OsStr) -> bool {
    let drawn = name.as_bytes().strip_prefix(TEMPORARY.as_bytes());
    drawn.is_some_and(|drawn| is_hex(drawn, 16))
}

/// Whether these are `digits` digits as this program writes them.
pub(super) fn is_hex(text: &[u8], digits: usize) -> bool {
    text.len() == digits && text.iter().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// An error with its file or folder.
pub(super) fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", shown(path)))
}

/// Whether an error is one of these.
pub(super) fn is(error: &io::Error, errors: &[Errno]) -> bool {
    errors.iter().any(|known| error.raw_os_error() == Some(known.raw_os_error()))
}

/// A path for display.
pub(super) fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}
