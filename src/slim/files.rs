//! The bytes of single files, read from their layers again.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use super::SlimError;
use super::again::{Hashed, again};
use super::blob::{Reading, fault, inflate_stream};
use super::compare::Inode;
use super::layer::{Fault, Tee};
use super::selection::named;
use crate::analysis::{Analysis, Options};
use crate::base::convert::in_memory;
use crate::base::text::escape;
use crate::formats::compression::Compression;
use crate::formats::input::{BUFFER_BYTES, StreamInput};
use crate::formats::tar::sparse::{Expander, Part};
use crate::formats::tar::{BLOCK, Member, TarInput, TarWalk};
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::layer::{EntryId, EntryKind, LayerRead, open_file};
use crate::source::Blob;

/// What becomes of sparse files, of which a layer does not hold all bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SparseFiles {
    /// They are left out.
    Skip,
    /// Their holes are passed to [`FileSink::hole`].
    Expand,
    /// Their bodies are passed as stored, for a sink that keeps the header.
    AsStored,
}

/// Takes files, one after the other.
pub trait FileSink {
    /// What becomes of sparse files.
    fn sparse_files(&self) -> SparseFiles {
        SparseFiles::Skip
    }

    /// The header of the next entry, of any kind: extension headers and the header of the member. Not called for layers
    /// that are folders.
    ///
    /// # Errors
    /// [`Cancelled`] ends the reading.
    fn header(&mut self, _entry: (u16, EntryId), _raw: &[u8], _member: &Member) -> Result<(), Cancelled> {
        Ok(())
    }

    /// A file of `bytes` bytes begins.
    fn begin(&mut self, file: (u16, EntryId), bytes: u64);

    /// The next bytes of the file.
    fn push(&mut self, bytes: &[u8]);

    /// The next bytes of the file are zeros that the layer does not hold.
    fn hole(&mut self, bytes: u64) {
        let zeros = vec![0; in_memory(bytes).min(BUFFER_BYTES)];
        let mut left = bytes;
        while left > 0 {
            let now = in_memory(left).min(zeros.len());
            self.push(&zeros[..now]);
            left -= now as u64;
        }
    }

    /// The file is complete.
    ///
    /// # Errors
    /// [`Cancelled`] ends the reading.
    fn end(&mut self, file: (u16, EntryId)) -> Result<(), Cancelled>;
}

/// Passes the bytes of `wanted` to `sink`, layer by layer, in the order in which the layer holds them. Keys are layers
/// and entries; values are paths in the merged view, for layers that are folders.
///
/// # Errors
/// A layer is no longer what it was, a layer that was read by its table of contents included; cancelled.
pub fn read_files(
    analysis: &Analysis,
    opened: &Options,
    wanted: &BTreeMap<(u16, EntryId), Vec<u8>>,
    sink: &mut dyn FileSink,
    progress: &Progress,
    cancel: &CancelToken,
) -> Result<(), SlimError> {
    let blobs = opened.access.blobs.as_ref();
    let reading = Reading { limits: &opened.limits, blobs, progress, cancel };
    let mut files = Files { analysis, reading, wanted, sink };
    let layers: Vec<u16> = {
        let mut layers: Vec<u16> = wanted.keys().map(|inode| inode.0).collect();
        layers.dedup();
        layers
    };
    let bytes = |number: &u16| analysis.layers.get(usize::from(*number))?.read.as_ref()?.compressed_bytes;
    progress.set_totals(layers.iter().filter_map(bytes).sum(), layers.len() as u64);
    let mut streamed: BTreeMap<usize, Vec<u16>> = BTreeMap::new();
    for number in layers {
        let place = usize::from(number);
        let source = analysis.image.layers.get(place).ok_or(Cancelled)?;
        let result = match &source.blob {
            Blob::Streamed(id) => {
                streamed.entry(*id).or_default().push(number);
                continue;
            }
            Blob::Folder(root) => files.folder(root, number),
            _ => {
                let read = files.read(number)?;
                let reading = Reading { ..files.reading };
                reading.inflate(source, read, |reader| files.layer(number, read, reader))
            }
        };
        result.map_err(|error| fault(error, &named(analysis, place)))?;
        progress.add_layer();
    }
    // The same member may be several layers: one of them in each pass.
    while !streamed.is_empty() {
        let mut found = false;
        let reading = Reading { ..files.reading };
        again(analysis, opened, &reading, &mut |id, bytes| {
            let Some(number) = streamed.get_mut(&id).and_then(Vec::pop) else { return Ok(()) };
            found = true;
            files.member(number, bytes)?;
            progress.add_layer();
            Ok(())
        })?;
        streamed.retain(|_, layers| !layers.is_empty());
        if !found {
            return Err(SlimError::refused("the image", "its archive changed since it was analysed"));
        }
    }
    Ok(())
}

struct Files<'a> {
    analysis: &'a Analysis,
    reading: Reading<'a>,
    wanted: &'a BTreeMap<Inode, Vec<u8>>,
    sink: &'a mut dyn FileSink,
}

impl<'a> Files<'a> {
    fn read(&self, number: u16) -> Result<&'a LayerRead, SlimError> {
        let layer = self.analysis.layers.get(usize::from(number));
        let read = layer.filter(|layer| layer.table.is_none()).and_then(|layer| layer.read.as_deref());
        read.ok_or_else(|| {
            SlimError::refused(named(self.analysis, usize::from(number)), "not all of it was read")
        })
    }

    fn member(&mut self, number: u16, bytes: &mut dyn Read) -> Result<(), SlimError> {
        let read = self.read(number)?;
        let mut hashed = Hashed::new(bytes, read.digest.as_deref(), self.reading.progress);
        let compression = read.compression.unwrap_or(Compression::None);
        let limits = self.reading.limits;
        inflate_stream(&mut hashed, compression, limits, |reader| self.layer(number, read, reader))
            .and_then(|()| hashed.finish())
            .map_err(|error| fault(error, &named(self.analysis, usize::from(number))))
    }

    /// Walks a tar stream to its end.
    fn layer(&mut self, number: u16, read: &LayerRead, reader: &mut dyn BufRead) -> Result<(), Fault> {
        let Reading { limits, cancel, .. } = self.reading;
        let input = StreamInput::new(reader, None, limits.inflated_bytes, cancel);
        let mut walk = TarWalk::new(Tee::new(input), limits);
        let mut entries = read.index.entries();
        let mut padding = 0;
        while walk.advance()? {
            let raw = std::mem::take(&mut walk.input_mut().raw);
            let member = walk.member();
            let stored = member.stored;
            let before = std::mem::replace(&mut padding, in_memory(stored.next_multiple_of(BLOCK) - stored));
            let end = member.body_at + stored;
            let Some(entry) = entries.next() else {
                return Err(Fault::Read("it has more members than before".to_owned()));
            };
            let inode = (number, entry);
            if self.wanted.contains_key(&inode) {
                let is_file = read.index.kind(entry) == EntryKind::File;
                if is_file && member.size != read.index.size(entry) {
                    return Err(Fault::Read("a file has another size than before".to_owned()));
                }
                let header = raw.get(before..).unwrap_or_default();
                self.entry(inode, (header, is_file), &mut walk)?;
            }
            walk.input_mut().from = end;
        }
        // What follows the end of the archive belongs to the digest.
        Ok(())
    }

    /// Passes one entry.
    fn entry<I: TarInput>(
        &mut self,
        inode: Inode,
        (header, is_file): (&[u8], bool),
        walk: &mut TarWalk<I>,
    ) -> Result<(), Fault> {
        let cancelled = |Cancelled| Fault::Cancelled;
        let sink = &mut *self.sink;
        let (size, sparse) = (walk.member().size, walk.member().sparse);
        let handling = sink.sparse_files();
        if sparse && handling == SparseFiles::Skip {
            return Ok(());
        }
        sink.header(inode, header, walk.member()).map_err(cancelled)?;
        if !is_file {
            return Ok(());
        }
        if !sparse || handling == SparseFiles::AsStored {
            sink.begin(inode, size);
            walk.pass_body(&mut |bytes| sink.push(bytes))?;
            return sink.end(inode).map_err(cancelled);
        }
        let named = |reason: String| Fault::Read(format!("{}: {reason}", escape(&walk.member().path)));
        let mut expander = Expander::new(header, size, self.reading.limits).map_err(named)?;
        let path = escape(&walk.member().path);
        let named = |reason: String| Fault::Read(format!("{path}: {reason}"));
        sink.begin(inode, size);
        let mut failed = None;
        let mut take = |part: Part<'_>| match part {
            Part::Hole(bytes) => sink.hole(bytes),
            Part::Bytes(bytes) => sink.push(bytes),
        };
        walk.pass_body(&mut |bytes| {
            if failed.is_none() {
                failed = expander.push(bytes, &mut take).err();
            }
        })?;
        failed.map_or_else(|| expander.finish(&mut take), Err).map_err(named)?;
        sink.end(inode).map_err(cancelled)
    }

    fn folder(&mut self, root: &std::path::Path, number: u16) -> Result<(), Fault> {
        let mut buffer = vec![0; BUFFER_BYTES];
        let first = (number, EntryId(0));
        for (inode, path) in self.wanted.range(first..).take_while(|(inode, _)| inode.0 == number) {
            let unread = |error: std::io::Error| Fault::Read(error.to_string());
            let mut file = open_file(root, path).map_err(unread)?;
            self.sink.begin(*inode, file.metadata().map_err(unread)?.len());
            loop {
                self.reading.cancel.check().map_err(|Cancelled| Fault::Cancelled)?;
                let count = file.read(&mut buffer).map_err(unread)?;
                if count == 0 {
                    break;
                }
                self.sink.push(&buffer[..count]);
            }
            self.sink.end(*inode).map_err(|Cancelled| Fault::Cancelled)?;
        }
        Ok(())
    }
}
