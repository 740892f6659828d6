//! The facts that rules evaluate.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use hashbrown::{HashMap, HashSet};

use super::classification::FileClassification;
use super::demand::Demands;
use super::input::Input;
use super::named::Named;
use super::value::{Category, User};
use crate::base::convert::layer16;
use crate::base::text::escape;
use crate::cuda::catalog::{Catalog, PackageRule, normalized_python_name};
use crate::cuda::links::{Object, ObjectId, Paths, site_root};
use crate::cuda::{Flavor, Inode, Inventory, Library, Package};
use crate::formats::binary::FileFacts;
use crate::formats::string_references::names_intermediate;
use crate::layer::{ContentHash, LayerRead};
use crate::rootfs::{Node, NodeId, Rootfs};

/// The input, and what several rules derive from it.
pub struct Facts<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) rootfs: &'a Rootfs,
    pub(super) inventory: &'a Inventory,
    pub(super) catalog: &'a Catalog,
    pub(super) paths: Paths<'a>,
    /// Every file of every layer, classified by path and package.
    pub(super) classification: FileClassification<'a>,
    /// Build content that is read at run time.
    pub(super) demands: Demands,
    /// Installed Python packages: name in the form of PEP 503, and version.
    pub(super) installed: HashSet<(String, String)>,
    /// Files mentioned by variables, the command or application files.
    pub(super) named: Named,
    /// By package: the rule that makes it a build package, and whether it is a driver package. System packages only.
    package_rules: Vec<(Option<&'a PackageRule>, bool)>,
    required: RequiredTools,
    /// Whether the command, the working directory or a variable names intermediate output of cargo.
    cargo_output: OnceLock<bool>,
    /// Names of libraries that programs and libraries need, once collected.
    needed: OnceLock<HashSet<String>>,
    /// Whether the image has a compiler outside Python packages.
    pub(super) has_compiler: bool,
}

/// Build packages on which installed packages depend, as indexes in [`Inventory::packages`].
#[derive(Default)]
struct RequiredTools {
    /// All on which a package depends that is not a build package, directly or indirectly.
    all: HashSet<usize>,
    /// By build package: those that depend on it, and are no build packages.
    by_others: BTreeMap<usize, Vec<usize>>,
    /// By build package: build packages that depend on it.
    by_tools: BTreeMap<usize, Vec<usize>>,
}

/// A package that is not a build package and depends on one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dependent<'a> {
    pub(super) package: &'a Package,
    /// The build package among its dependencies.
    pub(super) on: &'a Package,
}

impl Dependent<'_> {
    /// The dependent package as the reader of what it depends on, with its name and version.
    pub(super) fn user(&self) -> (String, User) {
        let who = format!("{} {}", self.package.name, self.package.version);
        (who.clone(), User::Package(who, self.package.root.clone().unwrap_or_default()))
    }

    pub(super) fn why(&self) -> String {
        format!("depends on {}", self.on.name)
    }
}

/// The subject of texts about entrypoint and command.
pub(super) const COMMAND: &str = "the image's command";

impl<'a> Facts<'a> {
    pub(super) fn new(input: &'a Input<'a>) -> Self {
        let rootfs = &input.merge.rootfs;
        // A rule lookup takes microseconds, and packages have many files.
        let rules = |package: &Package| match package.manager {
            "pip" => (None, false),
            manager => (
                input.catalog.is_devel_package(manager, &package.name),
                manager != "conda" && input.catalog.is_driver_package(manager, &package.name).is_some(),
            ),
        };
        let mut facts = Self {
            input,
            rootfs,
            inventory: input.inventory,
            catalog: input.catalog,
            paths: Paths::new(rootfs),
            classification: FileClassification::take(input),
            demands: Demands::default(),
            installed: input
                .inventory
                .packages
                .iter()
                .filter(|package| package.manager == "pip")
                .map(|package| (normalized_python_name(&package.name), package.version.clone()))
                .collect(),
            named: Named::default(),
            package_rules: input.inventory.packages.iter().map(rules).collect(),
            required: RequiredTools::default(),
            cargo_output: OnceLock::new(),
            needed: OnceLock::new(),
            has_compiler: false,
        };
        facts.required = facts.find_required();
        facts.has_compiler = facts.find_compiler();
        facts.demands = Demands::of(&facts);
        facts.named = Named::of(&facts);
        facts
    }

    /// Whether the command, the working directory or a variable names intermediate output of cargo.
    pub(super) fn names_cargo_output(&self) -> bool {
        *self.cargo_output.get_or_init(|| {
            let folder = self.input.image.run_config().and_then(|config| config.working_dir().as_deref());
            let variables = self.environment().iter().map(String::as_str);
            variables.chain(self.command()).chain(folder).any(names_intermediate)
        })
    }

    /// Whether a program or library needs a library of this name, found or not.
    pub(super) fn is_needed(&self, name: &str) -> bool {
        let names = || {
            let needs = self.inventory.links.objects.iter().flat_map(|object| &object.needs);
            needs.map(|need| need.name.clone()).collect()
        };
        self.needed.get_or_init(names).contains(name)
    }

    /// A path of the merged view.
    pub(super) fn node(&self, id: NodeId) -> Node<'a> {
        self.rootfs.node(id)
    }

    /// Its absolute path, any bytes.
    pub(super) fn path(&self, id: NodeId) -> Vec<u8> {
        self.rootfs.node(id).path()
    }

    /// Its absolute path, safe to show.
    pub(super) fn shown(&self, id: NodeId) -> String {
        escape(&self.path(id))
    }

    /// Paths of the merged view whose last part matches, without folders that exist only as parents. Names are read in
    /// memory order, which for many is far faster than by node.
    pub(super) fn nodes_named(&self, wanted: impl Fn(&[u8]) -> bool) -> Vec<NodeId> {
        let mut nodes = Vec::new();
        for layer in 0..layer16(self.input.layers.len()) {
            let index = self.rootfs.layer(layer);
            let named = index.entries().filter(|entry| wanted(index.name(*entry)));
            nodes.extend(named.filter_map(|entry| self.rootfs.node_showing(layer, entry)));
        }
        nodes.sort_unstable();
        nodes
    }

    /// The rule that makes a package (index in [`Inventory::packages`]) a build package.
    pub(super) fn devel_rule(&self, place: usize) -> Option<&'a PackageRule> {
        self.package_rules.get(place)?.0
    }

    /// Whether an installed package that is not a build package depends on this one (index in
    /// [`Inventory::packages`]), directly or indirectly. System packages only.
    pub(super) fn is_required(&self, place: usize) -> bool {
        self.required.all.contains(&place)
    }

    /// The packages that are not build packages and depend on some of these (indexes in [`Inventory::packages`]),
    /// directly or indirectly.
    pub(super) fn dependents(&self, tools: impl IntoIterator<Item = usize>) -> Vec<Dependent<'a>> {
        let mut open: Vec<usize> = tools.into_iter().collect();
        let mut known: HashSet<usize> = open.iter().copied().collect();
        let mut found: BTreeSet<(usize, usize)> = BTreeSet::new();
        while let Some(tool) = open.pop() {
            let of = |list: &BTreeMap<usize, Vec<usize>>| list.get(&tool).cloned().unwrap_or_default();
            found.extend(of(&self.required.by_others).into_iter().map(|package| (package, tool)));
            open.extend(of(&self.required.by_tools).into_iter().filter(|other| known.insert(*other)));
        }
        let packages = &self.inventory.packages;
        let both = |(package, on): (usize, usize)| {
            Some(Dependent { package: packages.get(package)?, on: packages.get(on)? })
        };
        found.into_iter().filter_map(both).collect()
    }

    /// The build packages for whose names `is_one` holds, as indexes in [`Inventory::packages`].
    pub(super) fn tools(&self, is_one: impl Fn(&str) -> bool) -> Vec<usize> {
        let packages = self.inventory.packages.iter().enumerate();
        packages
            .filter(|(place, package)| {
                package.is_of_system() && self.devel_rule(*place).is_some() && is_one(&package.name)
            })
            .map(|(place, _)| place)
            .collect()
    }

    fn find_compiler(&self) -> bool {
        let compilers = self.classification.files.iter().filter(|file| file.category == Category::Compilers);
        let mut nodes = compilers.filter_map(|file| file.item.node);
        nodes.any(|node| site_root(&self.path(node)).is_none())
    }

    fn find_required(&self) -> RequiredTools {
        /// Packages with so few files contain only a licence and a changelog: they exist to pull in others.
        const META: u64 = 2;
        let packages = &self.inventory.packages;
        let mut tools: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
        for place in self.tools(|_| true) {
            let package = &packages[place];
            tools.entry((package.manager, package.name.as_str())).or_default().push(place);
        }
        let mut required = RequiredTools::default();
        for (place, package) in packages.iter().enumerate().filter(|(_, package)| package.is_of_system()) {
            let is_tool = self.devel_rule(place).is_some();
            if !is_tool && package.files.is_some_and(|files| files <= META) {
                continue;
            }
            let list = if is_tool { &mut required.by_tools } else { &mut required.by_others };
            let names = package.depends.iter();
            let on = names.filter_map(|name| tools.get(&(package.manager, name.as_str()))).flatten();
            for on in on {
                list.entry(*on).or_default().push(place);
            }
        }
        let mut below: HashMap<usize, Vec<usize>> = HashMap::new();
        for (on, by) in &required.by_tools {
            for place in by {
                below.entry(*place).or_default().push(*on);
            }
        }
        let mut open: Vec<usize> = required.by_others.keys().copied().collect();
        while let Some(tool) = open.pop() {
            if required.all.insert(tool) {
                open.extend(below.get(&tool).into_iter().flatten());
            }
        }
        required
    }

    /// Whether a package (index in [`Inventory::packages`]) is a driver package.
    pub(super) fn is_of_driver(&self, place: usize) -> bool {
        self.package_rules.get(place).is_some_and(|rules| rules.1)
    }

    /// The package that owns a path, as an index in [`Inventory::packages`].
    pub(super) fn owner(&self, node: NodeId) -> Option<usize> {
        self.inventory.owners.of(node)
    }

    /// The ELF object of an inode.
    pub(super) fn object_of(&self, inode: Inode) -> Option<(ObjectId, &'a Object)> {
        let id = self.classification.object_of(inode)?;
        Some((id, self.inventory.links.object(id)))
    }

    /// Facts about the files of a layer.
    pub(super) fn layer(&self, number: u16) -> Option<&'a LayerRead> {
        self.input.layers.get(usize::from(number))?.as_deref()
    }

    /// Facts about a binary.
    pub(super) fn binary(&self, inode: Inode) -> Option<&'a FileFacts> {
        let known = self.input.bodies.binaries.get(&inode);
        known.or_else(|| self.layer(inode.0)?.facts.binary(inode.1))
    }

    /// Hash of an inode's content, when its bytes were read.
    pub(super) fn hash(&self, inode: Inode) -> Option<&'a ContentHash> {
        let passed = self.layer(inode.0).and_then(|read| read.facts.hash(inode.1));
        passed.or_else(|| self.input.bodies.hashes.get(&inode))
    }

    /// The environment of the image, as `NAME=VALUE`.
    pub(super) fn environment(&self) -> &'a [String] {
        self.input.image.environment()
    }

    /// One variable of the environment; the last definition counts.
    pub(super) fn variable(&self, name: &str) -> Option<&'a str> {
        self.input.image.variable(name)
    }

    /// Entrypoint and command as one list of words.
    pub(super) fn command(&self) -> Vec<&'a str> {
        let config = self.input.image.run_config();
        let words = |list: Option<&'a Vec<String>>| list.into_iter().flatten().map(String::as_str);
        let Some(config) = config else { return Vec::new() };
        words(config.entrypoint().as_ref()).chain(words(config.cmd().as_ref())).collect()
    }

    /// Texts that start programs, each with what it is: the words of entrypoint and command, and of the health check.
    pub(super) fn commands(&self) -> impl Iterator<Item = (&'a str, &'static str)> {
        let command = self.command().into_iter().map(|text| (text, COMMAND));
        command.chain(self.input.image.health_check.iter().map(|text| (text.as_str(), "the health check")))
    }

    /// Whether a library is part of every flavor of the CUDA image that this one is built on, as libcudart is: no
    /// smaller flavor lacks it.
    pub(super) fn is_of_every_flavor(&self, library: &Library) -> bool {
        let Some(base) = &self.inventory.base else { return false };
        let layers = if base.flavor == Flavor::Base {
            base.layers
        } else {
            base.below.iter().find(|lower| lower.flavor == Flavor::Base).map_or(0, |lower| lower.layers)
        };
        usize::from(library.layer) < layers
    }

    /// Number of layers of the recognised base image; 0 when unknown.
    pub(super) fn base_layers(&self) -> usize {
        self.inventory.base.as_ref().map_or(0, |base| base.layers)
    }
}
