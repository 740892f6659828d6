//! Cached layers: their keys, and the conditions for using them.
//!
//! A blob is stored under the computed digest of its bytes, a local file under its identity. No blob is
//! stored under a digest that is only declared by a manifest or name.
//!
//! # Cache keys
//!
//! `analysis/layer_cache` determines the key of a layer. A compressed blob has the digest that its bytes were
//! hashed to; its file, by identity, maps to that digest. The same blob is thus recognised in another image,
//! in an archive that was streamed, and in a copy, which is hashed first if a known blob is declared. A plain
//! layer is not hashed: its key is the identity of its file, together with the facts of single files
//! (`BodyFacts`), so that the second pass reads nothing either; which files these are is stored by image
//! (`analysis/wanted_cache`), so that the inventory is taken once. A compressed archive is recognised by its
//! file, as the list of its members. A claim in a manifest, a config or a name is never a key: one image
//! could forge the contents of another. For a registry the digest in the manifest is looked up directly,
//! because it is what would be requested: the record under it was hashed to it. The image of an engine has
//! its id and the engine's address as a key, once the stream proved that the id is the digest of its config
//! or manifest.
//!
//! The identity of a file includes both of its times, because mtime can be set back; on file systems where
//! ctime can be set or is synthetic, there is no identity. It is valid only if the file is older than the
//! resolution of its file system's clock, and the file is checked again after it was read: if it changed
//! meanwhile, there is a warning, nothing is cached, and the report is incomplete unless a digest proves the
//! bytes.
//!
//! The merged view is stored under the keys of all layers, in order, if each of them was read completely.
//!
//! The restart points of a gzip layer are stored beside it under the same digest, their windows under the hash of
//! their bytes. Each is pruned by its own last use; where one is missing, a file is read by a pass over its
//! layer.
//!
//! A layer has the same result from the cache as from its bytes (`tests/all/second_opening`). `--verify`
//! reads everything. Facts omitted because the image has too many are not cached, and facts loaded from the
//! cache count towards the same bound.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::value::Layer;
use crate::base::digest::Digest;
use crate::base::read_at::SectionReader;
use crate::base::{Hasher, Limits, Section, WarningCode};
use crate::cache::{Cache, Key};
use crate::formats::compression::{Compression, SNIFF_BYTES, sniff};
use crate::formats::inflate::{DISTANCE, GroupHash, LoadGroup, PointsSlot, RestartPoints};
use crate::formats::input::BUFFER_BYTES;
use crate::jobs::Cancelled;
use crate::layer::{BodyFacts, Context, Expected, LayerIndex, LayerRead};
use crate::rootfs::Merge;
use crate::source::table::Table;
use crate::source::{Blob, LayerSource, SourceKey};

/// The index cache, as used by one analysis.
pub(super) struct LayerCache<'a> {
    cache: &'a Cache,
    limits: &'a Limits,
    /// Hash of the limits, part of every key: results depend on them.
    bounds: String,
}

impl<'a> LayerCache<'a> {
    pub(super) fn new(cache: &'a Cache, limits: &'a Limits) -> Self {
        let bounds = blake3::hash(format!("{limits:?}").as_bytes()).to_hex();
        Self { cache, limits, bounds: bounds[..16].to_owned() }
    }

    fn key(&self, what: &str, of: &str) -> Key {
        Key::new(format!("{what} {of} within {}", self.bounds))
    }

    /// Key of a range in a file with a reliable identity.
    pub(super) fn place(section: &Section) -> Option<String> {
        let (file, offset) = section.place()?;
        file.is_settled().then(|| format!("{offset}+{} of file {}", section.len(), file.key()))
    }

    /// The cached layer of a section.
    pub(super) fn section(
        &self,
        section: &Section,
        expected: &Expected,
        context: &Context,
    ) -> Result<Option<LayerRead>, Cancelled> {
        let place = Self::place(section);
        let found = match &place {
            None => self.claimed(section, None, expected, context)?,
            Some(place) => {
                let digest = self.cache.get(&self.digest_key(place, expected));
                match digest.as_ref().map(|found| std::str::from_utf8(found.bytes())) {
                    Some(digest) => digest.ok().and_then(|digest| self.blob(digest, context)),
                    None => match self.load(&self.key("plain layer", place), context) {
                        None => self.claimed(section, Some(place), expected, context)?,
                        found => found,
                    },
                }
            }
        };
        if let Some(read) = &found {
            context.progress.add_passed(section.len());
            context.progress.add_entries(read.index.len() as u64);
        }
        Ok(found)
    }

    /// Stores a layer read from a section.
    pub(super) fn keep_section(
        &self,
        section: &Section,
        expected: &Expected,
        read: &LayerRead,
        context: &Context,
    ) {
        let subject = &context.subject;
        let place = Self::place(section).filter(|_| self.cache.is_open());
        if read.compression == Some(Compression::None) {
            if let Some(place) = place.filter(|_| read.is_cacheable()) {
                self.cache.put(&self.key("plain layer", &place), &read.to_bytes(subject));
            }
        } else if let Some(digest) = read.digest.as_deref().filter(|_| self.keep_blob_of(read, context))
            && let Some(place) = place
        {
            self.cache.put(&self.digest_key(&place, expected), digest.as_bytes());
        }
    }

    /// Key of the digest of a section. It includes the algorithm, which depends on the declared digest.
    fn digest_key(&self, place: &str, expected: &Expected) -> Key {
        let known = expected.digest.as_ref().filter(|digest| Hasher::for_digest(digest).is_some());
        let algorithm = known.map_or_else(|| "sha256".to_owned(), |digest| digest.algorithm().to_string());
        self.key(&format!("{algorithm} of"), place)
    }

    fn blob_key(&self, digest: &str) -> Key {
        self.key("layer", digest)
    }

    /// The cached layer with the computed digest `digest`.
    pub(super) fn blob(&self, digest: &str, context: &Context) -> Option<LayerRead> {
        let read = self.load(&self.blob_key(digest), context)?;
        (read.digest.as_deref() == Some(digest)).then_some(read)
    }

    /// Whether a layer with the computed digest `digest` is cached.
    pub(super) fn has_blob(&self, digest: &str) -> bool {
        self.cache.get(&self.blob_key(digest)).is_some()
    }

    /// Stores a completely read layer with its restart points; returns whether it is stored.
    pub(super) fn keep_blob_of(&self, read: &LayerRead, context: &Context) -> bool {
        let kept = self.keep_blob(read, &context.subject);
        if let Some(digest) = read.digest.as_deref().filter(|_| kept) {
            self.keep_points(digest, context);
        }
        kept
    }

    /// Stores a completely read layer; returns whether it is stored.
    pub(super) fn keep_blob(&self, read: &LayerRead, subject: &str) -> bool {
        // Completely hashed bytes give the same result again, even if they are not a valid layer. Exceptions:
        // the hashed bytes may differ from the walked ones, or the end of a zstd stream was not decompressed.
        let written = || read.warnings.iter().any(|warning| warning.code == WarningCode::SourceChanged);
        let refused = read.compression == Some(Compression::Zstd) && read.uncompressed_bytes.is_none();
        let Some(digest) = read.digest.as_deref().filter(|_| self.cache.is_open()) else { return false };
        if !read.is_fully_analysed() || refused || written() {
            return false;
        }
        // Replaces an existing record: it was not used, so it may be damaged.
        self.cache.put(&self.blob_key(digest), &read.to_bytes(subject));
        true
    }

    /// A slot for the restart points of a layer, which puts their windows into the cache as they come; `None` if
    /// nothing is stored.
    pub(super) fn points_slot(&self) -> Option<PointsSlot> {
        let cache = self.cache.clone();
        let store = move |hash: &GroupHash, bytes: &[u8]| cache.put(&windows_key(hash), bytes);
        self.cache.is_open().then(|| PointsSlot::new(DISTANCE, Arc::new(store)))
    }

    /// Stores the restart points of a layer that is stored.
    fn keep_points(&self, digest: &str, context: &Context) {
        if let Some(points) = context.points.as_ref().and_then(PointsSlot::take) {
            self.cache.put(&points_key(digest), &points.to_bytes());
        }
    }

    /// The cached layer with the declared digest, if the section has this digest: hashing costs a fifth of
    /// decompressing.
    fn claimed(
        &self,
        section: &Section,
        place: Option<&str>,
        expected: &Expected,
        context: &Context,
    ) -> Result<Option<LayerRead>, Cancelled> {
        let Some(digest) = &expected.digest else { return Ok(None) };
        let Some(read) = self.look_up(&self.blob_key(digest.as_ref()), context) else { return Ok(None) };
        let mut start = [0; SNIFF_BYTES];
        let sniffed = section.read_full_at(&mut start, 0).ok().and_then(|count| sniff(&start[..count]).ok());
        // Uncompressed layers are walked without reading bodies, which gives fewer facts than a streamed
        // layer has.
        if sniffed.is_none_or(|compression| compression == Compression::None)
            || !hashes_to(section, digest, context)?
            || section.was_written().unwrap_or(true)
        {
            return Ok(None);
        }
        let found = self.admit(read, context);
        if let Some(place) = place.filter(|_| found.is_some()) {
            self.cache.put(&self.digest_key(place, expected), digest.as_ref().as_bytes());
        }
        Ok(found)
    }

    fn load(&self, key: &Key, context: &Context) -> Option<LayerRead> {
        self.admit(self.look_up(key, context)?, context)
    }

    fn look_up(&self, key: &Key, context: &Context) -> Option<LayerRead> {
        LayerRead::from_bytes(self.cache.get(key)?.bytes(), &context.subject, self.limits).ok()
    }

    fn admit(&self, read: LayerRead, context: &Context) -> Option<LayerRead> {
        self.charge(read.facts.kept_bytes(), context).then_some(read)
    }

    /// Charges cached facts to the budget of the image, as if they were collected now. `false` if they exceed
    /// it: the layer is then read within the remaining budget.
    fn charge(&self, bytes: u64, context: &Context) -> bool {
        let before = context.kept.fetch_add(bytes, Ordering::Relaxed);
        let room = before.saturating_add(bytes) <= self.limits.facts_total;
        if !room {
            context.kept.fetch_sub(bytes, Ordering::Relaxed);
        }
        room
    }

    /// The cached record of an archive or of an engine's stream.
    pub(super) fn archive(&self, key: &SourceKey) -> Option<Vec<u8>> {
        self.cache.get(&self.source_key(key)?).map(|found| found.bytes().to_vec())
    }

    /// Stores the record of an archive or of an engine's stream.
    pub(super) fn keep_archive(&self, key: &SourceKey, bytes: &[u8]) {
        if let Some(key) = self.source_key(key) {
            self.cache.put(&key, bytes);
        }
    }

    fn source_key(&self, key: &SourceKey) -> Option<Key> {
        match key {
            SourceKey::File(file) => file.is_settled().then(|| self.key("archive", &file.key())),
            SourceKey::Engine(id) => Some(self.key("engine image", id)),
        }
    }

    /// Key of the merged view of layers; `None` unless each of them has a key of its own, was read completely, and did
    /// not change meanwhile.
    pub(super) fn view_key(&self, layers: &[(&Layer, &LayerSource)]) -> Option<Key> {
        let mut hasher = blake3::Hasher::new();
        for (layer, source) in layers {
            let read = layer.read.as_ref().filter(|read| read.is_cacheable() && layer.table.is_none())?;
            let changed = read.warnings.iter().any(|warning| warning.code == WarningCode::SourceChanged);
            let identity = match (&read.digest, &source.blob) {
                _ if changed => return None,
                (Some(digest), _) => digest.clone(),
                (None, Blob::Section(section)) => Self::place(section)?,
                (None, _) => return None,
            };
            hasher.update(format!("{identity} with {} entries\n", read.index.len()).as_bytes());
        }
        Some(self.key("merged view of", &hasher.finalize().to_hex()))
    }

    /// The cached merged view under `key`.
    pub(super) fn view(&self, key: &Key, layers: &[Arc<LayerIndex>]) -> Option<Merge> {
        Merge::from_bytes(self.cache.get(key)?.bytes(), layers).ok()
    }

    /// Stores a merged view.
    pub(super) fn keep_view(&self, key: &Key, merge: &Merge) {
        if self.cache.is_open()
            && let Some(bytes) = merge.to_bytes()
        {
            self.cache.put(key, &bytes);
        }
    }

    /// Which single files the inventory of an image asked for; unverified.
    pub(super) fn wanted(&self, identity: &str) -> Option<Vec<u8>> {
        self.cache.get(&self.key("single files of", identity)).map(|found| found.bytes().to_vec())
    }

    /// Stores them.
    pub(super) fn keep_wanted(&self, identity: &str, bytes: &[u8]) {
        self.cache.put(&self.key("single files of", identity), bytes);
    }

    /// Cached facts about single files; `place` is the key of their layer.
    pub(super) fn bodies(&self, place: &str, entries: usize) -> BodyFacts {
        let found = self.cache.get(&self.key("bodies", place));
        found.and_then(|found| BodyFacts::from_bytes(found.bytes(), entries).ok()).unwrap_or_default()
    }

    /// Stores facts about single files.
    pub(super) fn keep_bodies(&self, place: &str, facts: &BodyFacts) {
        self.cache.put(&self.key("bodies", place), &facts.to_bytes());
    }

    /// Key of a layer read by its table of contents. The manifest declares the digests of both; results are
    /// stored only if the digests in the table verify the bytes.
    pub(super) fn listed_place(source: &LayerSource) -> Option<String> {
        let (table, layer) = (Table::named(&source.annotations)?, source.digest.as_ref()?);
        Some(format!("layer {layer} by table {table}"))
    }

    /// Cached bytes of a table; unverified.
    pub(super) fn table(&self, place: &str) -> Option<Vec<u8>> {
        self.cache.get(&self.key("table of", place)).map(|found| found.bytes().to_vec())
    }

    /// Stores the bytes of a table.
    pub(super) fn keep_table(&self, place: &str, bytes: &[u8]) {
        self.cache.put(&self.key("table of", place), bytes);
    }

    /// A cached layer, read by its table and files.
    pub(super) fn listed(&self, place: &str, context: &Context) -> Option<LayerRead> {
        self.load(&self.key("listed", place), context)
    }

    /// Stores a layer that was read by its table and files. The caller checks that all of its bytes are
    /// verified.
    pub(super) fn keep_listed(&self, place: &str, read: &LayerRead, subject: &str) {
        if read.is_cacheable() {
            self.cache.put(&self.key("listed", place), &read.to_bytes(subject));
        }
    }

    /// The cached layers with these digests; `None` if one of them is missing or they exceed the budget.
    pub(super) fn blobs(&self, digests: &[&str], context: &Context) -> Option<Vec<LayerRead>> {
        let look_up = |digest: &&str| {
            let read = self.look_up(&self.blob_key(digest), context)?;
            (read.digest.as_deref() == Some(*digest)).then_some(read)
        };
        let reads: Vec<LayerRead> = digests.iter().map(look_up).collect::<Option<_>>()?;
        let bytes = reads.iter().map(|read| read.facts.kept_bytes()).sum();
        self.charge(bytes, context).then_some(reads)
    }
}

/// Prunes the cache if records were added, also after a failed run.
impl Drop for LayerCache<'_> {
    fn drop(&mut self) {
        self.cache.tidy();
    }
}

fn points_key(digest: &str) -> Key {
    Key::new(format!("restart points of {digest}"))
}

/// Windows have the hash of their bytes as a key: they are stored before the digest of the layer is known.
fn windows_key(hash: &GroupHash) -> Key {
    Key::new(format!("restart windows {}", blake3::Hash::from_bytes(*hash).to_hex()))
}

/// The cached restart points of the layer with the computed digest `digest`.
pub(super) fn load_points(cache: &Cache, digest: &str) -> Option<RestartPoints> {
    RestartPoints::from_bytes(cache.get(&points_key(digest))?.bytes())
}

/// Loads the windows of restart points.
pub(super) fn load_windows(cache: &Cache) -> Arc<LoadGroup> {
    let cache = cache.clone();
    Arc::new(move |hash: &GroupHash| cache.get(&windows_key(hash)).map(|found| found.bytes().to_vec()))
}

/// Facts about single files, by the index of their layer.
pub(super) type BodiesByLayer = BTreeMap<u16, BodyFacts>;

/// Whether a section has this digest; `false` if it is unreadable or the algorithm is unknown.
fn hashes_to(section: &Section, digest: &Digest, context: &Context) -> Result<bool, Cancelled> {
    let Some(mut hasher) = Hasher::for_digest(digest) else { return Ok(false) };
    let mut reader = SectionReader::new(section.clone());
    let mut buffer = vec![0; BUFFER_BYTES];
    loop {
        context.cancel.check()?;
        match std::io::Read::read(&mut reader, &mut buffer) {
            Ok(0) => return Ok(hasher.finish() == digest.as_ref()),
            Ok(count) => {
                hasher.update(&buffer[..count]);
                context.progress.add_read(count as u64);
            }
            Err(_) => return Ok(false),
        }
    }
}
