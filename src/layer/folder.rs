//! An unpacked root filesystem as one layer. Folders are opened, and of regular files only relevant ones; no link is
//! followed, and the walk stays on its file system.

use std::ffi::CStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use hashbrown::HashMap;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};
use rustix::io::Errno;

use super::builder::{IndexBuilder, IndexFull, NewEntry};
use super::capture::{Capture, File};
use super::context::Context;
use super::index::{DirId, EntryId, EntryKind};
use super::outcome::{LayerRead, Verified};
use crate::base::text::escape;
use crate::base::warning::Warnings;
use crate::base::{Section, Warning, WarningCode};
use crate::formats::compression::Compression;
use crate::formats::input::counted;
use crate::jobs::Cancelled;

/// Why a folder cannot be read as a root filesystem at all.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// The folder itself cannot be opened.
    #[error("{0}")]
    Open(#[from] io::Error),
    /// It is a virtual file system of the kernel, not stored files.
    #[error("{0} file system: virtual files of the kernel, without meaningful sizes")]
    KernelView(&'static str),
}

struct Pending {
    parent: Arc<OwnedFd>,
    name: Vec<u8>,
    dir: DirId,
}

struct Walk<'a> {
    builder: IndexBuilder,
    capture: Capture<'a>,
    context: &'a Context,
    warnings: Warnings,
    device: rustix::fs::Dev,
    /// First names of files with several, by index entry.
    inodes: HashMap<u64, Vec<u8>>,
    counted: usize,
    /// Files of an overlay may have the device number of their layer.
    overlay: bool,
    complete: bool,
}

/// Reads the folder `root` and everything below it.
///
/// # Errors
/// It cannot be opened, is not a stored file system, or the job is cancelled. Unreadable entries below it are warnings.
pub fn read_folder(root: &Path, context: &Context) -> Result<LayerRead, FolderError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root_fd = openat(CWD, root, flags, Mode::empty()).map_err(io::Error::from)?;
    if let Some(name) = kernel_view(&root_fd) {
        return Err(FolderError::KernelView(name));
    }
    let device = fstat(&root_fd).map_err(io::Error::from)?.st_dev;
    let mut walk = Walk {
        builder: IndexBuilder::new(&context.limits),
        capture: Capture::new(context),
        context,
        warnings: Warnings::with_limit(context.limits.warnings_per_code),
        device,
        inodes: HashMap::new(),
        counted: 0,
        overlay: file_system(&root_fd) == Some(OVERLAY),
        complete: true,
    };
    let mut pending = Vec::new();
    let mut full = walk.read_dir(&Arc::new(root_fd), DirId::ROOT, &mut pending)?;
    while let (None, Some(next)) = (&full, pending.pop()) {
        context.cancel.check()?;
        let flags = flags | OFlags::NOFOLLOW;
        match openat(&next.parent, next.name.as_slice(), flags, Mode::empty()) {
            Ok(fd) => full = walk.read_dir(&Arc::new(fd), next.dir, &mut pending)?,
            Err(error) => {
                // Limits on open folders are not a property of the tree.
                walk.complete &= !matches!(error, Errno::MFILE | Errno::NFILE);
                walk.not_read(next.dir, b"", &format!("cannot open: {error}"));
            }
        }
    }
    context.progress.add_entries((walk.builder.len() - walk.counted) as u64);
    let mut warnings = std::mem::take(&mut walk.warnings).finish(&context.subject);
    let (facts, faults) = walk.capture.finish();
    warnings.extend(faults.finish(&context.subject));
    if let Some(full) = &full {
        warnings.push(Warning::new(WarningCode::LayerMalformed, context.subject.clone(), full.to_string()));
    }
    Ok(LayerRead {
        index: Arc::new(walk.builder.finish()),
        facts: Arc::new(facts),
        compression: Some(Compression::None),
        compressed_bytes: None,
        uncompressed_bytes: None,
        digest: None,
        diff_id: None,
        verified: Verified::default(),
        complete: walk.complete && full.is_none(),
        warnings,
    })
}

impl Walk<'_> {
    fn read_dir(
        &mut self,
        fd: &Arc<OwnedFd>,
        dir: DirId,
        pending: &mut Vec<Pending>,
    ) -> Result<Option<IndexFull>, Cancelled> {
        let entries = match Dir::read_from(fd) {
            Ok(entries) => entries,
            Err(error) => {
                self.not_read(dir, b"", &format!("cannot list: {error}"));
                return Ok(None);
            }
        };
        for entry in entries {
            self.context.cancel.check()?;
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.not_read(dir, b"", &format!("cannot list completely: {error}"));
                    return Ok(None);
                }
            };
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            match statat(fd, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => {
                    if let Err(full) = self.add(fd, dir, name, &stat, pending) {
                        return Ok(Some(full));
                    }
                }
                Err(error) => self.not_read(dir, name.to_bytes(), &format!("cannot read metadata: {error}")),
            }
        }
        Ok(None)
    }

    fn add(
        &mut self,
        fd: &Arc<OwnedFd>,
        dir: DirId,
        name: &CStr,
        stat: &Stat,
        pending: &mut Vec<Pending>,
    ) -> Result<(), IndexFull> {
        let bytes = name.to_bytes();
        let mut kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => EntryKind::File,
            FileType::Directory => EntryKind::Directory,
            FileType::Symlink => EntryKind::Symlink,
            _ => EntryKind::Other,
        };
        if stat.st_dev != self.device && kind != EntryKind::Directory && !self.overlay {
            self.not_read(dir, bytes, "on another file system");
            return Ok(());
        }
        let mut link = Vec::new();
        if kind == EntryKind::Symlink {
            link = readlinkat(fd, name, Vec::new()).map(std::ffi::CString::into_bytes).unwrap_or_default();
        } else if kind == EntryKind::File && stat.st_nlink > 1 {
            let path = || {
                let mut path = self.builder.dir_path(dir);
                path.push(b'/');
                path.extend_from_slice(bytes);
                path
            };
            match self.inodes.entry(stat.st_ino) {
                hashbrown::hash_map::Entry::Occupied(first) => {
                    kind = EntryKind::HardLink;
                    link.clone_from(first.get());
                }
                hashbrown::hash_map::Entry::Vacant(slot) => {
                    slot.insert(path());
                }
            }
        }
        let entry = NewEntry {
            kind,
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mode: mode_of(stat),
            uid: stat.st_uid,
            gid: stat.st_gid,
            mtime: stat.st_mtime,
            link: &link,
            body_at: None,
        };
        // Names such as `.wh.x` are files like any other in a root filesystem.
        let entry = self.builder.add(dir, bytes, entry, false)?;
        if kind == EntryKind::File {
            self.look_into(fd, dir, entry, name, stat);
        }
        if self.builder.len() - self.counted >= 4096 {
            self.context.progress.add_entries((self.builder.len() - self.counted) as u64);
            self.counted = self.builder.len();
        }
        if kind == EntryKind::Directory {
            if stat.st_dev == self.device {
                let id = self.builder.dir(dir, bytes)?;
                pending.push(Pending { parent: Arc::clone(fd), name: bytes.to_vec(), dir: id });
            } else {
                self.not_read(dir, bytes, "on another file system, skipped");
            }
        }
        Ok(())
    }

    /// Analyses a regular file. It is opened without following a link, and must be the file that was listed: nothing
    /// that blocks or has side effects on open.
    fn look_into(&mut self, fd: &Arc<OwnedFd>, dir: DirId, entry: EntryId, name: &CStr, stat: &Stat) {
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        let (mode, bytes) = (mode_of(stat), name.to_bytes());
        // A file of almost only holes costs nothing on disk, but its full size to read. Compressing file systems also
        // store fewer bytes, but not as few.
        let stored = u64::try_from(stat.st_blocks).unwrap_or(0).saturating_mul(512);
        let sparse = size > 1 << 20 && stored < size / 64;
        let file = File { entry, dir, name: bytes, size, sparse, mode };
        if !self.capture.wants(&file, self.builder.so_far()) {
            return;
        }
        let opened = openat(fd, name, FILE_FLAGS, Mode::empty()).and_then(|opened| {
            let now = fstat(&opened)?;
            let same = (now.st_dev, now.st_ino, now.st_mode) == (stat.st_dev, stat.st_ino, stat.st_mode);
            if same || self.overlay { Ok((opened, now)) } else { Err(Errno::STALE) }
        });
        match opened {
            Ok((opened, now)) if FileType::from_raw_mode(now.st_mode) == FileType::RegularFile => {
                let bytes = Arc::new(std::fs::File::from(opened));
                let body = counted(Section::new(bytes, 0, size), &self.context.progress);
                self.capture.read(&file, self.builder.so_far(), &body);
            }
            Ok(_) => {}
            Err(error) => self.not_read(dir, bytes, &format!("cannot open: {error}")),
        }
    }

    fn not_read(&mut self, dir: DirId, name: &[u8], why: &str) {
        let builder = &self.builder;
        self.warnings.push_with(WarningCode::NotRead, || {
            let mut path = builder.dir_path(dir);
            if !name.is_empty() || path.is_empty() {
                path.push(b'/');
                path.extend_from_slice(name);
            }
            (escape(&path), why.to_owned())
        });
    }
}

/// Opens a regular file below `root` by its absolute path, without following any link and without leaving
/// the file system.
///
/// # Errors
/// When it is not there, no regular file, or behind a link.
pub fn open_file(root: &Path, path: &[u8]) -> io::Result<std::fs::File> {
    let relative = path.strip_prefix(b"/").unwrap_or(path);
    let file = open_beneath(root, relative)?;
    if FileType::from_raw_mode(fstat(&file)?.st_mode) != FileType::RegularFile {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    Ok(std::fs::File::from(file))
}

/// Opens what is at `relative` below `root`; no part of it is a link or on another file system.
#[cfg(target_os = "linux")]
fn open_beneath(root: &Path, relative: &[u8]) -> io::Result<OwnedFd> {
    use rustix::fs::{ResolveFlags, openat2};
    let root = openat(CWD, root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    Ok(openat2(root, relative, FILE_FLAGS, Mode::empty(), resolve)?)
}

/// The same where one call cannot do it: folder by folder, none of which is a link.
#[cfg(not(target_os = "linux"))]
fn open_beneath(root: &Path, relative: &[u8]) -> io::Result<OwnedFd> {
    let folder = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = openat(CWD, root, folder, Mode::empty())?;
    let device = fstat(&at)?.st_dev;
    let mut parts = relative.split(|byte| *byte == b'/').filter(|part| !part.is_empty()).peekable();
    while let Some(part) = parts.next() {
        if part == b".." {
            return Err(Errno::XDEV.into());
        }
        let flags = if parts.peek().is_some() { folder | OFlags::NOFOLLOW } else { FILE_FLAGS };
        at = openat(&at, part, flags, Mode::empty())?;
        if fstat(&at)?.st_dev != device {
            return Err(Errno::XDEV.into());
        }
    }
    Ok(at)
}

/// How a file is opened to read it: without following a link, and nothing that blocks or has side effects.
const FILE_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Type and permissions; the field has 16 bits on macOS.
#[cfg_attr(target_os = "linux", expect(clippy::useless_conversion, reason = "not on every system"))]
fn mode_of(stat: &Stat) -> u32 {
    u32::from(stat.st_mode)
}

// Magic numbers of linux/magic.h.
const PROC: u64 = 0x9fa0;
const SYSFS: u64 = 0x6265_6572;
const OVERLAY: u64 = 0x794c_7630;

fn file_system(fd: &OwnedFd) -> Option<u64> {
    u64::try_from(rustix::fs::fstatfs(fd).ok()?.f_type).ok()
}

fn kernel_view(fd: &OwnedFd) -> Option<&'static str> {
    match file_system(fd)? {
        PROC => Some("proc"),
        SYSFS => Some("sysfs"),
        _ => None,
    }
}
