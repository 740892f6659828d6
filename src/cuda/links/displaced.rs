//! Libraries that are loaded only if other Python packages have not loaded their own before: the first
//! library with a name serves the whole process.

use std::collections::{BTreeMap, BTreeSet};

use std::rc::Rc;

use hashbrown::{HashMap, HashSet};

use super::names::{NameId, NumberMap};
use super::process::{Fallback, OpenedFile};
use super::usage::Run;
use super::{ObjectId, file_name};
use crate::cuda::Use;

/// Python object, if known, and packages folder.
type Site = (Option<u32>, NameId);

/// Libraries that the packages of one folder load from it, with the loading import or call.
#[derive(Default)]
struct Before {
    places: NumberMap<NameId, OpenedFile>,
    loaders: BTreeMap<u32, BTreeSet<String>>,
}

/// Displaced objects; libraries that packages load from their folder, with the imports or calls that load
/// them.
pub(super) type Displaced = (Vec<ObjectId>, BTreeMap<ObjectId, Vec<String>>);

impl Run<'_, '_> {
    /// Simulates the processes of extension modules a second time, after all other packages of their folder
    /// were imported and have loaded their libraries. Objects in use that no such process loads are
    /// displaced.
    pub(super) fn displaced(&mut self) -> Displaced {
        let before = self.before();
        if !self.may_displace(&before) {
            return Displaced::default();
        }
        let places: HashMap<Site, Fallback> =
            before.iter().map(|(site, before)| (*site, Rc::new(before.places.clone()))).collect();
        let openers = self.openers();
        let mut applied: HashSet<u32> = HashSet::new();
        let mut stays = vec![false; self.record.owner.len()];
        for at in 0..self.roots.len() {
            let root = self.roots[at].clone();
            let first = root.package.and_then(|(site, _)| places.get(&(root.python, site)));
            let mut process = self.process(&root, false, first);
            if first.is_some() {
                self.record.resolutions(process.resolved.iter());
                self.record.mapped(&process, 0, at, Use::Dlopen);
            }
            let mut caller = 0;
            while let Some(loaded) = process.loaded.get(caller) {
                let object = loaded.place.object;
                if let Some(rules) = openers.get(&object)
                    && applied.insert(object)
                {
                    // A call loads its libraries before any module needs them.
                    let (calls, others): (Vec<_>, Vec<_>) =
                        rules.iter().partition(|rule| rule.call.is_some());
                    for rule in calls.into_iter().chain(others) {
                        self.apply(&mut process, caller, rule, &root, at);
                    }
                }
                caller += 1;
            }
            for loaded in &process.loaded {
                stays[loaded.place.object as usize] = true;
            }
        }
        let is_displaced = |object: &u32| self.record.is_used(*object) && !stays[*object as usize];
        let displaced = self.state.objects().filter(is_displaced).map(ObjectId).collect();
        let mut preloaders: BTreeMap<ObjectId, BTreeSet<String>> = BTreeMap::new();
        for (object, loaders) in before.into_values().flat_map(|before| before.loaders) {
            preloaders.entry(ObjectId(object)).or_default().extend(loaders);
        }
        let listed = preloaders.into_iter().map(|(object, loaders)| (object, loaders.into_iter().collect()));
        (displaced, listed.collect())
    }

    /// Libraries that the packages of each folder load from that folder: NEEDED entries of their modules, and
    /// opened libraries.
    fn before(&mut self) -> BTreeMap<Site, Before> {
        let mut all: BTreeMap<Site, Before> = BTreeMap::new();
        let importing = |name: &str| format!("importing {name}");
        for (site, found) in std::mem::take(&mut self.neighbours) {
            let before = all.entry(site).or_default();
            for (name, place, package) in found {
                before.places.entry(name).or_insert(place);
                let loaders = before.loaders.entry(place.object).or_default();
                loaders.insert(importing(&self.state.names.shown(package)));
            }
        }
        let packages: BTreeSet<(Site, NameId)> = self
            .roots
            .iter()
            .filter_map(|root| root.package.map(|(site, package)| ((root.python, site), package)))
            .collect();
        for (site, package) in packages {
            let rules = self.rules.package_opens(self.state.names.get(package));
            for rule in rules.iter().filter(|rule| !rule.needed_only) {
                let loader = rule.call.clone().unwrap_or_else(|| importing(&self.state.names.shown(package)));
                for (name, place) in self.libraries_of(site.1, rule) {
                    let before = all.entry(site).or_default();
                    before.places.entry(name).or_insert(place);
                    before.loaders.entry(place.object).or_default().insert(loader.clone());
                    // The loader also registers it under its soname.
                    if let Some(soname) = self.state.sonames[place.object as usize] {
                        before.places.entry(soname).or_insert(place);
                    }
                }
            }
        }
        all
    }

    /// Whether a used library outside a packages folder has the same name as a library that packages in that
    /// folder load.
    fn may_displace(&self, before: &BTreeMap<Site, Before>) -> bool {
        let state = &self.state;
        let offered = |name: NameId, object: u32| {
            before.iter().any(|((_, site), before)| {
                let outside = !state.binary(object).path.starts_with(state.names.get(*site));
                outside && before.places.get(&name).is_some_and(|place| place.object != object)
            })
        };
        state.objects().filter(|object| self.record.is_used(*object)).any(|object| {
            let by_file = state.names.known(file_name(&state.binary(object).path));
            let names = [state.sonames[object as usize], by_file];
            names.into_iter().flatten().any(|name| offered(name, object))
        })
    }
}
