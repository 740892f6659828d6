//! The bytes of files: by range where a layer is seekable, from restart points where a gzip layer has some, else in one
//! pass over their layers.

use std::collections::BTreeMap;

use super::error::ContentsError;
use crate::analysis::{Analysis, Options, PackedBodies};
use crate::base::convert::in_memory;
use crate::base::text::escape;
use crate::cuda::Inode;
use crate::formats::tar::Member;
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::layer::{EntryId, EntryKind};
use crate::slim::{FileSink, SparseFiles, read_files};

/// Passes the bytes of `wanted` to `sink`, holes included. Keys are layers and entries; values are paths in the merged
/// view. The order is that of the layers, seekable files first.
///
/// # Errors
/// A layer cannot be read, or is no longer what it was; cancelled.
pub fn read_into(
    analysis: &Analysis,
    opened: &Options,
    wanted: &BTreeMap<Inode, Vec<u8>>,
    sink: &mut dyn FileSink,
    progress: &Progress,
    cancel: &CancelToken,
) -> Result<(), ContentsError> {
    let mut streamed: BTreeMap<Inode, Vec<u8>> = BTreeMap::new();
    let size = |inode: &Inode| {
        analysis
            .layers
            .get(usize::from(inode.0))
            .and_then(|layer| layer.read.as_ref())
            .map_or(0, |read| read.index.size(inode.1))
    };
    let mut packed = PackedBodies::new(analysis, opened, progress);
    let worth = packed.worth(wanted.keys().copied().filter(|inode| !analysis.has_body(*inode)));
    let is_ranged = |inode: &&Inode| analysis.has_body(**inode) || worth.contains(inode);
    let ranged = wanted.keys().filter(is_ranged).map(size);
    progress.set_totals(ranged.fold(0, u64::saturating_add), 0);
    for (inode, path) in wanted {
        cancel.check()?;
        let body = analysis.body(*inode, || Some(path.clone()), &Progress::default());
        let Some(body) = body else {
            let body = worth.contains(inode).then(|| packed.body(*inode)).flatten();
            let Some(body) = body else {
                streamed.insert(*inode, path.clone());
                continue;
            };
            sink.begin(*inode, size(inode));
            let mut given = 0;
            let passed = body.pass(cancel, |bytes| {
                given += bytes.len() as u64;
                progress.add_passed(bytes.len() as u64);
                sink.push(bytes);
            });
            if passed.is_ok() {
                sink.end(*inode)?;
                continue;
            }
            // A point that cannot be used, or a layer that changed: what was passed is right, the rest comes by a pass.
            cancel.check()?;
            packed.give_up(inode.0);
            let mut rest = Resumed { sink, given };
            let wanted = BTreeMap::from([(*inode, path.clone())]);
            read_files(analysis, opened, &wanted, &mut rest, progress, cancel)?;
            continue;
        };
        sink.begin(*inode, size(inode));
        let passed = body.pass(cancel, |bytes| {
            progress.add_read(bytes.len() as u64);
            progress.add_passed(bytes.len() as u64);
            sink.push(bytes);
        });
        if let Err(error) = passed {
            cancel.check()?;
            return Err(ContentsError::Unread { object: escape(path), reason: error.to_string() });
        }
        sink.end(*inode)?;
    }
    if streamed.is_empty() {
        return Ok(());
    }
    Ok(read_files(analysis, opened, &streamed, sink, progress, cancel)?)
}

/// Takes a file of which some bytes were passed before.
struct Resumed<'a> {
    sink: &'a mut dyn FileSink,
    given: u64,
}

impl FileSink for Resumed<'_> {
    fn sparse_files(&self) -> SparseFiles {
        self.sink.sparse_files()
    }

    fn header(&mut self, entry: Inode, raw: &[u8], member: &Member) -> Result<(), Cancelled> {
        self.sink.header(entry, raw, member)
    }

    fn begin(&mut self, _: Inode, _: u64) {}

    fn push(&mut self, bytes: &[u8]) {
        let known = in_memory(self.given).min(bytes.len());
        self.given -= known as u64;
        if known < bytes.len() {
            self.sink.push(&bytes[known..]);
        }
    }

    fn end(&mut self, file: Inode) -> Result<(), Cancelled> {
        self.sink.end(file)
    }
}

/// The first bytes of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileHead {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Size of the whole file.
    pub size: u64,
}

impl FileHead {
    /// Whether these are all bytes of the file.
    pub fn is_whole(&self) -> bool {
        self.bytes.len() as u64 == self.size
    }
}

/// The first `most` bytes of a file. Reading stops there, so that the digest of a layer that is read in one pass is not
/// compared again unless the file is at its end.
///
/// # Errors
/// Those of [`read_into`].
pub fn read_head(
    analysis: &Analysis,
    opened: &Options,
    (inode, path): (Inode, Vec<u8>),
    most: u64,
    progress: &Progress,
    cancel: &CancelToken,
) -> Result<FileHead, ContentsError> {
    struct Head {
        file: FileHead,
        most: usize,
        stop: CancelToken,
        done: bool,
    }
    impl Head {
        fn finish(&mut self) {
            self.done = true;
            self.stop.cancel();
        }
    }
    impl FileSink for Head {
        fn sparse_files(&self) -> SparseFiles {
            SparseFiles::Expand
        }

        fn begin(&mut self, _: (u16, EntryId), bytes: u64) {
            self.file.size = bytes;
        }

        fn push(&mut self, bytes: &[u8]) {
            let room = self.most - self.file.bytes.len();
            self.file.bytes.extend_from_slice(&bytes[..room.min(bytes.len())]);
            if self.file.bytes.len() == self.most {
                self.finish();
            }
        }

        fn hole(&mut self, bytes: u64) {
            let room = self.most - self.file.bytes.len();
            self.file.bytes.resize(self.file.bytes.len() + in_memory(bytes).min(room), 0);
            if self.file.bytes.len() == self.most {
                self.finish();
            }
        }

        fn end(&mut self, _: (u16, EntryId)) -> Result<(), Cancelled> {
            self.finish();
            Err(Cancelled)
        }
    }
    let stop = cancel.child();
    let mut sink = Head { file: FileHead::default(), most: in_memory(most), stop: stop.clone(), done: false };
    let wanted = BTreeMap::from([(inode, path)]);
    let result = read_into(analysis, opened, &wanted, &mut sink, progress, &stop);
    cancel.check()?;
    match result {
        _ if sink.done => Ok(sink.file),
        Err(error) => Err(error),
        Ok(()) => Err(ContentsError::Unread {
            object: wanted.values().map(|path| escape(path)).collect(),
            reason: "its layer does not have its bytes".to_owned(),
        }),
    }
}

/// Whether an entry has bytes of its own.
pub(super) fn is_file(analysis: &Analysis, (layer, entry): Inode) -> bool {
    let read = analysis.layers.get(usize::from(layer)).and_then(|layer| layer.read.as_ref());
    read.is_some_and(|read| read.index.kind(entry) == EntryKind::File)
}
