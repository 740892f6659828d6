//! Uses of package files without a dependency: links, script interpreters, the command, names.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashSet;

use crate::cuda::Inode;
use crate::cuda::catalog::{normalized_python_name, split_library_name};
use crate::cuda::links::{DEFAULT_PATH, ObjectId, RootKind, file_name};
use crate::findings::facts::Facts;
use crate::findings::value::User;
use crate::formats::binary::FileFacts;
use crate::formats::dockerfile::is_assignment;
use crate::formats::string_references::{StringReferences, is_wrapper};
use crate::rootfs::{NodeId, NodeKind};

/// A package that uses a file of another; `None` for a file that no system package owns.
pub(super) type Use = (Option<usize>, usize);

/// All uses found.
pub(super) struct Uses {
    /// Pairs of user and used package, sorted.
    pub(super) list: Vec<Use>,
    /// A program or library without a package that could not be searched for library names.
    pub(super) unsearched: Option<NodeId>,
    /// Whether all symbolic links were followed.
    pub(super) all_links: bool,
}

pub(super) struct Finder<'f, 'a> {
    pub(super) facts: &'f Facts<'a>,
    /// By package: whether it may be unneeded.
    pub(super) is_wanted: &'f dyn Fn(usize) -> bool,
    /// Files removed by other findings.
    pub(super) gone: &'f HashSet<Inode>,
    /// By package: its files and links.
    pub(super) files: &'f [Vec<NodeId>],
    /// Program folders.
    pub(super) search_path: &'f [Vec<u8>],
}

/// The folders of `PATH`.
pub(super) fn search_path(facts: &Facts<'_>) -> Vec<Vec<u8>> {
    match facts.variable("PATH") {
        Some(path) => path.split(':').take(FOLDERS).map(|folder| folder.as_bytes().to_vec()).collect(),
        None => DEFAULT_PATH.iter().map(|folder| folder.to_vec()).collect(),
    }
}

/// Maximum words of a command and folders of a search path that are looked up.
const WORDS: usize = 1_000;
const FOLDERS: usize = 64;
/// Maximum path parts and links followed for all symbolic links together; real images have some 100,000.
const STEPS: u64 = 1 << 22;

impl Finder<'_, '_> {
    pub(super) fn find(&self) -> Uses {
        let mut list = Vec::new();
        self.links(&mut list);
        self.scripts(&mut list);
        self.command(&mut list);
        let all_links = self.symbolic_links(&mut list);
        self.python(&mut list);
        let unsearched = self.names(&mut list);
        list.retain(|(user, used)| *user != Some(*used));
        list.sort_unstable();
        list.dedup();
        Uses { list, unsearched, all_links }
    }

    /// The system package that owns one of the names of a file.
    fn owner(&self, inode: Inode) -> Option<usize> {
        let mut names = self.facts.rootfs.all_names(inode.0, inode.1);
        names.find_map(|node| self.owner_of(node))
    }

    fn owner_of(&self, node: NodeId) -> Option<usize> {
        let place = self.facts.owner(node)?;
        self.facts.inventory.packages.get(place).filter(|package| package.is_of_system()).map(|_| place)
    }

    fn inode(&self, object: ObjectId) -> Option<Inode> {
        self.facts.node(self.facts.inventory.links.object(object).node).content()
    }

    /// Records that `user` uses the file at `node`.
    fn uses(&self, user: Option<usize>, node: NodeId, list: &mut Vec<Use>) {
        list.extend(self.owner_of(node).filter(|owner| (self.is_wanted)(*owner)).map(|owner| (user, owner)));
    }

    /// Objects that need or open others, and objects that are roots.
    fn links(&self, list: &mut Vec<Use>) {
        let links = &self.facts.inventory.links;
        for id in links.ids() {
            let object = links.object(id);
            let Some(owner) = self.inode(id).and_then(|inode| self.owner(inode)) else { continue };
            if !(self.is_wanted)(owner) {
                continue;
            }
            let is_started = object
                .root
                .as_ref()
                .is_some_and(|root| matches!(root.kind, RootKind::Entrypoint | RootKind::Preload));
            list.extend(is_started.then_some((None, owner)));
            for user in object.needed_by.iter().chain(&object.opened_by) {
                let inode = self.inode(*user);
                if inode.is_some_and(|inode| !self.gone.contains(&inode)) {
                    list.push((inode.and_then(|inode| self.owner(inode)), owner));
                }
            }
        }
    }

    /// Script interpreters.
    fn scripts(&self, list: &mut Vec<Use>) {
        for layer in 0..crate::base::convert::layer16(self.facts.input.layers.len()) {
            let Some(read) = self.facts.layer(layer) else { continue };
            for (entry, line) in read.facts.scripts() {
                let inode = (layer, entry);
                if self.facts.classification.node_of(inode).is_none() || self.gone.contains(&inode) {
                    continue;
                }
                let user = self.owner(inode);
                let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
                for word in program_words(words) {
                    self.program(user, word, list);
                }
            }
        }
    }

    /// The program that a word refers to, and links on the way.
    fn program(&self, user: Option<usize>, word: &[u8], list: &mut Vec<Use>) {
        let paths = &self.facts.paths;
        let folders: Vec<&[u8]> = self.search_path.iter().map(Vec::as_slice).collect();
        let tries: Vec<Vec<u8>> = if word.starts_with(b"/") {
            vec![word.to_vec()]
        } else if word.contains(&b'/') {
            return;
        } else {
            folders.iter().map(|folder| [folder, &b"/"[..], word].concat()).collect()
        };
        for path in tries {
            let Some(node) = paths.lookup(&path) else { continue };
            self.uses(user, node, list);
            // A link on the way may belong to another package.
            let folder = paths.lookup(crate::cuda::links::folder_of(&path));
            if let Some(link) = folder.and_then(|folder| paths.child(folder, file_name(&path))) {
                self.uses(user, link, list);
            }
            return;
        }
    }

    /// Programs in entrypoint, command and variables.
    fn command(&self, list: &mut Vec<Use>) {
        let values = self.facts.environment().iter().filter_map(|pair| pair.split_once('='));
        let values = values.filter(|(name, _)| *name != "PATH").map(|(_, value)| value);
        for text in self.facts.commands().map(|(text, _)| text).chain(values).take(WORDS) {
            let words = text.split(|c: char| c.is_whitespace() || "'\"();&|`$={}[],:<>".contains(c));
            for word in words.filter(|word| !word.is_empty()).take(WORDS) {
                self.program(None, word.as_bytes(), list);
            }
        }
        for (owner, nodes) in self.files.iter().enumerate().filter(|(owner, _)| (self.is_wanted)(*owner)) {
            // Files that mention libraries are checked one by one, with those of the packages themselves.
            let is_set =
                |node: &NodeId| matches!(self.facts.named.user(self.facts, *node), Some(User::Setting(_)));
            list.extend(nodes.iter().any(is_set).then_some((None, owner)));
        }
    }

    /// Links without a package that lead to a package file: those of virtual environments and those created by the
    /// image author. dpkg alternatives and the system certificates are generated from the packages. `false` when not
    /// all could be followed.
    fn symbolic_links(&self, list: &mut Vec<Use>) -> bool {
        let paths = &self.facts.paths;
        let mut steps = STEPS;
        let links = self.facts.rootfs.nodes().filter(|node| node.kind() == NodeKind::Symlink);
        for node in links.filter(|node| self.facts.owner(node.id()).is_none()) {
            let target = paths.link(node.id()).unwrap_or_default();
            let folder = node.parent().id();
            let Some(file) = paths.walk(folder, target, &mut steps) else { continue };
            if !self.owner_of(file).is_some_and(self.is_wanted) {
                continue;
            }
            let folder = paths.path(folder);
            let made = [&b"/etc/alternatives"[..], b"/etc/ssl/certs", b"/etc/rc"];
            let is_made = made.iter().any(|start| folder.starts_with(start));
            if !is_made && !target.starts_with(b"/etc/alternatives/") {
                self.uses(None, file, list);
            }
        }
        steps > 0
    }

    /// Python packages outside the distribution's run on the system Python.
    fn python(&self, list: &mut Vec<Use>) {
        let is_own = |root: &[u8]| root.starts_with(b"/usr/") && root != b"/usr/lib/python3/dist-packages";
        let packages = &self.facts.inventory.packages;
        let mut of_pip = packages.iter().filter(|package| package.manager == "pip");
        if of_pip.any(|package| package.root.as_deref().is_some_and(is_own)) {
            self.program(None, b"python3", list);
        }
    }

    /// Libraries whose names occur in programs and libraries without a system package, or in names of Python packages.
    /// Returns such a program that could not be searched.
    fn names(&self, list: &mut Vec<Use>) -> Option<NodeId> {
        let facts = self.facts;
        let mut stems: HashSet<Vec<u8>> = HashSet::new();
        let mut unsearched = None;
        for id in facts.inventory.links.ids() {
            let Some(inode) = self.inode(id) else { continue };
            let node = facts.inventory.links.object(id).node;
            if self.owner(inode).is_some() || self.gone.contains(&inode) {
                continue;
            }
            match self.mentions(inode) {
                Some(mentions) => {
                    let names = mentions.into_iter().flat_map(|mentions| &mentions.libraries);
                    // Linked libraries are covered by its links.
                    let of_links = |name: &&Vec<u8>| match facts.binary(inode) {
                        Some(FileFacts::Elf(elf)) => {
                            elf.needed.contains(name) || elf.soname.as_ref() == Some(*name)
                        }
                        _ => false,
                    };
                    let names = names.filter(|name| !of_links(name));
                    stems.extend(names.filter_map(|name| Some(split_library_name(name)?.stem.to_vec())));
                }
                // Libraries known to the catalogue or owned by a Python package declare their needs by links.
                None if facts.owner(node).is_none()
                    && facts.catalog.component_of(facts.node(node).name()).is_none() =>
                {
                    unsearched.get_or_insert(node);
                }
                None => {}
            }
        }
        let mut by_package: BTreeMap<Vec<u8>, BTreeSet<usize>> = BTreeMap::new();
        for mention in &facts.inventory.mentions {
            let user = self.owner_of(mention.node);
            for library in &mention.libraries {
                let Some(library) = split_library_name(library.as_bytes()) else { continue };
                match user {
                    Some(user) => by_package.entry(library.stem.to_vec()).or_default().insert(user),
                    None => stems.insert(library.stem.to_vec()),
                };
            }
        }
        let words = self.python_words();
        for (owner, nodes) in self.files.iter().enumerate().filter(|(owner, _)| (self.is_wanted)(*owner)) {
            let is_opened = |node: &NodeId| {
                let Some(library) = split_library_name(facts.node(*node).name()) else { return false };
                let stem = String::from_utf8_lossy(library.stem).to_ascii_lowercase();
                let short = stem.strip_prefix("lib").unwrap_or(&stem);
                stems.contains(library.stem)
                    || (short.len() > 2 && words.contains_key(short))
                    || facts.named.puts_together(facts.node(*node).name()).is_some()
            };
            list.extend(nodes.iter().any(is_opened).then_some((None, owner)));
            let libraries = nodes.iter().filter_map(|node| split_library_name(facts.node(*node).name()));
            let own: BTreeSet<&[u8]> = libraries.map(|library| library.stem).collect();
            let users = own.into_iter().filter_map(|stem| by_package.get(stem)).flatten();
            list.extend(users.map(|user| (Some(*user), owner)));
        }
        unsearched
    }

    /// The parts of Python package names: `libarchive-c` opens `archive`, a name that does not occur in its files as
    /// that of a library.
    fn python_words(&self) -> BTreeMap<String, usize> {
        let packages = self.facts.inventory.packages.iter().enumerate();
        let of_python = packages.filter(|(_, package)| matches!(package.manager, "pip" | "conda"));
        let mut words = BTreeMap::new();
        for (place, package) in of_python {
            let name = normalized_python_name(&package.name);
            for word in name.split('-').chain([name.as_str()]) {
                for start in ["lib", "py"] {
                    words.extend(word.strip_prefix(start).map(|word| (word.to_owned(), place)));
                }
                words.insert(word.to_owned(), place);
            }
        }
        words
    }

    /// Libraries mentioned by a file; the outer `None` when it was not searched.
    #[allow(clippy::option_option, reason = "the two are not the same: not searched, and nothing found")]
    fn mentions(&self, inode: Inode) -> Option<Option<&StringReferences>> {
        let read = self.facts.layer(inode.0)?;
        if read.facts.was_streamed() || read.facts.hash(inode.1).is_some() {
            return Some(read.facts.mentions(inode.1));
        }
        self.facts.input.bodies.mentions.get(&inode).map(Some)
    }
}

/// Words of a command that may be programs: the first one, and the program that a wrapper such as `env` runs.
fn program_words<'w>(words: impl Iterator<Item = &'w [u8]>) -> Vec<&'w [u8]> {
    let mut found = Vec::new();
    for word in words.take(WORDS) {
        if !found.is_empty() && (word.starts_with(b"-") || is_assignment(word)) {
            continue;
        }
        found.push(word);
        if !is_wrapper(file_name(word)) {
            break;
        }
    }
    found
}
