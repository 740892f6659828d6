//! Where Node.js is installed, and folders with packages of npm.

use std::collections::BTreeSet;

use hashbrown::HashMap;

use crate::base::text::printable;
use crate::cuda::Package;
use crate::findings::facts::Facts;
use crate::formats::binary::FileFacts;
use crate::rootfs::{Node, NodeId, NodeKind};

/// Programs that run JavaScript with packages of npm as Node.js does.
pub(super) const OTHERS: [&[u8]; 11] = [
    b"bun",
    b"d8",
    b"deno",
    b"electron",
    b"gjs",
    b"k6",
    b"mongosh",
    b"njs",
    b"phantomjs",
    b"qjs",
    b"workerd",
];

/// Folders in which npm installs packages for all users, beside those of installations without a package.
const GLOBAL: [&[u8]; 2] = [b"/usr/lib/node_modules", b"/usr/local/lib/node_modules"];

/// Node.js with its package managers.
#[derive(Default)]
pub(super) struct Installed {
    /// System packages, as indexes in the inventory.
    packages: BTreeSet<usize>,
    /// Folders above `bin/node` that no package owns.
    prefixes: BTreeSet<NodeId>,
    /// All files.
    pub(super) files: BTreeSet<NodeId>,
    /// Folders of packages for all users.
    global: BTreeSet<NodeId>,
}

impl Installed {
    pub(super) fn of(facts: &Facts<'_>) -> Self {
        let mut installed = Self::default();
        let programs = facts.nodes_named(|name| matches!(name, b"node" | b"nodejs"));
        for program in programs {
            let folder = facts.node(program).parent();
            if !is_binary(facts, program) || folder.name() != b"bin" {
                continue;
            }
            match facts.owner(program) {
                None => drop(installed.prefixes.insert(folder.parent().id())),
                Some(place) => {
                    let package = facts.inventory.packages.get(place).filter(|one| one.is_of_system());
                    if package.is_some_and(|one| is_of_nodejs(&one.name)) {
                        installed.packages.insert(place);
                    }
                }
            }
        }
        installed.add_packages(facts);
        if installed.is_none() {
            return installed;
        }
        installed.add_files(facts);
        installed
    }

    pub(super) fn is_none(&self) -> bool {
        self.packages.is_empty() && self.prefixes.is_empty()
    }

    /// Its packages and folders: `nodejs`, `/usr/local`.
    pub(super) fn names(&self, facts: &Facts<'_>) -> Vec<String> {
        let packages = self.packages.iter().filter_map(|place| facts.inventory.packages.get(*place));
        let mut names: Vec<String> = packages.map(|package| printable(&package.name)).collect();
        // Debian has a package for each package of npm.
        names.sort_by_key(|name| {
            (!matches!(name.as_str(), "nodejs" | "npm" | "yarn" | "yarnpkg"), name.clone())
        });
        names.extend(self.prefixes.iter().map(|folder| facts.shown(*folder)));
        names
    }

    /// Adds the packages that come with the program's, and leaves out what packages of other kinds depend on. Packages that
    /// came as dependencies and need Node.js themselves, such as Debian's `webpack`, are of its kind.
    fn add_packages(&mut self, facts: &Facts<'_>) {
        if self.packages.is_empty() {
            return;
        }
        let all = &facts.inventory.packages;
        let system: Vec<(usize, &Package)> =
            all.iter().enumerate().filter(|(_, package)| package.is_of_system()).collect();
        let mut by_name: HashMap<&str, Vec<usize>> = HashMap::new();
        for (place, package) in &system {
            by_name.entry(&package.name).or_default().push(*place);
        }
        // npm is also part of the package of NodeSource.
        let named = |name: &str| {
            by_name.get(if name == "npm" && !by_name.contains_key(name) { "nodejs" } else { name })
        };
        let depends = |package: &Package| -> Vec<usize> {
            package.depends.iter().filter_map(|name| named(name)).flatten().copied().collect()
        };
        let own = system.iter().filter(|(_, package)| is_of_nodejs(&package.name));
        self.packages.extend(own.map(|(place, _)| *place));
        let mut dependents: HashMap<usize, Vec<usize>> = HashMap::new();
        for (place, package) in system.iter().filter(|(_, package)| package.automatic.is_some()) {
            for needed in depends(package) {
                dependents.entry(needed).or_default().push(*place);
            }
        }
        let mut open: Vec<usize> = self.packages.iter().copied().collect();
        while let Some(place) = open.pop() {
            let brought = dependents.get(&place).into_iter().flatten().copied();
            let brought: Vec<usize> = brought.filter(|place| self.packages.insert(*place)).collect();
            open.extend(brought);
        }
        let others = system.iter().filter(|(place, _)| !self.packages.contains(place));
        let mut open: Vec<usize> = others.flat_map(|(_, package)| depends(package)).collect();
        while let Some(needed) = open.pop() {
            if self.packages.remove(&needed) {
                open.extend(depends(&all[needed]));
            }
        }
        let has_program = self.packages.iter().any(|place| all[*place].name.starts_with("nodejs"));
        if !has_program {
            self.packages.clear();
        }
    }

    fn add_files(&mut self, facts: &Facts<'_>) {
        if !self.packages.is_empty() {
            let owned = facts.rootfs.nodes().filter(|node| {
                node.kind() == NodeKind::File
                    && facts.owner(node.id()).is_some_and(|owner| self.packages.contains(&owner))
                    && !facts.inventory.owners.is_shared(node.id())
            });
            self.files.extend(owned.map(Node::id));
        }
        let mut folders: BTreeSet<NodeId> =
            GLOBAL.iter().filter_map(|path| facts.paths.lookup(path)).collect();
        self.global.clone_from(&folders);
        for prefix in &self.prefixes {
            let below = |path: &[u8]| facts.paths.lookup_from(*prefix, path);
            self.global.extend(below(b"lib/node_modules"));
            folders.extend(
                [&b"lib/node_modules"[..], b"include/node", b"share/doc/node"].into_iter().filter_map(below),
            );
            let single: [&[u8]; 2] = [b"bin/node", b"share/man/man1/node.1"];
            self.files.extend(single.into_iter().filter_map(below));
        }
        // Yarn 1, as images of Node.js have it.
        let opt = facts.paths.lookup(b"/opt").map(|opt| facts.node(opt));
        let yarn = opt.into_iter().flat_map(Node::children).filter(|folder| {
            folder.name().starts_with(b"yarn-v")
                && facts.paths.lookup_from(folder.id(), b"bin/yarn.js").is_some()
        });
        folders.extend(yarn.map(Node::id));
        for folder in folders {
            let own = below(facts, folder).filter(|file| facts.owner(*file).is_none());
            self.files.extend(own.collect::<Vec<_>>());
        }
    }
}

/// Whether a file is a compiled program.
pub(super) fn is_binary(facts: &Facts<'_>, node: NodeId) -> bool {
    let file = facts.node(node);
    let inode = file.content().filter(|_| file.kind() == NodeKind::File);
    inode.is_some_and(|inode| matches!(facts.binary(inode), Some(FileFacts::Elf(_))))
}

/// Whether a system package is Node.js, one of its package managers, or a package of npm as Debian has them.
fn is_of_nodejs(name: &str) -> bool {
    let is_library = || {
        name.strip_prefix("libnode")
            .is_some_and(|rest| rest == "-dev" || rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    matches!(name, "corepack" | "nodejs" | "npm" | "yarn" | "yarnpkg")
        || name.starts_with("nodejs-")
        || name.starts_with("node-")
        || is_library()
}

/// Folders `node_modules` outside of Node.js itself, largest first. What packages of the system or of Python bring is
/// left out.
pub(super) fn node_modules(facts: &Facts<'_>, installed: &Installed) -> Vec<NodeId> {
    let mut found = Vec::new();
    let mut open = vec![facts.rootfs.root()];
    while let Some(folder) = open.pop() {
        for child in folder.children().filter(|child| child.kind() == NodeKind::Directory) {
            let is_of_python = || matches!(child.name(), b"site-packages" | b"dist-packages");
            if child.name() != b"node_modules" {
                if !is_of_python() {
                    open.push(child);
                }
            } else if child.files() > 0
                && !installed.global.contains(&child.id())
                && !GLOBAL.contains(&child.path().as_slice())
            {
                let first = below(facts, child.id()).next();
                found.extend(first.filter(|file| facts.owner(*file).is_none()).map(|_| child.id()));
            }
        }
    }
    found.sort_by_key(|folder| (std::cmp::Reverse(facts.node(*folder).bytes()), *folder));
    found
}

/// All files below a folder.
pub(super) fn below<'f>(facts: &'f Facts<'_>, folder: NodeId) -> impl Iterator<Item = NodeId> + 'f {
    let mut open = vec![facts.node(folder)];
    let mut files: Vec<NodeId> = Vec::new();
    std::iter::from_fn(move || {
        while files.is_empty() {
            for child in open.pop()?.children() {
                match child.kind() {
                    NodeKind::File => files.push(child.id()),
                    NodeKind::Directory => open.push(child),
                    NodeKind::Symlink | NodeKind::Other => {}
                }
            }
        }
        files.pop()
    })
}
