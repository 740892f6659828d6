//! A member of a tar stream.

/// What a member is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MemberKind {
    /// A regular file, sparse ones included.
    File,
    /// A further name of a file; the link target is the first.
    HardLink,
    /// A symbolic link.
    Symlink,
    /// A folder.
    Directory,
    /// A character device.
    CharDevice,
    /// A block device.
    BlockDevice,
    /// A named pipe.
    Fifo,
    /// A type that container engines do not unpack (volume labels, dump folders).
    #[default]
    Other,
}

/// One member, extension headers applied.
#[derive(Clone, Debug, Default)]
pub struct Member {
    /// Name as written, any bytes.
    pub path: Vec<u8>,
    /// Link target as written; empty when it is no link.
    pub link: Vec<u8>,
    /// What it is.
    pub kind: MemberKind,
    /// Logical size in bytes: what a file has once unpacked. 0 for all but files.
    pub size: u64,
    /// Bytes of the body in the stream; less than `size` for sparse files.
    pub stored: u64,
    /// Whether its body omits the holes of the file.
    pub sparse: bool,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Modification time, seconds since 1970.
    pub mtime: i64,
    /// Offset of the body in the stream.
    pub body_at: u64,
}
