//! The index of a layer: one column for each of its arrays.

use super::bytes::{Reader, StoredError, Width, Writer};
use crate::base::Limits;
use crate::base::convert::index32;
use crate::layer::builder::MAX_CONTENT_BYTES;
use crate::layer::column::Column;
use crate::layer::index::{Counts, Dir, DirId, EntryId, EntryKind, LayerIndex, Link, Name};

/// In the order of their numbers.
const KINDS: [EntryKind; 7] = [
    EntryKind::File,
    EntryKind::HardLink,
    EntryKind::Symlink,
    EntryKind::Directory,
    EntryKind::Other,
    EntryKind::Whiteout,
    EntryKind::Opaque,
];

fn is_link(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::HardLink | EntryKind::Symlink)
}

pub(super) fn write(out: &mut Writer, index: &LayerIndex) {
    out.bytes(&index.names);
    out.number(index.dirs.len() as u64);
    out.column(index.dirs.iter().map(|dir| dir.parent.0), Width::Counted);
    out.column(index.dirs.iter().map(|dir| dir.name.at), Width::Any);
    out.column(index.dirs.iter().map(|dir| dir.name.len), Width::Any);
    let kinds: Vec<u8> = index.kind.iter().map(|kind| *kind as u8).collect();
    out.bytes(&kinds);
    out.column(index.dir.iter(), Width::Any);
    out.column(index.name_at.iter(), Width::Any);
    out.column(index.name_len.iter(), Width::Any);
    out.column(index.size.iter(), Width::Any);
    out.column(index.mode.iter(), Width::Any);
    out.column(index.uid.iter(), Width::Any);
    out.column(index.gid.iter(), Width::Any);
    out.column(index.mtime.iter(), Width::Any);
    out.column(index.body_after.iter(), Width::Any);
    // Every link has a target, so that the kinds identify the owners.
    out.column(index.links.iter().map(|link| link.target.at), Width::Any);
    out.column(index.links.iter().map(|link| link.target.len), Width::Any);
}

pub(super) fn read(from: &mut Reader<'_>, limits: &Limits) -> Result<LayerIndex, StoredError> {
    let names = from.bytes()?;
    let (dirs, paths) = read_dirs(from, names, limits)?;
    let kinds = from.bytes()?;
    from.expect(
        kinds.len() <= limits.layer_entries.min(u32::MAX as usize),
        "more entries than a layer may have",
    )?;
    let kind: Vec<EntryKind> =
        kinds.iter().map_while(|kind| KINDS.get(usize::from(*kind)).copied()).collect();
    from.expect(kind.len() == kinds.len(), "no kind of an entry")?;
    let count = kind.len();
    let dir: Column<u32> = from.column(count, Width::Any)?;
    let most = dir.iter().max();
    from.expect(most.is_none_or(|most| (most as usize) < dirs.len()), "an entry in no folder")?;
    let name_at: Column<u32> = from.column(count, Width::Any)?;
    let name_len: Column<u16> = from.column(count, Width::Any)?;
    let size: Column<u64> = from.column(count, Width::Any)?;
    let counts = count_up(from, &kind, &size)?;
    let mode: Column<u16> = from.column(count, Width::Any)?;
    from.expect(mode.iter().fold(0, |all, mode| all | mode) <= 0o7777, "no permission bits")?;
    let uid = from.column(count, Width::Any)?;
    let gid = from.column(count, Width::Any)?;
    let mtime = from.column(count, Width::Any)?;
    let body_after = from.column(count, Width::Any)?;
    let links = read_links(from, names, &kind, limits)?;
    // Names of entries are shared with folders at most: many long ones in the same few bytes would be expensive to
    // visit.
    let lengths = name_len.iter().chain(dirs.iter().map(|dir| dir.name.len));
    let used: usize = lengths.chain(links.iter().map(|link| link.target.len)).map(usize::from).sum();
    from.expect(used <= names.len().saturating_mul(2), "names that share their bytes")?;
    let longest = limits.path_bytes.saturating_add(1);
    let sound = {
        let places = kind.iter().zip(dir.iter()).zip(name_at.iter().zip(name_len.iter()));
        let mut all = places.map(|((kind, dir), (at, len))| (*kind, dir, Name { at, len }));
        all.all(|(kind, dir, name)| {
            let path = paths.get(dir as usize).map_or(usize::MAX, |path| path + 1 + usize::from(name.len));
            path <= longest && text(names, name).is_some_and(|name| is_name(kind, dir, name))
        })
    };
    from.expect(sound, "no name of an entry")?;
    let names = names.to_vec();
    Ok(LayerIndex {
        names,
        dirs,
        dir,
        name_at,
        name_len,
        kind,
        size,
        mode,
        uid,
        gid,
        mtime,
        body_after,
        links,
        counts,
    })
}

/// All folders, and how many bytes the path of each has.
fn read_dirs(
    from: &mut Reader<'_>,
    names: &[u8],
    limits: &Limits,
) -> Result<(Vec<Dir>, Vec<usize>), StoredError> {
    let count = from.count(limits.layer_entries.max(1))?;
    let parents: Column<u32> = from.column(count, Width::Counted)?;
    let at: Column<u32> = from.column(count, Width::Any)?;
    let len: Column<u16> = from.column(count, Width::Any)?;
    let root = (parents.iter().next(), at.iter().next(), len.iter().next()) == (Some(0), Some(0), Some(0));
    from.expect(root, "no root")?;
    // This also bounds the depth of folders.
    let most = limits.path_bytes.saturating_add(1);
    let mut paths: Vec<usize> = Vec::with_capacity(count);
    let mut dirs = Vec::with_capacity(count);
    for ((parent, at), len) in parents.iter().zip(at.iter()).zip(len.iter()) {
        let name = Name { at, len };
        let path = if dirs.is_empty() { Some(0) } else { path_below(&paths, parent, names, name) };
        paths.push(path.filter(|path| *path <= most).ok_or_else(|| from.fault("no folder"))?);
        dirs.push(Dir { parent: DirId(parent), name });
    }
    Ok((dirs, paths))
}

/// Length of the path of a folder; `None` if it cannot have that name, or its parent comes later.
fn path_below(paths: &[usize], parent: u32, names: &[u8], name: Name) -> Option<usize> {
    let text = text(names, name).filter(|text| !matches!(*text, b"" | b"." | b"..") && is_part(text))?;
    paths.get(parent as usize)?.checked_add(text.len() + 1)
}

/// Whether an entry of the folder `dir` may have this name.
fn is_name(kind: EntryKind, dir: u32, name: &[u8]) -> bool {
    match (kind, name) {
        // The removed name follows the whiteout prefix, whatever it is.
        (EntryKind::Whiteout | EntryKind::Opaque, _) => is_part(name),
        (_, b"") => dir == DirId::ROOT.0,
        (_, b"." | b"..") => false,
        _ => is_part(name),
    }
}

fn count_up(from: &Reader<'_>, kind: &[EntryKind], size: &Column<u64>) -> Result<Counts, StoredError> {
    let mut of_kind = [0_u64; KINDS.len()];
    let mut content_bytes = Some(0_u64);
    let mut others = 0;
    for (kind, size) in kind.iter().zip(size.iter()) {
        of_kind[*kind as usize] += 1;
        if *kind == EntryKind::File {
            content_bytes = content_bytes.and_then(|sum| sum.checked_add(size));
        } else {
            others |= size;
        }
    }
    from.expect(others == 0, "size of an entry that is not a file")?;
    let content_bytes = content_bytes.filter(|sum| *sum <= MAX_CONTENT_BYTES);
    let Some(content_bytes) = content_bytes else {
        return Err(from.fault("more bytes of files than a layer may have"));
    };
    let mut counts = Counts { entries: kind.len() as u64, content_bytes, ..Counts::default() };
    for (kind, count) in KINDS.into_iter().zip(of_kind) {
        *counts.of(kind) += count;
    }
    Ok(counts)
}

fn read_links(
    from: &mut Reader<'_>,
    names: &[u8],
    kind: &[EntryKind],
    limits: &Limits,
) -> Result<Vec<Link>, StoredError> {
    let count = kind.iter().filter(|kind| is_link(**kind)).count();
    let at: Column<u32> = from.column(count, Width::Any)?;
    let len: Column<u16> = from.column(count, Width::Any)?;
    let entries = kind.iter().enumerate().filter(|(_, kind)| is_link(**kind));
    let targets = at.iter().zip(len.iter()).map(|(at, len)| Name { at, len });
    let links: Vec<Link> = entries
        .zip(targets)
        .map(|((entry, _), target)| Link { entry: EntryId(index32(entry)), target })
        .collect();
    let sound =
        |link: &Link| text(names, link.target).is_some_and(|target| target.len() <= limits.path_bytes);
    from.expect(links.iter().all(sound), "no target of a link")?;
    Ok(links)
}

fn text(names: &[u8], name: Name) -> Option<&[u8]> {
    names.get(name.at as usize..)?.get(..usize::from(name.len))
}

/// Whether a name is one part of a path.
fn is_part(name: &[u8]) -> bool {
    // Names are short: a search that looks for the best way first takes longer.
    name.iter().all(|byte| *byte != b'/')
}
