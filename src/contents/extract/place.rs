//! Folders and names below the destination, opened one by one without following links.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, linkat, mkdirat, openat, renameat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

use crate::rootfs::{Node, NodeId};

/// Temporary names that are tried: others belong to runs that were killed.
const TRIES: u32 = 10_000;

fn refused(reason: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason.into())
}

/// The folder that files are extracted into.
pub(super) struct Destination {
    root: OwnedFd,
    /// The folder that was opened last: files come folder by folder.
    last: Option<(NodeId, OwnedFd)>,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl Destination {
    /// Opens the folder, and makes it if it is not there. Links in this path are the user's own.
    pub(super) fn open(to: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(to)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self { root: openat(CWD, to, flags, Mode::empty())?, last: None })
    }

    /// The folder of a node's parent, made if it is not there.
    pub(super) fn parent(&mut self, node: Node<'_>) -> io::Result<OwnedFd> {
        usable(node.name())?;
        Ok(self.folder(node.parent())?.0)
    }

    /// The folder of a node that is one, and whether it was made.
    pub(super) fn folder(&mut self, node: Node<'_>) -> io::Result<(OwnedFd, bool)> {
        if let Some((_, fd)) = self.last.as_ref().filter(|(id, _)| *id == node.id()) {
            return Ok((fd.try_clone()?, false));
        }
        let mut names = Vec::new();
        let mut at = node;
        while at.id() != NodeId::ROOT {
            names.push(at.name());
            at = at.parent();
        }
        let mut fd = self.root.try_clone()?;
        let mut made = false;
        for name in names.iter().rev() {
            usable(name)?;
            (fd, made) = enter(&fd, name)?;
        }
        self.last = Some((node.id(), fd.try_clone()?));
        Ok((fd, made))
    }
}

/// Opens a folder in another, and makes it if it is not there.
fn enter(folder: &OwnedFd, name: &[u8]) -> io::Result<(OwnedFd, bool)> {
    match openat(folder, name, FOLDER, Mode::empty()) {
        Ok(fd) => Ok((fd, false)),
        Err(Errno::NOENT) => {
            mkdirat(folder, name, Mode::from_raw_mode(0o755))?;
            Ok((openat(folder, name, FOLDER, Mode::empty())?, true))
        }
        Err(error @ (Errno::NOTDIR | Errno::LOOP | Errno::MLINK)) => {
            let is_link = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
                .is_ok_and(|facts| FileType::from_raw_mode(facts.st_mode) == FileType::Symlink);
            let name = crate::base::text::escape(name);
            Err(if is_link {
                refused(format!("{name} in the destination is a symbolic link, which is not followed"))
            } else {
                refused(format!("{name} in the destination is not a folder: {error}"))
            })
        }
        Err(error) => Err(error.into()),
    }
}

/// Names that stay in their folder.
fn usable(name: &[u8]) -> io::Result<()> {
    if matches!(name, b"" | b"." | b"..") || name.iter().any(|byte| matches!(byte, b'/' | 0)) {
        return Err(refused("its name is not a file name"));
    }
    Ok(())
}

/// Whether something may be written under a name.
pub(super) fn check(folder: impl AsFd, name: &[u8], force: bool) -> io::Result<()> {
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
        Ok(facts) if FileType::from_raw_mode(facts.st_mode) == FileType::Directory => {
            Err(refused("a folder exists under this name in the destination"))
        }
        Ok(_) if force => Ok(()),
        Ok(_) => Err(exists()),
    }
}

fn exists() -> io::Error {
    io::Error::new(io::ErrorKind::AlreadyExists, "exists in the destination")
}

/// Makes room for a new name.
pub(super) fn prepare(folder: impl AsFd, name: &[u8], force: bool) -> io::Result<()> {
    check(&folder, name, force)?;
    if force
        && let Err(error) = unlinkat(&folder, name, AtFlags::empty())
        && error != Errno::NOENT
    {
        return Err(error.into());
    }
    Ok(())
}

/// Creates a symbolic link.
pub(super) fn make_link(folder: impl AsFd, name: &[u8], target: &[u8], force: bool) -> io::Result<()> {
    prepare(&folder, name, force)?;
    symlinkat(target, &folder, name)
        .map_err(|error| if error == Errno::EXIST { exists() } else { error.into() })
}

/// A file without its name. Removed when dropped.
pub(super) struct Temporary {
    folder: OwnedFd,
    name: String,
}

impl Temporary {
    pub(super) fn create(folder: OwnedFd) -> io::Result<(Self, File)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        for number in 0..TRIES {
            let name = format!(".cutaway-{}-{number}", std::process::id());
            match openat(&folder, &*name, flags, Mode::from_raw_mode(0o600)) {
                Ok(fd) => return Ok((Self { folder, name }, File::from(fd))),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(refused("no temporary name is free in the destination"))
    }

    /// Gives the file its name. Without `force` an existing file stays, even one that appeared meanwhile.
    pub(super) fn publish(&self, folder: impl AsFd, name: &[u8], force: bool) -> io::Result<()> {
        check(&folder, name, force)?;
        if !force {
            match linkat(&self.folder, &*self.name, &folder, name, AtFlags::empty()) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => return Err(exists()),
                // A file system without hard links.
                Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(renameat(&self.folder, &*self.name, &folder, name)?)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After a rename the name is free already.
        unlinkat(&self.folder, &*self.name, AtFlags::empty()).ok();
    }
}
