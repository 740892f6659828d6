//! The catalogue and the packages as the loader's model asks for them.

use std::collections::{BTreeMap, BTreeSet};

use super::catalog::{Open, Search};
use super::classes::is_framework_component;
use super::libraries::is_system_folder;
use super::links::{self, Binary, Environment, Links, OpenRule, Rules, site_root};
use super::loader;
use super::packages::Packages;
use super::scene::{BinaryFile, Scene};
use crate::base::WarningCode;
use crate::base::warning::Warnings;
use crate::formats::binary::FileFacts;
use crate::formats::document::DocumentKind;
use crate::formats::elf::{ElfFacts, ElfKind};
use crate::rootfs::NodeId;

/// Resolves what every binary of the image needs and opens.
pub(super) fn links(scene: &Scene<'_>, packages: &Packages, warnings: &mut Warnings) -> Links {
    let mut inodes = BTreeSet::new();
    let binaries: Vec<Binary<'_>> = scene
        .binaries
        .iter()
        .filter_map(|file| Some((file, linkable(file)?)))
        .filter(|(file, _)| inodes.insert(file.inode))
        .map(|(file, elf)| binary(scene, file, elf))
        .collect();
    let environment = environment(scene, warnings);
    let rules = CatalogRules { scene, packages, distributions: distributions(scene, packages) };
    let script = |node: NodeId| {
        let (layer, entry) = scene.node(node).content()?;
        scene.layer(layer)?.facts.script(entry).map(<[u8]>::to_vec)
    };
    let (links, problems) = links::resolve(&binaries, &scene.paths, &environment, &rules, &script);
    for problem in problems {
        warnings.push_with(WarningCode::LinksOddity, || ("links between libraries".to_owned(), problem));
    }
    links
}

/// Files that a loader may load or start: no object files, no GPU code.
fn linkable<'a>(file: &BinaryFile<'a>) -> Option<&'a ElfFacts> {
    match file.facts {
        FileFacts::Elf(elf)
            if elf.cubin.is_none() && matches!(elf.kind, ElfKind::Executable | ElfKind::SharedObject) =>
        {
            Some(elf)
        }
        _ => None,
    }
}

fn binary<'a>(scene: &Scene<'_>, file: &BinaryFile<'a>, elf: &'a ElfFacts) -> Binary<'a> {
    let runs = elf.kind == ElfKind::Executable || elf.interpreter.is_some() || elf.pie;
    Binary {
        node: file.node,
        path: scene.path(file.node),
        machine: elf.machine,
        class64: elf.class64,
        little_endian: elf.little_endian,
        is_library: !runs,
        executable: runs,
        soname: elf.soname.as_deref(),
        needed: &elf.needed,
        rpath: elf.rpath.as_deref(),
        runpath: elf.runpath.as_deref(),
        interpreter: elf.interpreter.as_deref(),
        no_default_lib: elf.no_default_lib,
    }
}

fn environment(scene: &Scene<'_>, warnings: &mut Warnings) -> Environment {
    let config = scene.input.image.config.as_ref().and_then(|config| config.config().as_ref());
    let words = |words: Option<&Vec<String>>| {
        words.into_iter().flatten().map(|word| word.clone().into_bytes()).collect::<Vec<_>>()
    };
    let list = |name: &str| links::split_library_path(scene.variable(name).unwrap_or_default().as_bytes());
    let path =
        scene.variable("PATH").unwrap_or("/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    let mut ld_preload: Vec<Vec<u8>> = scene
        .variable("LD_PRELOAD")
        .unwrap_or_default()
        .split([' ', ':'])
        .filter(|name| !name.is_empty())
        .map(|name| name.as_bytes().to_vec())
        .collect();
    ld_preload.extend(loader::preloads(scene));
    let musl_paths = scene.visible(DocumentKind::MuslPath);
    let musl = scene.paths.children_of(b"/lib").iter().any(|node| {
        let name = scene.node(*node).name();
        name.starts_with(b"ld-musl-") && name.ends_with(b".so.1")
    });
    let conf_folders = if musl {
        let bytes = musl_paths.iter().filter_map(|file| file.document.bytes().ok());
        let lines = bytes.flat_map(|bytes| {
            bytes.split(|byte| matches!(byte, b':' | b'\n')).map(<[u8]>::to_vec).collect::<Vec<_>>()
        });
        lines.filter(|folder| !folder.is_empty()).collect()
    } else {
        loader::conf_folders(scene, warnings)
    };
    Environment {
        ld_library_path: list("LD_LIBRARY_PATH"),
        ld_preload,
        path: path.split(':').map(|folder| folder.as_bytes().to_vec()).collect(),
        entrypoint: words(config.and_then(|config| config.entrypoint().as_ref())),
        cmd: words(config.and_then(|config| config.cmd().as_ref())),
        working_dir: config
            .and_then(|config| config.working_dir().clone())
            .map(String::into_bytes)
            .unwrap_or_default(),
        conf_folders,
        musl,
    }
}

struct CatalogRules<'a> {
    scene: &'a Scene<'a>,
    packages: &'a Packages,
    /// Distributions whose files stand in a folder of Python packages, by its first part.
    distributions: BTreeMap<Vec<u8>, BTreeSet<String>>,
}

/// A distribution and the folder that it is imported from have different names: which it is, its files tell.
fn distributions(scene: &Scene<'_>, packages: &Packages) -> BTreeMap<Vec<u8>, BTreeSet<String>> {
    let mut folders: BTreeMap<Vec<u8>, BTreeSet<String>> = BTreeMap::new();
    for file in &scene.binaries {
        let path = scene.path(file.node);
        let Some((_, below)) = site_root(&path) else { continue };
        let folder = below.split(|byte| *byte == b'/').next().unwrap_or_default();
        if let Some(owner) = packages.owners.of(file.node) {
            folders.entry(folder.to_vec()).or_default().insert(packages.list[owner].name.clone());
        }
    }
    folders
}

fn rule(open: &Open, opener: &[u8]) -> OpenRule {
    OpenRule {
        names: open.names_for(opener).into_iter().map(|name| name.text).collect(),
        optional: open.optional,
        source: format!("{} ({})", open.why, open.source),
        same_folder: open.search == Search::SameFolder,
        packages_first: open.search == Search::SitePackages,
    }
}

impl Rules for CatalogRules<'_> {
    fn is_host(&self, name: &[u8]) -> bool {
        self.scene.catalog.is_driver(name)
    }

    fn opens(&self, file_name: &[u8], soname: Option<&[u8]>) -> Vec<OpenRule> {
        let name = soname.unwrap_or(file_name);
        self.scene.catalog.opens_of(name).map(|open| rule(open, name)).collect()
    }

    fn package_opens(&self, package: &[u8]) -> Vec<OpenRule> {
        let folder = String::from_utf8_lossy(package).into_owned();
        let mut names = self.distributions.get(package).cloned().unwrap_or_default();
        names.insert(folder);
        let mut rules: Vec<&Open> = Vec::new();
        for name in &names {
            for open in self.scene.catalog.opens_of_package(name) {
                if !rules.iter().any(|known| std::ptr::eq(*known, open)) {
                    rules.push(open);
                }
            }
        }
        rules.into_iter().map(|open| rule(open, b"")).collect()
    }

    fn preload_folders(&self) -> Vec<String> {
        let mut folders: Vec<String> = Vec::new();
        for open in self.scene.catalog.opens() {
            for folder in &open.folders {
                if !folders.contains(folder) {
                    folders.push(folder.clone());
                }
            }
        }
        folders
    }

    fn is_toolkit_or_tool(&self, path: &[u8]) -> bool {
        self.scene.catalog.toolkit_root(path).is_some() || self.scene.catalog.is_tool(path)
    }

    fn is_of_application(&self, binary: &Binary<'_>) -> bool {
        let catalog = self.scene.catalog;
        let name = self.scene.node(binary.node).name();
        let component = catalog
            .component_of(name)
            .or_else(|| catalog.component_of(binary.soname?))
            .filter(|component| !is_framework_component(&component.name));
        if component.is_some() || self.is_toolkit_or_tool(&binary.path) {
            return false;
        }
        match site_root(&binary.path) {
            // `libtriton.so` is imported as a module, and many packages open a library of their own by its
            // path. With a version in its name a library is linked against.
            Some((_, below)) => name.ends_with(b".so") && !below.starts_with(b"nvidia/"),
            None => self.packages.owners.of(binary.node).is_none() && !is_system_folder(&binary.path),
        }
    }

    fn is_devel_owned(&self, node: NodeId) -> bool {
        self.packages.owners.of(node).is_some_and(|owner| {
            let package = &self.packages.list[owner];
            self.scene.catalog.is_devel_package(package.manager, &package.name).is_some()
        })
    }
}
