//! Applies layers in order by the rules of the OCI image specification (`layer.md`).
//!
//! Whiteouts of a layer act first and on lower layers only; then its entries apply one by one, as an
//! unpacker would: a later entry replaces an earlier one, a file replaces a folder with all below it.
//! Bytes belong to inodes (regular-file entries): an inode is wasted once its last path is gone.

mod removal;

use std::hash::BuildHasher as _;
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashMap, HashTable};

use super::tree::Rootfs;
use super::value::{Hidden, Inode, Links, Live, NONE, NodeKind, Place};
use crate::base::convert::{index32, layer16};
use crate::base::text::escape;
use crate::base::warning::Warnings;
use crate::base::{Warning, WarningCode};
use crate::layer::{DirId, EntryId, EntryKind, LayerIndex, parts};

/// Waste by layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerWaste {
    /// Shadowed bytes in this layer.
    pub wasted_bytes: u64,
    /// Bytes, here or below, whose last path this layer removed or replaced.
    pub hides_bytes: u64,
}

/// The merged view with its arithmetic.
#[derive(Debug)]
pub struct Merge {
    /// The merged view.
    pub rootfs: Rootfs,
    /// Bytes of the view, each inode once.
    pub merged_bytes: u64,
    /// Paths of the view that are regular files, hard links included.
    pub merged_files: u64,
    /// One for each layer, in order.
    pub waste: Vec<LayerWaste>,
    /// Faults during the merge.
    pub warnings: Vec<Warning>,
}

/// Receives every change while layers are applied. `()` ignores them.
pub(super) trait Watch {
    /// A path now has another entry.
    fn put(&mut self, node: u32, place: Place, kind: NodeKind);
    /// The entry that was put last is a second name of a file.
    fn share(&mut self, node: u32, inode: Inode);
    /// This layer removed a path.
    fn gone(&mut self, node: u32, layer: u16);
}

impl Watch for () {
    fn put(&mut self, _: u32, _: Place, _: NodeKind) {}
    fn share(&mut self, _: u32, _: Inode) {}
    fn gone(&mut self, _: u32, _: u16) {}
}

pub(super) struct Merger<'a, W> {
    pub(super) layers: &'a [Arc<LayerIndex>],
    pub(super) nodes: Vec<Live>,
    /// By node.
    pub(super) links: Vec<Links>,
    pub(super) by_name: HashTable<u32>,
    /// Seeded randomly per process: names of an image cannot provoke collisions.
    hasher: DefaultHashBuilder,
    /// Number of remaining paths of files with several, by inode.
    paths_left: HashMap<Inode, u32>,
    /// Nodes that share bytes with another node.
    pub(super) shared: HashMap<u32, Inode>,
    /// Restored nodes in order: the number of nodes at that time, and the node.
    pub(super) again: Vec<(u32, u32)>,
    pub(super) hidden: Vec<Hidden>,
    pub(super) waste: Vec<LayerWaste>,
    /// By layer and entry: the node of its path, whatever entry it has now; `NONE` if it was not applied.
    pub(super) put_at: Vec<Vec<u32>>,
    pub(super) warnings: Warnings,
    pub(super) watch: W,
}

/// Merges layers, bottom first. `subjects` name them in warnings.
///
/// Unread layers are empty indexes, so that layer numbers stay correct.
pub fn merge(layers: &[Arc<LayerIndex>], subjects: &[String], warnings_per_code: usize) -> Merge {
    apply_all(layers, subjects, warnings_per_code, &|_, _| true, ()).finish()
}

/// Merges layers as if they had only the entries for which `keep` is true: an image built from parts of this one. Other
/// entries count nowhere.
pub fn merge_kept(layers: &[Arc<LayerIndex>], keep: &dyn Fn(u16, EntryId) -> bool) -> Merge {
    apply_all(layers, &[], 0, keep, ()).finish()
}

pub(super) fn apply_all<'a, W: Watch>(
    layers: &'a [Arc<LayerIndex>],
    subjects: &[String],
    warnings_per_code: usize,
    keep: &dyn Fn(u16, EntryId) -> bool,
    watch: W,
) -> Merger<'a, W> {
    let entries: usize = layers.iter().map(|layer| layer.len()).sum();
    // Folders without an entry of their own have nodes too. One more than reserved would double the memory.
    let folders: usize = layers.iter().map(|layer| layer.dir_count()).sum();
    let nodes = entries + folders + 1;
    let mut merger = Merger {
        layers,
        nodes: Vec::with_capacity(nodes),
        links: Vec::with_capacity(nodes),
        // Allocated at once: to grow, every name would have to be hashed again.
        by_name: HashTable::with_capacity(entries),
        hasher: DefaultHashBuilder::default(),
        paths_left: HashMap::new(),
        shared: HashMap::new(),
        again: Vec::new(),
        hidden: Vec::new(),
        waste: vec![LayerWaste::default(); layers.len()],
        put_at: Vec::with_capacity(layers.len()),
        warnings: Warnings::with_limit(warnings_per_code),
        watch,
    };
    let root = Place { layer: 0, implied: true, id: DirId::ROOT.0 };
    merger.nodes.push(Live::new(0, root, NodeKind::Directory));
    merger.links.push(Links::NONE);
    for (number, layer) in layers.iter().enumerate() {
        let subject = subjects.get(number).map_or("", String::as_str);
        merger.apply(layer16(number), layer, subject, keep);
    }
    merger
}

impl<W: Watch> Merger<'_, W> {
    fn apply(&mut self, layer: u16, index: &LayerIndex, subject: &str, keep: &dyn Fn(u16, EntryId) -> bool) {
        let kept = || index.entries().filter(|entry| keep(layer, *entry));
        if index.counts().whiteouts > 0 {
            for entry in kept() {
                match index.kind(entry) {
                    EntryKind::Whiteout => self.whiteout(layer, index, entry),
                    EntryKind::Opaque => self.opaque(layer, index, entry),
                    _ => {}
                }
            }
        }
        // Folders of the layer to nodes; NONE until needed.
        let mut nodes = vec![NONE; index.dir_count()];
        let mut put_at = vec![NONE; index.len()];
        for entry in kept() {
            let kind = match index.kind(entry) {
                EntryKind::Whiteout | EntryKind::Opaque => continue,
                EntryKind::File => NodeKind::File,
                EntryKind::Directory => NodeKind::Directory,
                EntryKind::Symlink => NodeKind::Symlink,
                EntryKind::Other => NodeKind::Other,
                EntryKind::HardLink => {
                    put_at[entry.0 as usize] = self.hard_link(layer, index, entry, &mut nodes, subject);
                    continue;
                }
            };
            let parent = self.enter(layer, index, index.dir(entry), &mut nodes, subject);
            let place = Place { layer, implied: false, id: entry.0 };
            put_at[entry.0 as usize] = self.put(parent, index.name(entry), place, kind, layer);
        }
        self.put_at.push(put_at);
    }

    /// Finds a path in the current state.
    #[inline]
    fn find(&self, parent: u32, name: &[u8]) -> Option<u32> {
        let known = self.known(self.hash(parent, name), parent, name);
        known.filter(|node| self.nodes[*node as usize].is_alive())
    }

    #[inline]
    fn hash(&self, parent: u32, name: &[u8]) -> u64 {
        self.hasher.hash_one((parent, name))
    }

    /// Finds an existing or removed path.
    #[inline]
    fn known(&self, hash: u64, parent: u32, name: &[u8]) -> Option<u32> {
        self.by_name
            .find(hash, |id| self.nodes[*id as usize].parent == parent && self.name(*id) == name)
            .copied()
    }

    fn find_dir(&self, index: &LayerIndex, dir: DirId) -> Option<u32> {
        if dir == DirId::ROOT {
            return Some(0);
        }
        let mut chain = Vec::new();
        let mut at = dir;
        while at != DirId::ROOT {
            chain.push(at);
            at = index.dir_parent(at);
        }
        chain.iter().rev().try_fold(0, |node, dir| self.find(node, index.dir_name(*dir)))
    }

    #[inline]
    fn name(&self, node: u32) -> &[u8] {
        self.nodes[node as usize].place().name(self.layers)
    }

    /// The node of a folder of the layer; creates it and its parents if missing.
    fn enter(&mut self, layer: u16, index: &LayerIndex, dir: DirId, nodes: &mut [u32], subject: &str) -> u32 {
        if dir == DirId::ROOT {
            return 0;
        }
        // Climb to the nearest existing folder, then descend again.
        let mut missing = Vec::new();
        let mut at = dir;
        let mut node = loop {
            if at == DirId::ROOT {
                break 0;
            }
            let known = nodes[at.0 as usize];
            if known != NONE && self.is_live_dir(known) {
                break known;
            }
            missing.push(at);
            at = index.dir_parent(at);
        };
        for dir in missing.into_iter().rev() {
            let name = index.dir_name(dir);
            node = match self.find(node, name) {
                Some(found) if self.nodes[found as usize].is_folder() => found,
                found => {
                    if found.is_some_and(|found| self.nodes[found as usize].kind == Some(NodeKind::Symlink)) {
                        self.warnings.push_with(WarningCode::ParentIsSymlink, || {
                            let path = escape(&index.dir_path(dir));
                            let message = format!(
                                "{path} is a symbolic link with entries below it; shown as a folder, although some \
                                runtimes write through the link"
                            );
                            (subject.to_owned(), message)
                        });
                    }
                    let place = Place { layer, implied: true, id: dir.0 };
                    self.put(node, name, place, NodeKind::Directory, layer)
                }
            };
            nodes[dir.0 as usize] = node;
        }
        node
    }

    /// A folder may have been replaced since the lookup, directly or through a parent.
    #[inline]
    fn is_live_dir(&self, node: u32) -> bool {
        self.nodes[node as usize].is_folder()
    }

    /// Puts an entry at a path, replacing the existing one as extraction does.
    fn put(&mut self, parent: u32, name: &[u8], place: Place, kind: NodeKind, layer: u16) -> u32 {
        if parent == 0 && name.is_empty() {
            // The root's own entry: nothing replaces the root.
            if kind == NodeKind::Directory {
                self.nodes[0].set(place, kind);
                self.watch.put(0, place, kind);
            } else if kind == NodeKind::File {
                self.lose((place.layer, EntryId(place.id)), layer);
            }
            return 0;
        }
        let hash = self.hash(parent, name);
        let known = self.known(hash, parent, name);
        if let Some(found) = known.filter(|node| self.nodes[*node as usize].is_alive()) {
            let both_folders = kind == NodeKind::Directory && self.nodes[found as usize].is_folder();
            if both_folders {
                if !place.implied {
                    self.nodes[found as usize].set(place, kind);
                    self.watch.put(found, place, kind);
                }
                return found;
            }
            self.release(found, layer);
            self.remove_children(found, layer);
            self.nodes[found as usize].set(place, kind);
            self.watch.put(found, place, kind);
            return found;
        }
        let id = known.unwrap_or(index32(self.nodes.len()));
        let next = std::mem::replace(&mut self.links[parent as usize].first_child, id);
        if next != NONE {
            self.links[next as usize].previous = id;
        }
        let (live, links) = (Live::new(parent, place, kind), Links { next, ..Links::NONE });
        self.watch.put(id, place, kind);
        if known.is_some() {
            self.again.push((index32(self.nodes.len()), id));
            self.nodes[id as usize] = live;
            self.links[id as usize] = links;
            return id;
        }
        self.nodes.push(live);
        self.links.push(links);
        let (nodes, layers, hasher) = (&self.nodes, self.layers, &self.hasher);
        self.by_name.insert_unique(hash, id, |id| {
            let live = &nodes[*id as usize];
            hasher.hash_one((live.parent, live.place().name(layers)))
        });
        id
    }

    /// The node of the link; `NONE` if its target is missing.
    fn hard_link(
        &mut self,
        layer: u16,
        index: &LayerIndex,
        entry: EntryId,
        nodes: &mut [u32],
        subject: &str,
    ) -> u32 {
        let target = index.link(entry).unwrap_or_default();
        // As in paths: `..` removes the part before it, whether that exists or not.
        let mut path = Vec::new();
        for part in parts(target) {
            if part == b".." {
                path.pop();
            } else {
                path.push(part);
            }
        }
        let at_root = index.dir(entry) == DirId::ROOT && index.name(entry).is_empty();
        let found = path.iter().try_fold(0, |node, part| self.find(node, part)).filter(|_| !at_root);
        let target_node = found.filter(|node| !self.nodes[*node as usize].is_folder());
        let kind = target_node.and_then(|node| self.nodes[node as usize].kind);
        let Some((target_node, kind)) = target_node.zip(kind) else {
            self.warnings.push_with(WarningCode::HardLinkDangling, || {
                let path = escape(&index.path(entry));
                let what = if found.is_some() { "a folder" } else { "no file" };
                (subject.to_owned(), format!("{path} is a hard link to {}, which is {what}", escape(target)))
            });
            return NONE;
        };
        let inode = (kind == NodeKind::File).then(|| self.inode(target_node));
        // Acquire the inode before the old file at this path is removed: they may be the same.
        if let Some(inode) = inode {
            *self.paths_left.entry(inode).or_insert(1) += 1;
            self.shared.insert(target_node, inode);
        }
        let parent = self.enter(layer, index, index.dir(entry), nodes, subject);
        let place = Place { layer, implied: false, id: entry.0 };
        let node = self.put(parent, index.name(entry), place, kind, layer);
        if let Some(inode) = inode {
            self.shared.insert(node, inode);
            self.watch.share(node, inode);
        }
        node
    }

    /// The inode of a file node.
    fn inode(&self, node: u32) -> Inode {
        if let Some(inode) = self.shared.get(&node) {
            return *inode;
        }
        let place = self.nodes[node as usize].place();
        (place.layer, EntryId(place.id))
    }
}
