//! In: ranges of a file that stay, zeros, and new bytes.
//! Out: the file that they make, from one pass over the old one.
//! Must not know: what the bytes mean.

use std::io::{self, Write};

/// One part of a new file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Bytes of the old file.
    Copy {
        /// Offset in the old file, in bytes.
        from: u64,
        /// Length in bytes.
        bytes: u64,
    },
    /// That many zeros.
    Zeros(u64),
    /// New bytes.
    Bytes(Vec<u8>),
}

impl Piece {
    /// Length in bytes.
    pub fn len(&self) -> u64 {
        match self {
            Self::Copy { bytes, .. } | Self::Zeros(bytes) => *bytes,
            Self::Bytes(bytes) => bytes.len() as u64,
        }
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A new file, as parts of an old one in ascending order of their offset, so that one pass over the old file writes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pieces {
    list: Vec<Piece>,
    bytes: u64,
    /// End of the last copied range.
    copied: u64,
}

impl Pieces {
    /// Appends `bytes` of the old file from offset `from` on.
    ///
    /// # Panics
    /// If `from` is before the end of what was copied last: one pass could not write it.
    pub fn copy(&mut self, from: u64, bytes: u64) {
        assert!(from >= self.copied, "pieces of a file out of order");
        if bytes == 0 {
            return;
        }
        let end = from.saturating_add(bytes);
        self.bytes = self.bytes.saturating_add(bytes);
        match self.list.last_mut() {
            Some(Piece::Copy { bytes: last, .. }) if self.copied == from => *last += bytes,
            _ => self.list.push(Piece::Copy { from, bytes }),
        }
        self.copied = end;
    }

    /// Appends zeros.
    pub fn zeros(&mut self, bytes: u64) {
        if bytes == 0 {
            return;
        }
        self.bytes = self.bytes.saturating_add(bytes);
        match self.list.last_mut() {
            Some(Piece::Zeros(last)) => *last = last.saturating_add(bytes),
            _ => self.list.push(Piece::Zeros(bytes)),
        }
    }

    /// Appends new bytes.
    pub fn bytes(&mut self, new: &[u8]) {
        if new.is_empty() {
            return;
        }
        self.bytes = self.bytes.saturating_add(new.len() as u64);
        match self.list.last_mut() {
            Some(Piece::Bytes(last)) => last.extend_from_slice(new),
            _ => self.list.push(Piece::Bytes(new.to_vec())),
        }
    }

    /// The parts, in order.
    pub fn list(&self) -> &[Piece] {
        &self.list
    }

    /// Length of the new file, in bytes.
    pub fn len(&self) -> u64 {
        self.bytes
    }

    /// Whether the new file has no bytes.
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }

    /// Whether the new file is the old one of that length.
    pub fn is_unchanged(&self, old_bytes: u64) -> bool {
        match self.list.as_slice() {
            [] => old_bytes == 0,
            [Piece::Copy { from: 0, bytes }] => *bytes == old_bytes,
            _ => false,
        }
    }

    /// Approximate size in memory, in bytes.
    pub fn kept_bytes(&self) -> usize {
        let new: usize =
            self.list.iter().map(|piece| if let Piece::Bytes(bytes) = piece { bytes.len() } else { 0 }).sum();
        self.list.capacity() * size_of::<Piece>() + new
    }
}

/// Writes a new file while the old one passes, in chunks of any length.
#[derive(Debug)]
pub struct PiecesWriter<'a> {
    pieces: std::slice::Iter<'a, Piece>,
    /// The copied range that is next or in progress, as what is left of it.
    open: Option<(u64, u64)>,
    /// Offset in the old file of the next byte that is pushed.
    at: u64,
}

impl<'a> PiecesWriter<'a> {
    /// A writer of that file, before the first byte of the old one.
    pub fn new(pieces: &'a Pieces) -> Self {
        Self { pieces: pieces.list.iter(), open: None, at: 0 }
    }

    /// Takes the next bytes of the old file and writes what follows from them.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn push(&mut self, mut old: &[u8], out: &mut impl Write) -> io::Result<()> {
        while !old.is_empty() {
            let Some((from, bytes)) = self.next_copy(out)? else {
                self.at += old.len() as u64;
                return Ok(());
            };
            let skipped = usize::try_from(from - self.at).unwrap_or(usize::MAX).min(old.len());
            self.at += skipped as u64;
            old = &old[skipped..];
            let count = usize::try_from(bytes).unwrap_or(usize::MAX).min(old.len());
            if count > 0 {
                out.write_all(&old[..count])?;
                self.at += count as u64;
                old = &old[count..];
                let left = bytes - count as u64;
                self.open = (left > 0).then_some((self.at, left));
            }
        }
        Ok(())
    }

    /// Writes what comes after the last byte of the old file.
    ///
    /// # Errors
    /// Those of `out`, and an unexpected end if the old file was shorter than its parts need.
    pub fn finish(mut self, out: &mut impl Write) -> io::Result<()> {
        match self.next_copy(out)? {
            None => Ok(()),
            Some((from, bytes)) => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("the file ends at byte {}, {} bytes at {from} are missing", self.at, bytes),
            )),
        }
    }

    /// What is left of the copied range in progress, or the next one; writes what is new before it.
    fn next_copy(&mut self, out: &mut impl Write) -> io::Result<Option<(u64, u64)>> {
        while self.open.is_none() {
            match self.pieces.next() {
                None => return Ok(None),
                Some(Piece::Copy { from, bytes }) => self.open = Some((*from, *bytes)),
                Some(Piece::Bytes(bytes)) => out.write_all(bytes)?,
                Some(Piece::Zeros(bytes)) => {
                    io::copy(&mut io::Read::take(io::repeat(0), *bytes), out)?;
                }
            }
        }
        Ok(self.open)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(pieces: &Pieces, old: &[u8], chunk: usize) -> Vec<u8> {
        let mut out = Vec::new();
        let mut writer = PiecesWriter::new(pieces);
        for chunk in old.chunks(chunk) {
            writer.push(chunk, &mut out).unwrap();
        }
        writer.finish(&mut out).unwrap();
        out
    }

    #[test]
    fn chunks_of_any_length_write_the_same_file() {
        let mut pieces = Pieces::default();
        pieces.bytes(b"<");
        pieces.copy(2, 3);
        pieces.copy(5, 1);
        pieces.zeros(2);
        pieces.copy(8, 2);
        pieces.bytes(b">");
        assert_eq!(pieces.list().len(), 5);
        for chunk in 1..=10 {
            assert_eq!(written(&pieces, b"0123456789", chunk), b"<2345\0\x0089>");
        }
        assert_eq!(pieces.len(), 10);
        assert!(!pieces.is_unchanged(10));
    }

    #[test]
    fn a_file_that_is_too_short_is_an_error() {
        let mut pieces = Pieces::default();
        pieces.copy(0, 4);
        assert!(pieces.is_unchanged(4));
        let mut writer = PiecesWriter::new(&pieces);
        let mut out = Vec::new();
        writer.push(b"012", &mut out).unwrap();
        let error = writer.finish(&mut out).unwrap_err();
        assert_eq!(error.to_string(), "the file ends at byte 3, 1 bytes at 3 are missing");
    }
}
