//! Files that are read after the layers, several at a time.

use std::collections::BTreeMap;

use std::sync::Arc;

use hashbrown::HashMap;

use super::super::body::{mark_of, sample, search, whole};
use super::super::layer_cache::{BodiesByLayer, LayerCache};
use super::{body_place, open};
use crate::base::Section;
use crate::cuda::Inode;
use crate::formats::binary::{self, BinaryLimits, FileFacts};
use crate::formats::contents::Sum;
use crate::formats::string_references::StringReferences;
use crate::jobs::{CancelToken, Cancelled, Progress, map_all, workers};
use crate::layer::{BodyFacts, ContentHash, EntryId, LayerRead};
use crate::source::table::Table;
use crate::source::{Blob, Image};

/// Threads that read single files: more wait for memory and disk.
const READERS: usize = 8;

/// Single files of an image, and what is known of them.
pub(super) struct Source<'a> {
    pub(super) image: &'a Image,
    pub(super) layers: &'a [Option<Arc<LayerRead>>],
    pub(super) tables: &'a [Option<Arc<Table>>],
    /// Paths of files in folders.
    pub(super) paths: HashMap<Inode, Vec<u8>>,
    pub(super) progress: &'a Progress,
    /// Cached facts about single files.
    pub(super) before: BodiesByLayer,
    /// Facts about single files, read in this run.
    pub(super) new: BodiesByLayer,
}

impl Source<'_> {
    /// A fact that is cached or was read in this run.
    pub(super) fn known<T>(&self, inode: Inode, part: impl Fn(&BodyFacts) -> Option<&T>) -> Option<&T> {
        let known = self.before.get(&inode.0).and_then(&part);
        known.or_else(|| self.new.get(&inode.0).and_then(part))
    }

    /// Reads files in several threads, if `is_wanted`, and stores what `read` returns with `keep`. Files of layers with a
    /// table of contents are left out: they are fetched one after the other, in the order of their bytes.
    pub(super) fn ahead<T: Send>(
        &mut self,
        inodes: &[Inode],
        is_wanted: &dyn Fn(&Self, Inode) -> bool,
        read: &(dyn Fn(&Self, Inode) -> Option<T> + Sync),
        keep: &mut dyn FnMut(&mut BodyFacts, EntryId, T),
    ) {
        let mut files: Vec<Inode> = inodes.to_vec();
        files.retain(|inode| self.table(*inode).is_none() && is_wanted(self, *inode));
        let source = &*self;
        let found = map_all(files, workers().min(READERS), |inode| Some((inode, read(source, inode)?)));
        for (inode, fact) in found.into_iter().flatten() {
            keep(self.found(inode), inode.1, fact);
        }
    }

    /// Reads samples, and the hashes of those that are equal, in several threads.
    pub(super) fn compare_ahead(
        &mut self,
        groups: &BTreeMap<u64, Vec<Inode>>,
        cancel: &CancelToken,
    ) -> Result<(), Cancelled> {
        let inodes: Vec<Inode> = groups.values().flatten().copied().collect();
        let unread =
            |source: &Self, inode: Inode| source.known(inode, |known| known.samples.get(&inode.1)).is_none();
        let read = |source: &Self, inode: Inode| {
            cancel.check().ok()?;
            sample(&source.open(inode)?, source.size(inode)?).ok()
        };
        self.ahead(&inodes, &unread, &read, &mut |found, entry, sample| {
            found.samples.insert(entry, sample);
        });
        cancel.check()?;
        let mut alike: HashMap<(u64, ContentHash), u32> = HashMap::new();
        let sample_of =
            |source: &Self, inode: Inode| source.known(inode, |known| known.samples.get(&inode.1)).copied();
        let samples: Vec<(u64, Inode, ContentHash)> = groups
            .iter()
            .flat_map(|(size, inodes)| inodes.iter().map(|inode| (*size, *inode)))
            .filter_map(|(size, inode)| Some((size, inode, sample_of(self, inode)?)))
            .collect();
        for (size, _, sample) in &samples {
            *alike.entry((*size, *sample)).or_default() += 1;
        }
        let equal = samples
            .iter()
            .filter(|(size, _, sample)| alike.get(&(*size, *sample)).is_some_and(|count| *count > 1));
        let equal: Vec<Inode> = equal.map(|(_, inode, _)| *inode).collect();
        let unread =
            |source: &Self, inode: Inode| source.known(inode, |known| known.hashes.get(&inode.1)).is_none();
        let read = |source: &Self, inode: Inode| whole(source.open(inode)?, cancel).ok();
        self.ahead(&equal, &unread, &read, &mut |found, entry, hash| {
            found.hashes.insert(entry, hash);
        });
        cancel.check()
    }

    fn size(&self, inode: Inode) -> Option<u64> {
        Some(self.layers.get(usize::from(inode.0))?.as_deref()?.index.size(inode.1))
    }

    /// A binary with its deferred GPU code; `None` if it cannot be read.
    pub(super) fn binary(&self, inode: Inode, cancel: &CancelToken) -> Option<FileFacts> {
        let read = self.layers.get(usize::from(inode.0))?.as_deref()?;
        let mut facts = read.facts.binary(inode.1)?.clone();
        let section = self.open(inode)?;
        binary::read_deferred(&section, &mut facts, &BinaryLimits::default(), cancel).ok()?;
        Some(facts)
    }

    /// The string references of a file; `None` if it cannot be read.
    pub(super) fn mentions(&self, inode: Inode, cancel: &CancelToken) -> Option<StringReferences> {
        let read = self.layers.get(usize::from(inode.0))?.as_deref()?;
        let sort = read.facts.search_kind(&read.index, inode.1)?;
        search(self.open(inode)?, sort, cancel).ok()?
    }

    pub(super) fn table(&self, inode: Inode) -> Option<&'_ Arc<Table>> {
        self.tables.get(usize::from(inode.0))?.as_ref()
    }

    /// The digest of a file in its table of contents; unverified.
    pub(super) fn claimed(&self, inode: Inode) -> Option<Sum> {
        self.table(inode)?.sum(inode.1.0 as usize)
    }

    pub(super) fn found(&mut self, inode: Inode) -> &mut BodyFacts {
        self.new.entry(inode.0).or_default()
    }

    /// Stores new facts, in addition to the known ones.
    pub(super) fn keep(self, layer_cache: &LayerCache<'_>) {
        let Self { image, tables, mut before, new, .. } = self;
        // Layers with the same blob share its facts.
        let mut by_place: BTreeMap<String, (u16, BodyFacts)> = BTreeMap::new();
        for (place, facts) in new {
            let Some(bytes) = body_place(image, tables, place) else { continue };
            let (_, all) = by_place.entry(bytes).or_insert((place, BodyFacts::default()));
            all.merge(before.remove(&place).unwrap_or_default());
            all.merge(facts);
        }
        for (bytes, (place, all)) in by_place {
            let table = tables.get(usize::from(place)).and_then(Option::as_ref);
            // Facts from changed files or unverified bytes are not stored.
            let sound = match (table, image.layers.get(usize::from(place)).map(|layer| &layer.blob)) {
                (Some(table), _) => table.unproven() == 0,
                (None, Some(Blob::Section(section))) => !section.was_written().unwrap_or(true),
                _ => false,
            };
            if sound {
                layer_cache.keep_bodies(&bytes, &all);
            }
        }
    }

    pub(super) fn sample(&mut self, inode: Inode, size: u64) -> Option<ContentHash> {
        if let Some(sample) = self.known(inode, |known| known.samples.get(&inode.1)) {
            return Some(*sample);
        }
        let sample = match (self.claimed(inode), self.table(inode)) {
            (Some(sum), _) => mark_of(&sum),
            // Random access costs more requests than reading the file completely.
            (None, Some(_)) => ContentHash::default(),
            (None, None) => sample(&self.open(inode)?, size).ok()?,
        };
        self.found(inode).samples.insert(inode.1, sample);
        Some(sample)
    }

    pub(super) fn whole(&mut self, inode: Inode, cancel: &CancelToken) -> Option<ContentHash> {
        if let Some(hash) = self.known(inode, |known| known.hashes.get(&inode.1)) {
            return Some(*hash);
        }
        let hash = whole(self.open(inode)?, cancel);
        // The next file may be in another layer: release this table, so that only one is locked.
        if let Some(table) = self.table(inode) {
            table.let_go();
        }
        let hash = hash.ok()?;
        self.found(inode).hashes.insert(inode.1, hash);
        Some(hash)
    }

    fn open(&self, inode: Inode) -> Option<Section> {
        let read = self.layers.get(usize::from(inode.0))?.as_deref()?;
        let blob = &self.image.layers.get(usize::from(inode.0))?.blob;
        open(blob, read, self.table(inode), inode.1, || self.paths.get(&inode).cloned(), self.progress)
    }
}
