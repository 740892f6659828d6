//! Packages that a project of the image declares for its development, and that nothing else installed requires.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};

use super::catalog::normalized_python_name;
use super::context::InventoryContext;
use super::packages::Packages;
use super::value::Package;
use crate::formats::document::DocumentKind;
use crate::formats::packages::npm;
use crate::formats::python_project::{Project, Requirement};
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

/// The packages of all projects, by folder.
pub(super) fn find(context: &InventoryContext<'_>, packages: &Packages) -> Vec<DevelopmentPackages> {
    let mut found = of_npm(context);
    found.extend(of_python(context, packages));
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
        let mut list = Vec::new();
        for package in npm::read_installed(&bytes).into_iter().filter(|package| package.is_development) {
            let Some(inside) = package.path.strip_prefix("node_modules/") else { continue };
            let mut parts = inside.split('/');
            // A path that leads elsewhere is none of the record's.
            let at = parts.try_fold(folder.id(), |at, part| match part {
                "" | "." | ".." => None,
                name => context.paths.child(at, name.as_bytes()),
            });
            let Some(folder) = at else { continue };
            let name = inside.rsplit("node_modules/").next().unwrap_or(inside);
            list.push(NpmPackage { name: name.to_owned(), version: package.version, folder });
        }
        if !list.is_empty() {
            let beside = context.paths.child(folder.parent().id(), b"package.json");
            let mut projects = context.visible(DocumentKind::NpmProject).iter();
            let project = projects.find(|project| Some(project.node) == beside);
            let project = project.and_then(|project| project.document.bytes().ok());
            let project = project.map(|bytes| npm::Project::read(&bytes)).unwrap_or_default();
            found.push(DevelopmentPackages {
                declared_in: vec![visible.node],
                folder: folder.id(),
                packages: DevelopmentList::Npm(list),
                declared: project.dev_dependencies.into_keys().collect(),
                scripts: project.scripts,
            });
        }
    }
    found
}

/// The packages of one packages folder.
struct Environment<'a> {
    packages: &'a [Package],
    /// By normalised name: index.
    by_name: HashMap<String, usize>,
    /// By index: what the package requires.
    requires: BTreeMap<usize, Vec<Requirement>>,
}

impl<'a> Environment<'a> {
    fn of(packages: &'a [Package], places: &[usize]) -> Self {
        let name = |place: &usize| (normalized_python_name(&packages[*place].name), *place);
        let read = |place: &usize| {
            let lines = packages[*place].depends.iter();
            (*place, lines.filter_map(|line| Requirement::read(line)).collect())
        };
        Self {
            packages,
            by_name: places.iter().map(name).collect(),
            requires: places.iter().map(read).collect(),
        }
    }

    fn place(&self, requirement: &Requirement) -> Option<usize> {
        self.by_name.get(&normalized_python_name(&requirement.name)).copied()
    }

    /// Whether a project is installed here: all that it always requires is here, and something that it requires for
    /// development.
    fn has(&self, project: &Project) -> bool {
        let mut always = project.runtime.iter().filter(|one| !one.is_conditional);
        let is_here = |one: &Requirement| self.place(one).is_some();
        project.development.iter().any(is_here) && always.all(is_here)
    }

    /// The packages that these requirements and packages lead to. Conditions are taken to hold; extras count where
    /// one is asked for.
    fn reached<'r>(
        &'r self,
        requirements: impl Iterator<Item = &'r Requirement>,
        installed: impl Iterator<Item = usize>,
    ) -> HashSet<usize> {
        let no_extra = |place| (place, String::new());
        let mut open: Vec<(usize, String)> = installed.map(no_extra).collect();
        let mut known: HashSet<(usize, String)> = open.iter().cloned().collect();
        let mut add = |requirement: &Requirement, open: &mut Vec<(usize, String)>| {
            let Some(place) = self.place(requirement) else { return };
            let extras = requirement.extras.iter().map(|extra| normalized_python_name(extra));
            for extra in std::iter::once(String::new()).chain(extras) {
                if known.insert((place, extra.clone())) {
                    open.push((place, extra));
                }
            }
        };
        requirements.for_each(|requirement| add(requirement, &mut open));
        while let Some((place, extra)) = open.pop() {
            let asks = |one: &&Requirement| match extra.as_str() {
                "" => one.only_with.is_empty(),
                extra => one.only_with.iter().any(|only| normalized_python_name(only) == extra),
            };
            self.requires.get(&place).into_iter().flatten().filter(asks).for_each(|one| add(one, &mut open));
        }
        known.into_iter().map(|(place, _)| place).collect()
    }

    /// The packages that only the development of these projects requires, sorted by name.
    fn only_for_development(&self, projects: &[&Project]) -> Vec<usize> {
        let development = projects.iter().flat_map(|project| &project.development);
        let runtime = projects.iter().flat_map(|project| &project.runtime);
        let named = self.reached(development, std::iter::empty());
        let others = self.by_name.values().copied().filter(|place| !named.contains(place));
        let needed = self.reached(runtime, others);
        let mut only: Vec<usize> = named.into_iter().filter(|place| !needed.contains(place)).collect();
        only.sort_by_key(|place| (&self.packages[*place].name, *place));
        only
    }
}

fn of_python(context: &InventoryContext<'_>, packages: &Packages) -> Vec<DevelopmentPackages> {
    let mut projects: Vec<(NodeId, Project)> = Vec::new();
    for visible in context.visible(DocumentKind::PythonProject) {
        let project = visible.document.bytes().ok().and_then(|bytes| Project::read(&bytes));
        projects.extend(project.filter(|one| !one.development.is_empty()).map(|one| (visible.node, one)));
    }
    if projects.is_empty() {
        return Vec::new();
    }
    let mut folders: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (place, package) in packages.list.iter().enumerate().filter(|(_, package)| package.manager == "pip") {
        // What the system's package manager brought is not the project's.
        if let Some(root) = package.root.as_ref().filter(|_| !packages.is_double(place)) {
            folders.entry(root).or_default().push(place);
        }
    }
    let mut found = Vec::new();
    for (root, places) in folders {
        let environment = Environment::of(&packages.list, &places);
        let here: Vec<_> = projects.iter().filter(|(_, project)| environment.has(project)).collect();
        let only =
            environment.only_for_development(&here.iter().map(|(_, project)| project).collect::<Vec<_>>());
        let Some(folder) = context.paths.lookup(root).filter(|_| !only.is_empty()) else { continue };
        let declared = here.iter().flat_map(|(_, project)| &project.development);
        found.push(DevelopmentPackages {
            declared_in: here.iter().map(|(node, _)| *node).collect(),
            folder,
            packages: DevelopmentList::Pip(only),
            declared: declared.map(|one| normalized_python_name(&one.name)).collect(),
            scripts: BTreeMap::new(),
        });
    }
    found
}
