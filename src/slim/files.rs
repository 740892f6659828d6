//! The bytes of single files, read from their layers again.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use super::SlimError;
use super::again::{Hashed, again};
use super::blob::{Reading, fault, inflate_stream};
use super::compare::Inode;
use super::layer::Fault;
use super::selection::named;
use crate::analysis::{Analysis, Options};
use crate::formats::compression::Compression;
use crate::formats::input::{BUFFER_BYTES, StreamInput};
use crate::formats::tar::TarWalk;
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::layer::{EntryId, LayerRead, open_file};
use crate::source::Blob;

/// Takes files, one after the other.
pub trait FileSink {
    /// A file of `bytes` bytes begins.
    fn begin(&mut self, file: (u16, EntryId), bytes: u64);

    /// The next bytes of the file.
    fn push(&mut self, bytes: &[u8]);

    /// The file is complete.
    ///
    /// # Errors
    /// [`Cancelled`] ends the reading.
    fn end(&mut self, file: (u16, EntryId)) -> Result<(), Cancelled>;
}

/// Passes the bytes of `wanted` to `sink`, layer by layer, in the order in which the layer holds them. Sparse files,
/// of which a layer does not hold all bytes, are left out. Keys are layers and entries; values are paths in the merged
/// view, for layers that are folders.
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
        let mut walk = TarWalk::new(input, limits);
        let mut entries = read.index.entries();
        while walk.advance()? {
            let member = walk.member();
            let Some(entry) = entries.next() else {
                return Err(Fault::Read("it has more members than before".to_owned()));
            };
            let inode = (number, entry);
            if !self.wanted.contains_key(&inode) || read.index.body_at(entry).is_none() {
                continue;
            }
            if member.size != read.index.size(entry) {
                return Err(Fault::Read("a file has another size than before".to_owned()));
            }
            let sink = &mut *self.sink;
            sink.begin(inode, member.size);
            walk.pass_body(&mut |bytes| sink.push(bytes))?;
            self.sink.end(inode).map_err(|Cancelled| Fault::Cancelled)?;
        }
        // What follows the end of the archive belongs to the digest.
        Ok(())
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
