//! A walk over the members of a tar stream: offset, kind and size of each.
//!
//! Fields are parsed by [`tar::Header`]. The walk is our own: bodies are skipped without a copy or not read at all,
//! names and extension headers are bounded, PAX sparse records are supported, and every error has its byte offset.
//! Semantics follow Go's `archive/tar`, which all container engines use.

pub mod edit;
mod header;
mod member;
pub mod sparse;

use std::io;

use ::tar::{EntryType, GnuExtSparseHeader, Header};

use super::pax::Extensions;
use crate::base::{Limits, Section, WarningCode, warning::Warnings};
pub use header::is_header;
use header::{GID, MODE, MTIME, SIZE, UID, checksum_fits, header_path, narrow, number};
pub use member::{Member, MemberKind};

/// Tar is made of blocks of this many bytes.
pub const BLOCK: u64 = 512;

/// Input of a walk.
pub trait TarInput {
    /// Fills `buffer`; the count is lower only at the end of the stream.
    ///
    /// # Errors
    /// Errors of the source.
    fn read_full(&mut self, buffer: &mut [u8]) -> io::Result<usize>;

    /// Skips `count` bytes and returns the number of skipped ones; lower only at the end of the stream.
    ///
    /// # Errors
    /// Errors of the source.
    fn skip(&mut self, count: u64) -> io::Result<u64>;

    /// Passes `count` bytes to `each` in chunks and returns the number of passed ones; lower only at the end of the
    /// stream.
    ///
    /// # Errors
    /// Errors of the source.
    fn pass(&mut self, count: u64, each: &mut dyn FnMut(&[u8])) -> io::Result<u64>;

    /// The bytes `at..at + length`, if the input is seekable.
    fn section(&self, at: u64, length: u64) -> Option<Section> {
        let _: (u64, u64) = (at, length);
        None
    }
}

/// Why a walk stopped before the end.
#[derive(Debug, thiserror::Error)]
pub enum TarError {
    /// The source failed.
    #[error("byte {at}: {source}")]
    Read {
        /// Offset in the tar stream.
        at: u64,
        /// Error of the source.
        source: io::Error,
    },
    /// The stream ends within a member.
    #[error("byte {at}: the stream ends within {what}")]
    CutShort {
        /// Offset at which the member or header starts.
        at: u64,
        /// Member or header, safe to show.
        what: String,
    },
    /// The bytes are not a tar header.
    #[error("byte {at}: {what}")]
    Malformed {
        /// Offset of the header.
        at: u64,
        /// What is wrong with it.
        what: String,
    },
}

/// Steps from member to member.
pub struct TarWalk<I> {
    input: I,
    /// Offset of the next byte of `input`.
    at: u64,
    /// Unread body bytes of the current member, and the padding after them.
    unread: u64,
    padding: u64,
    member: Member,
    limits: Limits,
    warnings: Warnings,
}

impl<I: TarInput> TarWalk<I> {
    /// A walk that begins at the start of `input`.
    pub fn new(input: I, limits: &Limits) -> Self {
        Self {
            input,
            at: 0,
            unread: 0,
            padding: 0,
            member: Member::default(),
            warnings: Warnings::with_limit(limits.warnings_per_code),
            limits: limits.clone(),
        }
    }

    /// Steps to the next member, past the rest of the current body; `false` at the end of the archive.
    ///
    /// # Errors
    /// The stream is truncated, unreadable or not a tar; the walk cannot continue.
    pub fn advance(&mut self) -> Result<bool, TarError> {
        self.finish_body()?;
        let mut extensions = Extensions::default();
        let mut extended = false;
        loop {
            let header_at = self.at;
            let mut header = Header::new_old();
            let count = self.read(header.as_mut_bytes())?;
            if count == 0 && !extended {
                self.oddity(header_at, "no end-of-archive marker");
                return Ok(false);
            }
            if count < 512 {
                return Err(Self::cut(header_at, "a header"));
            }
            if header.as_bytes().iter().all(|byte| *byte == 0) {
                self.check_second_end_block(header_at)?;
                return Ok(false);
            }
            if !checksum_fits(header.as_bytes()) {
                return Err(malformed(header_at, "not a tar header (checksum mismatch)"));
            }
            match header.entry_type() {
                EntryType::XHeader | EntryType::XGlobalHeader => {
                    // Only Solaris wrote 'X', and Go does not read it either.
                    let global = header.entry_type() == EntryType::XGlobalHeader;
                    let body = self.extension(&header, header_at, self.limits.pax_bytes, "a PAX header")?;
                    if !global {
                        extensions.apply(&body).map_err(|what| malformed(header_at, &what))?;
                        extended = true;
                    }
                }
                EntryType::GNULongName => {
                    extensions.gnu_path = self.long_name(&header, header_at)?;
                    extended = true;
                }
                EntryType::GNULongLink => {
                    extensions.gnu_link = self.long_name(&header, header_at)?;
                    extended = true;
                }
                _ => {
                    self.take_member(&header, header_at, extensions)?;
                    return Ok(true);
                }
            }
        }
    }

    /// The member that [`Self::advance`] stepped to.
    pub fn member(&self) -> &Member {
        &self.member
    }

    /// The body of the current member, if the input is seekable.
    pub fn body(&self) -> Option<Section> {
        self.input.section(self.member.body_at, self.member.stored)
    }

    /// Passes the rest of the current body to `each` in chunks.
    ///
    /// # Errors
    /// The stream is truncated or unreadable; the walk cannot continue.
    pub fn pass_body(&mut self, each: &mut dyn FnMut(&[u8])) -> Result<(), TarError> {
        let passed =
            self.input.pass(self.unread, each).map_err(|source| TarError::Read { at: self.at, source })?;
        self.at += passed;
        if passed < self.unread {
            return Err(self.body_cut());
        }
        self.unread = 0;
        Ok(())
    }

    /// Whether the current member's body was not read or skipped to its end.
    pub fn is_within_body(&self) -> bool {
        self.unread > 0
    }

    /// The input, for what it recorded on the way to the current member.
    pub fn input_mut(&mut self) -> &mut I {
        &mut self.input
    }

    /// The input, for reading what follows the end of the archive.
    pub fn into_input(self) -> I {
        self.input
    }

    /// Oddities met so far, each with its offset as the subject.
    pub fn take_warnings(&mut self) -> Warnings {
        std::mem::replace(&mut self.warnings, Warnings::with_limit(self.limits.warnings_per_code))
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, TarError> {
        let count = self.input.read_full(buffer).map_err(|source| TarError::Read { at: self.at, source })?;
        self.at += count as u64;
        Ok(count)
    }

    fn skip(&mut self, count: u64) -> Result<u64, TarError> {
        let skipped = self.input.skip(count).map_err(|source| TarError::Read { at: self.at, source })?;
        self.at += skipped;
        Ok(skipped)
    }

    fn finish_body(&mut self) -> Result<(), TarError> {
        if self.unread > 0 {
            let skipped = self.skip(self.unread)?;
            if skipped < self.unread {
                return Err(self.body_cut());
            }
            self.unread = 0;
        }
        if self.padding > 0 {
            // Missing padding after the last member loses no data.
            let wanted = std::mem::take(&mut self.padding);
            if self.skip(wanted)? < wanted {
                self.oddity(self.at, "the padding after the last member is missing");
            }
        }
        Ok(())
    }

    fn check_second_end_block(&mut self, at: u64) -> Result<(), TarError> {
        let mut block = [0; 512];
        let count = self.read(&mut block)?;
        if block[..count].iter().any(|byte| *byte != 0) {
            self.oddity(at, "a single zero block ends the archive; the rest is not read");
        }
        Ok(())
    }

    fn extension(&mut self, header: &Header, at: u64, limit: u64, what: &str) -> Result<Vec<u8>, TarError> {
        let size = number(&header.as_bytes()[SIZE])
            .ok_or_else(|| malformed(at, &format!("the size of {what} is not a number")))?;
        if size > limit {
            let what = format!("{what} of {size} bytes, the limit is {limit}");
            return Err(malformed(at, &what));
        }
        let mut body = vec![0; usize::try_from(size).unwrap_or(0)];
        let padding = size.next_multiple_of(BLOCK) - size;
        if self.read(&mut body)? < body.len() || self.skip(padding)? < padding {
            return Err(Self::cut(at, what));
        }
        Ok(body)
    }

    fn long_name(&mut self, header: &Header, at: u64) -> Result<Option<Vec<u8>>, TarError> {
        let limit = self.limits.path_bytes as u64 + 1;
        let mut name = self.extension(header, at, limit, "a GNU long name")?;
        if let Some(end) = name.iter().position(|byte| *byte == 0) {
            name.truncate(end);
        }
        Ok(Some(name).filter(|name| !name.is_empty()))
    }

    fn take_member(&mut self, header: &Header, at: u64, extensions: Extensions) -> Result<(), TarError> {
        let sparse_gnu = header.entry_type() == EntryType::GNUSparse;
        let is_file = matches!(header.entry_type(), EntryType::Regular | EntryType::Continuous) || sparse_gnu;
        let mut path = extensions.path;
        if is_file && extensions.sparse_size.is_some() {
            path = extensions.sparse_name.or(path);
        }
        // As in Go, a GNU long name takes precedence over a PAX one, and an empty one of either kind has no effect.
        let path = extensions
            .gnu_path
            .or(path)
            .unwrap_or_else(|| header_path(header.as_bytes(), std::mem::take(&mut self.member.path)));
        let link = extensions
            .gnu_link
            .or(extensions.link)
            .or_else(|| header.link_name_bytes().map(std::borrow::Cow::into_owned))
            .unwrap_or_default();
        for (what, name) in [("path", &path), ("link target", &link)] {
            if name.len() > self.limits.path_bytes {
                let bytes = name.len();
                return Err(malformed(at, &format!("a {what} of {bytes} bytes, longer than allowed")));
            }
        }
        let kind = match header.entry_type() {
            // Before POSIX a folder was a file with a trailing slash in its name.
            EntryType::Regular if header.as_bytes()[156] == 0 && path.ends_with(b"/") => {
                MemberKind::Directory
            }
            EntryType::Regular | EntryType::Continuous | EntryType::GNUSparse => MemberKind::File,
            EntryType::Link => MemberKind::HardLink,
            EntryType::Symlink => MemberKind::Symlink,
            EntryType::Directory => MemberKind::Directory,
            EntryType::Char => MemberKind::CharDevice,
            EntryType::Block => MemberKind::BlockDevice,
            EntryType::Fifo => MemberKind::Fifo,
            _ => MemberKind::Other,
        };
        // Links, folders and devices have no body, whatever their declared size.
        let stored = match (kind, extensions.size) {
            (MemberKind::File | MemberKind::Other, Some(size)) => size,
            (MemberKind::File | MemberKind::Other, None) => {
                number(&header.as_bytes()[SIZE]).ok_or_else(|| malformed(at, "the size is not a number"))?
            }
            _ => 0,
        };
        if stored > i64::MAX as u64 {
            return Err(malformed(at, &format!("a body of {stored} bytes")));
        }
        let mut size = if kind == MemberKind::File { stored } else { 0 };
        let sparse = sparse_gnu || (is_file && extensions.sparse_size.is_some());
        if sparse_gnu {
            size = self.skip_sparse_map(header, at)?.unwrap_or(stored);
        } else if let (true, Some(claimed)) = (is_file && kind == MemberKind::File, extensions.sparse_size) {
            size = claimed;
        }
        if size != stored && size > self.limits.sparse_file_bytes {
            return Err(malformed(at, &format!("a sparse file that claims {size} bytes")));
        }
        self.member = Member {
            link: if matches!(kind, MemberKind::HardLink | MemberKind::Symlink) { link } else { Vec::new() },
            path,
            kind,
            size,
            stored,
            sparse,
            mode: narrow(number(&header.as_bytes()[MODE])),
            uid: narrow(extensions.uid.or_else(|| number(&header.as_bytes()[UID]))),
            gid: narrow(extensions.gid.or_else(|| number(&header.as_bytes()[GID]))),
            mtime: extensions
                .mtime
                .or_else(|| number(&header.as_bytes()[MTIME]).and_then(|time| i64::try_from(time).ok()))
                .unwrap_or(0),
            body_at: self.at,
        };
        self.unread = stored;
        self.padding = stored.next_multiple_of(BLOCK) - stored;
        Ok(())
    }

    /// Old GNU sparse files have their map in the header and in the blocks after it. Only the logical size is needed
    /// here.
    fn skip_sparse_map(&mut self, header: &Header, at: u64) -> Result<Option<u64>, TarError> {
        let Some(gnu) = header.as_gnu() else { return Ok(None) };
        let size = number(&gnu.realsize).ok_or_else(|| malformed(at, "the sparse size is not a number"))?;
        let mut more = gnu.is_extended();
        let mut blocks = 0;
        while more {
            blocks += 1;
            if blocks > self.limits.sparse_blocks {
                return Err(malformed(at, "unterminated sparse map"));
            }
            let mut block = GnuExtSparseHeader::new();
            if self.read(block.as_mut_bytes())? < 512 {
                return Err(Self::cut(at, "a sparse map"));
            }
            more = block.is_extended();
        }
        Ok(Some(size))
    }

    fn body_cut(&self) -> TarError {
        let what = format!("the body of {}", crate::base::text::escape(&self.member.path));
        TarError::CutShort { at: self.member.body_at, what }
    }

    fn cut(at: u64, what: &str) -> TarError {
        TarError::CutShort { at, what: what.to_owned() }
    }

    fn oddity(&mut self, at: u64, what: &str) {
        self.warnings
            .push_with(WarningCode::TarOddity, || (format!("byte {at} of the tar stream"), what.to_owned()));
    }
}

/// Reads the body of the current member; the next step skips unread bytes.
impl<I: TarInput> io::Read for TarWalk<I> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let room = usize::try_from(self.unread).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.input.read_full(&mut buffer[..room])?;
        self.at += count as u64;
        self.unread -= count as u64;
        if count < room {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the stream ends within the body"));
        }
        Ok(count)
    }
}

fn malformed(at: u64, what: &str) -> TarError {
    TarError::Malformed { at, what: what.to_owned() }
}
