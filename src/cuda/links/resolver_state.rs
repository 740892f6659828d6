//! State shared by all simulated processes: objects, search folders and cached lookups.

use std::collections::BTreeMap;

use std::rc::Rc;

use hashbrown::HashMap;

use super::expand::{PATH_BYTES, Tokens, expand};
use super::names::{NameId, Names, NumberMap};
use super::paths::{Paths, file_name};
use super::system::System;
use super::{Binary, Environment};
use crate::base::convert::index32;
use crate::layer::EntryId;
use crate::rootfs::{NodeId, NodeKind};

/// Maximum number of folders in one search path; real ones have a few dozen.
pub(super) const SEARCH_FOLDERS: usize = 256;
/// Maximum number of folder lookups and path components, for all processes together. A large image with 3,000
/// binaries needs a few million; the limit takes a few seconds.
pub(super) const STEPS: u64 = 50_000_000;
/// Maximum number of cached file formats: machine, class and byte order. Images have one or two.
const TARGETS: usize = 8;

/// Search folders written with more bytes are shown by their resolved path, since each result repeats the
/// text.
const SHOWN_BYTES: usize = 255;

/// An existing folder of a search path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Dir {
    /// Node of the folder.
    pub(super) node: NodeId,
    /// Text for display.
    pub(super) text: NameId,
}

/// The part of the search that found a file; compact form of [`super::SearchStep`].
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

/// File format of a loader: machine, 64-bit, little endian.
pub(super) type Target = (u16, bool, bool);

/// State shared by all simulated processes.
pub(super) struct ResolverState<'a> {
    pub(super) binaries: Vec<&'a Binary<'a>>,
    pub(super) needs: Vec<Vec<NameId>>,
    pub(super) sonames: Vec<Option<NameId>>,
    pub(super) paths: &'a Paths<'a>,
    pub(super) environment: &'a Environment,
    pub(super) names: Names,
    pub(super) working_dir: NodeId,
    pub(super) steps_left: u64,
    /// Loader for each format: the interpreter of most programs.
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

    /// Ids of all objects.
    pub(super) fn objects(&self) -> std::ops::Range<u32> {
        0..index32(self.binaries.len())
    }

    /// File format of an object.
    pub(super) fn target(&self, object: u32) -> Target {
        let binary = self.binary(object);
        (binary.machine, binary.class64, binary.little_endian)
    }

    /// The loader of a process for an object: a program's own interpreter; for a library, that of most
    /// programs of its format.
    pub(super) fn interpreter(&self, object: u32) -> Option<&'a [u8]> {
        let binary = self.binary(object);
        if binary.executable {
            binary.interpreter
        } else {
            self.interpreters.get(&self.target(object)).copied()
        }
    }

    /// Whether musl loads libraries of a format.
    pub(super) fn has_musl(&self, target: Target) -> bool {
        self.interpreters.get(&target).map_or(self.environment.musl, |path| is_of_musl(path))
    }

    /// The object of a node; `None` if it is not a binary.
    pub(super) fn object_at(&self, node: NodeId) -> Option<u32> {
        self.by_inode.get(&self.paths.inode(node)?).copied()
    }

    /// The node at a path; `None` if the path exceeds the kernel's limit. Subtracts its components from the
    /// remaining steps.
    pub(super) fn lookup(&mut self, folder: NodeId, path: &[u8]) -> Option<NodeId> {
        // Splitting a long path also costs time.
        self.steps_left = self.steps_left.saturating_sub(path.len() as u64 / 16);
        if path.len() >= PATH_BYTES || self.exhausted() {
            return None;
        }
        self.paths.walk(folder, path, &mut self.steps_left)
    }

    /// The folder at a path.
    pub(super) fn folder(&mut self, folder: NodeId, path: &[u8]) -> Option<NodeId> {
        let node = self.lookup(folder, path)?;
        (self.paths.rootfs().node(node).kind() == NodeKind::Directory).then_some(node)
    }

    /// The object at a path.
    pub(super) fn object_by_path(&mut self, folder: NodeId, path: &[u8]) -> Option<u32> {
        let node = self.lookup(folder, path)?;
        self.object_at(node)
    }

    /// The object with this name in a folder; links are followed.
    pub(super) fn object_in(&mut self, folder: NodeId, name: NameId) -> Option<u32> {
        self.steps_left = self.steps_left.saturating_sub(1);
        if let Some(found) = self.found.get(&(folder, name)) {
            return *found;
        }
        let written = self.names.get(name);
        // A name with a slash is not a file name.
        let node = if written.contains(&b'/') {
            None
        } else {
            self.paths.walk(folder, written, &mut self.steps_left)
        };
        let found = node.and_then(|node| self.object_at(node));
        self.found.insert((folder, name), found);
        found
    }

    /// Whether the step limit is reached; then no further names are resolved.
    pub(super) fn exhausted(&self) -> bool {
        self.steps_left == 0
    }

    /// The folders of an object's `DT_RUNPATH`, or of `DT_RPATH` without one.
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

    /// The folders of `LD_LIBRARY_PATH` for a program, with the program's tokens.
    pub(super) fn library_path(&mut self, program: u32, origin: NodeId) -> Rc<[Dir]> {
        let environment = self.environment;
        let parts: Vec<&[u8]> =
            environment.ld_library_path.iter().take(SEARCH_FOLDERS).map(Vec::as_slice).collect();
        self.dirs(&parts, program, origin).into()
    }

    /// The existing folders of `parts`, without duplicates; an empty part is the working folder.
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
            // Relative and long texts, and texts with a token, are shown as the resolved folder.
            let plain = part.starts_with(b"/") && part.len() <= SHOWN_BYTES && !part.contains(&b'$');
            let shown = if plain { expanded } else { self.paths.path(node) };
            dirs.push(Dir { node, text: self.names.id(&shown) });
        }
        dirs
    }

    /// A text of an object with its tokens expanded.
    pub(super) fn expanded(&mut self, text: &[u8], object: u32, origin: NodeId) -> Vec<u8> {
        if !text.contains(&b'$') {
            return text.to_vec();
        }
        let system = self.system(self.target(object), false);
        let origin = self.paths.path(origin);
        // The root's path ends in a slash.
        let origin = origin.strip_suffix(b"/").unwrap_or(&origin);
        expand(text, &Tokens { origin, lib: system.lib, platform: system.platform })
    }

    /// The system folders for files of one format.
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

    /// An existing folder, shown as written.
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

/// The interpreter of most programs of each format. Of equally frequent ones, glibc's takes precedence, since
/// images with glibc may contain programs for musl, then the first.
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

/// Whether an interpreter is the musl loader.
pub(super) fn is_of_musl(interpreter: &[u8]) -> bool {
    file_name(interpreter).starts_with(b"ld-musl")
}
