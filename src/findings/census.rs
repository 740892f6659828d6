//! Every regular file of every layer, sorted by its path and its package.
//!
//! A file is an inode: the layer and entry that hold its bytes. It has one category, whatever its names: the
//! first of those that its names fit, and none when one of its names is something else, because then taking
//! away the others frees nothing.

use std::collections::HashMap;

use super::facts::Input;
use super::value::{Category, Item};
use crate::base::convert::layer16;
use crate::cuda::catalog::{Catalog, DevelPath, FolderState, Walker};
use crate::cuda::links::ObjectId;
use crate::cuda::{Inode, Package};
use crate::layer::{DirId, EntryId, EntryKind, LayerIndex};
use crate::rootfs::{NodeId, NodeKind, Rootfs};

const NOBODY: u32 = u32::MAX;

/// What a file was sorted by.
#[derive(Clone, Copy, Debug)]
pub(super) enum By<'c> {
    /// A rule about paths.
    Path(&'c DevelPath),
    /// A rule about the package that owns it.
    Package,
}

/// A file with its category.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sorted<'c> {
    pub(super) item: Item,
    pub(super) category: Category,
    pub(super) by: By<'c>,
}

/// All files that have a category by path or package, by layer and entry.
#[derive(Debug, Default)]
pub(super) struct Census<'c> {
    pub(super) files: Vec<Sorted<'c>>,
    /// By layer and entry: the first node that shows the file's bytes.
    shown: Vec<Vec<u32>>,
    objects: HashMap<Inode, ObjectId>,
}

impl<'c> Census<'c> {
    pub(super) fn take(input: &Input<'c>) -> Self {
        let rootfs = &input.merge.rootfs;
        let (shown, names) = shown(rootfs, input.layers.len());
        let links = &input.inventory.links;
        let object = |id: ObjectId| Some((rootfs.node(links.object(id).node).content()?, id));
        let packages = &input.inventory.packages;
        let mut sorter = Sorter {
            input,
            rootfs,
            walker: input.catalog.walker(),
            packages: packages.iter().map(|package| category_of_package(input.catalog, package)).collect(),
            names,
        };
        let mut files = Vec::new();
        for layer in 0..layer16(input.layers.len()) {
            sorter.layer(layer, &shown[usize::from(layer)], &mut files);
        }
        Self { files, shown, objects: links.ids().filter_map(object).collect() }
    }

    /// A node that shows the bytes of an inode; `None` when a later layer hides it.
    pub(super) fn node_of(&self, inode: Inode) -> Option<NodeId> {
        let node = *self.shown.get(usize::from(inode.0))?.get(inode.1.0 as usize)?;
        (node != NOBODY).then_some(NodeId(node))
    }

    /// The program or library that an inode is.
    pub(super) fn object_of(&self, inode: Inode) -> Option<ObjectId> {
        self.objects.get(&inode).copied()
    }
}

/// By layer and entry the first node with its bytes, and all nodes of files with several names.
fn shown(rootfs: &Rootfs, layers: usize) -> (Vec<Vec<u32>>, HashMap<Inode, Vec<NodeId>>) {
    let mut shown: Vec<Vec<u32>> =
        (0..layer16(layers)).map(|layer| vec![NOBODY; rootfs.layer(layer).len()]).collect();
    let mut names: HashMap<Inode, Vec<NodeId>> = HashMap::new();
    for node in rootfs.nodes().filter(|node| node.kind() == NodeKind::File) {
        let Some(inode) = node.content() else { continue };
        let slot = shown.get_mut(usize::from(inode.0)).and_then(|layer| layer.get_mut(inode.1.0 as usize));
        let Some(slot) = slot else { continue };
        if *slot == NOBODY {
            *slot = node.id().0;
        } else {
            names.entry(inode).or_insert_with(|| vec![NodeId(*slot)]).push(node.id());
        }
    }
    (shown, names)
}

/// What the files of a package are, by the rules about packages.
fn category_of_package(catalog: &Catalog, package: &Package) -> Option<Category> {
    // What pip installs is told by its paths only.
    if package.manager == "pip" {
        return None;
    }
    let rule = catalog
        .is_devel_package(package.manager, &package.name)
        .or_else(|| catalog.is_driver_package(package.manager, &package.name))?;
    rule.category.as_deref().and_then(Category::named)
}

struct Sorter<'i, 'c> {
    input: &'i Input<'c>,
    rootfs: &'c Rootfs,
    walker: Walker<'c>,
    /// By package of the inventory.
    packages: Vec<Option<Category>>,
    /// All names of files that have several.
    names: HashMap<Inode, Vec<NodeId>>,
}

impl<'c> Sorter<'_, 'c> {
    fn layer(&mut self, layer: u16, shown: &[u32], files: &mut Vec<Sorted<'c>>) {
        let index = self.rootfs.layer(layer);
        let mut folders: Vec<Option<FolderState>> = vec![None; index.dir_count()];
        for entry in index.entries().filter(|entry| index.kind(*entry) == EntryKind::File) {
            let node = Some(shown[entry.0 as usize]).filter(|node| *node != NOBODY).map(NodeId);
            let sort = if self.has_only_its_own_name((layer, entry), node) {
                let folder = self.folder(index, index.dir(entry), &mut folders);
                let rule = self.walker.file(folder, index.name(entry)).devel;
                self.sort(rule, node)
            } else {
                self.sort_names((layer, entry), node)
            };
            if let Some((category, by)) = sort {
                let item = Item { layer, entry, node, bytes: index.size(entry) };
                files.push(Sorted { item, category, by });
            }
        }
    }

    /// Whether the path of an inode's entry is all there is: it has no further name, and none instead of it.
    fn has_only_its_own_name(&self, inode: Inode, node: Option<NodeId>) -> bool {
        let own = node.is_none_or(|node| {
            let node = self.rootfs.node(node);
            node.layer() == inode.0 && node.entry() == Some(inode.1)
        });
        own && (self.names.is_empty() || !self.names.contains_key(&inode))
    }

    fn folder(&mut self, index: &LayerIndex, dir: DirId, known: &mut [Option<FolderState>]) -> FolderState {
        // From the folder up to one that is known, and down again.
        let mut way = Vec::new();
        let mut at = dir;
        let mut state = loop {
            if let Some(state) = known[at.0 as usize] {
                break state;
            }
            if at == DirId::ROOT {
                let root = self.walker.root();
                known[at.0 as usize] = Some(root);
                break root;
            }
            way.push(at);
            at = index.dir_parent(at);
        };
        for dir in way.into_iter().rev() {
            state = self.walker.below(state, index.dir_name(dir));
            known[dir.0 as usize] = Some(state);
        }
        state
    }

    /// A file that has other names than that of its entry.
    fn sort_names(&mut self, inode: Inode, only: Option<NodeId>) -> Option<(Category, By<'c>)> {
        let all = self.names.get(&inode).cloned().unwrap_or_else(|| only.into_iter().collect());
        let mut first: Option<(Category, By<'c>)> = None;
        for node in all {
            let rule = self.walker.path(&self.rootfs.node(node).path()).devel;
            let sort = self.sort(rule, Some(node))?;
            if first.is_none_or(|(category, _)| sort.0 < category) {
                first = Some(sort);
            }
        }
        first
    }

    fn sort(&self, rule: Option<&'c DevelPath>, node: Option<NodeId>) -> Option<(Category, By<'c>)> {
        if let Some(rule) = rule {
            return Some((Category::named(&rule.category)?, By::Path(rule)));
        }
        let owner = self.input.inventory.owners.of(node?)?;
        Some(((*self.packages.get(owner)?)?, By::Package))
    }
}

/// The entry and size of an inode as an item.
pub(super) fn item(census: &Census<'_>, rootfs: &Rootfs, inode: (u16, EntryId)) -> Item {
    Item {
        layer: inode.0,
        entry: inode.1,
        node: census.node_of(inode),
        bytes: rootfs.layer(inode.0).size(inode.1),
    }
}
