//! Those that a question is about: who may need the files at run time.

use std::collections::BTreeSet;

use super::super::common::{self, path_in};
use super::COMPILERS;
use super::evidence::{own_agreement, required_package};
use super::verdict::{VerdictReason, is_read_by_compilers, names, without_readers};
use crate::cuda::links::site_root;
use crate::findings::classification::ClassifiedFile;
use crate::findings::demand::{self, Demand};
use crate::findings::facts::{Dependent, Facts};
use crate::findings::value::{Rule, User};
use crate::rootfs::PathBuffer;

/// Someone who may need files at run time.
#[derive(Clone)]
pub(super) struct Reader {
    /// `None` for programs that were not searched.
    pub(super) user: Option<User>,
    /// Display name: `/app/serve.py`.
    pub(super) who: String,
    /// Predicate of the sentence whose subject is `who`.
    pub(super) why: String,
}

impl Reader {
    pub(super) fn of(demand: &Demand) -> Self {
        Self { user: Some(demand.user.clone()), who: demand.who.clone(), why: demand.why.clone() }
    }

    pub(super) fn of_package(dependent: &Dependent<'_>) -> Self {
        let (who, user) = dependent.user();
        Self { user: Some(user), who, why: dependent.why() }
    }

    fn unsearched(facts: &Facts<'_>) -> Self {
        let who = common::unsearched(facts).unwrap_or_else(|| "A program that was not searched".to_owned());
        Self { user: None, who, why: "may run or open them".to_owned() }
    }

    /// The statement that it may need the files, without a full stop.
    pub(super) fn statement(&self) -> String {
        format!("{} {}", self.who, self.why)
    }
}

/// What decides whether files are needed whose verdict is open, besides what they are.
#[derive(Default)]
pub(super) struct Asked<'f> {
    /// The names under which they are read, and the site-packages folders in which they are.
    names: BTreeSet<(&'f str, Option<Vec<u8>>)>,
    /// Packages of the files on which others depend, as indexes in the inventory.
    required: BTreeSet<usize>,
    /// What programs that were not searched may run or open: a rule, and the name under which files are read.
    unsearched: BTreeSet<(&'static str, &'f str)>,
}

/// All who may need files, and how other questions know each of them.
pub(super) struct Readers {
    pub(super) list: Vec<Reader>,
    pub(super) keys: BTreeSet<(Option<User>, String)>,
}

impl<'f> Asked<'f> {
    /// `None` if something else about the file is in doubt: a no for all readers is not enough to remove it.
    pub(super) fn of(
        facts: &'f Facts<'_>,
        rule: &'static Rule,
        sorted: &ClassifiedFile<'f>,
        paths: &mut PathBuffer,
    ) -> Option<Self> {
        let mut asked = Self::default();
        if sorted.item.node.is_some_and(|node| facts.named.user(facts, node).is_some()) {
            return None;
        }
        for name in facts.classification.names(sorted) {
            let path = path_in(facts, &name.item, paths);
            let read = names(facts, name, &path);
            match without_readers(facts, name, &path, own_agreement(facts, name, &path), &read) {
                VerdictReason::Free => {}
                VerdictReason::Unsearched if is_read_by_compilers(name) => {
                    // Nobody needs them without a compiler. Those of a toolkit are read by either one.
                    asked.unsearched.insert((COMPILERS.id, "compiler"));
                    if facts.catalog.toolkit_root(&path).is_some() {
                        asked.unsearched.insert((COMPILERS.id, "nvcc"));
                    }
                }
                VerdictReason::Unsearched if !read.is_empty() => {
                    asked.unsearched.extend(read.iter().map(|name| (rule.id, *name)));
                }
                _ => return None,
            }
            asked.required.extend(required_package(facts, name));
            let copy = site_root(&path).map(|(site, _)| site.to_vec());
            asked.names.extend(read.into_iter().map(|name| (name, copy.clone())));
        }
        Some(asked)
    }

    pub(super) fn extend(&mut self, other: Self) {
        self.names.extend(other.names);
        self.required.extend(other.required);
        self.unsearched.extend(other.unsearched);
    }

    /// All readers of the files, if they are known; `some` are those that their verdict names.
    pub(super) fn readers(&self, facts: &Facts<'_>, some: &[u32]) -> Option<Readers> {
        let mut places = BTreeSet::new();
        for (name, copy) in &self.names {
            if facts.demands.is_cut(name) {
                return None;
            }
            places.extend(facts.demands.on(name, copy.as_deref()));
        }
        // Files beside a program have its readers, under names of its own.
        if !some.iter().all(|place| places.contains(place)) {
            return None;
        }
        let demands = places.iter().filter_map(|place| facts.demands.get(*place)).map(Reader::of);
        let dependents = facts.dependents(self.required.iter().copied());
        let known = each_once(demands.chain(dependents.iter().map(Reader::of_package)));
        let keys = known.iter().map(|one| (one.user.clone(), one.why.clone()));
        // A no for what compiles says nothing about what runs git.
        let unsearched = self.unsearched.iter().map(|(rule, name)| (None, format!("{rule} as {name}")));
        let keys = keys.chain(unsearched).collect();
        let unsearched = (!self.unsearched.is_empty()).then(|| Reader::unsearched(facts));
        let list: Vec<Reader> = known.into_iter().chain(unsearched).collect();
        (1..demand::MOST).contains(&list.len()).then_some(Readers { list, keys })
    }
}

/// Readers without those that say the same again.
pub(super) fn each_once(readers: impl Iterator<Item = Reader>) -> Vec<Reader> {
    let mut seen = BTreeSet::new();
    readers.filter(|one| seen.insert((one.user.clone(), one.why.clone()))).collect()
}

/// What one reader, or all files of one Python package, say together.
pub(super) struct Group {
    /// `/app/serve.py`, or the name of the package.
    pub(super) who: String,
    /// Predicate of the sentence whose subject is `who`.
    pub(super) why: String,
}

impl Group {
    /// The statement that it may need the files, without a full stop.
    pub(super) fn statement(&self) -> String {
        format!("{} {}", self.who, self.why)
    }
}

/// Readers by who they are, in their order. Files of a Python package are one.
pub(super) fn groups(facts: &Facts<'_>, readers: &[Reader]) -> Vec<Group> {
    const NAMES: &str = "names ";
    let package = |reader: &Reader| match reader.user {
        Some(User::File(node)) => {
            let package = facts.owner(node).and_then(|place| facts.inventory.packages.get(place));
            package.filter(|package| package.manager == "pip").map(|package| package.name.clone())
        }
        _ => None,
    };
    let mut found: Vec<(String, bool, Vec<&Reader>)> = Vec::new();
    for reader in readers {
        let package = package(reader);
        let is_package = package.is_some();
        let who = package.unwrap_or_else(|| reader.who.clone());
        match found.iter_mut().find(|(known, of_package, _)| *known == who && *of_package == is_package) {
            Some((_, _, list)) => list.push(reader),
            None => found.push((who, is_package, vec![reader])),
        }
    }
    let group = |(who, is_package, list): (String, bool, Vec<&Reader>)| {
        let files: BTreeSet<&str> = list.iter().map(|one| one.who.as_str()).collect();
        // What a word means besides, as for nvcc, repeats the word.
        let mut names: Vec<&str> = Vec::new();
        for name in list.iter().filter_map(|one| one.why.strip_prefix(NAMES)) {
            let name = name.split_once("; ").map_or(name, |(name, _)| name);
            let name = name.split_once(", which ").map_or(name, |(name, _)| name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let other = list.iter().map(|one| one.why.as_str()).find(|why| !why.starts_with(NAMES));
        let why = match names.as_slice() {
            [] => other.unwrap_or_default().to_owned(),
            [one] => format!("{NAMES}{one}"),
            [start @ .., last] => format!("{NAMES}{} and {last}", start.join(", ")),
        };
        let why = match other.filter(|_| !names.is_empty()) {
            Some(other) => format!("{why}, and {other}"),
            None => why,
        };
        let (who, why) = match (is_package, files.len()) {
            (true, 2..) => (who, format!("{why} ({} files)", files.len())),
            _ => (list.first().map(|one| one.who.clone()).unwrap_or_default(), why),
        };
        Group { who, why }
    };
    found.into_iter().map(group).collect()
}
