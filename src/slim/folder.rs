//! A layer made from a folder with the files themselves: members by path, links after their targets, so that two runs
//! give the same bytes.

use std::ffi::OsStr;
use std::io::{Read as _, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::layer::Fault;
use super::replacement::{Body, BodyFault};
use super::selection::{Selection, Step};
use crate::base::convert::in_memory;
use crate::base::text::escape;
use crate::formats::input::BUFFER_BYTES;
use crate::formats::tar::BLOCK;
use crate::formats::tar::edit::{Edit, Facts, fresh};
use crate::jobs::CancelToken;
use crate::layer::{ContentHash, EntryId, EntryKind, LayerRead, open_file};

/// Bytes of the extended attributes of a file: the limit of Linux.
const ATTRIBUTE_BYTES: usize = 64 << 10;

/// Writes the entries of `root` that stay, without the end of the archive.
pub(super) fn write(
    root: &Path,
    read: &LayerRead,
    selection: &Selection,
    number: usize,
    cancel: &CancelToken,
    out: &mut dyn Write,
    hashed: &mut dyn FnMut(EntryId, ContentHash),
) -> Result<(), Fault> {
    let index = &read.index;
    let stays = |entry: &EntryId| !matches!(selection.step(number, *entry), Step::Leave);
    let mut entries: Vec<(bool, Vec<u8>, EntryId)> = index
        .entries()
        .filter(stays)
        .map(|entry| (index.kind(entry) == EntryKind::HardLink, index.path(entry), entry))
        .collect();
    entries.sort_unstable();
    for (_, path, entry) in entries {
        cancel.check().map_err(|_| Fault::Cancelled)?;
        let changed =
            || Fault::Read(format!("{} is not what it was when the image was analysed", escape(&path)));
        let failed = |error: &std::io::Error| Fault::Read(format!("{}: {error}", escape(&path)));
        let place = root.join(OsStr::from_bytes(path.strip_prefix(b"/").unwrap_or(&path)));
        let now = place.symlink_metadata().map_err(|error| failed(&error))?;
        let kind = index.kind(entry);
        let (uid, gid) = index.owner(entry);
        let facts = Facts { mode: index.mode(entry), uid, gid, mtime: index.mtime(entry) };
        if now.mode() & 0o7777 != u32::from(facts.mode) || now.mtime() != facts.mtime {
            return Err(changed());
        }
        let change = match selection.step(number, entry) {
            Step::Change(change) => Some(change),
            _ => None,
        };
        // Devices and pipes by the type of the file; sockets are no members of a layer.
        let device = now.rdev() as rustix::fs::Dev;
        let device = (rustix::fs::major(device), rustix::fs::minor(device));
        let (flag, device) = match (kind, now.mode() & 0o170_000) {
            (EntryKind::File, 0o100_000) => (b'0', None),
            (EntryKind::HardLink, 0o100_000) => (b'1', None),
            (EntryKind::Symlink, 0o120_000) => (b'2', None),
            (EntryKind::Directory, 0o040_000) => (b'5', None),
            (EntryKind::Other, 0o020_000) => (b'3', Some(device)),
            (EntryKind::Other, 0o060_000) => (b'4', Some(device)),
            (EntryKind::Other, 0o010_000) => (b'6', None),
            (EntryKind::Other, _) => {
                let what = "a socket cannot be in a layer; remove it from the folder";
                return Err(Fault::Read(format!("{}: {what}", escape(&path))));
            }
            _ => return Err(changed()),
        };
        let relative = |path: &[u8]| path.strip_prefix(b"/").unwrap_or(path).to_vec();
        let mut name = relative(change.and_then(|change| change.path.as_deref()).unwrap_or(&path));
        if kind == EntryKind::Directory {
            name.push(b'/');
        }
        let link = change.and_then(|change| change.link.as_deref()).or_else(|| index.link(entry));
        let link = link.map(|link| if kind == EntryKind::HardLink { relative(link) } else { link.to_vec() });
        let size = index.size(entry);
        let replacement = change.and_then(|change| change.content.as_deref());
        let written = replacement.map_or(size, |new| new.pieces.len());
        let edit = Edit {
            path: Some(&name),
            link: link.as_deref(),
            facts: Some(change.and_then(|change| change.facts).unwrap_or(facts)),
            size: Some(written),
        };
        let attributes = if kind == EntryKind::HardLink { Vec::new() } else { attributes(&place) };
        let header =
            fresh(flag, &edit, device, &attributes).map_err(|error| Fault::Read(error.to_string()))?;
        out.write_all(&header).map_err(Fault::Write)?;
        if kind == EntryKind::File && size > 0 {
            let mut file = open_file(root, &path).map_err(|error| failed(&error))?;
            let refused = |fault: BodyFault| match fault {
                BodyFault::OtherBytes => changed(),
                BodyFault::Unproven(what) => Fault::Unproven(entry, what),
            };
            let mut body = Body::new(replacement).map_err(refused)?;
            let mut buffer = vec![0; BUFFER_BYTES];
            let mut left = size;
            while left > 0 {
                cancel.check().map_err(|_| Fault::Cancelled)?;
                let most = in_memory(left).min(buffer.len());
                let count = file.read(&mut buffer[..most]).map_err(|error| failed(&error))?;
                if count == 0 {
                    return Err(changed());
                }
                body.push(&buffer[..count], out).map_err(Fault::Write)?;
                left -= count as u64;
            }
            hashed(entry, body.finish(out).map_err(Fault::Write)?.map_err(refused)?);
            let padding = in_memory(written.next_multiple_of(BLOCK) - written);
            out.write_all(&[0; 512][..padding]).map_err(Fault::Write)?;
        }
    }
    Ok(())
}

/// The attributes that belong to a file rather than to this machine: capabilities, and those of users.
fn attributes(path: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut names = vec![0; ATTRIBUTE_BYTES];
    let Ok(length) = rustix::fs::llistxattr(path, &mut names) else { return Vec::new() };
    let mut value = vec![0; ATTRIBUTE_BYTES];
    let mut attributes: Vec<(Vec<u8>, Vec<u8>)> = names[..length.min(names.len())]
        .split(|byte| *byte == 0)
        .filter(|name| *name == b"security.capability" || name.starts_with(b"user."))
        .filter_map(|name| {
            let length = rustix::fs::lgetxattr(path, OsStr::from_bytes(name), &mut value).ok()?;
            Some((name.to_vec(), value.get(..length)?.to_vec()))
        })
        .collect();
    attributes.sort_unstable();
    attributes
}
