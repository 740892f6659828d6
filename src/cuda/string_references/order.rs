//! Sorts files by path without building the paths.

use std::cmp::Ordering;

use hashbrown::HashSet;

use crate::base::convert::layer16;
use crate::cuda::context::{Inode, InventoryContext};
use crate::formats::string_references::Sort;
use crate::rootfs::{Node, NodeId, Rootfs};

/// A file to search.
pub(super) struct OwnFile<'a> {
    pub(super) node: NodeId,
    /// Its folder, and its name in that folder.
    pub(super) folder: NodeId,
    pub(super) name: &'a [u8],
    pub(super) inode: Inode,
    pub(super) sort: Sort,
    /// Whether it is a source in a packages folder, of an unknown Python package.
    pub(super) of_package: bool,
    /// Whether it belongs to a package that helps to build others.
    pub(super) of_helper: bool,
    /// Whether it belongs to a package of the distribution.
    pub(super) of_distribution: bool,
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
struct Item<'a> {
    parent: NodeId,
    name: &'a [u8],
    /// The file; `None` for a folder.
    file: Option<OwnFile<'a>>,
    node: NodeId,
}

/// Sorts files by their paths, byte by byte.
pub(super) fn by_path<'a>(context: &InventoryContext<'a>, files: Vec<OwnFile<'a>>) -> Vec<OwnFile<'a>> {
    let mut items: Vec<Item<'_>> = Vec::with_capacity(files.len());
    let mut folders: HashSet<NodeId> = HashSet::new();
    folders.insert(NodeId::ROOT);
    for file in files {
        let mut folder = context.node(file.folder);
        items.push(Item { parent: file.folder, name: file.name, node: file.node, file: Some(file) });
        while folders.insert(folder.id()) {
            let parent = folder.parent();
            items.push(Item { parent: parent.id(), name: folder.name(), node: folder.id(), file: None });
            folder = parent;
        }
    }
    // The files of a folder are often sorted already, which a stable sort exploits.
    items.sort_by_key(|item| item.parent);
    for folder in items.chunk_by_mut(|a, b| a.parent == b.parent) {
        folder.sort_by(in_folder);
    }
    // Depth-first traversal by ranges of items.
    let range = |folder: NodeId| {
        let start = items.partition_point(|item| item.parent < folder);
        start..start + items[start..].partition_point(|item| item.parent == folder)
    };
    let mut order = Vec::with_capacity(items.len());
    let mut open = vec![range(NodeId::ROOT)];
    while let Some(mut left) = open.pop() {
        let Some(place) = left.next() else { continue };
        open.push(left);
        match &items[place].file {
            Some(_) => order.push(place),
            None => open.push(range(items[place].node)),
        }
    }
    let mut files: Vec<Option<OwnFile<'_>>> = items.into_iter().map(|item| item.file).collect();
    order.into_iter().filter_map(|place| files[place].take()).collect()
}

/// Compares two children of a folder; folders compare with the slash that follows in the paths below them.
fn in_folder(a: &Item<'_>, b: &Item<'_>) -> Ordering {
    let shared = a.name.len().min(b.name.len());
    let next = |item: &Item<'_>| {
        let slash = item.file.is_none().then_some(b'/');
        item.name.get(shared).copied().or(slash)
    };
    a.name[..shared].cmp(&b.name[..shared]).then_with(|| next(a).cmp(&next(b)))
}
