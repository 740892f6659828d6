//! The folders that a name is searched in, in the loader's order (`_dl_map_new_object` of glibc,
//! `load_library` of musl).

use super::names::NameId;
use super::paths::folder_of;
use super::process::{Place, Process};
use super::world::{Dir, Step, World};

impl Process {
    /// Where the loader finds a name that the object at a place of the process asks for.
    pub(super) fn search(&self, world: &mut World<'_>, asker: usize, name: NameId) -> Option<Place> {
        if world.names.get(name).contains(&b'/') {
            let Place { object, folder, .. } = self.loaded[asker].place;
            let path = world.names.get(name).to_vec();
            let path = world.expanded(&path, object, folder);
            return at_path(world, &path).filter(|place| self.takes(world, place.object));
        }
        let found = self.walk(world, asker, &mut |world, dir, step| {
            // ldconfig has made its links by the time that a process runs.
            let made = self.system.made.get(&(dir.node, name)).copied();
            let object = made.or_else(|| world.object_in(dir.node, name))?;
            if self.takes(world, object) {
                return Some(Some(Place { object, folder: dir.node, step }));
            }
            // musl takes the first file that it can open, and fails when it does not fit.
            self.musl.then_some(None)
        });
        if let Some(found) = found {
            return found;
        }
        let no_default = world.binary(self.loaded[asker].place.object).no_default_lib && !self.musl;
        if let Some(cached) = self.system.cache.get(&name)
            && !(cached.trusted && no_default)
        {
            let text = cached.dir.text;
            let step = if cached.trusted { Step::Default(text) } else { Step::Cache(text) };
            return Some(Place { object: cached.object, folder: cached.dir.node, step });
        }
        if no_default {
            return None;
        }
        self.system.default.iter().find_map(|dir| {
            let object = world.object_in(dir.node, name)?;
            let step = Step::Default(dir.text);
            self.takes(world, object).then_some(Place { object, folder: dir.node, step })
        })
    }

    /// Goes through the folders that come before the system's, until `look` answers.
    pub(super) fn walk<T>(
        &self,
        world: &mut World<'_>,
        asker: usize,
        look: &mut dyn FnMut(&mut World<'_>, Dir, Step) -> Option<T>,
    ) -> Option<T> {
        let asking = world.binary(self.loaded[asker].place.object);
        if self.musl {
            self.in_library_path(world, look).or_else(|| self.in_rpaths(world, asker, look))
        } else if asking.runpath.is_none() {
            self.in_rpaths(world, asker, look).or_else(|| self.in_library_path(world, look))
        } else {
            self.in_library_path(world, look).or_else(|| self.in_rpath(world, asker, true, look))
        }
    }

    fn in_library_path<T>(
        &self,
        world: &mut World<'_>,
        look: &mut dyn FnMut(&mut World<'_>, Dir, Step) -> Option<T>,
    ) -> Option<T> {
        self.library_path.iter().find_map(|dir| look(world, *dir, Step::LibraryPath(dir.text)))
    }

    /// `DT_RPATH` of an object, of what loaded it, and so on, then of the program.
    fn in_rpaths<T>(
        &self,
        world: &mut World<'_>,
        asker: usize,
        look: &mut dyn FnMut(&mut World<'_>, Dir, Step) -> Option<T>,
    ) -> Option<T> {
        let mut saw_program = false;
        let mut next = Some(asker);
        while let Some(at) = next {
            world.steps_left = world.steps_left.saturating_sub(1);
            // musl inherits DT_RUNPATH as if it were DT_RPATH.
            if self.musl || world.binary(self.loaded[at].place.object).runpath.is_none() {
                let found = self.in_rpath(world, at, at == asker && self.musl, look);
                if found.is_some() {
                    return found;
                }
            }
            saw_program |= at == 0;
            next = self.loaded[at].loader;
        }
        let program = world.binary(self.loaded[0].place.object);
        if saw_program || !self.has_program || self.musl || program.runpath.is_some() {
            return None;
        }
        self.in_rpath(world, 0, false, look)
    }

    fn in_rpath<T>(
        &self,
        world: &mut World<'_>,
        at: usize,
        own: bool,
        look: &mut dyn FnMut(&mut World<'_>, Dir, Step) -> Option<T>,
    ) -> Option<T> {
        let Place { object, folder, .. } = self.loaded[at].place;
        let is_runpath = own && world.binary(object).runpath.is_some();
        let dirs = world.rpath(object, folder);
        dirs.iter().find_map(|dir| {
            let step = if is_runpath { Step::Runpath(dir.text) } else { Step::Rpath(object, dir.text) };
            look(world, *dir, step)
        })
    }
}

/// The file that a path leads to, opened by that path.
pub(super) fn at_path(world: &mut World<'_>, path: &[u8]) -> Option<Place> {
    let object = world.object_by_path(world.working_dir, path)?;
    let written = folder_of(path);
    let folder =
        if written.is_empty() { world.working_dir } else { world.folder(world.working_dir, written)? };
    Some(Place { object, folder, step: Step::Path })
}
