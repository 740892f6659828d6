//! Layers of all images, each once, and what a node pulls.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hashbrown::DefaultHashBuilder;

use super::identity::Identity;
use super::signature::{Signature, is_same, signature};
use super::value::{LayerMatch, LayerRow};
use crate::analysis::Analysis;
use crate::jobs::{CancelToken, Cancelled};
use crate::layer::{Counts, LayerRead};

/// All layers: those of the first image bottom first, then what the next ones add.
pub(super) fn rows(
    images: &[Arc<Analysis>],
    ids: &[Vec<Identity>],
    cancel: &CancelToken,
) -> Result<Vec<LayerRow>, Cancelled> {
    let mut rows = Rows { images, ids, list: Vec::new(), firsts: Vec::new(), known: HashMap::new() };
    let mut signatures =
        Signatures { images, known: HashMap::new(), hasher: DefaultHashBuilder::default(), cancel };
    for (image, layers) in ids.iter().enumerate() {
        let mut others = Vec::new();
        for place in 0..layers.len() {
            match rows.known(image, place) {
                Some((row, how)) => rows.put(row, image, place, how),
                None => others.push(place),
            }
        }
        for place in others {
            // It may have come with one that was put meanwhile.
            let known = match rows.known(image, place) {
                None => signatures.find(&rows, image, place)?.map(|row| (row, LayerMatch::Content)),
                known => known,
            };
            match known {
                Some((row, how)) => rows.put(row, image, place, how),
                None => rows.add(image, place),
            }
        }
    }
    Ok(rows.list)
}

struct Rows<'a> {
    images: &'a [Arc<Analysis>],
    ids: &'a [Vec<Identity>],
    list: Vec<LayerRow>,
    /// Image and place of the first layer of each row.
    firsts: Vec<(usize, usize)>,
    /// By digest, of blobs and of tar streams: the row, and how the layer that had it came there.
    known: HashMap<(bool, &'a str), (usize, LayerMatch)>,
}

impl<'a> Rows<'a> {
    /// The row of a layer by its digests.
    fn known(&self, image: usize, place: usize) -> Option<(usize, LayerMatch)> {
        let id = &self.ids[image][place];
        let by = |blob: bool, name: &'a Option<String>, how: LayerMatch| {
            let (row, before) = *self.known.get(&(blob, name.as_deref()?))?;
            // A layer is known by the weakest link to the first.
            Some((row, how.max(before)))
        };
        by(true, &id.digest, LayerMatch::Digest).or_else(|| by(false, &id.diff_id, LayerMatch::DiffId))
    }

    /// Puts a layer into a row.
    fn put(&mut self, row: usize, image: usize, place: usize, how: LayerMatch) {
        let id = &self.ids[image][place];
        let read = self.images[image].layers[place].read.as_deref();
        if let Some(digest) = &id.digest {
            self.known.entry((true, digest)).or_insert((row, how));
        }
        if let Some(diff_id) = &id.diff_id {
            self.known.entry((false, diff_id)).or_insert((row, how));
        }
        let row = &mut self.list[row];
        row.places[image].push(place);
        row.matches[image] = Some(row.matches[image].map_or(how, |known| known.max(how)));
        row.bytes[image] = row.bytes[image].or_else(|| read?.compressed_bytes);
        row.content_bytes = row.content_bytes.or_else(|| Some(read?.index.counts().content_bytes));
        row.diff_id = row.diff_id.take().or_else(|| id.diff_id.clone().filter(|_| how < LayerMatch::Content));
    }

    fn add(&mut self, image: usize, place: usize) {
        let (id, count) = (&self.ids[image][place], self.images.len());
        self.list.push(LayerRow {
            digest: id.digest.clone(),
            diff_id: id.diff_id.clone(),
            bytes: vec![None; count],
            content_bytes: None,
            places: vec![Vec::new(); count],
            matches: vec![None; count],
            created_by: self.images[image].image.layers[place].created_by.clone(),
        });
        self.firsts.push((image, place));
        self.put(self.list.len() - 1, image, place, LayerMatch::Digest);
    }
}

/// Searches for layers with equal content. Expensive: only if nothing else matches.
struct Signatures<'a> {
    images: &'a [Arc<Analysis>],
    known: HashMap<(usize, usize), Option<Signature>>,
    hasher: DefaultHashBuilder,
    cancel: &'a CancelToken,
}

impl Signatures<'_> {
    /// The row whose first layer has the content of this one.
    fn find(&mut self, rows: &Rows<'_>, image: usize, place: usize) -> Result<Option<usize>, Cancelled> {
        let Some(counts) = self.counts((image, place)) else { return Ok(None) };
        for (row, first) in rows.firsts.iter().enumerate() {
            // Layers that an image has beside each other are two, and so are those that others have exactly.
            let free = first.0 != image
                && rows.list[row].matches[image].is_none_or(|how| how == LayerMatch::Content);
            if !free || self.counts(*first) != Some(counts) {
                continue;
            }
            self.look_at((image, place))?;
            self.look_at(*first)?;
            let Some(own) = self.of((image, place)) else { return Ok(None) };
            if self.of(*first).is_some_and(|other| is_same(own, other, self.cancel) == Ok(true)) {
                return Ok(Some(row));
            }
            self.cancel.check()?;
        }
        Ok(None)
    }

    fn read(&self, (image, place): (usize, usize)) -> Option<&LayerRead> {
        self.images.get(image)?.layers.get(place)?.read.as_deref().filter(|read| read.complete)
    }

    fn counts(&self, layer: (usize, usize)) -> Option<Counts> {
        self.read(layer).map(|read| *read.index.counts())
    }

    /// A layer and its signature, if it was computed and exists.
    fn of(&self, layer: (usize, usize)) -> Option<(&LayerRead, &Signature)> {
        self.read(layer).zip(self.known.get(&layer)?.as_ref())
    }

    fn look_at(&mut self, layer: (usize, usize)) -> Result<(), Cancelled> {
        if !self.known.contains_key(&layer) {
            let found = match self.read(layer) {
                Some(read) => signature(read, &self.hasher, self.cancel)?,
                None => None,
            };
            self.known.insert(layer, found);
        }
        Ok(())
    }
}

/// What a node that has the first image pulls for each: see [`super::Comparison::pull_bytes`].
pub(super) fn pull_bytes(images: &[Arc<Analysis>], ids: &[Vec<Identity>]) -> Vec<Option<u64>> {
    let Some(first) = ids.first() else { return Vec::new() };
    let held: HashSet<&str> = first.iter().filter_map(|id| id.digest.as_deref()).collect();
    let pulled = |(image, layers): (&Arc<Analysis>, &Vec<Identity>)| {
        let mut seen = held.clone();
        let mut unpacked = true;
        let mut sum = 0u64;
        for (place, id) in layers.iter().enumerate() {
            let below = first.get(place).and_then(|id| id.diff_id.as_ref());
            unpacked &= below.is_some() && below == id.diff_id.as_ref();
            if unpacked || id.digest.as_deref().is_some_and(|digest| !seen.insert(digest)) {
                continue;
            }
            let read = image.layers.get(place).and_then(|layer| layer.read.as_deref());
            sum = sum.saturating_add(read?.compressed_bytes?);
        }
        Some(sum)
    };
    let others = images.iter().zip(ids).skip(1).map(pulled);
    std::iter::once(Some(0)).chain(others).collect()
}
