//! Positioned reads: of a local file, or a built-in sample.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::{CWD, Mode, OFlags, openat};

use super::identity::FileIdentity;

/// Positioned reads without a shared cursor, so that layers in one archive are read in parallel.
pub trait ReadAt: Send + Sync {
    /// Reads up to `buffer.len()` bytes at `offset`; 0 at the end.
    ///
    /// # Errors
    /// System errors.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;

    /// Identity of the file when it was opened; `None` if it is not a local file.
    fn opened(&self) -> Option<FileIdentity> {
        None
    }

    /// Identity of the file now, to compare its content.
    ///
    /// # Errors
    /// System errors.
    fn now(&self) -> io::Result<Option<FileIdentity>> {
        Ok(None)
    }

    /// The local file itself, if it is one.
    fn file(&self) -> Option<&File> {
        None
    }
}

/// Opens a regular file. Never blocks on a FIFO, and rejects anything else.
///
/// # Errors
/// System errors, and files of another kind.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(openat(CWD, path, flags, Mode::empty())?);
    let facts = file.metadata()?;
    if facts.is_file() {
        return Ok(file);
    }
    let what = if facts.is_dir() { "a folder" } else { "a device, pipe or socket" };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("{what}, not a file")))
}

/// All bytes, up to one more than `most`, so that the caller can tell a longer input.
///
/// # Errors
/// Those of the reader.
pub fn read_up_to(from: impl io::Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(from, most.saturating_add(1)), &mut bytes)?;
    Ok(bytes)
}

/// A local file with its identity.
pub struct LocalFile {
    file: File,
    opened: FileIdentity,
}

impl LocalFile {
    /// Wraps an open file.
    ///
    /// # Errors
    /// System errors.
    pub fn new(file: File) -> io::Result<Self> {
        let opened = FileIdentity::of(&file)?;
        Ok(Self { file, opened })
    }
}

impl ReadAt for LocalFile {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        ReadAt::read_at(&self.file, buffer, offset)
    }

    fn opened(&self) -> Option<FileIdentity> {
        Some(self.opened)
    }

    fn now(&self) -> io::Result<Option<FileIdentity>> {
        FileIdentity::to_compare(&self.file).map(Some)
    }

    fn file(&self) -> Option<&File> {
        Some(&self.file)
    }
}

impl ReadAt for File {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(self, buffer, offset)
    }
}

impl ReadAt for &'static [u8] {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        io::Read::read(&mut self.get(start..).unwrap_or_default(), buffer)
    }
}

#[cfg(feature = "fuzzing")]
impl ReadAt for Vec<u8> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        io::Read::read(&mut self.get(start..).unwrap_or_default(), buffer)
    }
}

/// A range of a seekable source.
#[derive(Clone)]
pub struct Section {
    bytes: Arc<dyn ReadAt>,
    offset: u64,
    length: u64,
}

impl Section {
    /// The range `offset..offset + length` of `bytes`.
    pub fn new(bytes: Arc<dyn ReadAt>, offset: u64, length: u64) -> Self {
        Self { bytes, offset, length }
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    /// Identity of the file when it was opened, and the offset in it. `None` if it is not a local file.
    pub fn place(&self) -> Option<(FileIdentity, u64)> {
        Some((self.bytes.opened()?, self.offset))
    }

    /// Whether the file changed since it was opened; `false` if it is not a local file.
    ///
    /// # Errors
    /// System errors.
    pub fn was_written(&self) -> io::Result<bool> {
        let (opened, now) = (self.bytes.opened(), self.bytes.now()?);
        Ok(opened.zip(now).is_some_and(|(opened, now)| !opened.same_content(&now)))
    }

    /// The local file of which this is all, now; `None` for a part of a file, and what is not a local file.
    pub fn whole_file(&self) -> Option<&File> {
        let file = self.bytes.file().filter(|_| self.offset == 0)?;
        file.metadata().is_ok_and(|facts| facts.len() == self.length).then_some(file)
    }

    /// Whether the range has no bytes.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The part `offset..offset + length`, cut at this section's end.
    #[must_use]
    pub fn part(&self, offset: u64, length: u64) -> Self {
        let offset = offset.min(self.length);
        let length = length.min(self.length - offset);
        Self { bytes: Arc::clone(&self.bytes), offset: self.offset + offset, length }
    }

    /// Fills `buffer` from `offset`; the count is lower only at the end of the section or file.
    ///
    /// # Errors
    /// System errors.
    pub fn read_full_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let room = usize::try_from(self.length.saturating_sub(offset)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(room);
        let mut filled = 0;
        while filled < wanted {
            let place = self.offset + offset + filled as u64;
            match self.bytes.read_at(&mut buffer[filled..wanted], place) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    /// All bytes, or an error if there are more than `limit`. Memory grows with the data, not with a claim: the length
    /// of a section is that of a real file or archive member.
    ///
    /// # Errors
    /// More than `limit` bytes, fewer than the section declares, or unreadable.
    pub fn read_all(&self, limit: u64) -> io::Result<Vec<u8>> {
        if self.length > limit {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("{} bytes, limit {limit}", self.length),
            ));
        }
        let mut bytes = vec![0; usize::try_from(self.length).unwrap_or(0)];
        let count = self.read_full_at(&mut bytes, 0)?;
        if count < bytes.len() {
            return Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("truncated: {count} of {} bytes", self.length),
            ));
        }
        Ok(bytes)
    }
}

/// Reads a [`Section`] from its start to its end.
pub struct SectionReader {
    section: Section,
    position: u64,
}

impl SectionReader {
    /// A reader at the start of `section`.
    pub fn new(section: Section) -> Self {
        Self { section, position: 0 }
    }
}

impl io::Read for SectionReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.section.read_full_at(buffer, self.position)?;
        self.position += count as u64;
        Ok(count)
    }
}
