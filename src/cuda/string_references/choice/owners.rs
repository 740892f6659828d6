//! Whose the files are: packages of the distribution, of Python and of NVIDIA, and caches.

use hashbrown::HashMap;

use super::super::packages;
use super::Choice;
use crate::cuda::catalog::normalized_python_name;
use crate::rootfs::NodeId;

/// NVIDIA's Python packages for its own libraries: they list the names of all of its tools, and start none.
const BINDINGS: [&str; 5] = ["cuda-bindings", "cuda-core", "cuda-pathfinder", "cuda-python", "cuda-toolkit"];

/// Substrings of distribution maintainers in package databases. Dependencies of their packages are declared,
/// and a compiler name in a tool such as `ps` does not mean that it compiles. Packages of other maintainers
/// may be the application.
const DISTRIBUTIONS: [&str; 11] = [
    "@debian.org",
    ".debian.org",
    "ubuntu.com",
    "canonical.com",
    "Red Hat",
    "Fedora Project",
    "Rocky Enterprise",
    "AlmaLinux",
    "Amazon Linux",
    "SUSE",
    "alpinelinux.org",
];

impl Choice<'_> {
    /// Whether a file's system package comes from the distribution, and whether it came as a dependency.
    pub(super) fn origin(&self, owner: Option<usize>) -> (bool, bool) {
        let package = owner.and_then(|owner| self.packages.list.get(owner));
        let maker = package.and_then(|package| package.maker.as_deref());
        let of_distribution =
            maker.is_some_and(|maker| DISTRIBUTIONS.iter().any(|known| maker.contains(known)));
        let is_automatic =
            package.is_some_and(|package| package.is_of_system() && package.automatic.is_some());
        (of_distribution, is_automatic)
    }

    /// Whether a file is in the cache of a package manager, which keeps copies of what it downloads.
    pub(super) fn is_in_cache(&self, node: NodeId) -> bool {
        let rule = self.context.catalog.is_devel_path(&self.context.path(node));
        rule.is_some_and(|rule| rule.category == "package-caches")
    }

    /// Whether a file has a known owner. In a packages folder: a package of the catalogue or of the
    /// distribution; elsewhere: a Python, NVIDIA or development package.
    pub(super) fn is_known_owner(&self, owner: Option<usize>, in_packages: bool) -> bool {
        let Some(owner) = owner else { return false };
        let Some(package) = self.packages.list.get(owner) else { return true };
        let catalog = self.context.catalog;
        let of_python = matches!(package.manager, "pip" | "conda");
        if !in_packages {
            // A service may also be installed as a system package. The distribution's own files are in
            // folders that are not searched.
            return of_python
                || catalog.is_nvidia_package(&package.name, package.maker.as_deref())
                || catalog.is_devel_package(package.manager, &package.name).is_some();
        }
        !of_python
            || catalog.framework_of_package(package.manager, &package.name).is_some()
            || catalog.component_of_package(&package.name).is_some()
            || package.name.to_ascii_lowercase().starts_with("nvidia-")
            || BINDINGS.contains(&normalized_python_name(&package.name).as_str())
    }

    /// Whether a package of the catalogue is searched for git: a framework. NVIDIA's packages for its libraries list the
    /// names of many tools.
    pub(super) fn is_searched_for_git(&self, owner: usize) -> bool {
        self.packages.list.get(owner).is_some_and(|package| {
            let catalog = self.context.catalog;
            matches!(package.manager, "pip" | "conda")
                && catalog.framework_of_package(package.manager, &package.name).is_some()
        })
    }

    /// Whether a file is in an archive of uv whose package is also installed in an environment, as files of its own: then
    /// nothing runs the archive.
    pub(super) fn is_copy(&self, file: NodeId, known: &mut HashMap<Vec<u8>, bool>) -> bool {
        let path = self.context.path(file);
        let Some(archive) = packages::archive_of(&path) else { return false };
        match known.get(archive) {
            Some(known) => *known,
            None => *known.entry(archive.to_vec()).or_insert_with(|| self.is_installed(archive)),
        }
    }

    fn is_installed(&self, archive: &[u8]) -> bool {
        let folder = self.context.paths.lookup(archive);
        let children = folder.into_iter().flat_map(|folder| self.context.node(folder).children());
        let packages: Vec<&[u8]> =
            children.filter_map(|child| child.name().strip_suffix(b".dist-info")).collect();
        !packages.is_empty()
            && packages.iter().all(|stem| {
                let name = String::from_utf8_lossy(stem);
                let Some((name, version)) = name.rsplit_once('-') else { return false };
                let installed = self.packages.list.iter().filter(|package| package.manager == "pip");
                let name = normalized_python_name(name);
                installed.filter(|package| package.version == version).any(|package| {
                    let root = package.root.as_deref().unwrap_or_default();
                    packages::archive_of(root).is_none() && normalized_python_name(&package.name) == name
                })
            })
    }
}
