//! Packages of pip: those for the development of a project, and package managers.

use std::collections::BTreeMap;

use hashbrown::{HashMap, HashSet};

use super::{DevelopmentList, DevelopmentPackages};
use crate::cuda::catalog::normalized_python_name;
use crate::cuda::context::InventoryContext;
use crate::cuda::links::folder_of;
use crate::cuda::packages::Packages;
use crate::cuda::value::Package;
use crate::formats::document::DocumentKind;
use crate::formats::python_project::{Project, Requirement};
use crate::rootfs::{Node, NodeId};

/// Package managers of Python in one packages folder, with the packages that nothing but these requires.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PackageManagers {
    /// The package managers, as indexes in [`Inventory::packages`](crate::cuda::Inventory::packages).
    pub managers: Vec<usize>,
    /// All packages, in the order of their names.
    pub packages: Vec<usize>,
}

/// Package managers that pip installs, by name.
const MANAGERS: [&str; 8] = ["hatch", "pdm", "pip-tools", "pipenv", "pipx", "poetry", "twine", "uv"];
/// What every environment may have, and no package declares.
const BASIC: [&str; 3] = ["pip", "setuptools", "wheel"];

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

    /// The packages that these requirements and packages lead to, by any extra.
    fn reached_by_any(
        &self,
        requirements: &[&Requirement],
        installed: impl Iterator<Item = usize>,
    ) -> HashSet<usize> {
        let mut of_package: HashMap<usize, Vec<usize>> = HashMap::new();
        for ((place, _), lines) in &self.by_extra {
            of_package.entry(*place).or_default().extend(lines);
        }
        let named = requirements.iter().filter_map(|requirement| self.place(requirement));
        let mut open: Vec<usize> = named.chain(installed).collect();
        let mut found = HashSet::new();
        while let Some(place) = open.pop() {
            if found.insert(place) {
                let lines = of_package.get(&place).into_iter().flatten();
                open.extend(lines.filter_map(|line| self.place(&self.requires[*line])));
            }
        }
        found
    }

    /// The packages that only the development of these projects requires, sorted by name.
    /// `needed` is what others require.
    fn only_for_development(&self, projects: &[&Project], needed: &[&Requirement]) -> Vec<usize> {
        let development = projects.iter().flat_map(|project| &project.development);
        let named = self.reached(development, std::iter::empty());
        self.only(&named, |_| false, needed, false)
    }

    /// Those of the packages `named` that neither another one nor `needed` requires, and that do not `stay`. With `extras`,
    /// what another one uses where it is there counts as required.
    fn only(
        &self,
        named: &HashSet<usize>,
        stays: impl Fn(usize) -> bool,
        needed: &[&Requirement],
        extras: bool,
    ) -> Vec<usize> {
        let others = self.by_name.values().copied();
        let others = others.filter(|place| !named.contains(place) || stays(*place));
        let needed = if extras {
            self.reached_by_any(needed, others)
        } else {
            self.reached(needed.iter().copied(), others)
        };
        let mut only: Vec<usize> = named.iter().copied().filter(|place| !needed.contains(place)).collect();
        only.sort_by_key(|place| (normalized_python_name(&self.packages[*place].name), *place));
        only
    }
}

/// The packages of pip in all folders, and the projects of the image.
struct Python<'a> {
    projects: Vec<(NodeId, Project)>,
    /// By packages folder: indexes of packages.
    folders: BTreeMap<&'a [u8], Vec<usize>>,
    /// What packages always require, with their folder.
    requires: Vec<(Option<&'a Vec<u8>>, Requirement)>,
}

impl<'a> Python<'a> {
    fn of(context: &InventoryContext<'_>, packages: &'a Packages) -> Self {
        let mut projects: Vec<(NodeId, Project)> = Vec::new();
        for visible in context.visible(DocumentKind::PythonProject) {
            let project = visible.document.bytes().ok().and_then(|bytes| Project::read(&bytes));
            // In a packages folder it belongs to a package.
            let is_own = memchr::memmem::find(&context.path(visible.node), b"-packages/").is_none();
            projects.extend(project.filter(|_| is_own).map(|one| (visible.node, one)));
        }
        let mut folders: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
        let of_pip = packages.list.iter().enumerate().filter(|(_, package)| package.manager == "pip");
        for (place, package) in of_pip {
            // What the system's package manager brought is not the project's.
            if let Some(root) = package.root.as_ref().filter(|_| !packages.is_double(place)) {
                folders.entry(root).or_default().push(place);
            }
        }
        let requires = (packages.list.iter())
            .filter(|package| package.manager == "pip")
            .flat_map(|package| package.depends.iter().map(move |line| (package.root.as_ref(), line)))
            .filter_map(|(root, line)| Some((root, Requirement::read(line)?)))
            .filter(|(_, requirement)| requirement.only_with.is_empty())
            .collect();
        Self { projects, folders, requires }
    }

    /// What projects require at run time, and what packages in other folders than this one require, those of the system
    /// too: they may take it from this one.
    fn needed_in(&self, root: &[u8]) -> Vec<&Requirement> {
        let of_projects = self.projects.iter().flat_map(|(_, project)| &project.runtime);
        let elsewhere = self.requires.iter().filter(|(other, _)| other.map(Vec::as_slice) != Some(root));
        of_projects.chain(elsewhere.map(|(_, one)| one)).collect()
    }
}

pub(super) fn of_python(context: &InventoryContext<'_>, packages: &Packages) -> Vec<DevelopmentPackages> {
    let python = Python::of(context, packages);
    if python.projects.iter().all(|(_, project)| project.development.is_empty()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (root, places) in &python.folders {
        let environment = Environment::of(&packages.list, places);
        let here: Vec<_> = python.projects.iter().filter(|(_, project)| environment.has(project)).collect();
        let here_only: Vec<&Project> = here.iter().map(|(_, project)| project).collect();
        let only = environment.only_for_development(&here_only, &python.needed_in(root));
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

/// The packages of a folder that pip or uv was asked for by name, in the form of PEP 503.
fn requested(context: &InventoryContext<'_>, root: &[u8]) -> HashSet<String> {
    let folder = context.paths.lookup(root).map(|folder| context.node(folder));
    let records = folder.into_iter().flat_map(Node::children).filter_map(|record| {
        let name = record.name().strip_suffix(b".dist-info")?;
        context.paths.child(record.id(), b"REQUESTED")?;
        let name = name.iter().rposition(|byte| *byte == b'-').map_or(name, |end| &name[..end]);
        Some(normalized_python_name(&String::from_utf8_lossy(name)))
    });
    records.collect()
}

/// Maximum packages folders with package managers; images have one or two.
const MOST: usize = 64;

/// The package managers in each packages folder, with what only they require. What pip or uv installed by name stays, as
/// does what a project of the image requires.
pub(in crate::cuda) fn managers(context: &InventoryContext<'_>, packages: &Packages) -> Vec<PackageManagers> {
    let name = |place: usize| normalized_python_name(&packages.list[place].name);
    let is_manager = |place: &usize| MANAGERS.contains(&name(*place).as_str());
    if !(0..packages.list.len()).any(|place| packages.list[place].manager == "pip" && is_manager(&place)) {
        return Vec::new();
    }
    let python = Python::of(context, packages);
    let mut found = Vec::new();
    for (root, places) in &python.folders {
        if found.len() == MOST {
            break;
        }
        let of_folder: Vec<usize> = places.iter().copied().filter(is_manager).collect();
        if of_folder.is_empty() {
            continue;
        }
        let environment = Environment::of(&packages.list, places);
        let requested = requested(context, root);
        let is_requested = |place: usize| requested.contains(&name(place));
        let named = environment.reached(std::iter::empty(), of_folder.iter().copied());
        let is_basic = |place: usize| BASIC.contains(&name(place).as_str());
        let stays = |place: usize| is_basic(place) || !of_folder.contains(&place) && is_requested(place);
        let mut only = environment.only(&named, stays, &python.needed_in(root), true);
        let managers: Vec<usize> = of_folder.into_iter().filter(|place| only.contains(place)).collect();
        if managers.is_empty() {
            continue;
        }
        // An environment of its own: pip in it installs nothing else.
        let rest = places.iter().copied().filter(|place| !only.contains(place));
        let above = folder_of(folder_of(folder_of(root)));
        let is_environment = || context.paths.lookup(&[above, &b"/pyvenv.cfg"[..]].concat()).is_some();
        let rest: Vec<usize> = rest.collect();
        if rest.iter().all(|place| is_basic(*place)) && is_environment() {
            only.extend(rest);
        }
        found.push(PackageManagers { managers, packages: only });
    }
    found
}
