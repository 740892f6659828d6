//! The folders searched for a name, in the loader's order (`_dl_map_new_object` of glibc, `load_library` of
//! musl).

use super::names::NameId;
use super::paths::folder_of;
use super::process::{OpenedFile, Process};
use super::resolver_state::{Dir, ResolverState, Step};

impl Process {
    /// The file that the loader finds for a name needed by the object at index `asker`.
    pub(super) fn search(
        &self,
        state: &mut ResolverState<'_>,
        asker: usize,
        name: NameId,
    ) -> Option<OpenedFile> {
        if state.names.get(name).contains(&b'/') {
            let OpenedFile { object, folder, .. } = self.loaded[asker].place;
            let path = state.names.get(name).to_vec();
            let path = state.expanded(&path, object, folder);
            return at_path(state, &path).filter(|place| self.takes(state, place.object));
        }
        let found = self.walk(state, asker, &mut |state, dir, step| {
            // ldconfig has created its links before a process runs.
            let made = self.system.made.get(&(dir.node, name)).copied();
            let object = made.or_else(|| state.object_in(dir.node, name))?;
            if self.takes(state, object) {
                return Some(Some(OpenedFile { object, folder: dir.node, step }));
            }
            // musl opens the first file with the name and fails if its format does not match.
            self.musl.then_some(None)
        });
        if let Some(found) = found {
            return found;
        }
        let no_default = state.binary(self.loaded[asker].place.object).no_default_lib && !self.musl;
        if let Some(cached) = self.system.cache.get(&name)
            && !(cached.trusted && no_default)
        {
            let text = cached.dir.text;
            let step = if cached.trusted { Step::Default(text) } else { Step::Cache(text) };
            return Some(OpenedFile { object: cached.object, folder: cached.dir.node, step });
        }
        if no_default {
            return None;
        }
        self.system.default.iter().find_map(|dir| {
            let object = state.object_in(dir.node, name)?;
            let step = Step::Default(dir.text);
            self.takes(state, object).then_some(OpenedFile { object, folder: dir.node, step })
        })
    }

    /// Visits the folders searched before the system's, until `look` returns a result.
    pub(super) fn walk<T>(
        &self,
        state: &mut ResolverState<'_>,
        asker: usize,
        look: &mut dyn FnMut(&mut ResolverState<'_>, Dir, Step) -> Option<T>,
    ) -> Option<T> {
        let asking = state.binary(self.loaded[asker].place.object);
        if self.musl {
            self.in_library_path(state, look).or_else(|| self.in_rpaths(state, asker, look))
        } else if asking.runpath.is_none() {
            self.in_rpaths(state, asker, look).or_else(|| self.in_library_path(state, look))
        } else {
            self.in_library_path(state, look).or_else(|| self.in_rpath(state, asker, true, look))
        }
    }

    fn in_library_path<T>(
        &self,
        state: &mut ResolverState<'_>,
        look: &mut dyn FnMut(&mut ResolverState<'_>, Dir, Step) -> Option<T>,
    ) -> Option<T> {
        self.library_path.iter().find_map(|dir| look(state, *dir, Step::LibraryPath(dir.text)))
    }

    /// `DT_RPATH` of an object, of the objects that loaded it, and finally of the program.
    fn in_rpaths<T>(
        &self,
        state: &mut ResolverState<'_>,
        asker: usize,
        look: &mut dyn FnMut(&mut ResolverState<'_>, Dir, Step) -> Option<T>,
    ) -> Option<T> {
        let mut saw_program = false;
        let mut next = Some(asker);
        while let Some(at) = next {
            state.steps_left = state.steps_left.saturating_sub(1);
            // musl inherits DT_RUNPATH as if it were DT_RPATH.
            if self.musl || state.binary(self.loaded[at].place.object).runpath.is_none() {
                let found = self.in_rpath(state, at, at == asker && self.musl, look);
                if found.is_some() {
                    return found;
                }
            }
            saw_program |= at == 0;
            next = self.loaded[at].loader;
        }
        let program = state.binary(self.loaded[0].place.object);
        if saw_program || !self.has_program || self.musl || program.runpath.is_some() {
            return None;
        }
        self.in_rpath(state, 0, false, look)
    }

    fn in_rpath<T>(
        &self,
        state: &mut ResolverState<'_>,
        at: usize,
        own: bool,
        look: &mut dyn FnMut(&mut ResolverState<'_>, Dir, Step) -> Option<T>,
    ) -> Option<T> {
        let OpenedFile { object, folder, .. } = self.loaded[at].place;
        let is_runpath = own && state.binary(object).runpath.is_some();
        let dirs = state.rpath(object, folder);
        dirs.iter().find_map(|dir| {
            let step = if is_runpath { Step::Runpath(dir.text) } else { Step::Rpath(object, dir.text) };
            look(state, *dir, step)
        })
    }
}

/// The file at a path, opened by that path.
pub(super) fn at_path(state: &mut ResolverState<'_>, path: &[u8]) -> Option<OpenedFile> {
    let object = state.object_by_path(state.working_dir, path)?;
    let written = folder_of(path);
    let folder =
        if written.is_empty() { state.working_dir } else { state.folder(state.working_dir, written)? };
    Some(OpenedFile { object, folder, step: Step::Path })
}
