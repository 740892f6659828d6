//! A simulated process: its objects in loading order, breadth first.

use std::rc::Rc;

use super::names::{NameId, NumberMap};
use super::resolver_state::{Dir, ResolverState, Step, Target, is_of_musl};
use super::search::at_path;
use super::system::System;
use crate::rootfs::NodeId;

/// Maximum number of names in `LD_PRELOAD`; real values have one or two.
pub(super) const PRELOADS: usize = 64;

/// Files for names that the search does not find because they were loaded before.
pub(super) type Fallback = Rc<NumberMap<NameId, OpenedFile>>;

/// A file, with the folder in which it was opened.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenedFile {
    pub(super) object: u32,
    /// Value of `$ORIGIN` for it.
    pub(super) folder: NodeId,
    pub(super) step: Step,
}

/// A loaded object of a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loaded {
    pub(super) place: OpenedFile,
    /// Index of the object whose NEEDED entry loaded it; `None` for opened and initial objects.
    pub(super) loader: Option<usize>,
    /// The object that needs or opens it.
    pub(super) asked_by: Option<u32>,
    /// The name under which it was needed or opened.
    pub(super) name: NameId,
    /// Whether it was opened instead of needed.
    pub(super) opened: bool,
}

/// Resolution of a NEEDED entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resolved {
    /// The object with the entry.
    pub(super) object: u32,
    /// Index of the entry.
    pub(super) need: usize,
    /// The resolved object; `None` if not found.
    pub(super) found: Option<(u32, Step)>,
}

/// A simulated process.
#[derive(Clone)]
pub(super) struct Process {
    pub(super) loaded: Vec<Loaded>,
    /// Resolutions so far, in order.
    pub(super) resolved: Vec<Resolved>,
    by_name: NumberMap<NameId, usize>,
    by_object: NumberMap<u32, usize>,
    /// Number of objects in `loaded` whose NEEDED entries are resolved.
    done: usize,
    pub(super) target: Target,
    pub(super) musl: bool,
    /// Whether the first object is a program.
    pub(super) has_program: bool,
    /// Index of the loader itself in `loaded`.
    interpreter: Option<usize>,
    pub(super) library_path: Rc<[Dir]>,
    pub(super) system: Rc<System>,
    fallbacks: Vec<Fallback>,
    /// Libraries that other modules of the process loaded before; they take precedence over the search.
    pub(super) before: Option<Fallback>,
}

impl Process {
    /// A process that runs a program, or one of an unknown program that loads the library `object`. No NEEDED
    /// entries are resolved yet.
    pub(super) fn new(state: &mut ResolverState<'_>, object: u32, fallbacks: Vec<Fallback>) -> Self {
        let binary = state.binary(object);
        let interpreter = state.interpreter(object);
        let musl = interpreter.map_or(state.environment.musl, is_of_musl);
        let folder = state.paths.parent(binary.node);
        let target = state.target(object);
        let mut process = Self {
            loaded: Vec::new(),
            resolved: Vec::new(),
            by_name: NumberMap::default(),
            by_object: NumberMap::default(),
            done: 0,
            target,
            musl,
            has_program: binary.executable,
            interpreter: None,
            library_path: state.library_path(object, folder),
            system: state.system(target, musl),
            fallbacks,
            before: None,
        };
        let name = state.names.id(&binary.path);
        process.push(state, OpenedFile { object, folder, step: Step::Path }, name, None, None, false);
        if let Some(path) = interpreter
            && let Some(place) = at_path(state, path)
        {
            let name = state.names.id(path);
            let at = process.push(state, place, name, Some(0), Some(object), false);
            process.interpreter = Some(at);
        }
        // Static programs have no loader that reads the environment.
        if binary.executable && interpreter.is_some() {
            let environment = state.environment;
            for name in environment.ld_preload.iter().take(PRELOADS) {
                let name = state.names.id(name);
                process.load(state, 0, name);
            }
        }
        process
    }

    /// A copy of the process with other fallbacks.
    pub(super) fn fork(&self, fallbacks: Vec<Fallback>) -> Self {
        Self { fallbacks, ..self.clone() }
    }

    /// Loads a library by its own path, as an interpreter loads an extension module.
    pub(super) fn open_object(&mut self, state: &mut ResolverState<'_>, object: u32) {
        if self.by_object.contains_key(&object) {
            return;
        }
        let binary = state.binary(object);
        let place = OpenedFile { object, folder: state.paths.parent(binary.node), step: Step::Path };
        let name = state.names.id(&binary.path);
        self.push(state, place, name, None, None, true);
    }

    /// Resolves all unresolved NEEDED entries, breadth first.
    pub(super) fn run(&mut self, state: &mut ResolverState<'_>) {
        while let Some(loaded) = self.loaded.get(self.done) {
            let object = loaded.place.object;
            for need in 0..state.needs[object as usize].len() {
                if state.exhausted() {
                    return;
                }
                let name = state.needs[object as usize][need];
                let found = self.load(state, self.done, name);
                self.resolved.push(Resolved { object, need, found });
            }
            self.done += 1;
        }
    }

    /// The file that `dlopen` of a name opens, if called by the object at index `caller`.
    pub(super) fn find(
        &self,
        state: &mut ResolverState<'_>,
        caller: usize,
        name: NameId,
    ) -> Option<OpenedFile> {
        if let Some(at) = self.known(state, name) {
            return Some(OpenedFile { step: Step::Loaded, ..self.loaded[at].place });
        }
        self.loaded_before(state, name).or_else(|| self.search(state, caller, name))
    }

    fn loaded_before(&self, state: &ResolverState<'_>, name: NameId) -> Option<OpenedFile> {
        let place = self.before.as_ref()?.get(&name)?;
        self.takes(state, place.object).then_some(*place)
    }

    /// Loads a file found by [`Self::find`] or the dlopen table.
    pub(super) fn open(&mut self, state: &ResolverState<'_>, caller: usize, name: NameId, place: OpenedFile) {
        if let Some(at) = self.by_object.get(&place.object) {
            self.by_name.entry(name).or_insert(*at);
            return;
        }
        let asked_by = self.loaded[caller].place.object;
        self.push(state, place, name, None, Some(asked_by), true);
    }

    /// Whether the process can load an object: same machine, class and byte order.
    pub(super) fn takes(&self, state: &ResolverState<'_>, object: u32) -> bool {
        state.target(object) == self.target
    }

    /// The folders searched for a name that the object at index `caller` needs, in order.
    pub(super) fn folders(&self, state: &mut ResolverState<'_>, caller: usize) -> Vec<NodeId> {
        let mut folders = Vec::new();
        self.walk(state, caller, &mut |_, dir, _| {
            folders.push(dir.node);
            None::<()>
        });
        folders.extend(self.system.folders.iter().map(|(dir, _)| dir.node));
        folders
    }

    fn load(&mut self, state: &mut ResolverState<'_>, asker: usize, name: NameId) -> Option<(u32, Step)> {
        state.steps_left = state.steps_left.saturating_sub(1);
        if let Some(at) = self.known(state, name) {
            return Some((self.loaded[at].place.object, Step::Loaded));
        }
        let before = self.loaded_before(state, name);
        let place = before.or_else(|| self.search(state, asker, name)).or_else(|| {
            let before = self.fallbacks.iter().find_map(|fallback| fallback.get(&name))?;
            self.takes(state, before.object).then_some(*before)
        })?;
        if let Some(at) = self.by_object.get(&place.object) {
            // The same file under another name.
            self.by_name.entry(name).or_insert(*at);
        } else {
            let asked_by = self.loaded[asker].place.object;
            self.push(state, place, name, Some(asker), Some(asked_by), false);
        }
        Some((place.object, place.step))
    }

    /// Index of the object already loaded under a name.
    fn known(&self, state: &ResolverState<'_>, name: NameId) -> Option<usize> {
        if let Some(at) = self.by_name.get(&name) {
            return Some(*at);
        }
        (self.musl && is_musl_itself(state.names.get(name))).then_some(self.interpreter)?
    }

    fn push(
        &mut self,
        state: &ResolverState<'_>,
        place: OpenedFile,
        name: NameId,
        loader: Option<usize>,
        asked_by: Option<u32>,
        opened: bool,
    ) -> usize {
        let at = self.loaded.len();
        self.loaded.push(Loaded { place, loader, asked_by, name, opened });
        self.by_object.insert(place.object, at);
        self.by_name.entry(name).or_insert(at);
        // musl registers libraries only under the names by which they were found.
        if let Some(soname) = state.sonames[place.object as usize]
            && !self.musl
        {
            self.by_name.entry(soname).or_insert(at);
        }
        at
    }
}

/// Whether a name is that of the C library or a part of it, which musl never searches for.
fn is_musl_itself(name: &[u8]) -> bool {
    let parts = [&b"c."[..], b"pthread.", b"rt.", b"m.", b"dl.", b"util.", b"xnet."];
    name.strip_prefix(b"lib").is_some_and(|rest| parts.iter().any(|part| rest.starts_with(part)))
}
