//! Packages that a project of the image declares for its development, and that nothing else installed requires.

mod python;

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashSet;

use super::context::InventoryContext;
use super::packages::Packages;
use crate::formats::document::DocumentKind;
use crate::formats::packages::npm;
use crate::rootfs::{NodeId, NodeKind, Rootfs};

/// Packages for the development of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DevelopmentPackages {
    /// The files that declare them: npm's record of what it installed, or files `pyproject.toml`.
    pub declared_in: Vec<NodeId>,
    /// Where they are installed: the folder `node_modules`, or the packages folder of Python.
    pub folder: NodeId,
    /// The packages.
    pub packages: DevelopmentList,
    /// Those that the projects themselves name; for pip in the form of PEP 503.
    pub declared: BTreeSet<String>,
    /// Commands of the project by name, as `npm run` starts them.
    pub scripts: BTreeMap<String, String>,
    /// Whether a tool that removes what is not for the run time removes these packages and nothing else.
    pub can_prune: bool,
}

/// The packages by manager.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DevelopmentList {
    /// Packages of npm, with their folders.
    Npm(Vec<NpmPackage>),
    /// Packages of pip, as indexes in [`Inventory::packages`](super::Inventory::packages).
    Pip(Vec<usize>),
}

/// A package of npm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpmPackage {
    /// Its name, as written.
    pub name: String,
    /// Its version, as written.
    pub version: String,
    /// Its folder. Folders `node_modules` in it have packages of their own.
    pub folder: NodeId,
}

impl NpmPackage {
    /// Its files, without those of packages inside it.
    pub fn files(&self, rootfs: &Rootfs) -> Vec<NodeId> {
        let mut files = Vec::new();
        let mut open = vec![rootfs.node(self.folder)];
        while let Some(folder) = open.pop() {
            for child in folder.children() {
                match child.kind() {
                    NodeKind::File => files.push(child.id()),
                    NodeKind::Directory if child.name() != b"node_modules" => open.push(child),
                    _ => {}
                }
            }
        }
        files
    }
}

pub use python::PackageManagers;
pub(super) use python::managers;

/// The packages of all projects, by folder.
pub(super) fn find(context: &InventoryContext<'_>, packages: &Packages) -> Vec<DevelopmentPackages> {
    let mut found = of_npm(context);
    found.extend(python::of_python(context, packages));
    found
}

fn of_npm(context: &InventoryContext<'_>) -> Vec<DevelopmentPackages> {
    let mut found = Vec::new();
    for visible in context.visible(DocumentKind::NpmInstalled) {
        let folder = context.node(visible.node).parent();
        if folder.name() != b"node_modules" {
            continue;
        }
        let Ok(bytes) = visible.document.bytes() else { continue };
        let (mut list, mut recorded) = (Vec::new(), HashSet::new());
        let mut can_prune = true;
        for package in npm::read_installed(&bytes) {
            can_prune &= !package.is_foreign;
            let Some((at, name)) = folder_of_package(context, folder.id(), &package.path) else { continue };
            recorded.insert(at);
            if package.is_development {
                list.push(NpmPackage { name, version: package.version, folder: at });
            }
        }
        if !list.is_empty() {
            can_prune &= has_only(context, folder.id(), &recorded);
            let beside = context.paths.child(folder.parent().id(), b"package.json");
            let mut projects = context.visible(DocumentKind::NpmProject).iter();
            let project = projects.find(|project| Some(project.node) == beside);
            can_prune &= project.is_some();
            let project = project.and_then(|project| project.document.bytes().ok());
            let project = project.map(|bytes| npm::Project::read(&bytes)).unwrap_or_default();
            found.push(DevelopmentPackages {
                declared_in: vec![visible.node],
                folder: folder.id(),
                packages: DevelopmentList::Npm(list),
                declared: project.dev_dependencies.into_keys().collect(),
                scripts: project.scripts,
                can_prune,
            });
        }
    }
    found
}

/// The folder of a package and its name, by its path in the record: `node_modules/NAME`, and further such pairs, where the
/// name may have a scope. Others are none of the record's.
fn folder_of_package(context: &InventoryContext<'_>, root: NodeId, path: &str) -> Option<(NodeId, String)> {
    let mut parts = path.split('/').peekable();
    let (mut at, mut name) = (root, String::new());
    let mut is_first = true;
    while parts.next_if_eq(&"node_modules").is_some() {
        if !std::mem::take(&mut is_first) {
            at = context.paths.child(at, b"node_modules")?;
        }
        parts.next()?.clone_into(&mut name);
        if name.starts_with('@') {
            at = context.paths.child(at, name.as_bytes())?;
            name = format!("{name}/{}", parts.next()?);
        }
        let own = name.rsplit('/').next()?;
        if matches!(own, "" | "." | "..") {
            return None;
        }
        at = context.paths.child(at, own.as_bytes())?;
    }
    (parts.next().is_none() && !is_first).then_some((at, name))
}

/// Whether a folder `node_modules`, and those in its packages, have no package besides the recorded ones.
fn has_only(context: &InventoryContext<'_>, modules: NodeId, recorded: &HashSet<NodeId>) -> bool {
    let mut open = vec![modules];
    while let Some(folder) = open.pop() {
        for child in context.node(folder).children() {
            if child.name().starts_with(b"@") && child.kind() == NodeKind::Directory {
                open.push(child.id());
            } else if child.kind() == NodeKind::Symlink {
                return false;
            } else if child.kind() == NodeKind::Directory && !child.name().starts_with(b".") {
                if !recorded.contains(&child.id()) {
                    return false;
                }
                open.extend(context.paths.child(child.id(), b"node_modules"));
            }
        }
    }
    true
}
