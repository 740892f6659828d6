//! Roots of reachability: the entrypoint, other programs, extension modules, preloaded libraries.

use super::expand::PATH_BYTES;
use super::names::NameId;
use super::paths::{file_name, folder_of, site_root};
use super::process::PRELOADS;
use super::python::{is_extension, python_of};
use super::resolver_state::{ResolverState, SEARCH_FOLDERS};
use super::shell::commands;
use super::{Root, RootKind, Rules};
use crate::base::redact;
use crate::base::text::escape;
use crate::formats::dockerfile::is_assignment;
use crate::formats::string_references::is_wrapper;
use crate::rootfs::{NodeId, NodeKind};

/// Maximum depth of scripts and wrappers. Scripts may have scripts as interpreters, of which Linux follows 4.
const DEPTH: usize = 8;
/// Default `PATH` of the engines.
pub(crate) const DEFAULT_PATH: [&[u8]; 6] =
    [b"/usr/local/sbin", b"/usr/local/bin", b"/usr/sbin", b"/usr/bin", b"/sbin", b"/bin"];
/// Maximum number of wrapper arguments searched for the command.
const ARGUMENTS: usize = 64;
/// Programs that run commands of a script or string.
pub(crate) const SHELLS: [&[u8]; 6] = [b"sh", b"bash", b"dash", b"ash", b"zsh", b"ksh"];

/// Reason for libraries whose caller is not known.
const OPENED: &str = "application or Python library; caller unknown";

/// A root with facts for the simulation.
#[derive(Clone, Debug)]
pub(super) struct RootEntry {
    pub(super) object: u32,
    pub(super) root: Root,
    /// The Python that loads an extension module.
    pub(super) python: Option<u32>,
    /// The packages folder of an extension module, and the name of its package.
    pub(super) package: Option<(NameId, NameId)>,
}

/// Returns the first bytes of a script, with its `#!` line.
pub(super) type Scripts<'s> = dyn Fn(NodeId) -> Option<Vec<u8>> + 's;

/// All roots: entrypoints, preloaded libraries, other programs, extension modules; each kind sorted by path.
pub(super) fn find(
    state: &mut ResolverState<'_>,
    rules: &dyn Rules,
    scripts: &Scripts<'_>,
    problems: &mut Vec<String>,
) -> Vec<RootEntry> {
    let mut finder =
        Finder { roots: vec![None; state.binaries.len()], pythons: Vec::new(), state, scripts, problems };
    finder.entrypoints();
    finder.preloads();
    finder.files(rules);
    let mut roots: Vec<RootEntry> = finder.roots.into_iter().flatten().collect();
    let rank = |kind| match kind {
        RootKind::Entrypoint => 0,
        RootKind::Preload => 1,
        RootKind::Executable => 2,
        RootKind::Extension => 3,
    };
    roots.sort_by_key(|entry| (rank(entry.root.kind), entry.object));
    roots
}

struct Finder<'w, 'a> {
    state: &'w mut ResolverState<'a>,
    scripts: &'w Scripts<'w>,
    problems: &'w mut Vec<String>,
    roots: Vec<Option<RootEntry>>,
    /// Pythons that load extension modules.
    pythons: Vec<u32>,
}

impl Finder<'_, '_> {
    fn add(&mut self, object: u32, kind: RootKind, why: &str) {
        let place = &mut self.roots[object as usize];
        if place.is_none() {
            let root = Root { kind, why: why.to_owned() };
            *place = Some(RootEntry { object, root, python: None, package: None });
        }
    }

    fn entrypoints(&mut self) {
        let environment = self.state.environment;
        let both: Vec<&[u8]> =
            environment.entrypoint.iter().chain(&environment.cmd).map(Vec::as_slice).collect();
        let what = if environment.entrypoint.is_empty() { "command" } else { "entrypoint" };
        let Some(program) = both.first() else { return };
        if self.program(program).is_none() {
            // A command line in a single word may contain secrets: only its first part is shown.
            let name = program.split(u8::is_ascii_whitespace).next().unwrap_or_default();
            let name = redact::words(&[escape(name)]).concat();
            self.problems.push(format!("the image's {what} {name} is not a file in the image"));
        }
        self.follow(&both, &format!("the image's {what}"), 0);
        // Many entrypoints finally run the command.
        if !environment.entrypoint.is_empty() {
            let command: Vec<&[u8]> = environment.cmd.iter().map(Vec::as_slice).collect();
            self.follow(&command, "the image's command", 0);
        }
    }

    /// The file that a command name resolves to.
    fn program(&self, name: &[u8]) -> Option<NodeId> {
        let file = |node: &NodeId| self.state.paths.rootfs().node(*node).kind() == NodeKind::File;
        if name.contains(&b'/') {
            return self.state.paths.lookup_from(self.state.working_dir, name).filter(file);
        }
        search_path(self.state).into_iter().find_map(|folder| {
            let folder = self.state.paths.folder_from(self.state.working_dir, folder)?;
            self.state.paths.lookup_from(folder, name).filter(file)
        })
    }

    /// Adds the program of a command as a root, if present, and the programs that it runs.
    fn follow(&mut self, words: &[&[u8]], why: &str, depth: usize) {
        let Some((program, arguments)) = words.split_first() else { return };
        let name = file_name(program);
        if depth > DEPTH {
            return;
        }
        if let Some(node) = self.program(program) {
            if let Some(object) = self.state.object_at(node) {
                if self.state.binary(object).executable {
                    self.add(object, RootKind::Entrypoint, why);
                }
            } else if let Some(line) = (self.scripts)(node) {
                let line = line.strip_prefix(b"#!").unwrap_or(&line);
                let first = line.split(|byte| matches!(byte, b'\n' | b'\r' | 0)).next().unwrap_or_default();
                let words: Vec<&[u8]> =
                    first.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).collect();
                let shown = escape(&self.state.paths.path(node));
                // Of a chain, the first cause is sufficient.
                let why = if depth == 0 { format!("interpreter of {shown}, {why}") } else { why.to_owned() };
                self.follow(&words, &why, depth + 1);
            }
        } else if name != b"exec" {
            return;
        }
        if SHELLS.contains(&name) {
            self.follow_shell(arguments, why, depth);
        } else if is_wrapper(name) {
            let is_program = |word: &&[u8]| {
                !word.starts_with(b"-") && !is_assignment(word) && self.program(word).is_some()
            };
            if let Some(place) = arguments.iter().take(ARGUMENTS).position(is_program) {
                let why = if why.starts_with("run by ") { why.to_owned() } else { format!("run by {why}") };
                self.follow(&arguments[place..], &why, depth + 1);
            }
        }
    }

    /// Follows a shell: the command string of option `-c`, or the script in its first other argument.
    fn follow_shell(&mut self, arguments: &[&[u8]], why: &str, depth: usize) {
        let why = if why.starts_with("run by ") { why.to_owned() } else { format!("run by {why}") };
        let is_option = |word: &&[u8]| word.starts_with(b"-") && word.len() > 1;
        let options = arguments.iter().take_while(|word| is_option(word)).count();
        let Some(first) = arguments.get(options) else { return };
        if arguments[..options].iter().any(|word| !word.starts_with(b"--") && word.ends_with(b"c")) {
            for command in commands(first) {
                let words: Vec<&[u8]> = command.iter().map(Vec::as_slice).collect();
                self.follow(&words, &why, depth + 1);
            }
        } else {
            self.follow(&[first], &why, depth + 1);
        }
    }

    fn preloads(&mut self) {
        let environment = self.state.environment;
        if environment.ld_preload.is_empty() || self.state.binaries.is_empty() {
            return;
        }
        let target = self.common_target();
        for name in environment.ld_preload.iter().take(PRELOADS) {
            let object = if name.contains(&b'/') {
                self.state.object_by_path(self.state.working_dir, name)
            } else {
                let system = self.state.system(target, self.state.has_musl(target));
                let name = self.state.names.id(name);
                let folders = self.state.library_path(0, NodeId::ROOT);
                let mut folders = folders.iter().chain(system.folders.iter().map(|(dir, _)| dir));
                let in_folder = folders.find_map(|dir| self.state.object_in(dir.node, name));
                in_folder.or_else(|| system.cache.get(&name).map(|cached| cached.object))
            };
            match object {
                Some(object) => {
                    self.add(object, RootKind::Preload, "loaded into every process by LD_PRELOAD");
                }
                None => {
                    self.problems.push(format!("LD_PRELOAD names {}, which does not exist", escape(name)));
                }
            }
        }
    }

    /// The file format of most binaries in the image.
    fn common_target(&self) -> super::resolver_state::Target {
        let mut counts = std::collections::BTreeMap::new();
        for object in self.state.objects() {
            *counts.entry(self.state.target(object)).or_insert(0_usize) += 1;
        }
        counts.into_iter().max_by_key(|(_, count)| *count).map_or((0, true, true), |(target, _)| target)
    }

    fn files(&mut self, rules: &dyn Rules) {
        for object in self.state.objects() {
            let binary = self.state.binary(object);
            let kind = if is_program(binary.executable, binary.soname.is_some(), &binary.path) {
                RootKind::Executable
            } else if binary.is_library && is_extension(&binary.path) {
                RootKind::Extension
            } else if binary.is_library && rules.is_of_application(binary) {
                // A package without modules opens its libraries from Python.
                if site_root(&binary.path).is_some() {
                    self.extension(object, OPENED);
                } else {
                    self.add(object, RootKind::Extension, OPENED);
                }
                continue;
            } else {
                continue;
            };
            if rules.is_toolkit_or_tool(&binary.path) || rules.is_devel_owned(binary.node) {
                continue;
            }
            if kind == RootKind::Executable {
                let why = format!("a program in {}", escape(folder_of(&binary.path)));
                self.add(object, kind, &why);
            } else {
                self.extension(object, "an extension module of Python");
            }
        }
        for python in std::mem::take(&mut self.pythons) {
            self.add(python, RootKind::Executable, "a Python that loads extension modules");
        }
    }

    fn extension(&mut self, object: u32, why: &str) {
        let path = &self.state.binary(object).path;
        let python =
            python_of(self.state, path).filter(|of| self.state.target(*of) == self.state.target(object));
        let package = site_root(path).map(|(site, below)| {
            let package = below.split(|byte| *byte == b'/').next().unwrap_or_default();
            (self.state.names.id(site), self.state.names.id(package))
        });
        self.add(object, RootKind::Extension, why);
        if let Some(entry) = &mut self.roots[object as usize]
            && entry.root.kind == RootKind::Extension
        {
            (entry.python, entry.package) = (python, package);
            if let Some(python) = python
                && !self.pythons.contains(&python)
            {
                self.pythons.push(python);
            }
        }
    }
}

/// The folders of `PATH`, or [`DEFAULT_PATH`] if unset.
pub(super) fn search_path<'a>(state: &ResolverState<'a>) -> Vec<&'a [u8]> {
    let path = &state.environment.path;
    if path.is_empty() {
        DEFAULT_PATH.to_vec()
    } else {
        let folders = path.iter().map(Vec::as_slice).filter(|folder| folder.len() < PATH_BYTES);
        folders.take(SEARCH_FOLDERS).collect()
    }
}

/// Whether a file is a program; an executable library (`libc.so.6`) is not.
fn is_program(executable: bool, has_soname: bool, path: &[u8]) -> bool {
    let name = file_name(path);
    let is_library = has_soname || name.starts_with(b"lib") && name.windows(3).any(|part| part == b".so");
    executable && !is_library
}
