//! A layer from its own tar stream: members that stay keep the bytes of their headers, and what is between them.

use std::io::{self, BufRead, Write};

use super::replacement::{Body, BodyFault};
use super::selection::{Selection, Step};
use crate::base::Limits;
use crate::base::convert::in_memory;
use crate::base::text::escape;
use crate::formats::input::StreamInput;
use crate::formats::tar::edit::{Edit, edited, globals};
use crate::formats::tar::{BLOCK, TarError, TarInput, TarWalk};
use crate::jobs::{CancelToken, Cancelled};
use crate::layer::{ContentHash, EntryId, EntryKind, LayerIndex};

/// Bytes of the headers of one member: PAX records of up to a MiB each, and long names.
const HEADER_BYTES: usize = 8 << 20;

/// Why a layer was not rewritten.
#[derive(Debug)]
pub(super) enum Fault {
    Cancelled,
    /// The layer is not what it was.
    Read(String),
    /// The destination failed.
    Write(io::Error),
    /// The new content of an entry is not what it must be.
    Unproven(EntryId, String),
}

impl From<TarError> for Fault {
    fn from(error: TarError) -> Self {
        match &error {
            TarError::Read { source, .. } if Cancelled::is_cause_of(source) => Self::Cancelled,
            _ => Self::Read(error.to_string()),
        }
    }
}

/// Records the bytes from one position on, except bodies that are passed on.
pub(super) struct Tee<I> {
    inner: I,
    at: u64,
    /// From where on bytes are recorded.
    pub(super) from: u64,
    /// The bytes since the last call that took them.
    pub(super) raw: Vec<u8>,
}

impl<I> Tee<I> {
    /// Records from the start.
    pub(super) fn new(inner: I) -> Self {
        Self { inner, at: 0, from: 0, raw: Vec::new() }
    }
}

impl<I: TarInput> Tee<I> {
    fn record(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.at >= self.from {
            if self.raw.len() + bytes.len() > HEADER_BYTES {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    "the headers of a member exceed 8 MiB",
                ));
            }
            self.raw.extend_from_slice(bytes);
        }
        self.at += bytes.len() as u64;
        Ok(())
    }
}

impl<I: TarInput> TarInput for Tee<I> {
    fn read_full(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read_full(buffer)?;
        self.record(&buffer[..count])?;
        Ok(count)
    }

    fn skip(&mut self, count: u64) -> io::Result<u64> {
        if self.at < self.from {
            let skipped = self.inner.skip(count)?;
            self.at += skipped;
            return Ok(skipped);
        }
        // Padding, always less than a block.
        let mut block = vec![0; in_memory(count)];
        Ok(self.read_full(&mut block)? as u64)
    }

    fn pass(&mut self, count: u64, each: &mut dyn FnMut(&[u8])) -> io::Result<u64> {
        let passed = self.inner.pass(count, each)?;
        self.at += passed;
        Ok(passed)
    }
}

/// Writes what stays of one layer, without the end of the archive. `hashed` receives the hash of each file that stays.
pub(super) fn rewrite(
    reader: impl BufRead,
    index: &LayerIndex,
    selection: &Selection,
    number: usize,
    (limits, cancel): (&Limits, &CancelToken),
    out: &mut dyn Write,
    hashed: &mut dyn FnMut(EntryId, ContentHash),
) -> Result<(), Fault> {
    let input = StreamInput::new(reader, None, limits.inflated_bytes, cancel);
    let mut walk = TarWalk::new(Tee::new(input), limits);
    let mut entries = index.entries();
    // Bytes of padding after the last body, and whether that member stays.
    let (mut padding, mut stays) = (0, false);
    loop {
        let more = walk.advance()?;
        let raw = std::mem::take(&mut walk.input_mut().raw);
        let (mut after, header) = raw.split_at(padding.min(raw.len()));
        if stays {
            if after.is_empty() {
                // The stream ends without the padding of its last member.
                after = &[0; 512][..padding];
            }
            out.write_all(after).map_err(Fault::Write)?;
        }
        if !more {
            write_globals(header, out)?;
            return entries.next().map_or(Ok(()), |entry| Err(changed(index, entry)));
        }
        let member = walk.member();
        let Some(entry) = entries.next() else {
            return Err(Fault::Read(format!("{} was not there before", escape(&member.path))));
        };
        let is_file = index.kind(entry) == EntryKind::File;
        let known = (index.mode(entry), index.owner(entry), index.mtime(entry));
        let found = ((member.mode & 0o7777) as u16, (member.uid, member.gid), member.mtime);
        if known != found || (is_file && member.size != index.size(entry)) {
            return Err(changed(index, entry));
        }
        let stored = member.stored;
        padding = in_memory(stored.next_multiple_of(BLOCK) - stored);
        let end = member.body_at + stored;
        let step = selection.step(number, entry);
        stays = !matches!(step, Step::Leave);
        let mut replacement = None;
        match step {
            Step::Leave => write_globals(header, out)?,
            Step::Keep => out.write_all(header).map_err(Fault::Write)?,
            Step::Change(change) => {
                let path = change.path.as_ref().map(|path| in_style(path, &member.path));
                let link = change.link.as_ref().map(|link| in_style(link, &member.link));
                replacement = change.content.as_deref();
                if replacement.is_some() && stored != member.size {
                    return Err(changed(index, entry));
                }
                let size = replacement.map(|new| new.pieces.len());
                let edit = Edit { path: path.as_deref(), link: link.as_deref(), facts: change.facts, size };
                let header = edited(header, &edit).map_err(|error| Fault::Read(error.to_string()))?;
                out.write_all(&header).map_err(Fault::Write)?;
            }
        }
        if stays && stored > 0 {
            let mut failed = None;
            let refused = |fault: BodyFault| match fault {
                BodyFault::OtherBytes => changed(index, entry),
                BodyFault::Unproven(what) => Fault::Unproven(entry, what),
            };
            let mut body = Body::new(replacement).map_err(refused)?;
            walk.pass_body(&mut |bytes| {
                if failed.is_none() {
                    failed = body.push(bytes, out).err();
                }
            })?;
            if let Some(error) = failed {
                return Err(Fault::Write(error));
            }
            let hash = body.finish(out).map_err(Fault::Write)?.map_err(refused)?;
            if is_file {
                hashed(entry, hash);
            }
            if let Some(new) = replacement {
                // The padding of the old body is not that of the new one.
                let bytes = new.pieces.len();
                out.write_all(&[0; 512][..in_memory(bytes.next_multiple_of(BLOCK) - bytes)])
                    .map_err(Fault::Write)?;
                stays = false;
            }
        }
        walk.input_mut().from = end;
    }
}

/// The end of the archive.
pub(super) const END: [u8; 1024] = [0; 1024];

fn write_globals(raw: &[u8], out: &mut dyn Write) -> Result<(), Fault> {
    let globals = globals(raw).map_err(|error| Fault::Read(error.to_string()))?;
    out.write_all(&globals).map_err(Fault::Write)
}

fn changed(index: &LayerIndex, entry: EntryId) -> Fault {
    Fault::Read(format!("{} is not what it was when the image was analysed", escape(&index.path(entry))))
}

/// An absolute path, written as the stream writes its own: with `./`, with `/`, or with neither.
fn in_style(path: &[u8], own: &[u8]) -> Vec<u8> {
    let relative = path.strip_prefix(b"/").unwrap_or(path);
    let start: &[u8] = match own {
        [b'.', b'/', ..] => b"./",
        [b'/', ..] => b"/",
        _ => b"",
    };
    [start, relative].concat()
}
