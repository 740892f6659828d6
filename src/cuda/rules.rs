//! Adapter from catalogue and packages to the loader model's [`Rules`].

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use super::catalog::{Open, Search, Walker};
use super::classes::is_framework_component;
use super::context::{BinaryFile, InventoryContext};
use super::links::{self, Binary, Environment, Links, OpenRule, Rules, site_root};
use super::loader;
use super::packages::Packages;
use crate::base::WarningCode;
use crate::base::redact;
use crate::base::warning::Warnings;
use crate::formats::binary::FileFacts;
use crate::formats::elf::{ElfFacts, ElfKind};
use crate::formats::glob::glob_match;
use crate::rootfs::NodeId;

/// Resolves the dependencies and opened libraries of all binaries.
pub(super) fn links(context: &InventoryContext<'_>, packages: &Packages, warnings: &mut Warnings) -> Links {
    let mut inodes = BTreeSet::new();
    let binaries: Vec<Binary<'_>> = context
        .binaries
        .iter()
        .filter_map(|file| Some((file, linkable(file)?)))
        .filter(|(file, _)| inodes.insert(file.inode))
        .map(|(file, elf)| binary(context, file, elf))
        .collect();
    let environment = environment(context, warnings);
    let rules = CatalogRules {
        context,
        walker: RefCell::new(context.catalog.walker()),
        packages,
        distributions: distributions(context, packages),
        opened_beside: opened_beside(context, &binaries),
    };
    let script = |node: NodeId| {
        let (layer, entry) = context.node(node).content()?;
        context.layer(layer)?.facts.script(entry).map(<[u8]>::to_vec)
    };
    let (links, problems) = links::resolve(&binaries, &context.paths, &environment, &rules, &script);
    for problem in problems {
        // A command may contain a URL with a password.
        let problem = if problem.contains("://") { redact::instruction(&problem) } else { problem };
        warnings.push_with(WarningCode::LinksOddity, || ("links between libraries".to_owned(), problem));
    }
    links
}

/// The ELF facts of a file that a loader may load or start; `None` for object files and GPU code.
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

fn binary<'a>(context: &InventoryContext<'_>, file: &BinaryFile<'a>, elf: &'a ElfFacts) -> Binary<'a> {
    let runs = elf.kind == ElfKind::Executable || elf.interpreter.is_some() || elf.pie;
    Binary {
        node: file.node,
        path: context.path(file.node),
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

fn environment(context: &InventoryContext<'_>, warnings: &mut Warnings) -> Environment {
    let config = context.input.image.run_config();
    let words = |words: Option<&Vec<String>>| {
        words.into_iter().flatten().map(|word| word.clone().into_bytes()).collect::<Vec<_>>()
    };
    let list = |name: &str| links::split_library_path(context.variable(name).unwrap_or_default().as_bytes());
    let path = context.input.image.search_path();
    let mut ld_preload: Vec<Vec<u8>> = context
        .variable("LD_PRELOAD")
        .unwrap_or_default()
        .split([' ', ':'])
        .filter(|name| !name.is_empty())
        .map(|name| name.as_bytes().to_vec())
        .collect();
    ld_preload.extend(loader::preloads(context));
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
        conf_folders: loader::conf_folders(context, warnings),
        musl_folders: loader::musl_folders(context),
        musl: loader::is_musl_alone(context),
    }
}

struct CatalogRules<'a> {
    context: &'a InventoryContext<'a>,
    walker: RefCell<Walker<'a>>,
    packages: &'a Packages,
    /// By first path component below `site-packages`: names of the packages that own binaries there.
    distributions: BTreeMap<Vec<u8>, BTreeSet<String>>,
    /// By folder: names that libraries in it open optionally.
    opened_beside: BTreeMap<NodeId, Vec<String>>,
}

/// Plugin folders, whose libraries are opened by a scan of the folder, packaged or not: plugins of
/// `GStreamer` (`GST_PLUGIN_SYSTEM_PATH`), backends of Ollama (its `discover` package), libraries of
/// `DeepStream`, from its configuration files.
const PLUGIN_FOLDERS: [&[u8]; 3] = [b"/gstreamer-1.0/", b"/usr/lib/ollama/", b"/opt/nvidia/deepstream/"];

/// Whether a file is directly in a default folder of the loader, or in its `glibc-hwcaps`: such libraries are
/// linked against. Files in deeper folders are only found by path.
fn is_in_loader_folder(path: &[u8]) -> bool {
    const LOADER: [&[u8]; 3] = [b"lib", b"lib64", b"lib32"];
    let path = path.strip_prefix(b"/usr").unwrap_or(path);
    let parts: Vec<&[u8]> = path.split(|byte| *byte == b'/').skip(1).collect();
    let Some((first, below)) = parts.split_first().filter(|(first, _)| LOADER.contains(*first)) else {
        return false;
    };
    let is_of_machine = |part: &[u8]| part.windows(7).any(|part| part == b"-linux-");
    let below = match below.split_first() {
        Some((machine, rest)) if *first == b"lib" && is_of_machine(machine) => rest,
        _ => below,
    };
    below.len() == 1 || below.first() == Some(&&b"glibc-hwcaps"[..])
}

/// Names that libraries open optionally from their own folder, such as the providers of ONNX Runtime.
fn opened_beside(context: &InventoryContext<'_>, binaries: &[Binary<'_>]) -> BTreeMap<NodeId, Vec<String>> {
    let mut beside: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
    for binary in binaries.iter().filter(|binary| binary.is_library) {
        let name = binary.soname.unwrap_or_else(|| context.node(binary.node).name());
        for open in context.catalog.opens_of(name).filter(|open| open.optional) {
            let known = beside.entry(context.paths.parent(binary.node)).or_default();
            for more in open.names_for(name) {
                if !known.contains(&more) {
                    known.push(more);
                }
            }
        }
    }
    beside
}

/// Names of a distribution and of its import folder may differ, so the owners of its binaries determine the
/// distribution.
fn distributions(context: &InventoryContext<'_>, packages: &Packages) -> BTreeMap<Vec<u8>, BTreeSet<String>> {
    let mut folders: BTreeMap<Vec<u8>, BTreeSet<String>> = BTreeMap::new();
    for file in &context.binaries {
        let path = context.path(file.node);
        let Some((_, below)) = site_root(&path) else { continue };
        let folder = below.split(|byte| *byte == b'/').next().unwrap_or_default();
        if let Some(owner) = packages.owners.of(file.node) {
            folders.entry(folder.to_vec()).or_default().insert(packages.list[owner].name.clone());
        }
    }
    folders
}

impl CatalogRules<'_> {
    /// Whether another library in the same folder opens this one optionally.
    fn is_opened_beside(&self, binary: &Binary<'_>, name: &[u8]) -> bool {
        let opened = self.opened_beside.get(&self.context.paths.parent(binary.node));
        let fits = |open: &String| {
            let fits = |name| glob_match(open.as_bytes(), name);
            fits(name) || binary.soname.is_some_and(fits)
        };
        opened.into_iter().flatten().any(fits)
    }
}

fn rule(open: &Open, opener: &[u8]) -> OpenRule {
    OpenRule {
        names: open.names_for(opener),
        optional: open.optional,
        needed_only: open.needed_only,
        call: open.call.clone(),
        source: format!("{} ({})", open.why, open.source),
        same_folder: open.search == Search::SameFolder,
        packages_first: open.search == Search::SitePackages,
    }
}

impl Rules for CatalogRules<'_> {
    fn is_host(&self, name: &[u8]) -> bool {
        self.context.catalog.is_driver(name)
    }

    fn opens(&self, file_name: &[u8], soname: Option<&[u8]>) -> Vec<OpenRule> {
        let name = soname.unwrap_or(file_name);
        self.context.catalog.opens_of(name).map(|open| rule(open, name)).collect()
    }

    fn package_opens(&self, package: &[u8]) -> Vec<OpenRule> {
        let folder = String::from_utf8_lossy(package).into_owned();
        let mut names = self.distributions.get(package).cloned().unwrap_or_default();
        names.insert(folder);
        let mut rules: Vec<&Open> = Vec::new();
        for name in &names {
            for open in self.context.catalog.opens_of_package(name) {
                if !rules.iter().any(|known| std::ptr::eq(*known, open)) {
                    rules.push(open);
                }
            }
        }
        rules.into_iter().map(|open| rule(open, b"")).collect()
    }

    fn preload_folders(&self) -> Vec<String> {
        let mut folders: Vec<String> = Vec::new();
        for open in self.context.catalog.opens() {
            for folder in &open.folders {
                if !folders.contains(folder) {
                    folders.push(folder.clone());
                }
            }
        }
        folders
    }

    fn is_toolkit_or_tool(&self, path: &[u8]) -> bool {
        let rules = self.walker.borrow_mut().path(path);
        rules.toolkit || rules.tool
    }

    fn is_of_application(&self, binary: &Binary<'_>) -> bool {
        let catalog = self.context.catalog;
        let name = self.context.node(binary.node).name();
        let component = catalog
            .component_of(name)
            .or_else(|| catalog.component_of(binary.soname?))
            .filter(|component| !is_framework_component(&component.name));
        if component.is_some()
            || self.is_toolkit_or_tool(&binary.path)
            || self.is_devel_owned(binary.node)
            || self.is_opened_beside(binary, name)
        {
            return false;
        }
        let is_plugin =
            PLUGIN_FOLDERS.iter().any(|folder| binary.path.windows(folder.len()).any(|part| part == *folder));
        match site_root(&binary.path) {
            // `libtriton.so` is imported as a module, and many packages open their own library by path.
            // Libraries with a version in their name are linked against.
            Some((_, below)) => name.ends_with(b".so") && !below.starts_with(b"nvidia/"),
            None if is_plugin => true,
            None => self.packages.owners.of(binary.node).is_none() && !is_in_loader_folder(&binary.path),
        }
    }

    fn is_devel_owned(&self, node: NodeId) -> bool {
        self.packages.owners.of(node).is_some_and(|owner| {
            let package = &self.packages.list[owner];
            self.context.catalog.is_devel_package(package.manager, &package.name).is_some()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::is_in_loader_folder;

    #[test]
    fn only_what_lies_right_in_a_loader_folder_is_of_the_system() {
        for path in [
            "/lib/libx.so",
            "/usr/lib/libx.so.1",
            "/lib64/libx.so.1",
            "/usr/lib32/libx.so",
            "/usr/lib/x86_64-linux-gnu/libx.so.1",
            "/lib/aarch64-linux-gnu/libx.so.1",
            "/usr/lib64/glibc-hwcaps/x86-64-v3/libx.so.1",
            "/usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v3/libx.so.1",
        ] {
            assert!(is_in_loader_folder(path.as_bytes()), "{path}");
        }
        for path in [
            "/usr/lib/ollama/libggml-base.so",
            "/usr/lib/x86_64-linux-gnu/gstreamer-1.0/libgstx.so",
            "/usr/lib64/a/b/c.so",
            "/usr/local/lib/libx.so",
            "/libx.so",
            "/opt/lib/libx.so",
            "/usr/libexec/x.so",
        ] {
            assert!(!is_in_loader_folder(path.as_bytes()), "{path}");
        }
    }
}
