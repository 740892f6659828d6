//! The second pass: reads single files after the layers if a result depends on their bytes.

mod source;

use std::collections::{BTreeMap, BTreeSet};

use std::os::unix::fs::MetadataExt as _;
use std::sync::Arc;

use hashbrown::HashMap;

use super::body::{Compared, SAMPLE_BYTES, pass, sample, whole};
use super::layer_cache::{BodiesByLayer, LayerCache};
use super::tables::plan_bodies;
use super::value::{Analysis, Layer};
use crate::base::Section;
use crate::cuda::{FileContents, Inode, Wanted};
use crate::formats::compression::Compression;
use crate::formats::contents::Sum;
use crate::jobs::{CancelToken, Cancelled, Progress};
use crate::layer::{ContentHash, EntryId, LayerRead, open_file};
use crate::rootfs::{Merge, NodeKind};
use crate::source::table::Table;
use crate::source::{Blob, Image};
use source::Source;

/// The part of `wanted` that is readable without decompressing a layer again.
pub(super) fn readable(analysis: &Analysis, wanted: Wanted) -> Wanted {
    let can = |inode: &Inode| analysis.has_body(*inode);
    Wanted {
        hashes: wanted.hashes.into_iter().filter(can).collect(),
        binaries: wanted.binaries.into_iter().filter(can).collect(),
        texts: wanted.texts.into_iter().filter(can).collect(),
    }
}

/// Whether the body of an entry is readable without decompressing its layer again.
fn is_readable(blob: &Blob, read: &LayerRead, table: Option<&Arc<Table>>, entry: EntryId) -> bool {
    if let Some(table) = table {
        return table.has_body(entry.0 as usize);
    }
    match blob {
        Blob::Section(_) => {
            read.compression == Some(Compression::None) && read.index.body_at(entry).is_some()
        }
        Blob::Folder(_) => true,
        Blob::Streamed(_) | Blob::Remote(_) | Blob::Missing(_) => false,
    }
}

/// Opens the body of a file. `path` returns its path in the folder and is called only for layers that are
/// folders.
fn open(
    blob: &Blob,
    read: &LayerRead,
    table: Option<&Arc<Table>>,
    entry: EntryId,
    path: impl FnOnce() -> Option<Vec<u8>>,
    progress: &Progress,
) -> Option<Section> {
    if !is_readable(blob, read, table, entry) {
        return None;
    }
    let size = read.index.size(entry);
    let section = match blob {
        _ if table.is_some() => table?.body(entry.0 as usize),
        // If the file was written to, its content may have changed.
        Blob::Section(section) if section.was_written().unwrap_or(true) => return None,
        Blob::Section(section) => section.part(read.index.body_at(entry)?, size),
        Blob::Folder(root) => {
            let file = open_file(root, &path()?).ok()?;
            // Skip files that changed since the pass, and large files that consist almost only of holes.
            let now = file.metadata().ok()?;
            let full = now.blocks().saturating_mul(512) >= size / 64 || size <= 1 << 20;
            let same = now.len() == size && now.mtime() == read.index.mtime(entry);
            (same && full).then(|| Section::new(Arc::new(file), 0, size))?
        }
        Blob::Streamed(_) | Blob::Remote(_) | Blob::Missing(_) => return None,
    };
    let whole = section.len() == size;
    whole.then(|| Section::new(Arc::new(Compared { section, progress: progress.clone() }), 0, size))
}

/// The bytes of a file that is readable without decompressing a layer again.
pub struct Body(Section);

impl Body {
    /// The file that is this section.
    pub(super) fn of(section: Section) -> Self {
        Self(section)
    }

    /// A hash of some bytes: bodies of one size with different samples differ. Never equal to a content hash.
    /// `None` if the body is unreadable, or so small that its content hash costs no more.
    pub fn sample(&self) -> Option<ContentHash> {
        let size = self.0.len();
        (size > 4 * SAMPLE_BYTES).then(|| sample(&self.0, size).ok())?
    }

    /// Passes all bytes to `take`, in chunks.
    ///
    /// # Errors
    /// The bytes cannot be read; cancelled.
    pub fn pass(self, cancel: &CancelToken, take: impl FnMut(&[u8])) -> std::io::Result<()> {
        pass(self.0, cancel, take)
    }

    /// The hash of all bytes; `None` if they cannot be read.
    ///
    /// # Errors
    /// Cancelled.
    pub fn hash(self, cancel: &CancelToken) -> Result<Option<ContentHash>, Cancelled> {
        let hash = whole(self.0, cancel);
        cancel.check()?;
        Ok(hash.ok())
    }
}

impl Analysis {
    /// Whether the bytes of a file are readable without decompressing a layer again, as far as known without trying.
    pub fn has_body(&self, (layer, entry): Inode) -> bool {
        let place = usize::from(layer);
        let layer = self.layers.get(place);
        let (read, table) =
            (layer.and_then(|layer| layer.read.as_deref()), layer.and_then(|layer| layer.table.as_ref()));
        let blob = self.image.layers.get(place).map(|layer| &layer.blob);
        blob.zip(read).is_some_and(|(blob, read)| is_readable(blob, read, table, entry))
    }

    /// Opens the bytes of a file, by layer and entry; `None` if that requires decompressing a layer again, or the file
    /// changed. `path` is evaluated only for files of folders. Bytes read are reported to `progress` as compared.
    pub fn body(
        &self,
        (layer, entry): Inode,
        path: impl FnOnce() -> Option<Vec<u8>>,
        progress: &Progress,
    ) -> Option<Body> {
        let place = usize::from(layer);
        let Layer { read, table, .. } = self.layers.get(place)?;
        let blob = &self.image.layers.get(place)?.blob;
        open(blob, read.as_deref()?, table.as_ref(), entry, path, progress).map(Body)
    }
}

/// Reads the bodies in `wanted` that are not cached. Unreadable ones stay unknown.
pub(super) fn read(
    analysis: &Analysis,
    layers: &[Option<Arc<LayerRead>>],
    merge: &Merge,
    wanted: &Wanted,
    layer_cache: Option<&LayerCache<'_>>,
    cancel: &CancelToken,
    progress: &Progress,
) -> Result<FileContents, Cancelled> {
    let image = &*analysis.image;
    let tables: Vec<Option<Arc<Table>>> = analysis.layers.iter().map(|layer| layer.table.clone()).collect();
    let before = before(image, layers, &tables, wanted, layer_cache);
    plan_bodies(&tables, wanted, &before, progress);
    let mut source = Source {
        image,
        layers,
        tables: &tables,
        paths: paths(image, merge, wanted),
        progress,
        before,
        new: BTreeMap::new(),
    };
    let mut bodies = FileContents::default();
    // Files that the pass hashed are compared by hash: a sample of the other file would prove nothing.
    let mut passed: HashMap<u64, Vec<Option<Sum>>> = HashMap::new();
    for (read, table) in
        layers.iter().zip(&tables).filter_map(|(read, table)| Some((read.as_deref()?, table)))
    {
        for entry in read.facts.hashed() {
            let sum = table.as_ref().and_then(|table| table.sum(entry.0 as usize));
            passed.entry(read.index.size(entry)).or_default().push(sum);
        }
    }
    let groups = by_size(layers, &wanted.hashes);
    source.compare_ahead(&groups, cancel)?;
    for (size, inodes) in groups {
        let passed = passed.get(&size).map(Vec::as_slice).unwrap_or_default();
        hash_group(&mut source, size, &inodes, passed, cancel, &mut bodies.hashes)?;
    }
    let unread = |source: &Source<'_>, inode: Inode| {
        source.known(inode, |known| known.binaries.get(&inode.1)).is_none()
    };
    source.ahead(
        &wanted.binaries,
        &unread,
        &|source, inode| source.binary(inode, cancel),
        &mut |found, entry, facts| {
            found.binaries.insert(entry, facts);
        },
    );
    for inode in &wanted.binaries {
        cancel.check()?;
        if let Some(facts) = source.known(*inode, |known| known.binaries.get(&inode.1)) {
            bodies.binaries.insert(*inode, facts.clone());
            continue;
        }
        let facts = source.binary(*inode, cancel);
        cancel.check()?;
        if let Some(facts) = facts {
            source.found(*inode).binaries.insert(inode.1, facts.clone());
            bodies.binaries.insert(*inode, facts);
        }
    }
    // Sorted by layer, and within a layer in the order of its bytes.
    let mut texts = wanted.texts.clone();
    texts.sort_unstable();
    let unread = |source: &Source<'_>, inode: Inode| {
        source.known(inode, |known| known.mentions.get(&inode.1)).is_none()
    };
    source.ahead(
        &texts,
        &unread,
        &|source, inode| source.mentions(inode, cancel),
        &mut |found, entry, mentions| {
            found.mentions.insert(entry, mentions);
        },
    );
    let mut before = None;
    for inode in &texts {
        if before.replace(inode.0).is_some_and(|before| before != inode.0) {
            tables.iter().flatten().for_each(|table| table.let_go());
        }
        if let Some(mentions) = source.known(*inode, |known| known.mentions.get(&inode.1)) {
            bodies.mentions.insert(*inode, mentions.clone());
            continue;
        }
        let mentions = source.mentions(*inode, cancel);
        cancel.check()?;
        if let Some(mentions) = mentions {
            source.found(*inode).mentions.insert(inode.1, mentions.clone());
            bodies.mentions.insert(*inode, mentions);
        }
    }
    tables.iter().flatten().for_each(|table| table.let_go());
    if let Some(layer_cache) = layer_cache {
        source.keep(layer_cache);
    }
    Ok(bodies)
}

/// Cached facts about single files, for the layers in `wanted`.
fn before(
    image: &Image,
    layers: &[Option<Arc<LayerRead>>],
    tables: &[Option<Arc<Table>>],
    wanted: &Wanted,
    layer_cache: Option<&LayerCache<'_>>,
) -> BodiesByLayer {
    let Some(layer_cache) = layer_cache else { return BodiesByLayer::new() };
    let places: BTreeSet<u16> =
        wanted.hashes.iter().chain(&wanted.binaries).chain(&wanted.texts).map(|inode| inode.0).collect();
    let kept = |place: u16| {
        let read = layers.get(usize::from(place))?.as_deref()?;
        let bytes = body_place(image, tables, place)?;
        Some((place, layer_cache.bodies(&bytes, read.index.len())))
    };
    places.into_iter().filter_map(kept).collect()
}

/// Cache key for the facts of single files of a layer.
fn body_place(image: &Image, tables: &[Option<Arc<Table>>], place: u16) -> Option<String> {
    let source = image.layers.get(usize::from(place))?;
    match (tables.get(usize::from(place)), &source.blob) {
        (Some(Some(_)), _) => LayerCache::listed_place(source),
        (_, Blob::Section(section)) => LayerCache::place(section),
        _ => None,
    }
}

fn paths(image: &Image, merge: &Merge, wanted: &Wanted) -> HashMap<Inode, Vec<u8>> {
    if !image.layers.iter().any(|layer| matches!(layer.blob, Blob::Folder(_))) {
        return HashMap::new();
    }
    let mut asked: Vec<Inode> =
        wanted.hashes.iter().chain(&wanted.binaries).chain(&wanted.texts).copied().collect();
    asked.sort_unstable();
    let nodes = merge.rootfs.nodes().filter(|node| node.kind() == NodeKind::File);
    nodes
        .filter_map(|node| Some((node.content()?, node)))
        .filter(|(inode, _)| asked.binary_search(inode).is_ok())
        .map(|(inode, node)| (inode, node.path()))
        .collect()
}

fn by_size(layers: &[Option<Arc<LayerRead>>], inodes: &[Inode]) -> BTreeMap<u64, Vec<Inode>> {
    let mut groups: BTreeMap<u64, Vec<Inode>> = BTreeMap::new();
    for inode in inodes {
        if let Some(Some(read)) = layers.get(usize::from(inode.0)) {
            groups.entry(read.index.size(inode.1)).or_default().push(*inode);
        }
    }
    groups
}

/// Distinguishes files of one size by samples, and those with equal samples by content hashes. `passed` lists
/// the files of this size that the pass hashed, by their digests in tables of contents.
fn hash_group(
    source: &mut Source<'_>,
    size: u64,
    inodes: &[Inode],
    passed: &[Option<Sum>],
    cancel: &CancelToken,
    hashes: &mut HashMap<Inode, ContentHash>,
) -> Result<(), Cancelled> {
    let mut samples: BTreeMap<ContentHash, Vec<Inode>> = BTreeMap::new();
    for inode in inodes {
        cancel.check()?;
        if let Some(sample) = source.sample(*inode, size) {
            samples.entry(sample).or_default().push(*inode);
        }
    }
    for (sample, alike) in samples {
        let alone = |one: Inode| {
            let sum = source.claimed(one);
            passed.iter().all(|other| other.is_some() && sum.is_some() && *other != sum)
        };
        if let [one] = &alike[..]
            && alone(*one)
        {
            // Different from all others: a sample never equals a content hash.
            hashes.insert(*one, sample);
            continue;
        }
        for inode in alike {
            let hash = source.whole(inode, cancel);
            cancel.check()?;
            if let Some(hash) = hash {
                hashes.insert(inode, hash);
            }
        }
    }
    Ok(())
}
