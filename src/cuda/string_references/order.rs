//! Sorts files by path without building the paths.

use std::cmp::Ordering;

use hashbrown::HashSet;

use crate::base::convert::{index32, layer16};
use crate::cuda::context::{Inode, InventoryContext};
use crate::formats::string_references::Sort;
use crate::rootfs::{Node, NodeId, Rootfs};

/// What a file belongs to, which decides the words that count in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    Application,
    /// A source of an unknown Python package.
    Package,
    /// A source of a Python package that helps to build others.
    Helper,
    /// A source of a Python package of the catalogue, which lists what it reads, except git.
    Known,
    /// Intermediate output of cargo.
    Built,
}

impl Part {
    pub(super) fn is_of_package(self) -> bool {
        matches!(self, Self::Package | Self::Helper | Self::Known)
    }
}

/// A file to search.
pub(super) struct OwnFile<'a> {
    pub(super) node: NodeId,
    /// Its folder, and its name in that folder.
    pub(super) folder: NodeId,
    pub(super) name: &'a [u8],
    pub(super) inode: Inode,
    pub(super) sort: Sort,
    pub(super) part: Part,
    /// Whether it belongs to a package of the distribution.
    pub(super) of_distribution: bool,
    /// Whether it belongs to a system package that came as a dependency: what its programs start is not the application's.
    pub(super) of_dependency: bool,
    /// Whether the command starts it.
    pub(super) started: bool,
}

/// Finds folder and name of files in layer order, since the merged view has them in another memory order.
pub(super) struct Places<'a> {
    rootfs: &'a Rootfs,
    /// By layer and its folder: the folder of the merged view.
    folders: Vec<Vec<Option<NodeId>>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(rootfs: &'a Rootfs) -> Self {
        Self { rootfs, folders: Vec::new() }
    }

    /// The folder of the node of a file, and its name there.
    pub(super) fn of(&mut self, (layer, entry): Inode, node: Node<'a>) -> (NodeId, &'a [u8]) {
        if !self.rootfs.names(layer, entry).is_empty() {
            return (node.parent().id(), node.name());
        }
        // Its path is that of its entry.
        let index = self.rootfs.layer(layer);
        while self.folders.len() <= usize::from(layer) {
            let next = self.rootfs.layer(layer16(self.folders.len()));
            self.folders.push(vec![None; next.dir_count()]);
        }
        let folder = &mut self.folders[usize::from(layer)][index.dir(entry).0 as usize];
        (*folder.get_or_insert_with(|| node.parent().id()), index.name(entry))
    }
}

/// A child of a folder: a file, or a folder with files at or below it.
#[derive(Clone, Copy)]
struct Item {
    parent: NodeId,
    node: NodeId,
    /// Number of the file; `None` for a folder.
    file: Option<u32>,
}

/// Sorts files by their paths, byte by byte.
pub(super) fn by_path<'a>(context: &InventoryContext<'a>, files: &mut [OwnFile<'a>]) {
    let mut items: Vec<Item> = Vec::with_capacity(files.len());
    let mut folders: HashSet<NodeId> = HashSet::new();
    folders.insert(NodeId::ROOT);
    let mut last = NodeId::ROOT;
    for (number, file) in (0..).zip(files.iter()) {
        items.push(Item { parent: file.folder, node: file.node, file: Some(number) });
        // The files of a folder follow each other.
        if std::mem::replace(&mut last, file.folder) == file.folder {
            continue;
        }
        let mut folder = context.node(file.folder);
        while folders.insert(folder.id()) {
            let parent = folder.parent();
            items.push(Item { parent: parent.id(), node: folder.id(), file: None });
            folder = parent;
        }
    }
    let (mut items, starts) = by_parent(items, context.rootfs.len());
    let range = |folder: NodeId| starts[folder.0 as usize] as usize..starts[folder.0 as usize + 1] as usize;
    let name = |item: &Item| {
        item.file.map_or_else(|| context.node(item.node).name(), |number| files[number as usize].name)
    };
    for folder in items.chunk_by_mut(|a, b| a.parent == b.parent) {
        // Often sorted already, which a stable sort exploits.
        folder.sort_by(|a, b| in_folder((name(a), a.file.is_none()), (name(b), b.file.is_none())));
    }
    // Depth-first traversal by ranges of items.
    let mut order: Vec<u32> = Vec::with_capacity(files.len());
    let mut open = vec![range(NodeId::ROOT)];
    while let Some(mut left) = open.pop() {
        let Some(place) = left.next() else { continue };
        open.push(left);
        match items[place].file {
            Some(number) => order.push(number),
            None => open.push(range(items[place].node)),
        }
    }
    arrange(files, order);
}

/// Items by folder, in each in the order that they had, and where those of each of the `nodes` start.
fn by_parent(items: Vec<Item>, nodes: usize) -> (Vec<Item>, Vec<u32>) {
    let mut starts = vec![0_u32; nodes + 1];
    for item in &items {
        starts[item.parent.0 as usize] += 1;
    }
    let mut end = 0;
    for count in &mut starts {
        end += *count;
        *count = end;
    }
    let mut sorted = items.clone();
    for item in items.into_iter().rev() {
        let place = &mut starts[item.parent.0 as usize];
        *place -= 1;
        sorted[*place as usize] = item;
    }
    (sorted, starts)
}

/// Moves each value to the place that has its number, cycle by cycle: a copy of all would be the peak of an analysis.
fn arrange<T>(values: &mut [T], mut order: Vec<u32>) {
    for start in 0..order.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut order[at], index32(at)) as usize;
            if from == start {
                break;
            }
            values.swap(at, from);
            at = from;
        }
    }
}

/// Compares two children of a folder by name; folders, the second part, compare with the slash that follows in the paths
/// below them.
fn in_folder(a: (&[u8], bool), b: (&[u8], bool)) -> Ordering {
    let shared = a.0.len().min(b.0.len());
    let next = |(name, is_folder): (&[u8], bool)| name.get(shared).copied().or(is_folder.then_some(b'/'));
    a.0[..shared].cmp(&b.0[..shared]).then_with(|| next(a).cmp(&next(b)))
}
