//! Libraries of the toolkit or the system that Python packages load, unless the process has loaded their own copy before.

use std::collections::{BTreeMap, BTreeSet};

use super::stands_in;
use crate::base::text::escape;
use crate::cuda::links::{Links, ObjectId, Resolution, site_root};
use crate::cuda::scene::Scene;
use crate::cuda::value::{Displaced, Library, Role, Supplier, Use};

/// A library that may be displaced: for each packages folder with a copy that something there loads, that copy and
/// what loads it.
type Copies = BTreeMap<Vec<u8>, (usize, BTreeSet<String>)>;

/// The displaced libraries, by place; `groups` are the places of libraries of one name.
pub(super) fn find<'g>(
    scene: &Scene<'_>,
    libraries: &[Library],
    links: &Links,
    groups: impl Iterator<Item = &'g Vec<usize>>,
) -> Vec<Displaced> {
    let world = World { scene, links };
    let mut candidates: BTreeMap<usize, Copies> = BTreeMap::new();
    for members in groups {
        let copies: Vec<(usize, Vec<u8>, BTreeSet<String>)> = members
            .iter()
            .filter(|place| libraries[**place].supplier == Supplier::Wheel)
            .filter_map(|place| {
                let library = &libraries[*place];
                let site = world.site(library.object)?;
                let loaders = world.loaders(library.object, &site);
                (world.is_used(library.object) && !loaders.is_empty()).then_some((*place, site, loaders))
            })
            .collect();
        for place in members.iter().filter(|place| world.may_go(&libraries[**place])) {
            let mut by_site = Copies::new();
            for (copy, site, loaders) in &copies {
                if stands_in(&libraries[*place], &libraries[*copy]) {
                    by_site.entry(site.clone()).or_insert_with(|| (*copy, loaders.clone()));
                }
            }
            if !by_site.is_empty() {
                candidates.insert(*place, by_site);
            }
        }
    }
    if candidates.is_empty() {
        return Vec::new();
    }
    // What only displaced libraries load is not loaded either.
    for (place, _) in libraries.iter().enumerate().filter(|(_, library)| world.may_go(library)) {
        candidates.entry(place).or_default();
    }
    loop {
        let objects: BTreeSet<ObjectId> = candidates.keys().map(|place| libraries[*place].object).collect();
        let before = candidates.len();
        candidates.retain(|place, copies| {
            let mut users = world.users(libraries[*place].object).peekable();
            users.peek().is_some()
                && users.all(|user| {
                    objects.contains(&user) || world.site(user).is_some_and(|site| copies.contains_key(&site))
                })
        });
        if candidates.len() == before {
            break;
        }
    }
    let displaced = candidates.into_iter().map(|(library, copies)| Displaced {
        library,
        by: copies.values().next().map(|(copy, _)| *copy),
        loaders: copies
            .into_values()
            .flat_map(|(_, loaders)| loaders)
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
    });
    displaced.collect()
}

struct World<'a> {
    scene: &'a Scene<'a>,
    links: &'a Links,
}

impl World<'_> {
    fn is_used(&self, object: ObjectId) -> bool {
        self.links.object(object).usage != Use::Unreferenced
    }

    /// Whether a library lies outside the Python packages, and something loads it.
    fn may_go(&self, library: &Library) -> bool {
        let outside = matches!(library.supplier, Supplier::Toolkit | Supplier::Distro);
        let plain = library.role == Role::Runtime && library.hard_link_of.is_none();
        outside && plain && self.links.object(library.object).root.is_none() && self.is_used(library.object)
    }

    /// The packages folder of an object.
    fn site(&self, object: ObjectId) -> Option<Vec<u8>> {
        let path = self.scene.path(self.links.object(object).node);
        site_root(&path).map(|(site, _)| site.to_vec())
    }

    /// What runs and loads an object.
    fn users(&self, object: ObjectId) -> impl Iterator<Item = ObjectId> {
        let object = self.links.object(object);
        object.needed_by.iter().chain(&object.opened_by).copied().filter(|user| self.is_used(*user))
    }

    /// Calls and imports by which packages of a folder load an object.
    fn loaders(&self, object: ObjectId, site: &[u8]) -> BTreeSet<String> {
        let mut loaders = BTreeSet::new();
        let mut known = BTreeSet::from([object]);
        let mut open = vec![object];
        while let Some(at) = open.pop() {
            for user in self.users(at).filter(|user| self.site(*user).as_deref() == Some(site)) {
                let calls = self.calls(user, at);
                if !calls.is_empty() {
                    loaders.extend(calls);
                } else if self.links.object(user).root.is_some() {
                    loaders.extend(self.import(user));
                } else if known.insert(user) {
                    open.push(user);
                }
            }
        }
        loaders
    }

    /// The calls by which alone an object opens another one.
    fn calls(&self, user: ObjectId, opened: ObjectId) -> BTreeSet<String> {
        let user = self.links.object(user);
        let leads =
            |found: &Resolution| matches!(found, Resolution::Found { object, .. } if *object == opened);
        if user.needs.iter().any(|need| need.found.iter().any(leads)) {
            return BTreeSet::new();
        }
        let opens = user.opens.iter().filter(|open| leads(&open.found));
        opens.map(|open| open.call.clone()).collect::<Option<_>>().unwrap_or_default()
    }

    /// The import that loads an extension module.
    fn import(&self, module: ObjectId) -> Option<String> {
        let path = self.scene.path(self.links.object(module).node);
        let (_, below) = site_root(&path)?;
        let first = below.split(|byte| matches!(byte, b'/' | b'.')).next()?;
        (first != b"nvidia").then(|| format!("importing {}", escape(first)))
    }
}
