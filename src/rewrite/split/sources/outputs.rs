//! What cargo, Maven and setuptools keep in their output folders for the next build.

use hashbrown::{HashMap, HashSet};

use super::super::context::SplitContext;
use super::{LEFT_BY_COMPILERS, SOURCES, is_elf, is_within};
use crate::cuda::catalog::normalized_python_name;
use crate::formats::string_references::CARGO_BUILDS;
use crate::rootfs::{Node, NodeId, NodeKind};

/// Maximum folders between a file and its project.
const DEPTH: usize = 64;

/// Tells files that only the next build reads.
pub(super) struct Outputs<'w, 'a> {
    context: &'w SplitContext<'a>,
    /// Paths that the command, the working directory or a variable names.
    named: &'w [Vec<u8>],
    /// Whether a program may read what build scripts wrote: it names their folder, or could not be searched.
    reads_out: bool,
    /// Whether something compiles at run time: it may use the output of the last build.
    compiles_later: bool,
    /// What pip installed, once it was needed.
    installed: Option<Installed>,
    /// By folder of a project of Maven: whether the image runs an archive that it made.
    archives: HashMap<NodeId, bool>,
}

impl<'w, 'a> Outputs<'w, 'a> {
    pub(super) fn new(context: &'w SplitContext<'a>, named: &'w [Vec<u8>], compiles_later: bool) -> Self {
        let inventory = context.input.inventory;
        let mut words = inventory.mentions.iter().flat_map(|mention| &mention.words);
        let is_named = words.any(|word| CARGO_BUILDS.contains(word));
        let reads_out = is_named || inventory.searched.programs_left_out > 0;
        Self { context, named, reads_out, compiles_later, installed: None, archives: HashMap::new() }
    }

    /// Whether only the next build reads a file.
    pub(super) fn is_for_builds(&mut self, node: Node<'_>) -> bool {
        let mut parts = vec![node.name().to_vec()];
        let mut folder = node.parent();
        for _ in 0..DEPTH {
            let has = |name: &[u8]| self.context.paths.child(folder.id(), name).is_some();
            let below: Vec<&[u8]> = parts.iter().rev().map(Vec::as_slice).collect();
            if has(b".fingerprint") {
                return !self.compiles_later && self.is_of_cargo(node, folder, &below);
            }
            if has(b".rustc_info.json") {
                return !self.compiles_later && matches!(below[..], [b".rustc_info.json" | b"CACHEDIR.TAG"]);
            }
            if has(b"pom.xml") {
                return !self.compiles_later && self.is_of_maven(folder, &below);
            }
            if [&b"setup.py"[..], b"setup.cfg", b"pyproject.toml"].into_iter().any(has) {
                return self.is_of_setuptools(node, &below);
            }
            if folder.id() == NodeId::ROOT {
                return false;
            }
            parts.push(folder.name().to_vec());
            folder = folder.parent();
        }
        false
    }

    /// Cargo puts what it built into the folder of a profile, and what it needs for the next build into some folders there.
    fn is_of_cargo(&self, node: Node<'_>, profile: Node<'_>, below: &[&[u8]]) -> bool {
        match below {
            [b".fingerprint" | b"incremental", ..] => true,
            // A program there that is nowhere else may be what runs. Macros are libraries.
            [b"deps", .., name] => {
                let has_other_name = || {
                    let (layer, entry) = node.content()?;
                    let mut names = self.context.rootfs.all_names(layer, entry);
                    names.find(|other| self.context.rootfs.node(*other).parent().id() != node.parent().id())
                };
                !is_elf(self.context, node) || ends(name, &[b".so"]) || has_other_name().is_some()
            }
            [b"build", _, b"out", .., name] => {
                let is_known = matches!(profile.name(), b"release" | b"debug") && !self.reads_out;
                is_known || ends(name, &SOURCES) || ends(name, &LEFT_BY_COMPILERS)
            }
            [b"build", ..] => true,
            [name] => {
                name.starts_with(b".cargo-") && name.ends_with(b"lock")
                    || ends(name, &[b".d", b".rlib", b".rmeta"])
            }
            _ => false,
        }
    }

    /// setuptools builds in `build`, and describes what it installs in a folder beside it. Both are in the installed package,
    /// too.
    fn is_of_setuptools(&mut self, node: Node<'_>, below: &[&[u8]]) -> bool {
        let context = self.context;
        let installed = self.installed.get_or_insert_with(|| Installed::of(context));
        match below {
            [b"build", folder, file @ ..] if *folder == b"lib" || folder.starts_with(b"lib.") => {
                installed.files.get(&file.join(&b"/"[..])) == Some(&node.bytes())
            }
            [b"build", folder, _, ..] => folder.starts_with(b"temp.") || folder.starts_with(b"bdist."),
            // Not where it is the installed package itself, by `setup.py develop`.
            [folder, _, ..] => folder.strip_suffix(b".egg-info").is_some_and(|name| {
                installed.names.contains(&normalized_python_name(&String::from_utf8_lossy(name)))
            }),
            _ => false,
        }
    }

    /// Maven puts what it packages into `target`: compiled classes and resources, which are in the archive beside them.
    fn is_of_maven(&mut self, project: Node<'_>, below: &[&[u8]]) -> bool {
        const FOLDERS: [&[u8]; 9] = [
            b"antrun",
            b"classes",
            b"failsafe-reports",
            b"generated-sources",
            b"generated-test-sources",
            b"maven-archiver",
            b"maven-status",
            b"surefire-reports",
            b"test-classes",
        ];
        const ASIDE: [&[u8]; 4] = [b"-javadoc.jar", b"-sources.jar", b"-tests.jar", b".jar.original"];
        const SOURCES: [&[u8]; 4] = [b"groovy", b"java", b"kotlin", b"scala"];
        let (context, named) = (self.context, self.named);
        let runs_archive = *self.archives.entry(project.id()).or_insert_with(|| {
            let target = [&project.path()[..], b"/target"].concat();
            let is_archive = |path: &Vec<u8>| {
                is_within(path, &target) && [&b".jar"[..], b".war"].iter().any(|end| path.ends_with(end))
            };
            named.iter().any(is_archive)
        });
        match below {
            _ if !runs_archive => false,
            [b"target", name] => {
                name.starts_with(b"original-") && name.ends_with(b".jar") || ends(name, &ASIDE)
            }
            [b"target", folder, ..] => FOLDERS.contains(folder),
            [b"src", b"main", folder, ..] if SOURCES.contains(folder) => true,
            [b"src", b"test", ..] => true,
            // A copy is in the archive.
            [b"src", b"main", b"resources", resource @ ..] => {
                let copy = [&b"target/classes/"[..], &resource.join(&b"/"[..])].concat();
                let copy = context.paths.lookup_from(project.id(), &copy);
                copy.is_some_and(|copy| context.rootfs.node(copy).kind() == NodeKind::File)
            }
            _ => false,
        }
    }
}

/// What pip installed into folders of packages.
struct Installed {
    names: HashSet<String>,
    /// Bytes of files, by path below such a folder.
    files: HashMap<Vec<u8>, u64>,
}

impl Installed {
    fn of(context: &SplitContext<'_>) -> Self {
        let mut found = Self { names: HashSet::new(), files: HashMap::new() };
        for (place, package) in context.input.inventory.packages.iter().enumerate() {
            let root = package.root.as_deref().filter(|root| {
                package.manager == "pip" && ends(root, &[b"/site-packages", b"/dist-packages"])
            });
            let Some(root) = root else { continue };
            found.names.insert(normalized_python_name(&package.name));
            for node in context.files_of.get(&place).into_iter().flatten() {
                let node = context.rootfs.node(*node);
                let path = node.path();
                let below = path.strip_prefix(root).and_then(|path| path.strip_prefix(b"/"));
                found.files.extend(below.map(|below| (below.to_vec(), node.bytes())));
            }
        }
        found
    }
}

fn ends(name: &[u8], list: &[&[u8]]) -> bool {
    list.iter().any(|end| name.ends_with(end))
}
