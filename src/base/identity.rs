//! Identity of a local file and its content, as far as the system provides it.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A time stamp of a file system: seconds since 1970, and nanoseconds.
type Moment = (i64, i64);

/// Device, inode, size and time stamps of a file.
///
/// The change time is included because programs cannot reset it: tools that preserve the modification time (`touch -r`,
/// `rsync --inplace`) would otherwise make two contents look equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified: Moment,
    changed: Moment,
    /// Whether every later change affects a time stamp: stamps have a limited resolution, and some file systems have
    /// none.
    settled: bool,
}

/// Resolution of time stamps, at most: 10 ms on local file systems; a file server's clock may differ by more.
const LOCAL_STEP: Duration = Duration::from_millis(50);
const SERVER_STEP: Duration = Duration::from_secs(3);

/// Magic numbers (linux/magic.h) of file systems with change times set by this machine's kernel: ext2 to 4, XFS, Btrfs,
/// tmpfs, overlayfs, F2FS, ZFS, bcachefs.
const LOCAL: [u64; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1, 0xca45_1a4e];
/// NFS, with change times set by the server.
const NFS: u64 = 0x6969;

impl FileIdentity {
    /// The identity of an open file.
    ///
    /// # Errors
    /// System errors.
    pub fn of(file: &File) -> io::Result<Self> {
        let facts = file.metadata()?;
        let kind = rustix::fs::fstatfs(file).ok().and_then(|system| u64::try_from(system.f_type).ok());
        // FAT, FUSE and Windows shares let programs set the change time or have none, and read-only images have that of
        // their creation: the identity of files there is never settled.
        let step = match kind {
            Some(kind) if LOCAL.contains(&kind) => Some(LOCAL_STEP),
            Some(NFS) => Some(SERVER_STEP),
            _ => None,
        };
        Ok(Self::from_facts(&facts, SystemTime::now(), step))
    }

    /// As [`Self::of`], to compare contents only, in one system call of two: never settled. The file of a layer is checked
    /// for each of thousands of files that are read in it.
    ///
    /// # Errors
    /// System errors.
    pub fn to_compare(file: &File) -> io::Result<Self> {
        Ok(Self::from_facts(&file.metadata()?, UNIX_EPOCH, None))
    }

    fn from_facts(facts: &Metadata, now: SystemTime, step: Option<Duration>) -> Self {
        let (modified, changed) = ((facts.mtime(), facts.mtime_nsec()), (facts.ctime(), facts.ctime_nsec()));
        let before = step.and_then(|step| now.checked_sub(step)?.duration_since(UNIX_EPOCH).ok());
        let before: Option<Moment> = before
            .and_then(|time| Some((i64::try_from(time.as_secs()).ok()?, i64::from(time.subsec_nanos()))));
        Self {
            device: facts.dev(),
            inode: facts.ino(),
            size: facts.size(),
            modified,
            changed,
            settled: before.is_some_and(|before| modified.max(changed) < before),
        }
    }

    /// Whether every later change of the file changes its identity. A file that was just written may be written again
    /// within the resolution of its time stamps.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Whether the content is unchanged between the two. Name, owner or mode may have changed.
    pub fn same_content(&self, other: &Self) -> bool {
        let content = |of: &Self| (of.device, of.inode, of.size, of.modified);
        content(self) == content(other)
    }

    /// A text that is equal only for the same file with the same content.
    pub fn key(&self) -> String {
        let Self { device, inode, size, modified, changed, settled: _ } = self;
        format!("{device:x}:{inode:x}:{size}:{}.{:09}:{}.{:09}", modified.0, modified.1, changed.0, changed.1)
    }
}
