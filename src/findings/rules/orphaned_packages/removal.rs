//! What is known about each package that is removed or no longer needed.

use std::collections::BTreeMap;

use hashbrown::HashSet;

use super::files::{self, Kind};
use super::graph::Graph;
use super::{Claims, opened, uses};
use crate::cuda::Package;
use crate::findings::facts::Facts;
use crate::rootfs::NodeId;

/// Reasons for a question, as bits.
pub(super) mod doubt {
    pub(in super::super) const MODULES: u8 = 1;
    pub(in super::super) const PROGRAMS: u8 = 2;
    pub(in super::super) const DATA: u8 = 4;
    pub(in super::super) const SUGGESTED: u8 = 8;
    pub(in super::super) const UNSEARCHED: u8 = 16;
    pub(in super::super) const OPENED: u8 = 32;
}

/// Packages that other findings remove, and those that no package needs without them.
pub(super) struct Removal<'f, 'a> {
    pub(super) facts: &'f Facts<'a>,
    pub(super) graph: Graph<'a>,
    pub(super) claims: Claims,
    pub(super) files: Vec<Vec<NodeId>>,
    pub(super) removed: Vec<bool>,
    pub(super) unneeded: Vec<bool>,
    pub(super) search_path: Vec<Vec<u8>>,
}

impl Removal<'_, '_> {
    pub(super) fn package(&self, place: usize) -> Option<&Package> {
        self.facts.inventory.packages.get(place)
    }

    pub(super) fn name(&self, place: usize) -> &str {
        self.package(place).map_or("", |package| package.name.as_str())
    }

    pub(super) fn is_unneeded(&self, place: usize) -> bool {
        self.unneeded.get(place) == Some(&true)
    }

    fn unneeded(&self) -> impl Iterator<Item = usize> {
        (0..self.unneeded.len()).filter(|place| self.is_unneeded(*place))
    }

    pub(super) fn nodes(&self, place: usize) -> &[NodeId] {
        self.files.get(place).map(Vec::as_slice).unwrap_or_default()
    }

    /// The first [`Kind`] among a package's files, without those that other findings remove.
    pub(super) fn kind(&self, place: usize) -> Kind {
        let is_left = |node: &&NodeId| {
            let inode = self.facts.node(**node).content();
            inode.is_none_or(|inode| !self.claims.gone.contains(&inode))
        };
        let kinds = self.nodes(place).iter().filter(is_left);
        let kinds = kinds.map(|node| files::kind(&self.facts.path(*node), &self.search_path));
        kinds.min().unwrap_or(Kind::Nothing)
    }

    /// By package: its reasons for a question, as bits of [`doubt`]; 0 when certain. Dependencies of a questionable
    /// package are questionable too.
    pub(super) fn doubts(&self, unsearched: bool, uses: &[uses::Use]) -> BTreeMap<usize, u8> {
        let kinds: BTreeMap<usize, Kind> = self.unneeded().map(|place| (place, self.kind(place))).collect();
        let whole = self.whole_sources(&kinds);
        let opened = opened::by_bare_names(self);
        let mut doubts: BTreeMap<usize, u8> = BTreeMap::new();
        for (place, kind) in &kinds {
            let why = match kind {
                Kind::Modules => doubt::MODULES,
                Kind::Programs if self.is_interpreter(*place, &kinds) => doubt::MODULES,
                Kind::Programs => doubt::PROGRAMS,
                Kind::Libraries if opened.contains(place) => doubt::OPENED,
                Kind::Libraries if unsearched => doubt::UNSEARCHED,
                Kind::Data if !self.source(*place).is_some_and(|source| whole.contains(&source)) => {
                    doubt::DATA
                }
                _ => 0,
            };
            doubts.insert(*place, why);
        }
        let stays = |place: &usize| !self.is_unneeded(*place) && self.removed.get(*place) == Some(&false);
        for place in (0..self.removed.len()).filter(stays) {
            for suggested in self.graph.suggests(place) {
                // One question is enough.
                if let Some(why) = doubts.get_mut(suggested).filter(|why| **why == 0) {
                    *why = doubt::SUGGESTED;
                }
            }
        }
        let mut loads: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (user, used) in uses {
            loads.entry(user.unwrap_or(usize::MAX)).or_default().push(*used);
        }
        let mut open: Vec<usize> = doubts.keys().copied().collect();
        while let Some(from) = open.pop() {
            let Some(why) = doubts.get(&from).copied() else { continue };
            for to in self.graph.keeps(from).iter().chain(loads.get(&from).into_iter().flatten()) {
                if let Some(known) = doubts.get_mut(to).filter(|known| **known | why != **known) {
                    *known |= why;
                    open.push(*to);
                }
            }
        }
        doubts
    }

    /// Whether a package with programs needs modules of the same source package: `perl` and `perl-modules` are removed
    /// together.
    fn is_interpreter(&self, place: usize, kinds: &BTreeMap<usize, Kind>) -> bool {
        let source = self.source(place);
        let is_own = |next: &usize| kinds.get(next) == Some(&Kind::Modules) && self.source(*next) == source;
        self.graph.keeps(place).iter().any(is_own)
    }

    /// The source package of a package.
    fn source(&self, place: usize) -> Option<(&str, &str)> {
        let package = self.package(place)?;
        Some((package.manager, package.source.as_deref().unwrap_or(&package.name)))
    }

    /// By source package: whether its programs or libraries are removed and none of it stays. Its data packages belong
    /// to them.
    fn whole_sources(&self, kinds: &BTreeMap<usize, Kind>) -> HashSet<(&str, &str)> {
        let of_data = kinds.iter().filter(|(_, kind)| **kind == Kind::Data);
        let asked: HashSet<(&str, &str)> = of_data.filter_map(|(place, _)| self.source(*place)).collect();
        let (mut goes, mut stays) = (HashSet::new(), HashSet::new());
        for place in 0..self.removed.len() {
            let Some(source) = self.source(place).filter(|source| asked.contains(source)) else { continue };
            match kinds.get(&place) {
                Some(kind) if *kind < Kind::Data => goes.insert(source),
                Some(_) => false,
                None if self.removed.get(place) == Some(&true) => goes.insert(source),
                None => self.kind(place) < Kind::Nothing && stays.insert(source),
            };
        }
        goes.retain(|source| !stays.contains(source));
        goes
    }
}
