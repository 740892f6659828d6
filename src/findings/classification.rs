//! Classifies every regular file of every layer by path and package.
//!
//! A file is an inode: the layer and entry that store its bytes, whatever its names. Each name outside package manager
//! caches is judged by its own rule. A file has no category when one of these names has none: removing the other names
//! frees nothing. Its names in caches count only when it has no name outside.

use std::collections::BTreeMap;
use std::ops::Range;

use super::input::Input;
use super::value::{Category, Item};
use crate::base::convert::layer16;
use crate::cuda::catalog::{Catalog, DevelPath, FolderState, PathScope, Walker};
use crate::cuda::links::ObjectId;
use crate::cuda::{Inode, Package};
use crate::formats::binary::FileFacts;
use crate::formats::elf::ElfKind;
use crate::jobs::both;
use crate::layer::{DirId, EntryId, EntryKind, LayerIndex};
use crate::rootfs::{NodeId, Rootfs};

/// The kind of rule that classified a file.
#[derive(Clone, Copy, Debug)]
pub(super) enum By<'c> {
    /// A path rule.
    Path(&'c DevelPath),
    /// A rule for the package that owns it.
    Package,
}

/// A file with its category.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClassifiedFile<'c> {
    pub(super) item: Item,
    pub(super) category: Category,
    pub(super) by: By<'c>,
}

impl<'c> ClassifiedFile<'c> {
    /// The id of the path rule that classified it.
    pub(super) fn rule(&self) -> Option<&'c str> {
        match self.by {
            By::Path(rule) => Some(&rule.id),
            By::Package => None,
        }
    }
}

/// All files that have a category by path or package, by layer and entry.
#[derive(Debug)]
pub(super) struct FileClassification<'c> {
    pub(super) files: Vec<ClassifiedFile<'c>>,
    /// Further names of the files in `files`, without names in caches.
    further: Further<'c>,
    linked: Linked<'c>,
    rootfs: &'c Rootfs,
    /// Program or library of each inode; every rule looks up its files here.
    objects: hashbrown::HashMap<Inode, ObjectId>,
}

type Further<'c> = hashbrown::HashMap<Inode, Vec<ClassifiedFile<'c>>>;

/// By cache rule: number of files with names both in that cache and outside of all caches.
type Linked<'c> = BTreeMap<&'c str, u64>;

impl<'c> FileClassification<'c> {
    pub(super) fn take(input: &Input<'c>) -> Self {
        let rootfs = &input.merge.rootfs;
        let links = &input.inventory.links;
        let object = |id: ObjectId| Some((rootfs.node(links.object(id).node).content()?, id));
        let packages = &input.inventory.packages;
        let packages: Vec<_> =
            packages.iter().map(|package| category_of_package(input.catalog, package)).collect();
        let sorted = |layers: Range<u16>| {
            let walker = input.catalog.walker();
            let (further, linked) = (Further::new(), Linked::new());
            let mut sorter = Sorter { input, rootfs, walker, packages: &packages, further, linked };
            let mut files = Vec::new();
            layers.for_each(|layer| sorter.layer(layer, &mut files));
            (files, sorter.further, sorter.linked)
        };
        let (layers, middle) = (layer16(input.layers.len()), rootfs.middle());
        let (upper, lower) = both(|| sorted(middle..layers), || sorted(0..middle));
        let (mut files, mut further, mut linked) = lower;
        files.extend(upper.0);
        further.extend(upper.1);
        for (rule, count) in upper.2 {
            *linked.entry(rule).or_default() += count;
        }
        Self { files, further, linked, rootfs, objects: links.ids().filter_map(object).collect() }
    }

    /// A file under each of its names outside caches; once when it has none there.
    pub(super) fn names<'s>(
        &'s self,
        file: &'s ClassifiedFile<'c>,
    ) -> impl Iterator<Item = &'s ClassifiedFile<'c>> {
        let further = self.further.get(&(file.item.layer, file.item.entry));
        std::iter::once(file).chain(further.into_iter().flatten())
    }

    /// Number of files that are hard-linked from a rule's cache to a path outside of all caches. Removing only the name
    /// in the cache frees nothing.
    pub(super) fn linked_outside(&self, rule: &str) -> u64 {
        self.linked.get(rule).copied().unwrap_or_default()
    }

    /// A node with the bytes of an inode; `None` when it is shadowed by an upper layer.
    pub(super) fn node_of(&self, inode: Inode) -> Option<NodeId> {
        self.rootfs.first_name(inode.0, inode.1)
    }

    /// The ELF object of an inode.
    pub(super) fn object_of(&self, inode: Inode) -> Option<ObjectId> {
        self.objects.get(&inode).copied()
    }
}

/// The category of a package's files by the package rules, and whether only the package name determines it.
fn category_of_package(catalog: &Catalog, package: &Package) -> Option<(Category, bool)> {
    // Files installed by pip are classified by path only.
    if package.manager == "pip" {
        return None;
    }
    let rule = catalog
        .is_devel_package(package.manager, &package.name)
        .or_else(|| catalog.is_driver_package(package.manager, &package.name))?;
    Some((rule.category.as_deref().and_then(Category::named)?, rule.id == "generic-headers"))
}

struct Sorter<'i, 'c> {
    input: &'i Input<'c>,
    rootfs: &'c Rootfs,
    walker: Walker<'c>,
    /// By package of the inventory.
    packages: &'i [Option<(Category, bool)>],
    further: Further<'c>,
    linked: Linked<'c>,
}

impl<'c> Sorter<'_, 'c> {
    fn layer(&mut self, layer: u16, files: &mut Vec<ClassifiedFile<'c>>) {
        let index = self.rootfs.layer(layer);
        let mut folders: Vec<Option<FolderState>> = vec![None; index.dir_count()];
        for entry in index.entries().filter(|entry| index.kind(*entry) == EntryKind::File) {
            let names = self.rootfs.names(layer, entry);
            let own = self.rootfs.node_showing(layer, entry);
            let node = names.first().copied().or(own);
            // Not hard-linked: its only name is that of its entry.
            let item = Item { layer, entry, node, bytes: index.size(entry) };
            if names.len() < 2 && node.is_none_or(|node| own == Some(node)) {
                // Most paths were compared with the rules for their class.
                let rule = if self.input.inventory.classes.has_no_devel_path(layer, entry) {
                    None
                } else {
                    let folder = self.folder(index, index.dir(entry), &mut folders);
                    self.walker.file(folder, index.name(entry)).devel
                };
                let sort = self.sort(rule, node);
                files.extend(sort.map(|(category, by)| ClassifiedFile { item, category, by }));
            } else {
                files.extend(self.sort_names(item, names));
            }
        }
    }

    fn folder(&mut self, index: &LayerIndex, dir: DirId, known: &mut [Option<FolderState>]) -> FolderState {
        // Up to the nearest folder with a known state, and down again.
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

    /// Classifies a file with names other than that of its entry.
    fn sort_names(&mut self, item: Item, names: &[NodeId]) -> Option<ClassifiedFile<'c>> {
        let (mut cached, mut outside) = (Vec::new(), Vec::new());
        let mut stays = false;
        for node in names {
            let rule = self.walker.path(&self.rootfs.node(*node).path()).devel;
            let Some((category, by)) = self.sort(rule, Some(*node)) else {
                stays = true;
                continue;
            };
            let of_cache = category == Category::PackageCaches;
            let list = if of_cache { &mut cached } else { &mut outside };
            list.push(ClassifiedFile { item: Item { node: Some(*node), ..item }, category, by });
        }
        if stays || !outside.is_empty() {
            let mut rules: Vec<&'c str> = cached.iter().filter_map(ClassifiedFile::rule).collect();
            rules.sort_unstable();
            rules.dedup();
            for rule in rules {
                *self.linked.entry(rule).or_default() += 1;
            }
        }
        if stays {
            return None;
        }
        let mut own = if outside.is_empty() { cached } else { outside };
        let first = *own.iter().min_by_key(|name| name.category)?;
        // Build content is judged name by name. Other rules apply to files of one kind.
        let alike = |name: &ClassifiedFile<'c>| match first.category {
            category if category.is_devel() => name.category.is_devel(),
            _ => name.rule() == first.rule(),
        };
        if !own.iter().all(alike) {
            return None;
        }
        own.retain(|name| name.item.node != first.item.node);
        if !own.is_empty() {
            self.further.insert((item.layer, item.entry), own);
        }
        Some(first)
    }

    fn sort(&self, rule: Option<&'c DevelPath>, node: Option<NodeId>) -> Option<(Category, By<'c>)> {
        if let Some(rule) = rule {
            if rule.scope == PathScope::Toolkit && !node.is_none_or(|node| self.is_in_toolkit(node)) {
                return None;
            }
            return Some((Category::named(&rule.category)?, By::Path(rule)));
        }
        let owner = self.input.inventory.owners.of(node?)?;
        // The licence is kept with a package that stays in the database.
        if self.rootfs.node(node?).name() == b"copyright" {
            return None;
        }
        let (category, by_name) = (*self.packages.get(owner)?)?;
        // A package name that ends in -dev proves nothing about a program in the package.
        let runs = by_name && self.is_program(node?);
        (!runs).then_some((category, By::Package))
    }

    /// Whether a file is in a toolkit folder with a valid name: `cuda-12-service` is not one.
    fn is_in_toolkit(&self, node: NodeId) -> bool {
        let path = self.rootfs.node(node).path();
        let root = self.input.catalog.toolkit_root(&path).map_or(&b""[..], |(root, _)| root);
        let name = root.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        let version = name.strip_prefix(b"cuda-").unwrap_or_default();
        version.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
    }

    /// Whether a file is an executable, a shared object, or has an executable bit.
    fn is_program(&self, node: NodeId) -> bool {
        let Some((layer, entry)) = self.rootfs.node(node).content() else { return false };
        let read = self.input.layers.get(usize::from(layer)).and_then(Option::as_ref);
        let elf = matches!(
            read.and_then(|read| read.facts.binary(entry)),
            Some(FileFacts::Elf(elf)) if matches!(elf.kind, ElfKind::Executable | ElfKind::SharedObject)
        );
        elf || self.rootfs.layer(layer).mode(entry) & 0o111 != 0
    }
}

/// The entry and size of an inode as an item.
pub(super) fn item(classification: &FileClassification<'_>, rootfs: &Rootfs, inode: (u16, EntryId)) -> Item {
    Item {
        layer: inode.0,
        entry: inode.1,
        node: classification.node_of(inode),
        bytes: rootfs.layer(inode.0).size(inode.1),
    }
}
