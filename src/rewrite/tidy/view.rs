//! The image's layers as input of clean-ups.

use std::cell::Cell;
use std::collections::BTreeMap;

use hashbrown::HashSet;

use super::context::{Kind, Look, Waste, is_within};
use crate::base::convert::index32;
use crate::cuda::Inode;
use crate::findings::{Category, Item};
use crate::layer::{DirId, EntryId, EntryKind, LayerIndex};
use crate::rewrite::input::Input;
use crate::rootfs::{Rootfs, copies};

/// Number of entries of each layer; 0 for those that were not read.
pub(in crate::rewrite) fn entries(input: &Input<'_>) -> Vec<usize> {
    input.layers.iter().map(|layer| layer.as_ref().map_or(0, |read| read.index.len())).collect()
}

/// Files of the plan's findings that an instruction could avoid, by layer and entry.
pub(in crate::rewrite) fn waste(input: &Input<'_>) -> Vec<Waste> {
    let rootfs = &input.merge.rootfs;
    let hidden = rootfs.hidden();
    let taken: BTreeMap<_, _> = copies(rootfs).collect();
    let mut waste = Vec::new();
    for finding in input.findings.list.iter().filter(|finding| input.plan.contains(&finding.id)) {
        waste.extend(finding.items.iter().map(|item| {
            let place = hidden.binary_search_by_key(&(item.layer, item.entry), |one| (one.layer, one.entry));
            let inode = (item.layer, item.entry);
            Waste {
                layer: item.layer,
                entry: item.entry,
                bytes: item.bytes,
                kind: kind(rootfs, finding.category, item),
                by: place.ok().and_then(|place| hidden.get(place)).map(|hidden| hidden.by),
                copy: taken.get(&inode).filter(|by| is_same(input, inode, **by)).map(|by| by.1),
            }
        }));
    }
    waste.sort_by_key(|one| (one.layer, one.entry));
    waste.dedup_by_key(|one| (one.layer, one.entry));
    waste
}

/// Whether two files are known to have the same content.
fn is_same(input: &Input<'_>, one: Inode, other: Inode) -> bool {
    let hash = |inode: Inode| {
        let read = input.layers.get(usize::from(inode.0)).and_then(Option::as_deref);
        read.and_then(|read| read.facts.hash(inode.1)).or_else(|| input.bodies.hashes.get(&inode))
    };
    hash(one).is_some_and(|known| hash(other) == Some(known))
}

fn kind(rootfs: &Rootfs, category: Category, item: &Item) -> Kind {
    match category {
        Category::PackageCaches => {
            let path = match item.node {
                Some(node) => rootfs.node(node).path(),
                None => rootfs.layer(item.layer).path(item.entry),
            };
            Kind::of_cache(&path)
        }
        Category::BuildArtifacts => Kind::Artifact,
        _ => Kind::Other,
    }
}

/// Maximum entries visited for all queries together; a query costs one or two layers, and ordinary files have
/// a handful of them.
const ENTRIES: usize = 1 << 24;

/// The layers.
pub(in crate::rewrite) struct View<'a> {
    rootfs: &'a Rootfs,
    /// Layers with files of caches that no finding of the plan covers.
    kept: Vec<(u16, Kind)>,
    /// Entries that may still be visited.
    left: Cell<usize>,
}

impl<'a> View<'a> {
    pub(in crate::rewrite) fn new(input: &Input<'a>) -> Self {
        let rootfs = &input.merge.rootfs;
        let kept = input.findings.list.iter().filter(|finding| !input.plan.contains(&finding.id));
        let kept = kept.filter(|finding| finding.category == Category::PackageCaches);
        // Files that an upper layer replaces, such as locks, are in findings without bytes.
        let kept = kept.flat_map(|finding| &finding.items).filter(|item| item.node.is_some());
        let mut kept: Vec<(u16, Kind)> =
            kept.map(|item| (item.layer, kind(rootfs, Category::PackageCaches, item))).collect();
        kept.sort_unstable();
        kept.dedup();
        Self { rootfs, kept, left: Cell::new(ENTRIES) }
    }

    fn layers(&self, numbers: impl Iterator<Item = u16>) -> Vec<&'a LayerIndex> {
        numbers.map(|number| self.rootfs.layer(number)).collect()
    }

    /// Whether the entries of these layers may be visited.
    fn may_look(&self, indexes: &[&LayerIndex]) -> bool {
        let entries = indexes.iter().map(|index| index.len().saturating_add(index.dir_count())).sum();
        let left = self.left.get().checked_sub(entries);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }
}

fn is_whiteout(kind: EntryKind) -> bool {
    matches!(kind, EntryKind::Whiteout | EntryKind::Opaque)
}

impl Look for View<'_> {
    fn path(&self, layer: u16, entry: EntryId) -> Vec<u8> {
        self.rootfs.layer(layer).path(entry)
    }

    fn mode(&self, layer: u16, entry: EntryId) -> u16 {
        self.rootfs.layer(layer).mode(entry)
    }

    fn existed(&self, path: &str, layer: u16) -> bool {
        let name = path.rsplit('/').next().unwrap_or_default().as_bytes();
        let below = self.layers(0..layer);
        !self.may_look(&below)
            || below.iter().any(|index| {
                let mut entries = index.entries().filter(|entry| index.name(*entry) == name);
                let mut dirs = (1..index32(index.dir_count())).map(DirId);
                entries.any(|entry| !is_whiteout(index.kind(entry)) && index.path(entry) == path.as_bytes())
                    || dirs.any(|dir| index.dir_name(dir) == name && index.dir_path(dir) == path.as_bytes())
            })
    }

    fn keeps(&self, layers: &[u16], caches: &[Kind]) -> bool {
        self.kept.iter().any(|(layer, kind)| layers.contains(layer) && caches.contains(kind))
    }

    fn is_all_of(&self, layers: &[u16], others: &[u16], path: &str) -> bool {
        let (layers, others) = (self.layers(layers.iter().copied()), self.layers(others.iter().copied()));
        if !self.may_look(&layers) || !self.may_look(&others) {
            return false;
        }
        let paths = others.iter().flat_map(|index| index.entries().map(|entry| index.path(entry)));
        let known: HashSet<Vec<u8>> = paths.filter(|other| is_within(other, path)).collect();
        layers.iter().all(|index| {
            let mut within = index.entries().map(|entry| (index.path(entry), index.kind(entry)));
            within.all(|(other, kind)| {
                let is_known = other == path.as_bytes() || known.contains(&other);
                !is_within(&other, path) || !is_whiteout(kind) && is_known
            })
        })
    }
}
