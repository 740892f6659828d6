//! Files of the merged view as a tar stream, with the headers of their layers.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::error::ContentsError;
use super::output::{Extracted, with_contents};
use super::save::{Opened, Work};
use crate::base::convert::in_memory;
use crate::cuda::Inode;
use crate::formats::tar::edit::{Edit, Facts, edited, fresh};
use crate::formats::tar::{BLOCK, Member, MemberKind};
use crate::jobs::{CancelToken, Cancelled};
use crate::layer::{EntryId, parts};
use crate::rootfs::{Node, NodeId, NodeKind, Rootfs};
use crate::slim::{FileSink, SparseFiles, read_files};
use crate::source::Blob;

/// Permission bits of a folder that no layer has an entry for.
const IMPLIED: u16 = 0o755;
/// The size field of a header.
const SIZE: std::ops::Range<usize> = 124..136;

/// Writes `nodes` and all below them as a tar stream: the headers of their layers byte for byte, extended attributes
/// included, under their paths in the merged view. Files of layers that are folders get new headers. The image must not
/// have been read by tables of contents ([`crate::slim::needs_all_bytes`]).
///
/// # Errors
/// `out` fails, a layer cannot be read, cancelled.
pub fn archive(
    (analysis, opened): Opened<'_>,
    rootfs: &Rootfs,
    nodes: &BTreeSet<NodeId>,
    out: &mut dyn Write,
    (progress, cancel): Work<'_>,
) -> Result<Extracted, ContentsError> {
    let failed =
        |error: &io::Error| ContentsError::Write { to: "the archive".to_owned(), reason: error.to_string() };
    let nodes = with_contents(rootfs, nodes);
    let stop = cancel.child();
    let mut writer = Writer {
        rootfs,
        out,
        done: Extracted::default(),
        first: first_names(rootfs, &nodes),
        entries: BTreeMap::new(),
        headed: false,
        size: 0,
        failed: None,
        stop: stop.clone(),
    };
    let mut wanted: BTreeMap<Inode, Vec<u8>> = BTreeMap::new();
    // Further names that get new headers come after the file that they link to.
    let mut later = Vec::new();
    for id in nodes.iter().copied().filter(|id| *id != NodeId::ROOT) {
        let node = rootfs.node(id);
        let is_folder_layer = matches!(
            analysis.image.layers.get(usize::from(node.layer())).map(|layer| &layer.blob),
            Some(Blob::Folder(_))
        );
        let own = node.entry().map(|entry| (node.layer(), entry));
        let content = node.content().filter(|inode| writer.first.get(inode) == Some(&id));
        match content.or(own) {
            // The bytes come from the folder, the header is made when they do.
            Some(key) if content.is_some() || !is_folder_layer => {
                wanted.insert(key, node.path());
                writer.entries.insert(key, id);
            }
            _ if writer.linked(node).is_some() => later.push(node),
            key => writer.write_new(node, key).map_err(|error| failed(&error))?,
        }
    }
    let result = read_files(analysis, opened, &wanted, &mut writer, progress, &stop);
    cancel.check()?;
    if let Some(error) = writer.failed.take() {
        return Err(failed(&error));
    }
    result?;
    for node in later {
        writer.write_new(node, None).map_err(|error| failed(&error))?;
    }
    for id in std::mem::take(&mut writer.entries).into_values() {
        writer.done.leave_out(rootfs, id, &"its layer does not have it");
    }
    writer.out.write_all(&[0; 1024]).map_err(|error| failed(&error))?;
    Ok(writer.done)
}

/// Of each file: the name that has its bytes in the archive. The others are hard links to it.
fn first_names(rootfs: &Rootfs, nodes: &BTreeSet<NodeId>) -> BTreeMap<Inode, NodeId> {
    let mut first = BTreeMap::new();
    for id in nodes {
        let Some(inode) = rootfs.node(*id).content() else { continue };
        let home = rootfs.node_showing(inode.0, inode.1).filter(|home| nodes.contains(home));
        first.entry(inode).or_insert(home.unwrap_or(*id));
    }
    first
}

struct Writer<'a> {
    rootfs: &'a Rootfs,
    out: &'a mut dyn Write,
    done: Extracted,
    first: BTreeMap<Inode, NodeId>,
    /// What each entry of a layer is in the archive.
    entries: BTreeMap<Inode, NodeId>,
    /// Whether the header of the current entry was written.
    headed: bool,
    /// Bytes of the current body so far.
    size: u64,
    failed: Option<io::Error>,
    stop: CancelToken,
}

/// The path of a node in an archive: relative, with a slash after a folder.
fn name_of(node: Node<'_>) -> Vec<u8> {
    let mut path = node.path();
    path.remove(0);
    if node.kind() == NodeKind::Directory {
        path.push(b'/');
    }
    path
}

/// Whether a name in a header is the path `path` of an archive: neither absolute nor with `..`.
fn is_same(name: &[u8], path: &[u8]) -> bool {
    !name.starts_with(b"/") && parts(name).eq(parts(path)) && !parts(name).any(|part| part == b"..")
}

impl Writer<'_> {
    fn count(&mut self, node: Node<'_>) {
        match node.kind() {
            NodeKind::File => self.done.files += 1,
            NodeKind::Directory => self.done.folders += 1,
            NodeKind::Symlink => self.done.links += 1,
            NodeKind::Other => self.done.others += 1,
        }
    }

    /// The name of the file that a further name links to; `None` for all else.
    fn linked(&self, node: Node<'_>) -> Option<Vec<u8>> {
        let first = *self.first.get(&node.content()?)?;
        (first != node.id()).then(|| name_of(self.rootfs.node(first)))
    }

    /// Writes the header of something that no layer has a header for, or that has none of its own.
    fn write_new(&mut self, node: Node<'_>, entry: Option<Inode>) -> io::Result<()> {
        let index = self.rootfs.layer(node.layer());
        let linked = self.linked(node);
        let target = entry.and_then(|(_, entry)| index.link(entry)).map(<[u8]>::to_vec);
        let kind = match node.kind() {
            _ if linked.is_some() => b'1',
            NodeKind::Directory => b'5',
            NodeKind::Symlink => b'2',
            NodeKind::File => b'0',
            NodeKind::Other => {
                self.done.leave_out_device(self.rootfs, node.id());
                return Ok(());
            }
        };
        // A further name has the facts of its file.
        let facts = node.content().or(entry).map(|(layer, entry)| {
            let index = self.rootfs.layer(layer);
            let (uid, gid) = index.owner(entry);
            Facts { mode: index.mode(entry), uid, gid, mtime: index.mtime(entry) }
        });
        let facts = facts.unwrap_or(Facts { mode: IMPLIED, uid: 0, gid: 0, mtime: 0 });
        let path = name_of(node);
        let size = (kind == b'0').then(|| node.content().map_or(0, |inode| node.size_of(inode)));
        let link = linked.as_deref().or(target.as_deref().filter(|_| kind == b'2'));
        let edit = Edit { path: Some(&path), link, facts: Some(facts), size };
        let header = fresh(kind, &edit, None, &[]).map_err(io::Error::other)?;
        self.out.write_all(&header)?;
        self.count(node);
        Ok(())
    }

    /// Writes the header of a layer, with other names where those of the merged view differ.
    fn write_header(&mut self, node: Node<'_>, raw: &[u8], member: &Member) -> io::Result<()> {
        let path = name_of(node);
        let other_path = (!is_same(&member.path, &path)).then_some(&*path);
        let link = self.linked(node).filter(|link| !is_same(&member.link, link));
        // Only files have a body, whatever another header claims.
        let claims = member.kind != MemberKind::File
            && raw.len() >= in_memory(BLOCK)
            && raw[raw.len() - in_memory(BLOCK)..][SIZE].iter().any(|byte| !matches!(byte, b'0' | b' ' | 0));
        let edit = Edit { path: other_path, link: link.as_deref(), facts: None, size: claims.then_some(0) };
        if edit.path.is_none() && edit.link.is_none() && edit.size.is_none() {
            return self.out.write_all(raw);
        }
        let header = edited(raw, &edit).map_err(io::Error::other)?;
        self.out.write_all(&header)
    }

    fn note(&mut self, result: io::Result<()>) -> Result<(), Cancelled> {
        let Err(error) = result else { return Ok(()) };
        self.failed.get_or_insert(error);
        self.stop.cancel();
        Err(Cancelled)
    }
}

impl FileSink for Writer<'_> {
    fn sparse_files(&self) -> SparseFiles {
        SparseFiles::AsStored
    }

    fn header(&mut self, entry: (u16, EntryId), raw: &[u8], member: &Member) -> Result<(), Cancelled> {
        self.headed = true;
        let Some(id) = self.entries.remove(&entry) else { return Ok(()) };
        let node = self.rootfs.node(id);
        if member.kind == MemberKind::Other {
            self.done.leave_out_device(self.rootfs, id);
            return Ok(());
        }
        let result = self.write_header(node, raw, member);
        self.count(node);
        self.note(result)
    }

    fn begin(&mut self, file: (u16, EntryId), bytes: u64) {
        self.size = 0;
        self.done.bytes += bytes;
        if !std::mem::take(&mut self.headed)
            && let Some(id) = self.entries.remove(&file)
        {
            let result = self.write_new(self.rootfs.node(id), Some(file));
            self.note(result).ok();
        }
    }

    fn push(&mut self, bytes: &[u8]) {
        self.size += bytes.len() as u64;
        if self.failed.is_none() {
            let result = self.out.write_all(bytes);
            self.note(result).ok();
        }
    }

    fn end(&mut self, _: (u16, EntryId)) -> Result<(), Cancelled> {
        let padding = self.size.next_multiple_of(BLOCK) - self.size;
        let result = self.out.write_all(&[0; 512][..in_memory(padding)]);
        self.note(result)
    }
}
