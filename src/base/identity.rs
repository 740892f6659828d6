//! Identifies a local file and its content, as far as the system can.

use std::fs::{File, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A moment as file systems keep it: seconds since 1970, and nanoseconds of the second.
type Moment = (i64, i64);

/// Which file it is, and the last changes that the system saw.
///
/// The time of change is part of it since programs cannot set it back: tools that keep the time of modification
/// (`touch -r`, `rsync --inplace`) would otherwise make two contents look like one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
    size: u64,
    modified: Moment,
    changed: Moment,
    /// Whether any later change must show in one of the times: file systems count them in steps, and some not at all.
    settled: bool,
}

/// Times of changes are counted in steps of at most this: 10 ms by local file systems; the clock of a file server may
/// be off by more.
const LOCAL_STEP: Duration = Duration::from_millis(50);
const SERVER_STEP: Duration = Duration::from_secs(3);

/// Magic numbers of linux/magic.h, of file systems that keep the time of change themselves, by this machine's clock:
/// ext2 to 4, XFS, Btrfs, tmpfs, overlayfs, F2FS, ZFS, bcachefs.
const LOCAL: [u64; 8] =
    [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0x794c_7630, 0xf2f5_2010, 0x2fc1_2fc1, 0xca45_1a4e];
/// NFS, with times set by the server.
const NFS: u64 = 0x6969;

impl FileIdentity {
    /// The identity of an open file.
    ///
    /// # Errors
    /// System errors.
    pub fn of(file: &File) -> io::Result<Self> {
        let facts = file.metadata()?;
        let kind = rustix::fs::fstatfs(file).ok().and_then(|system| u64::try_from(system.f_type).ok());
        // FAT, FUSE and shares of Windows let the time of change be set or make it up, and images that are mounted
        // to be read have the times of their making: files there are never known again by identity.
        let step = match kind {
            Some(kind) if LOCAL.contains(&kind) => Some(LOCAL_STEP),
            Some(NFS) => Some(SERVER_STEP),
            _ => None,
        };
        Ok(Self::from_facts(&facts, SystemTime::now(), step))
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

    /// Whether everything that happens to the file from now on changes its identity. A file that was written a
    /// moment ago may be written again without its times moving.
    pub fn is_settled(&self) -> bool {
        self.settled
    }

    /// Whether nothing was written to the file between the two. Its name, owner or mode may have changed.
    pub fn same_content(&self, other: &Self) -> bool {
        let content = |of: &Self| (of.device, of.inode, of.size, of.modified);
        content(self) == content(other)
    }

    /// A text that is the same for the same file with the same content, and for nothing else.
    pub fn key(&self) -> String {
        let Self { device, inode, size, modified, changed, settled: _ } = self;
        format!("{device:x}:{inode:x}:{size}:{}.{:09}:{}.{:09}", modified.0, modified.1, changed.0, changed.1)
    }
}
