//! Entries that stay in their layer although the merged view does not show them: whiteouts above must stay too.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use crate::layer::{DirId, EntryId, EntryKind, LayerIndex};
use crate::rootfs::{PathId, Timeline};

/// The hidden entries that stay, while layers are applied bottom up.
pub(super) struct Ghosts {
    /// The paths of hidden entries and their folders, by folder and name.
    by_name: HashMap<(PathId, Vec<u8>), PathId>,
    /// By path: its number in depth-first order, and the end of what is below it.
    order: HashMap<PathId, (u32, u32)>,
    /// By number: whether it is a folder, and the layer of the entry.
    live: BTreeMap<u32, (bool, u16)>,
    files: usize,
}

impl Ghosts {
    /// For hidden entries at these paths; none is there yet.
    pub(super) fn new(timeline: &Timeline, paths: &BTreeSet<PathId>) -> Self {
        let mut children: BTreeMap<PathId, BTreeSet<PathId>> = BTreeMap::new();
        let mut by_name = HashMap::new();
        for path in paths {
            let mut at = *path;
            while at != PathId::ROOT {
                let parent = timeline.parent(at);
                if !children.entry(parent).or_default().insert(at) {
                    break;
                }
                by_name.insert((parent, timeline.name(at).to_vec()), at);
                at = parent;
            }
        }
        let mut order = HashMap::new();
        let mut next = 0;
        // A path is left again after everything below it.
        let mut open = vec![(PathId::ROOT, false)];
        while let Some((path, left)) = open.pop() {
            if left {
                order.entry(path).and_modify(|(_, end)| *end = next);
                continue;
            }
            order.insert(path, (next, next));
            next += 1;
            open.push((path, true));
            open.extend(children.get(&path).into_iter().flatten().rev().map(|child| (*child, false)));
        }
        Self { by_name, order, live: BTreeMap::new(), files: 0 }
    }

    /// Applies a whiteout: whether it hides something that stays.
    pub(super) fn whiteout(&mut self, index: &LayerIndex, entry: EntryId) -> bool {
        if self.live.is_empty() {
            return false;
        }
        let Some(dir) = self.folder(index, index.dir(entry)) else { return false };
        let opaque = index.kind(entry) == EntryKind::Opaque;
        let path = if opaque { Some(dir) } else { self.child(dir, index.name(entry)) };
        let Some((start, end)) = path.and_then(|path| self.order.get(&path).copied()) else { return false };
        self.clear(start + u32::from(opaque), end)
    }

    /// Puts an entry that stays at a path: what it replaces is gone.
    pub(super) fn put(&mut self, timeline: &Timeline, path: PathId, is_folder: bool) {
        if self.live.is_empty() {
            return;
        }
        if let Some((start, end)) = self.order.get(&path).copied() {
            if !is_folder {
                self.clear(start, end);
            } else if self.live.get(&start).is_some_and(|(folder, _)| !folder) {
                self.clear(start, start + 1);
            }
        }
        let mut at = path;
        while self.files > 0 && at != PathId::ROOT {
            at = timeline.parent(at);
            // A file with something below it becomes a folder.
            if let Some((start, _)) = self.order.get(&at).copied()
                && self.live.get(&start).is_some_and(|(folder, _)| !folder)
            {
                self.clear(start, start + 1);
            }
        }
    }

    /// Adds a hidden entry.
    pub(super) fn add(&mut self, path: PathId, is_folder: bool, layer: u16) {
        if let Some((start, _)) = self.order.get(&path) {
            let before = self.live.insert(*start, (is_folder, layer));
            self.files += usize::from(!is_folder);
            self.files -= usize::from(before.is_some_and(|(folder, _)| !folder));
        }
    }

    /// Layers of the hidden entries that nothing hides.
    pub(super) fn left(&self) -> BTreeSet<u16> {
        self.live.values().map(|(_, layer)| *layer).collect()
    }

    fn clear(&mut self, start: u32, end: u32) -> bool {
        let gone: Vec<u32> = self.live.range(start..end.max(start)).map(|(number, _)| *number).collect();
        for number in &gone {
            if let Some((false, _)) = self.live.remove(number) {
                self.files -= 1;
            }
        }
        !gone.is_empty()
    }

    fn child(&self, parent: PathId, name: &[u8]) -> Option<PathId> {
        self.by_name.get(&(parent, name.to_vec())).copied()
    }

    fn folder(&self, index: &LayerIndex, dir: DirId) -> Option<PathId> {
        let chain: Vec<DirId> =
            std::iter::successors(Some(dir), |at| (*at != DirId::ROOT).then(|| index.dir_parent(*at)))
                .take_while(|at| *at != DirId::ROOT)
                .collect();
        chain.iter().rev().try_fold(PathId::ROOT, |at, dir| self.child(at, index.dir_name(*dir)))
    }
}
