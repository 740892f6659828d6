//! Files of compressed layers, read from the restart points that the first pass left in the index cache.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::bodies::Body;
use super::layer_cache::{load_points, load_windows};
use super::options::Options;
use super::value::Analysis;
use crate::base::Section;
use crate::cuda::Inode;
use crate::formats::compression::Compression;
use crate::formats::inflate::SeekableGunzip;
use crate::formats::input::counted;
use crate::jobs::Progress;
use crate::layer::LayerRead;
use crate::source::Blob;

/// Decoding from a point costs up to twice the time of a pass. Where more than this part of a layer is decoded, a pass
/// over it costs less, and its digest is compared too.
const WORTH: u64 = 2;

/// The gzip layers of an analysis whose restart points are cached. Each keeps its place, so that files in ascending order
/// are read by going on.
pub struct PackedBodies<'a> {
    analysis: &'a Analysis,
    opened: &'a Options,
    progress: &'a Progress,
    layers: BTreeMap<u16, Option<Arc<SeekableGunzip>>>,
}

impl<'a> PackedBodies<'a> {
    /// For an analysis made with the options `opened`. Compressed bytes read are reported to `progress`.
    pub fn new(analysis: &'a Analysis, opened: &'a Options, progress: &'a Progress) -> Self {
        Self { analysis, opened, progress, layers: BTreeMap::new() }
    }

    /// The files of `wanted` that cost less to read from points than by a pass over their layers.
    pub fn worth(&mut self, wanted: impl IntoIterator<Item = Inode>) -> BTreeSet<Inode> {
        let mut by_layer: BTreeMap<u16, BTreeSet<Inode>> = BTreeMap::new();
        for inode in wanted {
            by_layer.entry(inode.0).or_default().insert(inode);
        }
        let mut worth = BTreeSet::new();
        for (layer, inodes) in by_layer {
            let Some(stream) = self.stream(layer) else { continue };
            let Some(ranges) = inodes.iter().map(|inode| self.range(*inode)).collect::<Option<Vec<_>>>()
            else {
                // A pass that is needed for one of them has the others too.
                continue;
            };
            let points = stream.points();
            if points.cost(ranges).saturating_mul(WORTH) <= points.bytes() {
                worth.extend(inodes);
            }
        }
        worth
    }

    /// The bytes of a file; `None` if its layer has no points, or is not what it was.
    pub fn body(&mut self, inode: Inode) -> Option<Body> {
        let (offset, size) = self.range(inode)?;
        let stream = self.stream(inode.0)?;
        let bytes = stream.points().bytes();
        let section = Section::new(stream, 0, bytes).part(offset, size);
        (section.len() == size).then(|| Body::of(section))
    }

    /// Forgets the points of a layer: they cannot be used.
    pub fn give_up(&mut self, layer: u16) {
        self.layers.insert(layer, None);
    }

    fn read(&self, layer: u16) -> Option<&'a LayerRead> {
        let layer = self.analysis.layers.get(usize::from(layer)).filter(|layer| layer.table.is_none());
        layer?.read.as_deref().filter(|read| read.compression == Some(Compression::Gzip))
    }

    /// Where the bytes of a file are in the decompressed layer, and how many; sparse files have none of their own.
    fn range(&self, (layer, entry): Inode) -> Option<(u64, u64)> {
        let index = &self.read(layer)?.index;
        Some((index.body_at(entry)?, index.size(entry)))
    }

    fn stream(&mut self, layer: u16) -> Option<Arc<SeekableGunzip>> {
        if let Some(known) = self.layers.get(&layer) {
            return known.clone();
        }
        let stream = self.open(layer).map(Arc::new);
        self.layers.insert(layer, stream.clone());
        stream
    }

    fn open(&self, layer: u16) -> Option<SeekableGunzip> {
        // Verification reads everything.
        let cache = self.opened.cache.as_ref().filter(|_| !self.opened.verify)?;
        let read = self.read(layer)?;
        let digest = read.digest.as_deref()?;
        let section = match &self.analysis.image.layers.get(usize::from(layer))?.blob {
            // If the file was written to, the points are those of other bytes.
            Blob::Section(section) if section.was_written().unwrap_or(true) => return None,
            Blob::Section(section) => section.clone(),
            Blob::Remote(remote) => {
                let file = self.opened.access.blobs.as_ref()?.find(digest)?;
                Section::new(Arc::new(file), 0, remote.size())
            }
            Blob::Streamed(_) | Blob::Folder(_) | Blob::Missing(_) => return None,
        };
        let points = load_points(cache, digest)?;
        if read.uncompressed_bytes != Some(points.bytes()) || read.compressed_bytes != Some(section.len()) {
            return None;
        }
        Some(SeekableGunzip::new(counted(section, self.progress), points, load_windows(cache)))
    }
}
