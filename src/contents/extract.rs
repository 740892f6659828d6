//! Files of the merged view in a folder of this machine.
//!
//! No path of the image is ever resolved by the kernel as a whole: each folder is opened in the one above it, without
//! following links, so that neither names nor links lead out of the destination, whatever was there before.

mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, Timespec, Timestamps, UTIME_OMIT, fchmod, futimens, linkat};

use super::error::ContentsError;
use super::output::{Extracted, with_contents};
use super::read::{is_file, read_into};
use super::save::{Opened, Work};
use crate::cuda::Inode;
use crate::jobs::{CancelToken, Cancelled};
use crate::layer::EntryId;
use crate::rootfs::{Node, NodeId, NodeKind, Rootfs};
use crate::slim::{FileSink, SparseFiles};
use place::{Destination, Temporary};

/// How files are extracted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExtractOptions {
    /// Replace files that exist.
    pub force: bool,
    /// Keep the set-user-ID, set-group-ID and sticky bits.
    pub setuid: bool,
}

/// Permission bits of files from an image: never set-user-ID unless asked for.
const PERMISSIONS: u16 = 0o777;
const ALL_BITS: u16 = 0o7777;

/// Writes `nodes` and all below them into the folder `to`, by their paths in the image. Files belong to this user; they
/// have the permission bits and times of the image. Existing files stay without [`ExtractOptions::force`]. A file that
/// cannot be created is left out and named in the result; an error ends the work.
///
/// # Errors
/// The folder cannot be written, a layer cannot be read, cancelled. Files that are complete stay.
pub fn extract(
    (analysis, opened): Opened<'_>,
    rootfs: &Rootfs,
    nodes: &BTreeSet<NodeId>,
    to: &Path,
    options: ExtractOptions,
    (progress, cancel): Work<'_>,
) -> Result<Extracted, ContentsError> {
    let failed =
        |error: &io::Error| ContentsError::Write { to: to.display().to_string(), reason: error.to_string() };
    let destination = Destination::open(to).map_err(|error| failed(&error))?;
    let mut out = Writer {
        rootfs,
        destination,
        options,
        done: Extracted::default(),
        names: BTreeMap::new(),
        made: Vec::new(),
        current: None,
        failed: None,
    };
    let mut wanted: BTreeMap<Inode, Vec<u8>> = BTreeMap::new();
    for id in with_contents(rootfs, nodes) {
        cancel.check()?;
        let node = rootfs.node(id);
        match node.kind() {
            NodeKind::Directory => out.folder(node),
            NodeKind::Symlink => out.link(node),
            NodeKind::Other => out.done.leave_out_device(rootfs, id),
            NodeKind::File => match node.content().filter(|inode| is_file(analysis, *inode)) {
                None => out.done.leave_out(rootfs, id, &"its layer has no bytes for it"),
                Some(inode) => {
                    if let Err(error) = out.check(node) {
                        out.done.leave_out(rootfs, id, &error);
                    } else {
                        wanted.entry(inode).or_insert_with(|| node.path());
                        out.names.entry(inode).or_default().push(id);
                    }
                }
            },
        }
    }
    let stop = cancel.child();
    let mut sink = Sink { writer: &mut out, stop: stop.clone() };
    let read = read_into(analysis, opened, &wanted, &mut sink, progress, &stop);
    out.current = None;
    cancel.check()?;
    if let Some(error) = out.failed.take() {
        return Err(failed(&error));
    }
    read?;
    out.finish_folders();
    for (_, names) in std::mem::take(&mut out.names) {
        // Files that never began.
        for id in names {
            out.done.leave_out(rootfs, id, &"its layer does not have its bytes");
        }
    }
    Ok(out.done)
}

/// A file that is being written.
struct Current {
    temporary: Temporary,
    file: File,
    names: Vec<NodeId>,
    bytes: u64,
    expected: u64,
}

struct Writer<'a> {
    rootfs: &'a Rootfs,
    destination: Destination,
    options: ExtractOptions,
    done: Extracted,
    /// Paths of each file that has not come yet.
    names: BTreeMap<Inode, Vec<NodeId>>,
    /// Folders that were made: they get their permissions and times last.
    made: Vec<NodeId>,
    current: Option<Current>,
    /// The destination failed.
    failed: Option<io::Error>,
}

impl Writer<'_> {
    fn folder(&mut self, node: Node<'_>) {
        match self.destination.folder(node) {
            Ok((_, made)) => {
                self.done.folders += 1;
                if made {
                    self.made.push(node.id());
                }
            }
            Err(error) => self.done.leave_out(self.rootfs, node.id(), &error),
        }
    }

    fn link(&mut self, node: Node<'_>) {
        let target = node.index_entry().and_then(|(index, entry)| index.link(entry)).unwrap_or_default();
        let made = self
            .destination
            .parent(node)
            .and_then(|folder| place::make_link(&folder, node.name(), target, self.options.force));
        match made {
            Ok(()) => self.done.links += 1,
            Err(error) => self.done.leave_out(self.rootfs, node.id(), &error),
        }
    }

    /// Whether a file may be written at this path.
    fn check(&mut self, node: Node<'_>) -> io::Result<()> {
        let folder = self.destination.parent(node)?;
        place::check(&folder, node.name(), self.options.force)
    }

    fn begin(&mut self, inode: Inode, bytes: u64) {
        let names = self.names.remove(&inode).unwrap_or_default();
        let Some(first) = names.first() else { return };
        let folder = self.destination.parent(self.rootfs.node(*first));
        match folder.and_then(Temporary::create) {
            Ok((temporary, file)) => {
                self.current = Some(Current { temporary, file, names, bytes: 0, expected: bytes });
            }
            Err(error) => self.leave_out_all(&names, &error),
        }
    }

    fn leave_out_all(&mut self, names: &[NodeId], reason: &dyn std::fmt::Display) {
        for id in names {
            self.done.leave_out(self.rootfs, *id, reason);
        }
    }

    fn fail(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            self.current = None;
            self.failed.get_or_insert(error);
        }
    }

    /// Gives a complete file its names.
    fn end(&mut self, inode: Inode) -> io::Result<()> {
        let Some(Current { temporary, file, names, bytes, expected }) = self.current.take() else {
            return Ok(());
        };
        if bytes != expected {
            let reason = format!("its layer has {bytes} of its {expected} bytes");
            self.leave_out_all(&names, &reason);
            return Ok(());
        }
        // A hole at the end.
        file.set_len(bytes)?;
        let index = self.rootfs.layer(inode.0);
        self.settle(&file, index.mode(inode.1), index.mtime(inode.1))?;
        drop(file);
        let force = self.options.force;
        // The name that the others link to.
        let mut first: Option<(OwnedFd, &[u8])> = None;
        for id in names {
            let node = self.rootfs.node(id);
            let named = self.destination.parent(node).and_then(|folder| {
                match &first {
                    None => temporary.publish(&folder, node.name(), force)?,
                    Some((from, name)) => {
                        place::prepare(&folder, node.name(), force)?;
                        linkat(from, *name, &folder, node.name(), AtFlags::empty())?;
                    }
                }
                Ok(folder)
            });
            match named {
                Ok(folder) => {
                    self.done.files += 1;
                    if first.is_none() {
                        self.done.bytes += bytes;
                        first = Some((folder, node.name()));
                    }
                }
                Err(error) => self.done.leave_out(self.rootfs, id, &error),
            }
        }
        Ok(())
    }

    /// Permission bits and time, as in the image.
    fn settle(&self, fd: impl std::os::fd::AsFd, mode: u16, mtime: i64) -> io::Result<()> {
        let bits = if self.options.setuid { ALL_BITS } else { PERMISSIONS };
        fchmod(&fd, Mode::from_raw_mode((mode & bits).into()))?;
        let modified = Timespec { tv_sec: mtime, tv_nsec: 0 };
        let accessed = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        // A file system that cannot store the time keeps the bytes.
        futimens(&fd, &Timestamps { last_access: accessed, last_modification: modified }).ok();
        Ok(())
    }

    /// Permissions and times of new folders, the deepest first: a folder may forbid to write into it.
    fn finish_folders(&mut self) {
        let mut made = std::mem::take(&mut self.made);
        made.sort_unstable();
        for id in made.into_iter().rev() {
            let node = self.rootfs.node(id);
            let Some((index, entry)) = node.index_entry() else { continue };
            let settled = self
                .destination
                .folder(node)
                .and_then(|(fd, _)| self.settle(&fd, index.mode(entry), index.mtime(entry)));
            if let Err(error) = settled {
                self.done.leave_out(self.rootfs, id, &error);
            }
        }
    }
}

struct Sink<'a, 'b> {
    writer: &'a mut Writer<'b>,
    stop: CancelToken,
}

impl FileSink for Sink<'_, '_> {
    fn sparse_files(&self) -> SparseFiles {
        SparseFiles::Expand
    }

    fn begin(&mut self, file: (u16, EntryId), bytes: u64) {
        self.writer.begin(file, bytes);
    }

    fn push(&mut self, bytes: &[u8]) {
        let Some(current) = &mut self.writer.current else { return };
        let result = current.file.write_all(bytes);
        current.bytes += bytes.len() as u64;
        if result.is_err() {
            self.stop.cancel();
        }
        self.writer.fail(result);
    }

    fn hole(&mut self, bytes: u64) {
        let Some(current) = &mut self.writer.current else { return };
        current.bytes = current.bytes.saturating_add(bytes);
        let result = current.file.seek(SeekFrom::Start(current.bytes)).map(drop);
        self.writer.fail(result);
    }

    fn end(&mut self, file: (u16, EntryId)) -> Result<(), Cancelled> {
        let result = self.writer.end(file);
        self.writer.fail(result);
        if self.writer.failed.is_some() { Err(Cancelled) } else { Ok(()) }
    }
}
