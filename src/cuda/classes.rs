//! Bytes of the image by class.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use hashbrown::HashSet;

use super::catalog::{FolderState, PackageKind, Walker};
use super::context::InventoryContext;
use super::packages::Packages;
use super::value::{Class, ClassBytes, Library, NO_DEVEL_PATH, Package};
use crate::base::convert::{index32, layer16};
use crate::layer::{DirId, EntryId, EntryKind, LayerIndex};
use crate::rootfs::NodeId;

/// Sums the bytes of every regular file of every layer by class, and those of the merged view. Unclassified files in
/// the lowest `base_layers` layers, those of the base image, are system files.
pub(super) fn sum(
    context: &InventoryContext<'_>,
    packages: &Packages,
    libraries: &[Library],
    base_layers: usize,
) -> ClassBytes {
    let mut judge = Judge { base_layers, ..Judge::new(context, packages, libraries) };
    let mut classes = ClassBytes::default();
    let mut merged = Sums::default();
    for layer in 0..layer16(context.input.layers.len()) {
        let (sums, by_entry) = judge.layer(layer, &mut merged);
        classes.layers.push(named(sums));
        classes.by_entry.push(by_entry);
    }
    classes.merged = named(merged);
    classes
}

/// Bytes by index in [`Class::ALL`]; `None` without a file of the class.
type Sums = [Option<u64>; Class::ALL.len()];

fn named(sums: Sums) -> BTreeMap<Class, u64> {
    Class::ALL.into_iter().filter_map(|class| Some((class, sums[class as usize]?))).collect()
}

fn add(sums: &mut Sums, class: Class, bytes: u64) {
    *sums[class as usize].get_or_insert(0) += bytes;
}

struct Judge<'a> {
    context: &'a InventoryContext<'a>,
    packages: &'a Packages,
    /// Class of the files of each package, by package index.
    of_packages: Vec<PackageClass>,
    /// CUDA libraries, by node.
    cuda_libraries: HashSet<NodeId>,
    /// Number of layers of the base image.
    base_layers: usize,
    walker: Walker<'a>,
}

/// A folder of a layer. Cells are computed on first use, since the files of a folder may not be adjacent in a
/// layer.
struct Folder {
    id: DirId,
    state: FolderState,
    /// The folder at its path in the merged view, if symbolic links lead elsewhere; otherwise `None`.
    node: OnceCell<Option<NodeId>>,
    /// Whether all its direct children are system files, or none; `None` if it depends on their names.
    system: OnceCell<Option<bool>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PackageClass {
    /// CUDA: development files where the path rules match, run-time files otherwise.
    Cuda,
    /// CUDA development files.
    CudaDevel,
    System,
    Framework,
    /// Another conda package: Python packages, Python itself, and system libraries.
    Conda,
}

impl Folder {
    fn new(id: DirId, state: FolderState) -> Self {
        Self { id, state, node: OnceCell::new(), system: OnceCell::new() }
    }
}

impl<'a> Judge<'a> {
    fn new(context: &'a InventoryContext<'a>, packages: &'a Packages, libraries: &[Library]) -> Self {
        let is_cuda = |library: &&Library| !is_framework_component(&library.component);
        Self {
            context,
            packages,
            of_packages: packages.list.iter().map(|package| package_class(context, package)).collect(),
            cuda_libraries: libraries.iter().filter(is_cuda).map(|library| library.node).collect(),
            base_layers: 0,
            walker: context.catalog.walker(),
        }
    }

    /// Sums of a layer, and the class of each entry. Files visible in the merged view are also added to `merged`.
    fn layer(&mut self, layer: u16, merged: &mut Sums) -> (Sums, Box<[u8]>) {
        let index = self.context.rootfs.layer(layer);
        let mut sums = Sums::default();
        let mut folders: Vec<Folder> = Vec::with_capacity(index.dir_count());
        for dir in (0..index32(index.dir_count())).map(DirId) {
            // Folders follow their parents.
            let state = match folders.get(index.dir_parent(dir).0 as usize) {
                Some(parent) => self.walker.below(parent.state, index.dir_name(dir)),
                None => self.walker.root(),
            };
            folders.push(Folder::new(dir, state));
        }
        let mut by_entry = vec![0; index.len()].into_boxed_slice();
        for entry in index.entries().filter(|entry| index.kind(*entry) == EntryKind::File) {
            let mut flag = 0;
            let class = self.class(layer, index, entry, &folders[index.dir(entry).0 as usize], &mut flag);
            add(&mut sums, class, index.size(entry));
            by_entry[entry.0 as usize] = (class as u8 + 1) | flag;
            if self.context.rootfs.first_name(layer, entry).is_some() {
                add(merged, class, index.size(entry));
            }
        }
        (sums, by_entry)
    }

    /// The class of a file. `flag` becomes `NO_DEVEL_PATH` if its path shows it.
    fn class(
        &mut self,
        layer: u16,
        index: &LayerIndex,
        entry: EntryId,
        folder: &Folder,
        flag: &mut u8,
    ) -> Class {
        let (context, catalog) = (self.context, self.context.catalog);
        let (name, size) = (index.name(entry), index.size(entry));
        let parent = || index.dir_path(folder.id);
        let path = || [&parent()[..], b"/", name].concat();
        let head = || context.head((layer, entry));
        if context.is_entry_named_weights(layer, entry)
            && catalog.may_be_weights(name, size)
            && !context.is_binary((layer, entry))
        {
            let of_name = name.contains(&b'.');
            // With a suffix, the name alone is sufficient.
            let format = if of_name {
                catalog.weight_format(name, head(), size)
            } else {
                catalog.weight_format(&path(), head(), size)
            };
            if format.is_some() {
                return Class::Weights;
            }
        }
        let node = context.rootfs.node_at(layer, entry).or_else(|| {
            // A folder of its path may be a symbolic link in the view; otherwise there is no such node.
            let lookup = || {
                let path = parent();
                let node = context.paths.lookup(if path.is_empty() { b"/" } else { &path })?;
                (!path.is_empty() && context.path(node) != path).then_some(node)
            };
            context.paths.child((*folder.node.get_or_init(lookup))?, name)
        });
        let owner = node.and_then(|node| self.packages.owners.of(node));
        let owner = owner.map(|owner| self.of_packages[owner]);
        // Most files have an owner that decides alone.
        match owner {
            Some(PackageClass::CudaDevel) => return Class::CudaDevel,
            Some(PackageClass::System) => return Class::System,
            Some(PackageClass::Framework) => return Class::Framework,
            Some(PackageClass::Conda) if has_part(&parent(), b"site-packages") => return Class::Framework,
            Some(PackageClass::Conda) => return Class::System,
            Some(PackageClass::Cuda) | None => {}
        }
        let rules = self.walker.file(folder.state, name);
        *flag = if rules.devel.is_none() { NO_DEVEL_PATH } else { 0 };
        let cuda = || {
            if rules.devel.is_some_and(|rule| rule.cuda) { Class::CudaDevel } else { Class::CudaRuntime }
        };
        if owner.is_some() || rules.toolkit {
            return cuda();
        }
        if let Some(class) = rules.class.and_then(class_named) {
            return if class == Class::CudaRuntime { cuda() } else { class };
        }
        if node.is_some_and(|node| self.cuda_libraries.contains(&node)) {
            return cuda();
        }
        let of_base = usize::from(layer) < self.base_layers;
        let system = || {
            let known = *folder.system.get_or_init(|| is_system_folder(&[&parent()[..], b"/"].concat()));
            known.unwrap_or_else(|| is_system(&path()))
        };
        if of_base || system() { Class::System } else { Class::Application }
    }
}

/// Components that are frameworks, not CUDA.
pub(super) fn is_framework_component(component: &str) -> bool {
    matches!(component, "torch" | "tensorflow" | "jax" | "onnxruntime" | "triton" | "other")
}

fn package_class(context: &InventoryContext<'_>, package: &Package) -> PackageClass {
    let catalog = context.catalog;
    let conda = |kind| catalog.package_rules("conda", &package.name).any(|rule| rule.kind == kind);
    match package.manager {
        "conda" if conda(PackageKind::CudaDevel) => PackageClass::CudaDevel,
        "conda" if conda(PackageKind::CudaRepository) => PackageClass::Cuda,
        "pip" | "conda" => match catalog.component_of_package(&package.name) {
            Some(component) if !is_framework_component(&component.name) => PackageClass::Cuda,
            _ if catalog.framework_of_package(package.manager, &package.name).is_none()
                && package.name.to_ascii_lowercase().starts_with("nvidia-") =>
            {
                PackageClass::Cuda
            }
            None if package.manager == "conda"
                && catalog.framework_of_package("conda", &package.name).is_none() =>
            {
                PackageClass::Conda
            }
            _ => PackageClass::Framework,
        },
        manager if catalog.is_nvidia_package(&package.name, package.maker.as_deref()) => {
            match catalog.is_devel_package(manager, &package.name) {
                Some(_) => PackageClass::CudaDevel,
                None => PackageClass::Cuda,
            }
        }
        _ => PackageClass::System,
    }
}

fn class_named(name: &str) -> Option<Class> {
    Class::ALL.into_iter().find(|class| class.as_str() == name)
}

/// Whether an unowned path is in a folder of the distribution.
fn is_system(path: &[u8]) -> bool {
    is_system_folder(path).unwrap_or_else(|| path.strip_prefix(b"/usr/local/").is_some_and(is_local_python))
}

/// Whether all files in a folder, given with a trailing slash, are the distribution's; `None` if it depends
/// on file names.
fn is_system_folder(path: &[u8]) -> Option<bool> {
    const SYSTEM: [&[u8]; 11] = [
        b"/usr/", b"/lib/", b"/lib64/", b"/lib32/", b"/bin/", b"/sbin/", b"/etc/", b"/var/", b"/boot/",
        b"/run/", b"/dev/",
    ];
    (!path.starts_with(b"/usr/local/")).then(|| SYSTEM.iter().any(|folder| path.starts_with(folder)))
}

/// Whether a path below `/usr/local` belongs to Python itself, as in the official Python images.
fn is_local_python(local: &[u8]) -> bool {
    const PYTHON: [&[u8]; 4] = [b"bin/python3", b"lib/python3", b"lib/libpython3", b"include/python3"];
    PYTHON.iter().any(|start| local.starts_with(start))
        && !has_part(local, b"site-packages")
        && !has_part(local, b"dist-packages")
}

fn has_part(path: &[u8], wanted: &[u8]) -> bool {
    path.split(|byte| *byte == b'/').any(|part| part == wanted)
}
