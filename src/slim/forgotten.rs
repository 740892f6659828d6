//! Packages of which no file is left, and the package databases without them.
//!
//! A package is forgotten if the merged view of the result has no file that it owns. Folders do not count, nor links
//! to files that are removed or that only compilers follow, nor what nearly every package has about itself: its
//! copyright notice, which stays in the image, and its changelog.
//!
//! What is not known keeps a package: without a list of its files, in a damaged database, or where a database cannot be
//! edited byte for byte, it stays.
//!
//! A package without files, such as a metapackage, stands for what it depends on. It stays with that, since otherwise
//! `apt-get autoremove` would remove it, and goes with the first forgotten package that it depends on, since otherwise
//! apt would miss that.

mod databases;
mod owned;

use std::collections::{BTreeMap, BTreeSet};

use std::sync::{Arc, OnceLock};

use hashbrown::{HashMap, HashSet};

use self::databases::{Database, Databases};
use self::owned::{Fate, Owned};
use super::bits::Bits;
use super::compare::Inode;
use super::replacement::Replacement;
use crate::analysis::Analysis;
use crate::base::text::{counted, printable};
use crate::cuda::links::Paths;
use crate::formats::packages::Package;
use crate::formats::packages::forget::without_packages;
use crate::layer::content_hash;
use crate::rootfs::{Merge, NodeId, Rootfs};

/// Packages named in a note; the rest is counted.
const NAMED: usize = 5;

/// A package that the databases of the result do not list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForgottenPackage {
    /// Package manager.
    pub manager: &'static str,
    /// Its name.
    pub name: String,
    /// Its version, as the manager writes it.
    pub version: String,
}

/// What forgetting changes.
#[derive(Default)]
pub(super) struct Forgotten {
    pub(super) packages: Vec<ForgottenPackage>,
    /// Files of the databases that go with them.
    pub(super) files: Vec<NodeId>,
    /// The databases that stay, by layer and entry.
    pub(super) contents: Vec<(Inode, Arc<Replacement>)>,
    pub(super) notes: Vec<String>,
}

impl Forgotten {
    /// The same, or, where the databases are not to change, a note on the packages alone.
    pub(super) fn if_asked(self, is_asked: bool) -> Self {
        if is_asked {
            self
        } else {
            Self { notes: self.still_listed().into_iter().collect(), ..Self::default() }
        }
    }

    /// A note on the packages that a database still lists.
    fn still_listed(&self) -> Option<String> {
        let names: Vec<String> = self.packages.iter().map(|package| package.name.clone()).collect();
        let count = counted(names.len(), "package");
        (!names.is_empty()).then(|| {
            format!(
                "the package database still lists {count} without files ({}): a package manager in images built from \
                 this one takes them for installed; `--forget-packages` takes them out",
                listed(&names)
            )
        })
    }

    /// Removes the files from the merged view and from the layers, where their entries are.
    pub(super) fn remove(&self, rootfs: &Rootfs, gone: &mut [Bits], nodes: &mut Bits) -> Vec<Inode> {
        let mut entries = Vec::new();
        for node in self.files.iter().map(|node| rootfs.node(*node)) {
            let Some(entry) = node.entry() else { continue };
            gone[usize::from(node.layer())].set(entry.0, true);
            nodes.set(node.id().0, true);
            entries.push((node.layer(), entry));
        }
        entries
    }
}

/// What of the image stays.
pub(super) struct Rest<'a> {
    /// Nodes of the merged view that are removed.
    pub(super) gone: &'a Bits,
    /// Whether an entry is in a layer that is left alone.
    pub(super) is_base: &'a dyn Fn(Inode) -> bool,
    /// Whether removing an entry would need a layer that is left alone to change.
    pub(super) is_over_base: &'a dyn Fn(Inode) -> bool,
}

/// Decides what is forgotten.
pub(super) fn forget(analysis: &Analysis, merge: &Merge, rest: &Rest<'_>) -> Forgotten {
    let paths = Paths::new(&merge.rootfs);
    let databases = Databases::read(analysis, &paths, rest.gone);
    let mut forgotten = Forgotten { notes: databases.notes.clone(), ..Forgotten::default() };
    for manager in databases::MANAGERS {
        Forgetting::new(&databases, manager, &paths, rest).run(&mut forgotten);
    }
    forgotten.packages.sort();
    forgotten.files.sort_by_cached_key(|node| merge.rootfs.node(*node).path());
    forgotten
}

/// A package, by its database and its place there.
type Place = (usize, usize);

/// The databases of one package manager.
struct Forgetting<'a> {
    manager: &'static str,
    databases: Vec<&'a Database<'a>>,
    paths: &'a Paths<'a>,
    rest: &'a Rest<'a>,
    owned: Owned<'a>,
    /// Notes: a reason, and the packages that stay for it.
    stay: BTreeMap<String, Vec<String>>,
}

impl<'a> Forgetting<'a> {
    fn new(all: &'a Databases<'a>, manager: &'static str, paths: &'a Paths<'a>, rest: &'a Rest<'a>) -> Self {
        let databases = all.list.iter().filter(|database| database.manager == manager).collect();
        let owned = Owned { paths, gone: rest.gone, diversions: &all.diversions };
        Self { manager, databases, paths, rest, owned, stay: BTreeMap::new() }
    }

    fn run(mut self, forgotten: &mut Forgotten) {
        let chosen = self.choose();
        for (number, database) in self.databases.iter().enumerate() {
            let places: BTreeSet<usize> =
                chosen.range((number, 0)..(number + 1, 0)).map(|(_, place)| *place).collect();
            if places.is_empty() {
                continue;
            }
            for place in &places {
                let package = &database.read.packages[*place];
                forgotten.packages.push(ForgottenPackage {
                    manager: self.manager,
                    name: printable(&package.name),
                    version: printable(&package.version),
                });
                forgotten.files.extend(self.papers(database, *place));
            }
            if database.is_of_one_package() {
                forgotten.files.push(database.node);
            } else if let Some(content) = edited(database, &places) {
                forgotten.contents.push((database.inode, Arc::new(content)));
            }
        }
        forgotten.notes.extend(self.stay.iter().map(|(reason, names)| {
            format!("{}: {reason}; packages without files that stay: {}", self.manager, listed(names))
        }));
        forgotten.notes.extend(self.dependents(&chosen));
    }

    /// The packages that go.
    fn choose(&mut self) -> BTreeSet<Place> {
        let mut chosen = BTreeSet::new();
        let (mut empty, mut absent) = (Vec::new(), Vec::new());
        let mut unlisted = Vec::new();
        let databases = self.databases.clone();
        for (number, database) in databases.iter().enumerate() {
            for (place, package) in database.read.packages.iter().enumerate().filter(|(_, one)| one.installed)
            {
                match database.with_files(place, |files| self.owned.fate(package, files)) {
                    None => unlisted.push(named(package)),
                    Some(Fate::Stays) => {}
                    Some(Fate::Empty) => empty.push((number, place)),
                    Some(fate @ (Fate::Absent | Fate::Gone)) => match self.obstacle(database, place) {
                        Some(reason) => self.stay.entry(reason).or_default().push(named(package)),
                        None if fate == Fate::Absent => absent.push((number, place)),
                        None => drop(chosen.insert((number, place))),
                    },
                }
            }
        }
        if !unlisted.is_empty() && !chosen.is_empty() {
            let reason = "no list of their files is known".to_owned();
            self.stay.entry(reason).or_default().extend(unlisted);
        }
        self.add_absent(&mut chosen, &absent);
        self.follow(&mut chosen, &empty);
        chosen
    }

    /// Adds the packages whose files were missing before, unless a package that stays depends on them: without the one,
    /// the package manager would refuse to install anything.
    fn add_absent(&self, chosen: &mut BTreeSet<Place>, absent: &[Place]) {
        let mut goes: HashSet<Place> = absent.iter().copied().collect();
        let mut by_name: HashMap<&str, Vec<Place>> = HashMap::new();
        for place in &goes {
            for name in offers(self.package(*place)) {
                by_name.entry(name).or_default().push(*place);
            }
        }
        let stays = |place: &Place| !chosen.contains(place) && !goes.contains(place);
        let mut open: Vec<Place> = self.installed().map(|(place, _)| place).filter(stays).collect();
        while let Some(place) = open.pop() {
            for need in &self.package(place).depends {
                // Each list is followed once.
                let needed = by_name.remove(need.as_str()).unwrap_or_default();
                open.extend(needed.into_iter().filter(|place| goes.remove(place)));
            }
        }
        chosen.extend(goes);
    }

    /// All installed packages.
    fn installed(&self) -> impl Iterator<Item = (Place, &'a Package)> + '_ {
        self.databases.iter().enumerate().flat_map(|(number, database)| {
            let packages = database.read.packages.iter().enumerate().filter(|(_, one)| one.installed);
            packages.map(move |(place, package)| ((number, place), package))
        })
    }

    /// Adds the packages that only stand for others, if one of those goes.
    fn follow(&self, chosen: &mut BTreeSet<Place>, empty: &[Place]) {
        let mut by_need: HashMap<&str, Vec<Place>> = HashMap::new();
        for place in empty.iter().filter(|place| self.obstacle(self.databases[place.0], place.1).is_none()) {
            for need in &self.package(*place).depends {
                by_need.entry(need).or_default().push(*place);
            }
        }
        let mut left: HashMap<&str, usize> = HashMap::new();
        for name in self.installed().flat_map(|(_, package)| offers(package)) {
            *left.entry(name).or_default() += 1;
        }
        let mut open: Vec<Place> = chosen.iter().copied().collect();
        while let Some(gone) = open.pop() {
            for name in offers(self.package(gone)) {
                if let Some(left) = left.get_mut(name) {
                    *left = left.saturating_sub(1);
                    if *left > 0 {
                        continue;
                    }
                }
                // Each list is followed once.
                for place in by_need.remove(name).unwrap_or_default() {
                    if chosen.insert(place) {
                        open.push(place);
                    }
                }
            }
        }
    }

    fn package(&self, (database, place): Place) -> &'a Package {
        &self.databases[database].read.packages[place]
    }

    /// Why a package stays although its files are gone.
    fn obstacle(&self, database: &Database<'_>, place: usize) -> Option<String> {
        if let Some(reason) = &database.fault {
            return Some(reason.clone());
        }
        let shown = || database.path();
        let rootfs = self.paths.rootfs();
        if (self.rest.is_base)(database.inode) {
            return Some(format!("{} is in a layer of the base image, which is kept", shown()));
        }
        let own = database.is_of_one_package().then_some(database.node);
        for node in self.papers(database, place).chain(own).map(|id| rootfs.node(id)) {
            if node.has_other_names() {
                return Some(format!("a file of the package in {} has a further name", shown()));
            }
            let entry = node.entry().map(|entry| (node.layer(), entry));
            if entry.is_none_or(|entry| (self.rest.is_over_base)(entry)) {
                return Some(format!(
                    "a file of the package beside {} is in a layer of the base image, which is kept",
                    shown()
                ));
            }
        }
        None
    }

    /// Files of the database that belong to one package, and are still there.
    fn papers<'d>(&'d self, database: &'d Database<'_>, place: usize) -> impl Iterator<Item = NodeId> + 'd {
        database.papers(place).iter().copied().filter(|node| !self.rest.gone.has(node.0))
    }

    /// A note on packages that stay and depend on those that go.
    fn dependents(&self, chosen: &BTreeSet<Place>) -> Option<String> {
        let (go, stay): (Vec<_>, Vec<_>) = self.installed().partition(|(place, _)| chosen.contains(place));
        let there: HashSet<&str> = stay.iter().flat_map(|(_, package)| offers(package)).collect();
        let lost: HashSet<&str> = go.iter().flat_map(|(_, package)| offers(package)).collect();
        let broken = stay.iter().filter_map(|(_, package)| {
            let mut needs = package.depends.iter().map(String::as_str);
            let need = needs.find(|need| lost.contains(need) && !there.contains(need))?;
            Some(format!("{} needs {}", named(package), printable(need)))
        });
        let broken: Vec<String> = broken.collect();
        (!broken.is_empty()).then(|| {
            let verb = if broken.len() == 1 { "depends" } else { "depend" };
            let count = counted(broken.len(), "remaining package");
            let what = format!("{}: {count} {verb} on forgotten ones ({})", self.manager, listed(&broken));
            // apt refuses; apk and rpm's tools bring the dependency back.
            match self.manager {
                "dpkg" => format!(
                    "{what}; in images built from this one, apt installs nothing before `apt-get --fix-broken \
                     install`, which brings those back"
                ),
                _ => format!("{what}; the package manager may install them again"),
            }
        })
    }
}

/// The names that a dependency may have for a package.
fn offers(package: &Package) -> impl Iterator<Item = &str> {
    std::iter::once(package.name.as_str()).chain(package.provides.iter().map(String::as_str))
}

fn named(package: &Package) -> String {
    printable(&package.name)
}

fn listed(names: &[String]) -> String {
    let first = names[..names.len().min(NAMED)].join(", ");
    match names.len().checked_sub(NAMED).filter(|more| *more > 0) {
        Some(more) => format!("{first} and {more} more"),
        None => first,
    }
}

/// The database without the packages at `places`.
fn edited(database: &Database<'_>, places: &BTreeSet<usize>) -> Option<Replacement> {
    let mut next = 0..;
    let mut goes = |_: &Package| next.next().is_some_and(|place| places.contains(&place));
    let pieces = without_packages(&database.bytes, &database.read, &mut goes).ok()?;
    Some(Replacement {
        removed_bytes: (database.bytes.len() as u64).saturating_sub(pieces.len()),
        pieces,
        old: content_hash(&blake3::hash(&database.bytes)),
        digests: OnceLock::new(),
        proof: None,
        removed_compressed_bytes: None,
    })
}
