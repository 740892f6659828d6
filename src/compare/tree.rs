//! All paths of the merged views of several images as one tree.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::ops::Range;
use std::sync::Arc;

use super::contents::{NONE, UNPROVEN};
use super::union::Arena;
use super::value::{Change, FileSums};
use crate::analysis::Analysis;
use crate::base::convert::index32;
use crate::layer::parts;
use crate::rootfs::{Node, NodeId, NodeKind, Rootfs};

/// A path that at least one image has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId(pub u32);

impl RowId {
    /// The root folder.
    pub const ROOT: Self = Self(0);
}

/// The union of several merged views. Clones share it.
#[derive(Clone)]
pub struct Tree {
    images: Arc<[Arc<Analysis>]>,
    pub(super) arena: Arc<Arena>,
}

impl Tree {
    pub(super) fn new(images: &[Arc<Analysis>], arena: Arena) -> Self {
        Self { images: images.into(), arena: Arc::new(arena) }
    }

    /// How many paths there are, the root included.
    pub fn len(&self) -> usize {
        self.arena.parents.len()
    }

    /// Whether there is nothing but the root.
    pub fn is_empty(&self) -> bool {
        self.len() <= 1
    }

    /// A path.
    pub fn row(&self, id: RowId) -> Row<'_> {
        Row { tree: self, id }
    }

    /// All paths, folders before their contents.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = Row<'_>> {
        (0..index32(self.len())).map(|id| self.row(RowId(id)))
    }

    /// The path with these bytes, as [`Row::path`] gives it.
    pub fn find(&self, path: &[u8]) -> Option<RowId> {
        let mut at = RowId::ROOT;
        for part in parts(path) {
            at = self.child(at, part)?;
        }
        Some(at)
    }

    /// The child of a folder with this name.
    fn child(&self, folder: RowId, name: &[u8]) -> Option<RowId> {
        let mut bounds = self.row(folder).bounds();
        while !bounds.is_empty() {
            let middle = RowId(bounds.start + (bounds.end - bounds.start) / 2);
            match self.row(middle).name().cmp(name) {
                Ordering::Less => bounds.start = middle.0 + 1,
                Ordering::Equal => return Some(middle),
                Ordering::Greater => bounds.end = middle.0,
            }
        }
        None
    }

    /// Change of every path, by [`RowId`]: of `image` against `baseline`, folders including their contents.
    pub fn changes(&self, image: usize, baseline: usize) -> Vec<Change> {
        let mut changes: Vec<Change> = self.rows().map(|row| row.change(image, baseline)).collect();
        // Children follow their folder: from the end, each is complete before it counts for its parent.
        for at in (1..changes.len()).rev() {
            let parent = self.arena.parents[at] as usize;
            changes[parent] = match (changes[parent], changes[at]) {
                (known, Change::Same | Change::Absent) => known,
                (Change::Same, Change::Unknown) => Change::Unknown,
                (known, Change::Unknown) => known,
                (Change::Same | Change::Unknown, _) => Change::Changed,
                (known, _) => known,
            };
        }
        changes
    }

    /// Sums over the regular files of `image` against those of `baseline`.
    pub fn files(&self, image: usize, baseline: usize) -> FileSums {
        let mut sums = FileSums::default();
        for row in self.rows() {
            let (now, before) = (row.file_bytes(image), row.file_bytes(baseline));
            if now.is_none() && before.is_none() {
                continue;
            }
            let (now, before) = (now.unwrap_or(0), before.unwrap_or(0));
            let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
            match row.change(image, baseline) {
                Change::Added => {
                    sums.added += 1;
                    add(&mut sums.added_bytes, now);
                }
                Change::Removed => {
                    sums.removed += 1;
                    add(&mut sums.removed_bytes, before);
                }
                Change::Changed => {
                    sums.changed += 1;
                    add(&mut sums.changed_bytes, now);
                    add(&mut sums.changed_bytes_before, before);
                }
                Change::Unknown => {
                    sums.unknown += 1;
                    add(&mut sums.unknown_bytes, now);
                }
                Change::Same => sums.same += 1,
                Change::Absent => {}
            }
        }
        sums
    }

    /// Regular files of `image` that differ from `baseline`, by how many bytes they add or take away (the whole
    /// size for added and removed ones; for changed ones the larger of both sizes), largest first, then in the order
    /// of a walk through the tree.
    pub fn largest_changes(&self, image: usize, baseline: usize, limit: usize) -> Vec<RowId> {
        let order = self.walk_order();
        let mut heap = BinaryHeap::new();
        for row in self.rows() {
            let bytes = row.file_bytes(image).max(row.file_bytes(baseline));
            let differs =
                || matches!(row.change(image, baseline), Change::Added | Change::Removed | Change::Changed);
            let Some(bytes) = bytes.filter(|_| differs()) else { continue };
            // The least is on top and is removed if there is one too many.
            heap.push(Reverse((bytes, Reverse(order[row.id.0 as usize]), row.id)));
            if heap.len() > limit {
                heap.pop();
            }
        }
        heap.into_sorted_vec().into_iter().map(|Reverse((_, _, id))| id).collect()
    }

    /// Positions of all rows in a depth-first walk.
    fn walk_order(&self) -> Vec<u32> {
        let parents = &self.arena.parents;
        let mut below = vec![1u32; parents.len()];
        for at in (1..below.len()).rev() {
            below[parents[at] as usize] += below[at];
        }
        // By folder: position of its next child.
        let mut next = vec![1u32; parents.len()];
        let mut order = vec![0; parents.len()];
        for at in 1..order.len() {
            let parent = parents[at] as usize;
            order[at] = next[parent];
            next[parent] += below[at];
            next[at] = order[at] + 1;
        }
        order
    }

    pub(super) fn rootfs(&self, image: usize) -> Option<&Rootfs> {
        self.images.get(image)?.merge.as_ref().map(|merge| &merge.rootfs)
    }
}

/// A path of the tree.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    tree: &'a Tree,
    id: RowId,
}

impl<'a> Row<'a> {
    /// Its id.
    pub fn id(self) -> RowId {
        self.id
    }

    /// The last part of its path, any bytes; empty for the root.
    pub fn name(self) -> &'a [u8] {
        if self.id == RowId::ROOT {
            return b"";
        }
        self.nodes().next().map_or(b"", Node::name)
    }

    /// The absolute path, any bytes; `/` for the root.
    pub fn path(self) -> Vec<u8> {
        self.nodes().next().map_or_else(|| b"/".to_vec(), Node::path)
    }

    /// The folder it is in; the root is in itself.
    pub fn parent(self) -> Self {
        self.tree.row(RowId(self.tree.arena.parents[self.id.0 as usize]))
    }

    /// What any image has in it, by the bytes of the names.
    pub fn children(self) -> impl ExactSizeIterator<Item = Self> + use<'a> {
        let tree = self.tree;
        self.bounds().map(move |id| tree.row(RowId(id)))
    }

    /// Rows of its children.
    fn bounds(self) -> Range<u32> {
        let children = &self.tree.arena.children;
        children[self.id.0 as usize]..children[self.id.0 as usize + 1]
    }

    /// The node of the merged view of an image; `None` where it does not have the path.
    pub fn node(self, image: usize) -> Option<NodeId> {
        let node = *self.tree.arena.nodes(self.id.0).get(image)?;
        (node != NONE).then_some(NodeId(node))
    }

    /// What the path is in an image.
    pub fn kind(self, image: usize) -> Option<NodeKind> {
        self.at(image).map(Node::kind)
    }

    /// Bytes in an image: the logical size of a file; of a folder, the files at or below, each inode once. `None`
    /// where the image does not have the path.
    pub fn bytes(self, image: usize) -> Option<u64> {
        let node = self.at(image)?;
        // A second name of a file has no bytes of its own in the merged view.
        Some(match node.content() {
            Some((layer, entry)) => self.tree.rootfs(image)?.layer(layer).size(entry),
            None => node.bytes(),
        })
    }

    /// Change in `image` against `baseline`. For a folder, without its contents: [`Tree::changes`] includes them.
    pub fn change(self, image: usize, baseline: usize) -> Change {
        match (self.node(image), self.node(baseline)) {
            (None, None) => return Change::Absent,
            (Some(_), None) => return Change::Added,
            (None, Some(_)) => return Change::Removed,
            (Some(_), Some(_)) => {}
        }
        let numbers = self.tree.arena.numbers(self.id.0);
        let (one, other) = (numbers[image], numbers[baseline]);
        if one == other {
            return Change::Same;
        }
        let shape = |image| (self.kind(image), self.bytes(image));
        if (one | other) & UNPROVEN != 0 && shape(image) == shape(baseline) {
            return Change::Unknown;
        }
        Change::Changed
    }

    /// Bytes of the regular file that the path is in an image; `None` where it is none.
    pub fn file_bytes(self, image: usize) -> Option<u64> {
        self.kind(image).filter(|kind| *kind == NodeKind::File).and_then(|_| self.bytes(image))
    }

    fn at(self, image: usize) -> Option<Node<'a>> {
        Some(self.tree.rootfs(image)?.node(self.node(image)?))
    }

    /// State in each image that has it.
    fn nodes(self) -> impl Iterator<Item = Node<'a>> {
        (0..self.tree.arena.images).filter_map(move |image| self.at(image))
    }
}
