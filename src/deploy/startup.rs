//! The files that starting the image's command reads, as far as links and the inventory know them.
//!
//! Programs of the command, what the loader maps for them, and for a Python program the modules and libraries of the
//! frameworks that are installed, as if it imported them all. What the program itself opens is unknown.

use std::collections::{BTreeMap, BTreeSet};

use super::model::ReadSize;
use super::rates::{End, Rates};
use crate::analysis::Analysis;
use crate::cuda::compat::TargetGpu;
use crate::cuda::links::{Links, Object, Root, RootKind, file_name};
use crate::cuda::{Fit, Framework, GpuCode, Inventory, Level, fit};
use crate::rootfs::{Node, NodeId, NodeKind, Rootfs};

/// Files that start-up reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StartupRead {
    /// ELF files, each inode once.
    pub libraries: BTreeSet<NodeId>,
    /// Their bytes without GPU code.
    pub library_bytes: u64,
    /// Their GPU code that one of the targets runs, at most.
    pub gpu_bytes: u64,
    /// Python modules: of the frameworks, and of the standard library.
    pub modules: u64,
    /// Bytes of these modules.
    pub module_bytes: u64,
    /// Frameworks assumed to be imported, with their versions.
    pub frameworks: Vec<String>,
}

impl StartupRead {
    /// What is read, at one end of the shares.
    pub fn size(&self, rates: &Rates, end: End) -> ReadSize {
        let (libraries, modules) = (end.cost(rates.library_share()), end.cost(rates.module_share()));
        // GPU code is read when its first kernel is used, which need not be at start-up.
        let gpu = match end {
            End::Best => 0.0,
            End::Middle => self.gpu_bytes as f64 / 2.0,
            End::Worst => self.gpu_bytes as f64,
        };
        ReadSize {
            bytes: self.library_bytes as f64 * libraries + gpu + self.module_bytes as f64 * modules,
            files: self.libraries.len() as f64 + self.modules as f64 * modules,
        }
    }
}

/// What start-up reads; `None` if the inventory is incomplete, or the command names no program of the image.
pub fn startup(analysis: &Analysis) -> Option<StartupRead> {
    let inventory = analysis.inventory.as_deref().filter(|inventory| inventory.waits_for.is_none())?;
    let rootfs = &analysis.merge.as_deref()?.rootfs;
    let started = |_: &Object, root: &Root| matches!(root.kind, RootKind::Entrypoint);
    if !inventory
        .links
        .objects
        .iter()
        .any(|object| object.root.as_ref().is_some_and(|root| started(object, root)))
    {
        return None;
    }
    let preloaded = |object: &Object, root: &Root| started(object, root) || root.kind == RootKind::Preload;
    let mut reached = reach(&inventory.links, preloaded);
    let mut read = StartupRead::default();
    if let Some(python) = python(&inventory.links, rootfs, &reached) {
        let imported: Vec<&Framework> = inventory.frameworks.iter().filter(|one| is_imported(one)).collect();
        let folders: Vec<Vec<u8>> = imported.iter().flat_map(|one| folders(one)).collect();
        let library = standard_library(rootfs, &python);
        let own = library.map(|folder| [&folder.path()[..], b"/"].concat());
        let imports = |object: &Object, root: &Root| {
            preloaded(object, root)
                || root.kind == RootKind::Extension && {
                    let path = rootfs.node(object.node).path();
                    folders.iter().any(|folder| path.starts_with(folder))
                        || own.as_ref().and_then(|own| path.strip_prefix(&own[..])).is_some_and(is_own)
                }
        };
        reached = reach(&inventory.links, imports);
        let mut sums = Modules::default();
        for folder in folders.iter().filter_map(|folder| folder_at(rootfs, folder)) {
            sums.add(folder);
        }
        if let Some(folder) = library {
            sums.add(folder);
        }
        (read.modules, read.module_bytes) = sums.sum();
        read.frameworks = imported.iter().map(|one| shown(one)).collect();
        read.frameworks.dedup();
    }
    let gpu = gpu_code(inventory);
    for (object, _) in inventory.links.objects.iter().zip(&reached).filter(|(_, reached)| **reached) {
        let node = rootfs.node(object.node);
        let Some(_) = node.content().filter(|_| read.libraries.insert(object.node)) else { continue };
        let (all, used) = gpu.get(&object.node).map_or((0, 0), |code| code.sizes(&analysis.targets));
        read.library_bytes = read.library_bytes.saturating_add(node.bytes().saturating_sub(all));
        read.gpu_bytes = read.gpu_bytes.saturating_add(used);
    }
    Some(read)
}

fn reach(links: &Links, is_start: impl Fn(&Object, &Root) -> bool) -> Vec<bool> {
    links.firmly_reached(is_start)
}

/// The path of the Python that is started.
fn python(links: &Links, rootfs: &Rootfs, reached: &[bool]) -> Option<Vec<u8>> {
    let started =
        links.objects.iter().zip(reached).filter(|(object, reached)| **reached && object.root.is_some());
    started
        .map(|(object, _)| rootfs.node(object.node).path())
        .find(|path| file_name(path).starts_with(b"python"))
}

/// Whether a Python program is assumed to import it: general frameworks and servers, not the kernel libraries that
/// they load on demand.
fn is_imported(framework: &Framework) -> bool {
    matches!(framework.level, Level::Framework | Level::Server) && framework.path != b"/"
}

fn shown(framework: &Framework) -> String {
    match &framework.version {
        Some(version) => format!("{} {version}", framework.name),
        None => framework.name.to_string(),
    }
}

/// The import folders of a framework, with a slash at the end.
fn folders(framework: &Framework) -> Vec<Vec<u8>> {
    let name = framework.name.replace('-', "_");
    // Packages whose parts are imported under other names.
    let further: &[&str] = match name.as_str() {
        "jax" => &["jaxlib", "jax_plugins"],
        "torch" => &["torchgen", "numpy"],
        "onnxruntime" | "tensorflow" => &["numpy"],
        _ => &[],
    };
    let below = |name: &str| [&framework.path[..], b"/", name.as_bytes(), b"/"].concat();
    std::iter::once(below(&name)).chain(further.iter().map(|name| below(name))).collect()
}

/// The folder at an absolute path without symbolic links.
fn folder_at<'a>(rootfs: &'a Rootfs, path: &[u8]) -> Option<Node<'a>> {
    let mut at = rootfs.root();
    for part in path.split(|byte| *byte == b'/').filter(|part| !part.is_empty()) {
        at = at.children().find(|child| child.name() == part && child.kind() == NodeKind::Directory)?;
    }
    Some(at)
}

/// `lib/python3.12` beside the `bin` of an interpreter whose file name has the version.
fn standard_library<'a>(rootfs: &'a Rootfs, python: &[u8]) -> Option<Node<'a>> {
    let name = file_name(python);
    let prefix = python.strip_suffix(name)?.strip_suffix(b"/bin/")?;
    folder_at(rootfs, &[prefix, b"/lib/", name].concat())
}

/// Whether a path below the standard library is one of its own extension modules, such as `_ssl`, and not that of a
/// package or a test.
fn is_own(path: &[u8]) -> bool {
    path.strip_prefix(b"lib-dynload/")
        .is_some_and(|name| !name.starts_with(b"_test") && !name.starts_with(b"_tkinter."))
}

/// Python modules by their folder and stem: a module is read from its bytecode, or from its source without one.
#[derive(Default)]
struct Modules<'a> {
    seen: BTreeSet<NodeId>,
    modules: BTreeMap<(NodeId, &'a [u8]), u64>,
}

impl<'a> Modules<'a> {
    /// Folders whose modules are not imported at start-up.
    const APART: [&'static [u8]; 9] = [
        b"site-packages",
        b"dist-packages",
        b"test",
        b"tests",
        b"testing",
        b"idlelib",
        b"tkinter",
        b"lib2to3",
        b"ensurepip",
    ];

    fn add(&mut self, folder: Node<'a>) {
        let mut open = vec![folder];
        while let Some(folder) = open.pop() {
            if !self.seen.insert(folder.id()) {
                continue;
            }
            for child in folder.children() {
                match child.kind() {
                    NodeKind::Directory if !Self::APART.contains(&child.name()) => open.push(child),
                    NodeKind::File => self.file(folder, child),
                    _ => {}
                }
            }
        }
    }

    fn file(&mut self, folder: Node<'a>, file: Node<'a>) {
        let name = file.name();
        if let Some(stem) = name.strip_suffix(b".py") {
            self.modules.entry((folder.id(), stem)).or_insert_with(|| file.bytes());
        } else if name.ends_with(b".pyc") {
            // `__pycache__/name.cpython-312.pyc` belongs to `name.py` one folder up, and is read in its place.
            let stem = name.split(|byte| *byte == b'.').next().unwrap_or_default();
            let of = if folder.name() == b"__pycache__" { folder.parent() } else { folder };
            self.modules.insert((of.id(), stem), file.bytes());
        }
    }

    fn sum(&self) -> (u64, u64) {
        (self.modules.len() as u64, self.modules.values().fold(0, |sum, bytes| sum.saturating_add(*bytes)))
    }
}

/// GPU code of a file.
struct Code<'a> {
    bytes: u64,
    rows: &'a [GpuCode],
}

impl Code<'_> {
    /// All bytes, and those that one of the targets runs, at most.
    fn sizes(&self, targets: &[TargetGpu]) -> (u64, u64) {
        let used = |target: &TargetGpu| {
            let runs = |row: &&GpuCode| fit(target.sm, row.kind, row.arch, row.suffix) != Fit::Never;
            self.rows.iter().filter(runs).fold(0_u64, |sum, row| sum.saturating_add(row.bytes))
        };
        (self.bytes, targets.iter().map(used).max().unwrap_or(self.bytes))
    }
}

fn gpu_code(inventory: &Inventory) -> BTreeMap<NodeId, Code<'_>> {
    let libraries =
        inventory.libraries.iter().filter(|library| library.hard_link_of.is_none()).map(|library| {
            let code = Code { bytes: library.gpu_section_bytes, rows: &library.gpu_code };
            (inventory.links.object(library.object).node, code)
        });
    let holders = inventory.holders.iter().map(|holder| {
        let bytes = holder.gpu_code.iter().fold(0_u64, |sum, row| sum.saturating_add(row.bytes));
        (holder.node, Code { bytes, rows: &holder.gpu_code })
    });
    libraries.chain(holders).collect()
}
