//! States of every path, layer by layer, in one arena.
//!
//! A path of the timeline exists in some layer. It has versions, each with the layers between which it is visible; so
//! the state after any layer is a filter, not a new merge.

use std::sync::Arc;

use hashbrown::HashMap;

use super::merge::{Merger, Watch, apply_all};
use super::value::{Inode, NONE, NodeKind, Origin, Place};
use crate::base::convert::index32;
use crate::layer::{EntryId, LayerIndex};

/// A path of a timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(pub u32);

impl PathId {
    /// The root folder.
    pub const ROOT: Self = Self(0);
}

/// A version of some path, by its number in the timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VersionId(pub u32);

/// Never, as a layer number.
const NEVER: u16 = u16::MAX;

#[derive(Clone, Copy)]
struct VersionRecord {
    place: Place,
    kind: NodeKind,
    /// The layer that ends this version.
    until: u16,
    /// The layer that removes the path, or replaces it by something else. Differs from `until` for a folder that a
    /// later layer also touches.
    lost: u16,
}

#[derive(Clone, Copy)]
struct PathRecord {
    parent: u32,
    children: u32,
    child_count: u32,
    versions: u32,
}

/// A second name of a file.
#[derive(Clone, Copy)]
struct Shared {
    version: VersionId,
    inode: Inode,
    /// The version that is the file itself.
    home: VersionId,
}

/// State of a path from one layer to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Its number.
    pub id: VersionId,
    /// First layer with this version.
    pub layer: u16,
    /// Its entry there; `None` for a folder that exists only through paths below it.
    pub entry: Option<EntryId>,
    /// Kind of the path in this version.
    pub kind: NodeKind,
    /// The layer that replaces this version or removes the path.
    pub until: Option<u16>,
    /// The layer that removes or replaces the path. A folder that a later layer also touches is not lost.
    pub lost: Option<u16>,
}

impl Version {
    /// Whether this version is visible after layer `layer`.
    pub fn shows_after(&self, layer: u16) -> bool {
        self.layer <= layer && self.until.is_none_or(|until| until > layer)
    }
}

/// All paths of all layers with their versions. About 60 bytes per path.
pub struct Timeline {
    layers: Vec<Arc<LayerIndex>>,
    paths: Vec<PathRecord>,
    versions: Vec<VersionRecord>,
    shared: Vec<Shared>,
}

#[derive(Default)]
struct Recorder {
    /// Node and version, in the order of events.
    versions: Vec<(u32, VersionRecord)>,
    /// The current version of each node.
    open: Vec<u32>,
    shared: Vec<(u32, Inode)>,
}

impl Recorder {
    /// With room for one version of each entry: grown by doubling, the list would need twice the memory.
    fn with_capacity(layers: &[Arc<LayerIndex>]) -> Self {
        let entries = layers.iter().map(|layer| layer.len()).sum();
        Self { versions: Vec::with_capacity(entries), ..Self::default() }
    }

    fn open_of(&mut self, node: u32) -> &mut u32 {
        let node = node as usize;
        if self.open.len() <= node {
            self.open.resize(node + 1, NONE);
        }
        &mut self.open[node]
    }
}

impl Watch for Recorder {
    fn put(&mut self, node: u32, place: Place, kind: NodeKind) {
        let version = index32(self.versions.len());
        let before = std::mem::replace(self.open_of(node), version);
        if before != NONE {
            self.versions[before as usize].1.until = place.layer;
        }
        self.versions.push((node, VersionRecord { place, kind, until: NEVER, lost: NEVER }));
    }

    fn share(&mut self, node: u32, inode: Inode) {
        let version = *self.open_of(node);
        self.shared.push((version, inode));
    }

    fn gone(&mut self, node: u32, layer: u16) {
        let before = std::mem::replace(self.open_of(node), NONE);
        if before != NONE {
            self.versions[before as usize].1.until = layer;
            // Marks a loss; a folder that is also touched has no such mark.
            self.versions[before as usize].1.lost = layer;
        }
    }
}

impl Timeline {
    /// Follows the layers, bottom first, by the rules of [`super::merge`].
    pub fn new(layers: &[Arc<LayerIndex>]) -> Self {
        // What is no longer needed goes at once: with a million paths, each part has tens of megabytes.
        let Merger { nodes, watch, .. } =
            apply_all(layers, &[], 0, &|_, _| true, Recorder::with_capacity(layers));
        let Recorder { versions: recorded, shared: second_names, .. } = watch;
        let parents: Vec<u32> = nodes.iter().map(|live| live.parent).collect();
        drop(nodes);
        let (mut paths, new_of) = lay_out(&parents);
        drop(parents);
        let (versions, new_version) = by_path(&recorded, &new_of, &mut paths);
        drop((recorded, new_of));
        let shared = shared(&second_names, &new_version, &versions);
        let mut timeline = Self { layers: layers.to_vec(), paths, versions, shared };
        timeline.mark_lost();
        timeline
    }

    /// How many paths there are, the root included.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there is nothing but the root.
    pub fn is_empty(&self) -> bool {
        self.paths.len() <= 1
    }

    /// The index of a layer.
    pub fn layer(&self, layer: u16) -> &LayerIndex {
        &self.layers[usize::from(layer)]
    }

    /// All paths, parents before children.
    pub fn paths(&self) -> impl DoubleEndedIterator<Item = PathId> + ExactSizeIterator + use<> {
        (0..index32(self.paths.len())).map(PathId)
    }

    /// The folder that a path is in; the root is in itself.
    pub fn parent(&self, path: PathId) -> PathId {
        PathId(self.paths[path.0 as usize].parent)
    }

    /// All paths that were ever in a folder, adjacent, unordered.
    pub fn children(&self, path: PathId) -> impl ExactSizeIterator<Item = PathId> + use<> {
        let record = self.paths[path.0 as usize];
        (record.children..record.children + record.child_count).map(PathId)
    }

    /// The last part of a path; empty for the root.
    pub fn name(&self, path: PathId) -> &[u8] {
        if path == PathId::ROOT {
            return b"";
        }
        let place = self.versions[self.paths[path.0 as usize].versions as usize].place;
        place.name(&self.layers)
    }

    /// Depth of a path below the root.
    pub fn depth(&self, path: PathId) -> usize {
        std::iter::successors(Some(path), |at| (*at != PathId::ROOT).then(|| self.parent(*at))).count() - 1
    }

    /// The absolute path, any bytes; `/` for the root.
    pub fn full_path(&self, path: PathId) -> Vec<u8> {
        let mut parts = Vec::new();
        let mut at = path;
        while at != PathId::ROOT {
            parts.push(self.name(at));
            at = self.parent(at);
        }
        if parts.is_empty() {
            return b"/".to_vec();
        }
        let mut full = Vec::new();
        for part in parts.iter().rev() {
            full.push(b'/');
            full.extend_from_slice(part);
        }
        full
    }

    /// The path named `full`, if any layer has it.
    pub fn find(&self, full: &[u8]) -> Option<PathId> {
        crate::layer::parts(full)
            .try_fold(PathId::ROOT, |at, part| self.children(at).find(|child| self.name(*child) == part))
    }

    /// States of a path, oldest first. The root may have none.
    pub fn versions(&self, path: PathId) -> impl DoubleEndedIterator<Item = Version> + ExactSizeIterator {
        let at = path.0 as usize;
        let end = self.paths.get(at + 1).map_or(self.versions.len(), |next| next.versions as usize);
        let start = self.paths[at].versions as usize;
        (start..end).map(|id| self.version(VersionId(index32(id))))
    }

    /// A version by its number.
    pub fn version(&self, id: VersionId) -> Version {
        let record = self.versions[id.0 as usize];
        let layer = |number| (number != NEVER).then_some(number);
        Version {
            id,
            layer: record.place.layer,
            entry: match record.place.origin() {
                Origin::Entry(entry) => Some(entry),
                Origin::Implied(_) => None,
            },
            kind: record.kind,
            until: layer(record.until),
            lost: layer(record.lost),
        }
    }

    /// The layer and entry with the bytes of a version that is a second name of a file, and the
    /// version that is this file itself. `None` for all else.
    pub fn shares(&self, version: VersionId) -> Option<(u16, EntryId, VersionId)> {
        let place = self.shared.binary_search_by_key(&version, |shared| shared.version).ok()?;
        let shared = self.shared[place];
        Some((shared.inode.0, shared.inode.1, shared.home))
    }

    /// Size of a version: that of its file, also for a hard link; 0 for other kinds.
    pub fn bytes(&self, version: &Version) -> u64 {
        if version.kind != NodeKind::File {
            return 0;
        }
        match (self.shares(version.id), version.entry) {
            (Some((layer, entry, _)), _) => self.layer(layer).size(entry),
            (None, Some(entry)) => self.layer(version.layer).size(entry),
            (None, None) => 0,
        }
    }

    fn mark_lost(&mut self) {
        for path in self.paths() {
            let at = path.0 as usize;
            let start = self.paths[at].versions as usize;
            let end = self.paths.get(at + 1).map_or(self.versions.len(), |next| next.versions as usize);
            for id in (start..end).rev() {
                let version = self.versions[id];
                if version.until == NEVER || version.lost != NEVER {
                    continue;
                }
                // Ended by the next version: a folder that stays a folder continues in it.
                let next = self.versions.get(id + 1).filter(|_| id + 1 < end);
                self.versions[id].lost = match next {
                    Some(next) if version.kind == NodeKind::Directory && next.kind == version.kind => {
                        next.lost
                    }
                    _ => version.until,
                };
            }
        }
    }
}

/// Makes the children of each path adjacent. Returns the records and the new number of each node.
fn lay_out(parents: &[u32]) -> (Vec<PathRecord>, Vec<u32>) {
    // Children by old parent: counts, then places.
    let mut start = vec![0u32; parents.len() + 1];
    for parent in parents.iter().skip(1) {
        start[*parent as usize + 1] += 1;
    }
    for at in 1..start.len() {
        start[at] += start[at - 1];
    }
    let mut fill = start.clone();
    let mut children = vec![0u32; parents.len() - 1];
    for (node, parent) in parents.iter().enumerate().skip(1) {
        let place = &mut fill[*parent as usize];
        children[*place as usize] = index32(node);
        *place += 1;
    }
    let mut paths = Vec::with_capacity(parents.len());
    let mut old_of = Vec::with_capacity(parents.len());
    let mut new_of = vec![0u32; parents.len()];
    paths.push(PathRecord { parent: 0, children: 0, child_count: 0, versions: 0 });
    old_of.push(0u32);
    let mut at = 0;
    while at < paths.len() {
        let old = old_of[at] as usize;
        let below = &children[start[old] as usize..start[old + 1] as usize];
        paths[at].children = index32(paths.len());
        paths[at].child_count = index32(below.len());
        for child in below {
            new_of[*child as usize] = index32(paths.len());
            paths.push(PathRecord { parent: index32(at), children: 0, child_count: 0, versions: 0 });
            old_of.push(*child);
        }
        at += 1;
    }
    (paths, new_of)
}

/// Sorts versions by path, in stable order. Also returns the new number of each version.
fn by_path(
    recorded: &[(u32, VersionRecord)],
    new_of: &[u32],
    paths: &mut [PathRecord],
) -> (Vec<VersionRecord>, Vec<u32>) {
    let mut fill = vec![0u32; paths.len() + 1];
    for (node, _) in recorded {
        fill[new_of[*node as usize] as usize + 1] += 1;
    }
    for at in 1..fill.len() {
        fill[at] += fill[at - 1];
    }
    for (record, start) in paths.iter_mut().zip(&fill) {
        record.versions = *start;
    }
    let mut order = vec![0u32; recorded.len()];
    let mut new_version = vec![0u32; recorded.len()];
    for (old, (node, _)) in recorded.iter().enumerate() {
        let place = &mut fill[new_of[*node as usize] as usize];
        order[*place as usize] = index32(old);
        new_version[old] = *place;
        *place += 1;
    }
    let versions = order.iter().map(|old| recorded[*old as usize].1).collect();
    (versions, new_version)
}

fn shared(recorded: &[(u32, Inode)], new_version: &[u32], versions: &[VersionRecord]) -> Vec<Shared> {
    if recorded.is_empty() {
        return Vec::new();
    }
    let mut homes: HashMap<Inode, u32> = recorded.iter().map(|(_, inode)| (*inode, NONE)).collect();
    for (id, version) in versions.iter().enumerate() {
        if version.kind == NodeKind::File
            && !version.place.implied
            && let Some(home) = homes.get_mut(&(version.place.layer, EntryId(version.place.id)))
        {
            *home = index32(id);
        }
    }
    let home = |inode: &Inode| VersionId(homes.get(inode).copied().unwrap_or(NONE));
    let mut shared: Vec<Shared> = recorded
        .iter()
        .map(|(version, inode)| Shared {
            version: VersionId(new_version[*version as usize]),
            inode: *inode,
            home: home(inode),
        })
        .collect();
    shared.sort_unstable_by_key(|shared| shared.version);
    shared
}
