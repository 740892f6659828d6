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

/// The packages of one packages folder.
struct Environment<'a> {
    packages: &'a [Package],
    /// By normalised name: index.
    by_name: HashMap<String, usize>,
    /// What the packages require.
    requires: Vec<Requirement>,
    /// By package and its normalised extra, which is empty for what it always requires: indices of `requires`.
    by_extra: HashMap<(usize, String), Vec<usize>>,
}

impl<'a> Environment<'a> {
    fn of(packages: &'a [Package], places: &[usize]) -> Self {
        let name = |place: &usize| (normalized_python_name(&packages[*place].name), *place);
        let mut requires = Vec::new();
        let mut by_extra: HashMap<(usize, String), Vec<usize>> = HashMap::new();
        for place in places {
            for one in packages[*place].depends.iter().filter_map(|line| Requirement::read(line)) {
                let extras = one.only_with.iter().map(|extra| normalized_python_name(extra));
                let always = one.only_with.is_empty().then(String::new);
                for extra in extras.chain(always) {
                    by_extra.entry((*place, extra)).or_default().push(requires.len());
                }
                requires.push(one);
            }
        }
        Self { packages, by_name: places.iter().map(name).collect(), requires, by_extra }
    }

    fn place(&self, requirement: &Requirement) -> Option<usize> {
        self.by_name.get(&normalized_python_name(&requirement.name)).copied()
    }

    /// Whether a project is installed here: all that it always requires is here, and something that it requires for
    /// development.
    fn has(&self, project: &Project) -> bool {
        let is_here = |one: &Requirement| self.place(one).is_some();
        let mut always = project.runtime.iter().filter(|one| !one.is_conditional).peekable();
        project.development.iter().any(is_here) && always.peek().is_some() && always.all(is_here)
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
        // Many extras may lead to one line with many extras.
        let mut taken = HashSet::new();
        while let Some(one) = open.pop() {
            for place in self.by_extra.get(&one).into_iter().flatten().filter(|place| taken.insert(**place)) {
                add(&self.requires[*place], &mut open);
            }
        }
        known.into_iter().map(|(place, _)| place).collect()
    }

    /// The packages that only the development of these projects requires, sorted by name.
    /// `needed` is what others require.
    fn only_for_development(&self, projects: &[&Project], needed: &[&Requirement]) -> Vec<usize> {
        let development = projects.iter().flat_map(|project| &project.development);
        let named = self.reached(development, std::iter::empty());
        let others = self.by_name.values().copied().filter(|place| !named.contains(place));
        let needed = self.reached(needed.iter().copied(), others);
        let mut only: Vec<usize> = named.into_iter().filter(|place| !needed.contains(place)).collect();
        only.sort_by_key(|place| (&self.packages[*place].name, *place));
        only
    }
}

fn of_python(context: &InventoryContext<'_>, packages: &Packages) -> Vec<DevelopmentPackages> {
    let mut projects: Vec<(NodeId, Project)> = Vec::new();
    for visible in context.visible(DocumentKind::PythonProject) {
        let project = visible.document.bytes().ok().and_then(|bytes| Project::read(&bytes));
        // In a packages folder it belongs to a package.
        let is_own = memchr::memmem::find(&context.path(visible.node), b"-packages/").is_none();
        projects.extend(project.filter(|_| is_own).map(|one| (visible.node, one)));
    }
    if projects.iter().all(|(_, project)| project.development.is_empty()) {
        return Vec::new();
    }
    let mut folders: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (place, package) in packages.list.iter().enumerate().filter(|(_, package)| package.manager == "pip") {
        // What the system's package manager brought is not the project's.
        if let Some(root) = package.root.as_ref().filter(|_| !packages.is_double(place)) {
            folders.entry(root).or_default().push(place);
        }
    }
    // What packages in other folders require, those of the system too, may be taken from this one.
    let requires: Vec<(Option<&Vec<u8>>, Requirement)> = (packages.list.iter())
        .filter(|package| package.manager == "pip")
        .flat_map(|package| package.depends.iter().map(move |line| (package.root.as_ref(), line)))
        .filter_map(|(root, line)| Some((root, Requirement::read(line)?)))
        .filter(|(_, requirement)| requirement.only_with.is_empty())
        .collect();
    let mut found = Vec::new();
    for (root, places) in folders {
        let environment = Environment::of(&packages.list, &places);
        let here: Vec<_> = projects.iter().filter(|(_, project)| environment.has(project)).collect();
        let of_projects = projects.iter().flat_map(|(_, project)| &project.runtime);
        let elsewhere = requires.iter().filter(|(other, _)| other.map(Vec::as_slice) != Some(root));
        let needed: Vec<&Requirement> = of_projects.chain(elsewhere.map(|(_, one)| one)).collect();
        let here_only: Vec<&Project> = here.iter().map(|(_, project)| project).collect();
        let only = environment.only_for_development(&here_only, &needed);
        let Some(folder) = context.paths.lookup(root).filter(|_| !only.is_empty()) else { continue };
        let declared = here.iter().flat_map(|(_, project)| &project.development);
        found.push(DevelopmentPackages {
            declared_in: here.iter().map(|(node, _)| *node).collect(),
            folder,
            packages: DevelopmentList::Pip(only),
            declared: declared.map(|one| normalized_python_name(&one.name)).collect(),
            scripts: BTreeMap::new(),
            can_prune: false,
        });
    }
    found
}
