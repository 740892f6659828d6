//! The bytes of the path of the panel: which version, whether they are here, read or saved.

use std::path::Path;

use crate::analysis::{Analysis, Options};
use crate::base::size::human;
use crate::base::text::{counted, escape, printable};
use crate::contents::{ContentsError, find, read_head, save_file};
use crate::cuda::Inode;
use crate::cuda::links::file_name;
use crate::formats::binary::FileFacts;
use crate::gui::models::contents::{FileDocument, first_bytes, wants_all};
use crate::gui::models::saver::save_paths;
use crate::jobs::{CancelToken, Progress};
use crate::report::WhyReport;
use crate::rootfs::{NodeId, NodeKind, Rootfs};
use crate::source::Blob;

/// Layer and entry of the file at a path: what a container sees, else the last version.
pub(super) fn resolve(analysis: &Analysis, rootfs: &Rootfs, raw: &[u8]) -> Result<Inode, String> {
    let error = match find(analysis, rootfs, raw, true) {
        Ok(node) => {
            let node = rootfs.node(node);
            return node.content().ok_or_else(|| match node.kind() {
                NodeKind::Directory => {
                    let (bytes, files) = (human(node.bytes()), counted(u64::from(node.files()), "file"));
                    format!("A folder: {bytes} in {files}.")
                }
                _ => "A device, pipe or socket: it has no bytes.".to_owned(),
            });
        }
        Err(error) => error,
    };
    let timeline = WhyReport::timeline(analysis);
    let last = timeline.find(raw).and_then(|path| timeline.versions(path).next_back());
    let inode = last.filter(|last| last.kind == NodeKind::File).and_then(|last| {
        let shared = timeline.shares(last.id).map(|(layer, entry, _)| (layer, entry));
        shared.or_else(|| Some((last.layer, last.entry?)))
    });
    inode.ok_or_else(|| error.to_string())
}

/// Bytes to download before a file can be read; `None` if all of it is here.
pub(super) fn download(analysis: &Analysis, options: &Options, inode: Inode) -> Option<u64> {
    let place = usize::from(inode.0);
    let source = analysis.image.layers.get(place)?;
    let Blob::Remote(remote) = &source.blob else { return None };
    let layer = analysis.layers.get(place)?;
    if layer.table.is_some() {
        // By range: about the size of the file.
        return size_of(analysis, inode);
    }
    let digest = source.digest.as_ref();
    let cached = digest.is_some_and(|digest| {
        options.access.blobs.as_ref().is_some_and(|blobs| blobs.find(digest.as_ref()).is_some())
    });
    (!cached).then(|| remote.size())
}

fn facts_of(analysis: &Analysis, inode: Inode) -> Option<&FileFacts> {
    let read = analysis.layers.get(usize::from(inode.0))?.read.as_ref()?;
    analysis.bodies.binaries.get(&inode).or_else(|| read.facts.binary(inode.1))
}

fn size_of(analysis: &Analysis, (layer, entry): Inode) -> Option<u64> {
    Some(analysis.layers.get(usize::from(layer))?.read.as_ref()?.index.size(entry))
}

/// The file as it is shown: its first `most` bytes, or all where a part shows nothing.
pub(super) fn load(
    analysis: &Analysis,
    options: &Options,
    (inode, raw): (Inode, Vec<u8>),
    most: u64,
    progress: &Progress,
    cancel: &CancelToken,
) -> Result<FileDocument, ContentsError> {
    let size = size_of(analysis, inode).unwrap_or(0);
    let most = most.max(first_bytes(file_name(&raw), size));
    let mut head = read_head(analysis, options, (inode, raw.clone()), most, progress, cancel)?;
    if wants_all(&head) {
        let size = head.size;
        head = read_head(analysis, options, (inode, raw.clone()), size, progress, cancel)?;
    }
    Ok(FileDocument::new(head, file_name(&raw), facts_of(analysis, inode), cancel)?)
}

/// Saves the file, or a folder as a tar archive. What was saved in words.
pub(super) fn save(
    analysis: &Analysis,
    options: &Options,
    (raw, version): (Vec<u8>, Option<Inode>),
    (to, replace): (&Path, bool),
    progress: &Progress,
    cancel: &CancelToken,
) -> Result<String, ContentsError> {
    let merge = analysis.merge.as_deref();
    let merge = merge.ok_or_else(|| unread("the image", "its layers are not merged yet"))?;
    let node: Option<NodeId> = find(analysis, &merge.rootfs, &raw, true).ok();
    let folder =
        node.filter(|node| version.is_none() && merge.rootfs.node(*node).kind() == NodeKind::Directory);
    if let Some(folder) = folder {
        let path = merge.rootfs.node(folder).path();
        return save_paths((analysis, options), &[path], (to, replace), (progress, cancel));
    }
    let inode = match version {
        Some(inode) => inode,
        None => resolve(analysis, &merge.rootfs, &raw).map_err(|reason| unread(&escape(&raw), &reason))?,
    };
    let bytes = save_file((analysis, options), (inode, raw), to, replace, (progress, cancel))?;
    Ok(format!("Saved {} to {}", human(bytes), printable(&to.display().to_string())))
}

fn unread(object: &str, reason: &str) -> ContentsError {
    ContentsError::Unread { object: object.to_owned(), reason: reason.to_owned() }
}
