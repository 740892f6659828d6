//! Which entries stay.

use std::collections::{BTreeMap, BTreeSet};

use std::sync::Arc;

use hashbrown::HashSet;

use super::ghosts::Ghosts;
use super::{Change, Output};
use crate::base::convert::layer16;
use crate::formats::tar::edit::Facts;
use crate::layer::{EntryId, EntryKind, LayerIndex, parts};
use crate::rootfs::{NodeKind, PathId, Timeline, Version, VersionId};
use crate::slim::bits::Bits;

type Inode = (u16, EntryId);

const NONE: u32 = u32::MAX;

/// The layers, and what is known about each entry.
pub(super) struct Draft<'a> {
    layers: &'a [Arc<LayerIndex>],
    timeline: Timeline,
    /// By layer and entry: its version; `NONE` for whiteouts and entries that have no effect.
    versions: Vec<Vec<u32>>,
    /// By version: its path.
    paths: Vec<PathId>,
    /// By layer: its output.
    output: Vec<usize>,
    /// By layer: whether it is merged with others.
    merged: Vec<bool>,
    base: usize,
    gone: &'a [Bits],
    /// All names of files that have several, in order.
    names: BTreeMap<Inode, Vec<Inode>>,
}

/// The entries that stay, and those of them that change.
#[derive(Default)]
pub(super) struct Chosen {
    pub(super) kept: Vec<Bits>,
    pub(super) changes: Vec<BTreeMap<EntryId, Change>>,
}

impl<'a> Draft<'a> {
    /// `gone` are the entries that the plan removes; the lowest `base` layers are left alone.
    pub(super) fn new(
        layers: &'a [Arc<LayerIndex>],
        outputs: &[Output],
        base: usize,
        gone: &'a [Bits],
    ) -> Self {
        let timeline = Timeline::new(layers);
        let mut versions: Vec<Vec<u32>> = layers.iter().map(|layer| vec![NONE; layer.len()]).collect();
        let mut paths = Vec::new();
        for path in timeline.paths() {
            for version in timeline.versions(path) {
                paths.push(path);
                if let Some(entry) = version.entry {
                    versions[usize::from(version.layer)][entry.0 as usize] = version.id.0;
                }
            }
        }
        let mut output = vec![0; layers.len()];
        let mut merged = vec![false; layers.len()];
        for (number, one) in outputs.iter().enumerate() {
            for layer in one.layers.clone() {
                output[layer] = number;
                merged[layer] = one.layers.len() > 1;
            }
        }
        let mut draft =
            Self { layers, timeline, versions, paths, output, merged, base, gone, names: BTreeMap::new() };
        draft.names = draft.names();
        draft
    }

    fn names(&self) -> BTreeMap<Inode, Vec<Inode>> {
        let mut names: BTreeMap<Inode, Vec<Inode>> = BTreeMap::new();
        for (number, layer) in
            self.layers.iter().enumerate().filter(|(_, layer)| layer.counts().hardlinks > 0)
        {
            let layer_number = layer16(number);
            for entry in layer.entries().filter(|entry| layer.kind(*entry) == EntryKind::HardLink) {
                let version = self.version(layer_number, entry);
                if let Some((at, home, _)) = version.and_then(|version| self.timeline.shares(version.id)) {
                    names.entry((at, home)).or_insert_with(|| vec![(at, home)]).push((layer_number, entry));
                }
            }
        }
        names
    }

    fn version(&self, layer: u16, entry: EntryId) -> Option<Version> {
        let id = self.versions[usize::from(layer)][entry.0 as usize];
        (id != NONE).then(|| self.timeline.version(VersionId(id)))
    }

    fn path(&self, version: &Version) -> PathId {
        self.paths[version.id.0 as usize]
    }

    /// Whether the path of an entry has an entry in a layer that is left alone: without this one it would reappear.
    pub(super) fn is_over_base(&self, (layer, entry): Inode) -> bool {
        let Some(version) = self.version(layer, entry) else { return false };
        let mut versions = self.timeline.versions(self.path(&version));
        versions.any(|version| usize::from(version.layer) < self.base)
    }

    /// All entries that are names of a file.
    pub(super) fn all_names(&self, inode: Inode) -> Vec<Inode> {
        self.names.get(&inode).cloned().unwrap_or_else(|| vec![inode])
    }

    /// Decides for each entry. The error is a layer with an entry that would reappear.
    pub(super) fn choose(&self) -> Result<Chosen, u16> {
        // Layers that lose no byte are left alone, unless something in them would reappear.
        let mut touched: BTreeSet<u16> = BTreeSet::new();
        loop {
            let mut chosen = self.visible();
            self.leave_alone(&mut chosen, &touched);
            self.pin(&mut chosen);
            let left = self.whiteouts(&mut chosen);
            if left.is_empty() {
                self.relink(&mut chosen);
                return Ok(chosen);
            }
            for layer in left {
                if usize::from(layer) < self.base || !touched.insert(layer) {
                    return Err(layer);
                }
            }
        }
    }

    /// What the merged view shows.
    fn visible(&self) -> Chosen {
        let mut kept: Vec<Bits> = self.layers.iter().map(|layer| Bits::none(layer.len())).collect();
        for (number, layer) in self.layers.iter().enumerate() {
            // Backwards: an entry that a later one of the same layer replaces stays with that one.
            for place in (0..layer.len()).rev() {
                let entry = EntryId(crate::base::convert::index32(place));
                if matches!(layer.kind(entry), EntryKind::Whiteout | EntryKind::Opaque) {
                    continue;
                }
                let stays = number < self.base || self.stays(number, entry, &kept[number]);
                kept[number].set(entry.0, stays);
            }
        }
        Chosen { kept, changes: vec![BTreeMap::new(); self.layers.len()] }
    }

    fn stays(&self, number: usize, entry: EntryId, later: &Bits) -> bool {
        if self.gone[number].has(entry.0) {
            return false;
        }
        let own = layer16(number);
        // What has no effect is left as it is.
        let Some(version) = self.version(own, entry) else { return true };
        let is_folder = version.kind == NodeKind::Directory;
        let end = if is_folder { version.lost } else { version.until };
        match end {
            None if is_folder && self.merged[number] => !self.is_repeated(&version),
            None => true,
            Some(end) if end == own => self.has_replacement(&version, entry, later),
            Some(_) => false,
        }
    }

    /// Whether a later layer of the same output has the folder too.
    fn is_repeated(&self, version: &Version) -> bool {
        let output = |layer: u16| self.output[usize::from(layer)];
        let mut versions = self.timeline.versions(self.path(version));
        versions.any(|other| {
            other.layer > version.layer
                && other.entry.is_some()
                && output(other.layer) == output(version.layer)
        })
    }

    /// Whether the entry of the same layer that replaces this one stays.
    fn has_replacement(&self, version: &Version, entry: EntryId, later: &Bits) -> bool {
        let own = self.path(version);
        let mut path = own;
        loop {
            let replaces = |other: Version| {
                other.layer == version.layer
                    && other.entry.is_some_and(|other| other > entry && later.has(other.0))
                    && (path == own || other.kind != NodeKind::Directory)
            };
            if self.timeline.versions(path).any(replaces) {
                return true;
            }
            if path == PathId::ROOT {
                return false;
            }
            path = self.timeline.parent(path);
        }
    }

    /// Keeps everything of layers that would lose only names.
    fn leave_alone(&self, chosen: &mut Chosen, touched: &BTreeSet<u16>) {
        // Contents that another name keeps are not lost.
        let held: HashSet<Inode> = self
            .names
            .iter()
            .filter(|(inode, names)| {
                names.iter().any(|name| {
                    self.output[usize::from(name.0)] == self.output[usize::from(inode.0)]
                        && chosen.kept[usize::from(name.0)].has(name.1.0)
                })
            })
            .map(|(inode, _)| *inode)
            .collect();
        for (number, layer) in self.layers.iter().enumerate() {
            let place = layer16(number);
            if self.merged[number] || touched.contains(&place) {
                continue;
            }
            let kept = &mut chosen.kept[number];
            let loses = |entry: EntryId| {
                let moves = held.contains(&(place, entry));
                !kept.has(entry.0) && (self.gone[number].has(entry.0) || (layer.size(entry) > 0 && !moves))
            };
            // A layer of whiteouts only is worth nothing if none of them is needed.
            let is_whiteouts = number >= self.base && kept.count() == 0;
            if !is_whiteouts && !layer.entries().any(loses) {
                layer.entries().for_each(|entry| kept.set(entry.0, true));
            }
        }
    }

    /// Keeps all names of files that a link of another layer names.
    fn pin(&self, chosen: &mut Chosen) {
        for (inode, names) in &self.names {
            let other = |name: &&Inode| self.output[usize::from(name.0)] != self.output[usize::from(inode.0)];
            let needed = |name: &&Inode| chosen.kept[usize::from(name.0)].has(name.1.0);
            if let Some(last) = names.iter().filter(other).rfind(needed).copied() {
                for name in names.iter().filter(|name| **name <= last) {
                    chosen.kept[usize::from(name.0)].set(name.1.0, true);
                }
            }
        }
    }

    /// Decides which whiteouts are needed. Returns the layers of entries that nothing would hide.
    fn whiteouts(&self, chosen: &mut Chosen) -> BTreeSet<u16> {
        let hidden = |layer: u16, entry: EntryId| {
            let version = self.version(layer, entry)?;
            let end = if version.kind == NodeKind::Directory { version.lost } else { version.until };
            end.is_some().then_some(version)
        };
        let mut paths = BTreeSet::new();
        for (number, layer) in self.layers.iter().enumerate() {
            let kept = &chosen.kept[number];
            let stay = layer.entries().filter(|entry| kept.has(entry.0));
            let versions = stay.filter_map(|entry| hidden(layer16(number), entry));
            paths.extend(versions.map(|version| self.path(&version)));
        }
        if paths.is_empty() {
            return BTreeSet::new();
        }
        let mut ghosts = Ghosts::new(&self.timeline, &paths);
        for (number, layer) in self.layers.iter().enumerate() {
            let kept = &mut chosen.kept[number];
            let is_whiteout =
                |entry: EntryId| matches!(layer.kind(entry), EntryKind::Whiteout | EntryKind::Opaque);
            if layer.counts().whiteouts > 0 {
                for entry in layer.entries().filter(|entry| is_whiteout(*entry)) {
                    if ghosts.whiteout(layer, entry) {
                        kept.set(entry.0, true);
                        self.convert(number, entry, &mut chosen.changes[number]);
                    }
                }
            }
            for entry in layer.entries().filter(|entry| kept.has(entry.0) && !is_whiteout(*entry)) {
                let Some(version) = self.version(layer16(number), entry) else { continue };
                let is_folder = version.kind == NodeKind::Directory;
                ghosts.put(&self.timeline, self.path(&version), is_folder);
                if hidden(layer16(number), entry).is_some() {
                    ghosts.add(self.path(&version), is_folder, layer16(number));
                }
            }
        }
        ghosts.left()
    }

    /// In a merged layer, a whiteout of a folder that is there again becomes an opaque one inside: engines apply
    /// whiteouts and entries of one layer in their own orders.
    fn convert(&self, number: usize, entry: EntryId, changes: &mut BTreeMap<EntryId, Change>) {
        let layer = &self.layers[number];
        if !self.merged[number] || layer.kind(entry) != EntryKind::Whiteout {
            return;
        }
        let path = layer.path(entry);
        let now = self.timeline.find(&path).and_then(|path| self.timeline.versions(path).next_back());
        if now.is_some_and(|now| now.lost.is_none() && now.kind == NodeKind::Directory) {
            let path = [path.as_slice(), b"/.wh..wh..opq"].concat();
            changes.insert(entry, Change { path: Some(path), ..Change::default() });
        }
    }

    /// Gives the content of a file whose own name goes to the first link that stays, and adapts the other links.
    fn relink(&self, chosen: &mut Chosen) {
        for (inode, names) in &self.names {
            let output = self.output[usize::from(inode.0)];
            let here: Vec<Inode> =
                names.iter().filter(|name| self.output[usize::from(name.0)] == output).copied().collect();
            let kept: Vec<Inode> =
                here.iter().filter(|name| chosen.kept[usize::from(name.0)].has(name.1.0)).copied().collect();
            let Some(first) = kept.first().copied().filter(|_| kept.len() < here.len()) else { continue };
            let path = |name: Inode| self.layers[usize::from(name.0)].path(name.1);
            let holder = path(first);
            if first != *inode {
                chosen.kept[usize::from(first.0)].set(first.1.0, false);
                chosen.kept[usize::from(inode.0)].set(inode.1.0, true);
                let (facts, own) = (self.facts(first), self.facts(*inode));
                let facts = Some(facts).filter(|facts| *facts != own);
                let change = Change { path: Some(holder.clone()), facts, ..Change::default() };
                chosen.changes[usize::from(inode.0)].insert(inode.1, change);
            }
            let mut there: HashSet<Vec<u8>> = HashSet::from([holder.clone()]);
            for name in kept.iter().skip(1) {
                let layer = &self.layers[usize::from(name.0)];
                if !there.contains(&normal(layer.link(name.1).unwrap_or_default())) {
                    let change = Change { link: Some(holder.clone()), ..Change::default() };
                    chosen.changes[usize::from(name.0)].insert(name.1, change);
                }
                there.insert(path(*name));
            }
        }
    }

    fn facts(&self, (layer, entry): Inode) -> Facts {
        let index = &self.layers[usize::from(layer)];
        let (uid, gid) = index.owner(entry);
        Facts { mode: index.mode(entry), uid, gid, mtime: index.mtime(entry) }
    }
}

/// The absolute path that a hard link names.
fn normal(link: &[u8]) -> Vec<u8> {
    let mut path: Vec<&[u8]> = Vec::new();
    for part in parts(link) {
        if part == b".." {
            path.pop();
        } else {
            path.push(part);
        }
    }
    path.iter().flat_map(|part| [b"/", *part].concat()).collect()
}
