//! Pythons of kept packages.

use std::collections::BTreeSet;

use super::causes::Cause;
use super::{FileDisposition, Keep};
use crate::cuda::catalog::normalized_python_name;
use crate::formats::python_project::Requirement;
use crate::rewrite::environments::is_isolated;

impl Keep<'_, '_> {
    /// Python packages need their Python.
    pub(super) fn pythons(&mut self) {
        let (mut versions, mut pythons, mut searching) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for (place, package) in self.context.input.inventory.packages.iter().enumerate() {
            let files = self.context.files_of.get(&place).map(Vec::as_slice).unwrap_or_default();
            if package.manager == "pip"
                && files.iter().any(|node| self.fate(*node) == FileDisposition::Copied)
            {
                let root = package.root.as_deref().unwrap_or_default();
                let version = python_of(root);
                let is_debians = version.as_deref().is_some_and(|version| self.is_of_debian(root, version));
                if is_debians && !self.is_isolated(root) {
                    searching.push(place);
                }
                // The one beside it, if there is one.
                let beside = root.ends_with(b"/site-packages").then(|| prefix_of(root)).flatten();
                let own = beside.zip(version.as_ref()).and_then(|(prefix, version)| {
                    self.context.paths.lookup(&[prefix, b"/bin/", version].concat())
                });
                match own {
                    Some(python) => _ = pythons.insert(python),
                    None => versions.extend(version),
                }
            }
        }
        for version in versions {
            let found = ["/usr/bin/", "/usr/local/bin/"].map(|folder| [folder.as_bytes(), &version].concat());
            pythons.extend(found.iter().filter_map(|path| self.context.paths.lookup(path)));
        }
        for python in pythons {
            self.require(python, b"", Cause::Python);
        }
        if !searching.is_empty() {
            // Old packages import pkg_resources, which came with pip.
            let imported = ["python3-setuptools", "python3-pkg-resources"];
            for package in imported.iter().filter_map(|name| self.context.by_name.get(name)) {
                if !self.base.packages.contains(package) {
                    self.install(*package, Cause::Python);
                }
            }
            self.of_debian(&searching);
        }
    }

    /// Installs the packages of Debian by which requirements of Python packages are met: pip does not install what is there.
    fn of_debian(&mut self, packages: &[usize]) {
        let all = &self.context.input.inventory.packages;
        let lines = packages.iter().flat_map(|place| &all[*place].depends);
        let required =
            lines.filter_map(|line| Requirement::read(line)).filter(|one| one.only_with.is_empty());
        let required: BTreeSet<String> = required.map(|one| normalized_python_name(&one.name)).collect();
        let own: BTreeSet<String> =
            packages.iter().map(|place| normalized_python_name(&all[*place].name)).collect();
        for name in required.difference(&own) {
            let package = self.context.by_name.get(format!("python3-{name}").as_str());
            if let Some(package) = package.copied().filter(|package| !self.base.packages.contains(package)) {
                self.install(package, Cause::Python);
            }
        }
    }

    /// Whether Debian's Python reads a packages folder: one of its own, or of an environment that may be its own. Other
    /// Pythons, such as that of the image `python`, do not read Debian's packages.
    fn is_of_debian(&self, root: &[u8], version: &[u8]) -> bool {
        let has_one = || self.context.paths.lookup(&[b"/usr/bin/", version].concat()).is_some();
        root.ends_with(b"dist-packages") || !root.starts_with(b"/usr/local/lib/") && has_one()
    }

    /// Whether a packages folder is that of a virtual environment that does not search the packages of the system.
    fn is_isolated(&self, root: &[u8]) -> bool {
        let settings =
            prefix_of(root).and_then(|prefix| self.context.paths.lookup(&[prefix, b"/pyvenv.cfg"].concat()));
        settings.is_some_and(|node| is_isolated(self.context.rootfs, self.context.input.layers, node))
    }
}

/// The folder above `lib/python3.11/site-packages`.
fn prefix_of(root: &[u8]) -> Option<&[u8]> {
    memchr::memmem::rfind(root, b"/lib/python").map(|at| &root[..at])
}

/// `python3.11` of a folder such as `/usr/local/lib/python3.11/dist-packages`.
fn python_of(root: &[u8]) -> Option<Vec<u8>> {
    let parts = root.split(|byte| *byte == b'/');
    let mut found = parts.filter(|part| part.strip_prefix(b"python3.").is_some_and(|rest| !rest.is_empty()));
    found.next().map(<[u8]>::to_vec)
}
