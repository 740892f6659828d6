//! What all processes share: the objects, the folders that search paths lead to, and what was looked up.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::expand::{PATH_BYTES, Tokens, expand};
use super::names::{NameId, Names, NumberMap};
use super::paths::{Paths, file_name};
use super::system::System;
use super::{Binary, Environment};
use crate::base::convert::index32;
use crate::layer::EntryId;
use crate::rootfs::{NodeId, NodeKind};

/// Folders of one search path that are looked into; real ones have a few dozen.
pub(super) const SEARCH_FOLDERS: usize = 256;
/// How often a folder is looked into, and parts of paths walked, for all processes together. A large image
/// of 3,000 binaries takes a few million; this many take a few seconds.
pub(super) const STEPS: u64 = 50_000_000;
/// How many file formats get a cache of their own: machine, class and byte order. Images have one or two.
const TARGETS: usize = 8;

/// Folders of search paths that are written with more bytes are shown by the folder that they lead to: each
/// result repeats the text.
const SHOWN_BYTES: usize = 255;

/// An existing folder of a search path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Dir {
    /// The folder.
    pub(super) node: NodeId,
    /// As it is shown.
    pub(super) text: NameId,
}

/// The part of the search that found a file. The small form of [`super::SearchStep`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Loaded,
    Path,
    Rpath(u32, NameId),
    LibraryPath(NameId),
    Runpath(NameId),
    Cache(NameId),
    Default(NameId),
    Table(NameId),
}

/// What files one loader can load: machine, 64 bits, little endian.
pub(super) type Target = (u16, bool, bool);

/// What all processes share.
pub(super) struct ResolverState<'a> {
    pub(super) binaries: Vec<&'a Binary<'a>>,
    pub(super) needs: Vec<Vec<NameId>>,
    pub(super) sonames: Vec<Option<NameId>>,
    pub(super) paths: &'a Paths<'a>,
    pub(super) environment: &'a Environment,
    pub(super) names: Names,
    pub(super) working_dir: NodeId,
    pub(super) steps_left: u64,
    /// What loads libraries of each format: the interpreter that most programs name.
    interpreters: HashMap<Target, &'a [u8]>,
    by_inode: HashMap<(u16, EntryId), u32>,
    found: NumberMap<(NodeId, NameId), Option<u32>>,
    rpaths: NumberMap<(u32, NodeId), Rc<[Dir]>>,
    systems: HashMap<(Target, bool), Rc<System>>,
}

impl<'a> ResolverState<'a> {
    pub(super) fn new(
        binaries: &'a [Binary<'a>],
        paths: &'a Paths<'a>,
        environment: &'a Environment,
        steps: u64,
    ) -> Self {
        let mut binaries: Vec<&Binary<'_>> = binaries.iter().collect();
        binaries.sort_by(|a, b| a.path.cmp(&b.path));
        let mut names = Names::default();
        let needs = binaries.iter().map(|of| of.needed.iter().map(|name| names.id(name)).collect()).collect();
        let sonames = binaries.iter().map(|of| of.soname.map(|name| names.id(name))).collect();
        let mut by_inode = HashMap::with_capacity(binaries.len());
        for (id, binary) in binaries.iter().enumerate() {
            if let Some(inode) = paths.inode(binary.node) {
                by_inode.entry(inode).or_insert(index32(id));
            }
        }
        let working_dir = paths.folder_from(NodeId::ROOT, &environment.working_dir).unwrap_or(NodeId::ROOT);
        Self {
            needs,
            sonames,
            paths,
            environment,
            names,
            working_dir,
            steps_left: steps,
            interpreters: interpreters(&binaries),
            binaries,
            by_inode,
            found: NumberMap::default(),
            rpaths: NumberMap::default(),
            systems: HashMap::new(),
        }
    }

    /// The binary of an object.
    pub(super) fn binary(&self, object: u32) -> &'a Binary<'a> {
        self.binaries[object as usize]
    }

    /// All objects.
    pub(super) fn objects(&self) -> std::ops::Range<u32> {
        0..index32(self.binaries.len())
    }

    /// What an object's loader can load.
    pub(super) fn target(&self, object: u32) -> Target {
        let binary = self.binary(object);
        (binary.machine, binary.class64, binary.little_endian)
    }

    /// The loader that a process of an object runs: that which a program names, and for a library that of
    /// the programs it may be loaded into.
    pub(super) fn interpreter(&self, object: u32) -> Option<&'a [u8]> {
        let binary = self.binary(object);
        if binary.executable {
            binary.interpreter
        } else {
            self.interpreters.get(&self.target(object)).copied()
        }
    }

    /// Whether libraries of a format are loaded by musl.
    pub(super) fn has_musl(&self, target: Target) -> bool {
        self.interpreters.get(&target).map_or(self.environment.musl, |path| is_of_musl(path))
    }

    /// The object that a node is a name of.
    pub(super) fn object_at(&self, node: NodeId) -> Option<u32> {
        self.by_inode.get(&self.paths.inode(node)?).copied()
    }

    /// What a path leads to; nothing when it is longer than a kernel takes. Takes its parts off the steps
    /// that are left.
    pub(super) fn lookup(&mut self, folder: NodeId, path: &[u8]) -> Option<NodeId> {
        // Taking a long path apart is work of its own.
        self.steps_left = self.steps_left.saturating_sub(path.len() as u64 / 16);
        if path.len() >= PATH_BYTES || self.exhausted() {
            return None;
        }
        self.paths.walk(folder, path, &mut self.steps_left)
    }

    /// The folder that a path leads to.
    pub(super) fn folder(&mut self, folder: NodeId, path: &[u8]) -> Option<NodeId> {
        let node = self.lookup(folder, path)?;
        (self.paths.rootfs().node(node).kind() == NodeKind::Directory).then_some(node)
    }

    /// The object that a path leads to.
    pub(super) fn object_by_path(&mut self, folder: NodeId, path: &[u8]) -> Option<u32> {
        let node = self.lookup(folder, path)?;
        self.object_at(node)
    }

    /// The object that a folder holds under a name; links are followed.
    pub(super) fn object_in(&mut self, folder: NodeId, name: NameId) -> Option<u32> {
        self.steps_left = self.steps_left.saturating_sub(1);
        if let Some(found) = self.found.get(&(folder, name)) {
            return *found;
        }
        let written = self.names.get(name);
        // A name with a slash is no name in a folder.
        let node = if written.contains(&b'/') {
            None
        } else {
            self.paths.walk(folder, written, &mut self.steps_left)
        };
        let found = node.and_then(|node| self.object_at(node));
        self.found.insert((folder, name), found);
        found
    }

    /// Whether the limit on work is used up: nothing is resolved any more.
    pub(super) fn exhausted(&self) -> bool {
        self.steps_left == 0
    }

    /// The folders of `DT_RPATH` or `DT_RUNPATH` of an object; the latter when it has both.
    pub(super) fn rpath(&mut self, object: u32, origin: NodeId) -> Rc<[Dir]> {
        if let Some(known) = self.rpaths.get(&(object, origin)) {
            return Rc::clone(known);
        }
        let binary = self.binary(object);
        let text = binary.runpath.or(binary.rpath).unwrap_or_default();
        let parts: Vec<&[u8]> = if text.is_empty() {
            Vec::new()
        } else {
            text.split(|byte| *byte == b':').take(SEARCH_FOLDERS).collect()
        };
        let dirs: Rc<[Dir]> = self.dirs(&parts, object, origin).into();
        self.rpaths.insert((object, origin), Rc::clone(&dirs));
        dirs
    }

    /// The folders of `LD_LIBRARY_PATH` for a program; tokens are those of the program.
    pub(super) fn library_path(&mut self, program: u32, origin: NodeId) -> Rc<[Dir]> {
        let environment = self.environment;
        let parts: Vec<&[u8]> =
            environment.ld_library_path.iter().take(SEARCH_FOLDERS).map(Vec::as_slice).collect();
        self.dirs(&parts, program, origin).into()
    }

    /// The folders of `parts` that exist, each once; an empty part is the working folder.
    fn dirs(&mut self, parts: &[&[u8]], object: u32, origin: NodeId) -> Vec<Dir> {
        let mut dirs: Vec<Dir> = Vec::new();
        for part in parts {
            let expanded = self.expanded(part, object, origin);
            let found = if part.is_empty() {
                Some(self.working_dir)
            } else {
                self.folder(self.working_dir, &expanded)
            };
            let Some(node) = found else { continue };
            if dirs.iter().any(|dir| dir.node == node) {
                continue;
            }
            // What is relative, long or holds a token is shown as the folder that it leads to.
            let plain = part.starts_with(b"/") && part.len() <= SHOWN_BYTES && !part.contains(&b'$');
            let shown = if plain { expanded } else { self.paths.path(node) };
            dirs.push(Dir { node, text: self.names.id(&shown) });
        }
        dirs
    }

    /// A text of an object with its tokens replaced.
    pub(super) fn expanded(&mut self, text: &[u8], object: u32, origin: NodeId) -> Vec<u8> {
        if !text.contains(&b'$') {
            return text.to_vec();
        }
        let system = self.system(self.target(object), false);
        let origin = self.paths.path(origin);
        // The root's path ends in its slash.
        let origin = origin.strip_suffix(b"/").unwrap_or(&origin);
        expand(text, &Tokens { origin, lib: system.lib, platform: system.platform })
    }

    /// The folders that belong to the system, for files of one format.
    pub(super) fn system(&mut self, target: Target, musl: bool) -> Rc<System> {
        if let Some(known) = self.systems.get(&(target, musl)) {
            return Rc::clone(known);
        }
        let system = if self.systems.len() < 2 * TARGETS {
            System::new(self, target, musl)
        } else {
            System::default()
        };
        let system = Rc::new(system);
        self.systems.insert((target, musl), Rc::clone(&system));
        system
    }

    /// An existing folder, shown as it is written.
    pub(super) fn dir(&mut self, path: &[u8]) -> Option<Dir> {
        let node = self.folder(NodeId::ROOT, path)?;
        let text = if path.len() <= SHOWN_BYTES {
            self.names.id(path)
        } else {
            self.names.id(&self.paths.path(node))
        };
        Some(Dir { node, text })
    }
}

/// The interpreter that most programs of each format name; that of glibc when two are named as often, since
/// programs for musl are put into images of glibc, then the first.
fn interpreters<'a>(binaries: &[&'a Binary<'a>]) -> HashMap<Target, &'a [u8]> {
    let mut counts: BTreeMap<(Target, &[u8]), usize> = BTreeMap::new();
    for binary in binaries.iter().filter(|binary| binary.executable) {
        if let Some(path) = binary.interpreter {
            let target = (binary.machine, binary.class64, binary.little_endian);
            *counts.entry((target, path)).or_default() += 1;
        }
    }
    let mut best: BTreeMap<Target, (usize, bool, &[u8])> = BTreeMap::new();
    for ((target, path), count) in counts {
        let known = best.entry(target).or_insert((0, false, path));
        if (count, !is_of_musl(path)) > (known.0, known.1) {
            *known = (count, !is_of_musl(path), path);
        }
    }
    best.into_iter().map(|(target, (_, _, path))| (target, path)).collect()
}

/// Whether an interpreter is the loader of musl.
pub(super) fn is_of_musl(interpreter: &[u8]) -> bool {
    file_name(interpreter).starts_with(b"ld-musl")
}
