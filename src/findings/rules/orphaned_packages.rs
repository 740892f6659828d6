//! Packages that only removed packages need.

mod files;
mod graph;
mod opened;
mod uses;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use super::common;
use crate::base::size::human;
use crate::cuda::{Inode, Package};
use crate::findings::classification::item;
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::value::{Category, Item, Rule, Severity, Verdict};
use crate::rootfs::{NodeId, NodeKind};
use files::Kind;
use graph::{Graph, is_system};
use uses::Finder;

pub(super) static RULE: Rule = Rule {
    id: "orphaned-packages",
    title: "Packages only needed by removed packages",
    category: Category::BuildTools,
    severity: Severity::Medium,
    fix: "Purge build tools and their dependencies in the RUN that installs them, or install them in a build stage.",
    page: include_str!("../../../assets/manual/rules/orphaned-packages.md"),
};

/// Maximum dependency chains in a proof.
const CHAINS: usize = 150;
/// Maximum rounds in which users are followed to what they need; real images take two or three.
const ROUNDS: usize = 100;
/// Maximum names in a list.
const NAMED: usize = 12;

/// Reasons for a question, as bits.
mod doubt {
    pub(super) const MODULES: u8 = 1;
    pub(super) const PROGRAMS: u8 = 2;
    pub(super) const DATA: u8 = 4;
    pub(super) const SUGGESTED: u8 = 8;
    pub(super) const UNSEARCHED: u8 = 16;
    pub(super) const OPENED: u8 = 32;
}

/// Finds the packages. `drafts` are the drafts of all other rules.
pub(super) fn find(facts: &Facts<'_>, drafts: &[Draft]) -> Vec<Draft> {
    let packages = &facts.inventory.packages;
    let is_devel = |place: usize| facts.devel_rule(place).is_some_and(|rule| rule.category.is_some());
    if !packages.iter().any(|package| package.automatic.is_some()) || !(0..packages.len()).any(is_devel) {
        return Vec::new();
    }
    let claims = Claims::of(drafts);
    let files = files_by_package(facts);
    let owner = |path: &str| facts.owner(facts.paths.lookup(path.as_bytes())?);
    let Some(graph) = Graph::new(packages, &owner) else { return Vec::new() };
    let removed = removed(facts, &claims, &files);
    if !removed.contains(&true) {
        return Vec::new();
    }
    let base = facts.base_layers();
    let may_go = |package: &Package| {
        package.automatic.is_some() && !package.essential && usize::from(package.layer) >= base
    };
    let is_wanted = |place: usize| {
        !removed.get(place).copied().unwrap_or_default() && packages.get(place).is_some_and(may_go)
    };
    let search_path = uses::search_path(facts);
    let finder =
        Finder { facts, is_wanted: &is_wanted, gone: &claims.gone, files: &files, search_path: &search_path };
    let found = finder.find();
    let mut used: Vec<bool> = files.iter().map(|nodes| claims.is_disputed(facts, nodes)).collect();
    let mut rounds = 0;
    let unneeded = loop {
        let is_used = |place: usize| used.get(place).copied().unwrap_or_default();
        let unneeded = graph.unneeded(&removed, |place| is_used(place) || !is_wanted(place));
        let inside = |place: usize| removed.get(place) == Some(&true) || unneeded.get(place) == Some(&true);
        let outside = found.list.iter().filter(|(user, _)| user.is_none_or(|user| !inside(user)));
        let news: Vec<usize> =
            outside.map(|(_, used)| *used).filter(|place| unneeded.get(*place) == Some(&true)).collect();
        if news.is_empty() {
            break unneeded;
        }
        rounds += 1;
        if rounds > ROUNDS {
            return Vec::new();
        }
        for place in news {
            if let Some(used) = used.get_mut(place) {
                *used = true;
            }
        }
    };
    let unsearched = found.unsearched.is_some()
        || !found.all_links
        || facts.named.cut
        || facts.inventory.searched.programs_left_out > 0;
    let scene = Scene { facts, graph, claims, files, removed, unneeded, search_path };
    let doubts = scene.doubts(unsearched, &found.list);
    scene.drafts(&doubts, found.unsearched, drafts)
}

/// Files of other drafts.
struct Claims {
    /// By file: the draft that removes it.
    safe: HashMap<Inode, usize>,
    /// The same files as a set.
    gone: HashSet<Inode>,
    /// Files that other findings mark as needed or unsure.
    disputed: HashSet<Inode>,
}

impl Claims {
    fn of(drafts: &[Draft]) -> Self {
        let (mut safe, mut disputed) = (HashMap::new(), HashSet::new());
        for (place, draft) in drafts.iter().enumerate().filter(|(_, draft)| draft.category.has_bytes()) {
            for inode in draft.items.iter().map(|item| (item.layer, item.entry)) {
                if draft.verdict == Verdict::Safe {
                    safe.insert(inode, place);
                } else {
                    disputed.insert(inode);
                }
            }
        }
        Self { gone: safe.keys().copied().collect(), safe, disputed }
    }

    /// Whether another finding keeps one of these files.
    fn is_disputed(&self, facts: &Facts<'_>, nodes: &[NodeId]) -> bool {
        let inode = |node: &NodeId| facts.node(*node).content();
        nodes.iter().filter_map(inode).any(|inode| self.disputed.contains(&inode))
    }
}

/// By package of the system: its files and links.
fn files_by_package(facts: &Facts<'_>) -> Vec<Vec<NodeId>> {
    let packages = &facts.inventory.packages;
    let mut files = vec![Vec::new(); packages.len()];
    for node in facts.rootfs.nodes().filter(|node| node.kind() != NodeKind::Directory) {
        if let Some(owner) = facts.owner(node.id())
            && packages.get(owner).is_some_and(is_system)
            && let Some(files) = files.get_mut(owner)
        {
            files.push(node.id());
        }
    }
    files
}

/// By package: whether it is a development package whose content, except documents, is removed with other findings. One
/// with only documents and links is removed with all packages that it depends on.
fn removed(facts: &Facts<'_>, claims: &Claims, files: &[Vec<NodeId>]) -> Vec<bool> {
    let packages = &facts.inventory.packages;
    // Without its file list, unknown files of a package may stay.
    let is_listed = |package: &Package| is_system(package) && package.files.is_some();
    let is_devel = |place: usize| {
        packages.get(place).is_some_and(is_listed)
            && facts.devel_rule(place).is_some_and(|rule| rule.category.is_some())
    };
    let mut removed = vec![false; packages.len()];
    let mut empty = Vec::new();
    for (place, nodes) in files.iter().enumerate().filter(|(place, _)| is_devel(*place)) {
        let inodes = nodes
            .iter()
            .filter(|node| !files::is_idle(&facts.path(**node)))
            .filter_map(|node| facts.node(*node).content());
        let (mut left, mut goes) = (false, false);
        for inode in inodes {
            let known = claims.safe.contains_key(&inode);
            (left, goes) = (left || !known, goes || known);
        }
        if let Some(removed) = removed.get_mut(place) {
            *removed = !left;
        }
        empty.extend((!left && !goes).then_some(place));
    }
    for _ in 0..ROUNDS {
        // Recommended packages do not count: `python3-dev` is removed without `libc6-dev`.
        let is_stay = |place: &usize| is_devel(*place) && removed.get(*place) == Some(&false);
        let stays: HashSet<&str> = (0..packages.len())
            .filter(is_stay)
            .filter_map(|place| packages.get(place))
            .map(|package| package.name.as_str())
            .collect();
        let needs = |place: usize| packages.get(place).map(|package| &package.depends).into_iter().flatten();
        let lost: Vec<usize> = empty
            .iter()
            .copied()
            .filter(|place| removed.get(*place) == Some(&true))
            .filter(|place| needs(*place).any(|name| stays.contains(name.as_str())))
            .collect();
        if lost.is_empty() {
            return removed;
        }
        for place in lost {
            if let Some(removed) = removed.get_mut(place) {
                *removed = false;
            }
        }
    }
    vec![false; packages.len()]
}

struct Scene<'f, 'a> {
    facts: &'f Facts<'a>,
    graph: Graph<'a>,
    claims: Claims,
    files: Vec<Vec<NodeId>>,
    removed: Vec<bool>,
    unneeded: Vec<bool>,
    search_path: Vec<Vec<u8>>,
}

impl Scene<'_, '_> {
    fn package(&self, place: usize) -> Option<&Package> {
        self.facts.inventory.packages.get(place)
    }

    fn name(&self, place: usize) -> &str {
        self.package(place).map_or("", |package| package.name.as_str())
    }

    fn is_unneeded(&self, place: usize) -> bool {
        self.unneeded.get(place) == Some(&true)
    }

    fn unneeded(&self) -> impl Iterator<Item = usize> {
        (0..self.unneeded.len()).filter(|place| self.is_unneeded(*place))
    }

    fn nodes(&self, place: usize) -> &[NodeId] {
        self.files.get(place).map(Vec::as_slice).unwrap_or_default()
    }

    /// The first [`Kind`] among a package's files, without those that other findings remove.
    fn kind(&self, place: usize) -> Kind {
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
    fn doubts(&self, unsearched: bool, uses: &[uses::Use]) -> BTreeMap<usize, u8> {
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

    fn drafts(
        &self,
        doubts: &BTreeMap<usize, u8>,
        unsearched: Option<NodeId>,
        drafts: &[Draft],
    ) -> Vec<Draft> {
        let mut groups: BTreeMap<(u8, &str), Vec<usize>> = BTreeMap::new();
        for (place, why) in doubts {
            let Some(package) = self.package(*place) else { continue };
            groups.entry((*why, package.manager)).or_default().push(*place);
        }
        let ways = self.graph.ways(&self.removed, &self.unneeded);
        let mut made: Vec<(u8, Draft)> = Vec::new();
        for ((why, manager), places) in groups {
            let items = self.items(&places);
            if items.is_empty() {
                continue;
            }
            let mut draft = self.draft(why, manager, &places, &ways, unsearched);
            draft.items = items;
            draft.rests_on = self.rests_on(manager, drafts);
            // Packages of several questions are removed when all are answered with no.
            let parts = made.iter().enumerate().filter(|(_, (other, _))| *other & why == *other);
            draft.rests_on.extend(parts.map(|(at, _)| drafts.len() + at));
            made.push((why, draft));
        }
        made.into_iter().map(|(_, draft)| draft).collect()
    }

    /// Files of the packages that no other finding has and that have no name outside.
    fn items(&self, places: &[usize]) -> Vec<Item> {
        let facts = self.facts;
        let mut seen = HashSet::new();
        let mut items = Vec::new();
        for node in places.iter().flat_map(|place| self.nodes(*place)) {
            let Some(inode) = facts.node(*node).content() else { continue };
            let is_known = self.claims.gone.contains(&inode) || self.claims.disputed.contains(&inode);
            if is_known || facts.node(*node).kind() != NodeKind::File || !seen.insert(inode) {
                continue;
            }
            let mut names = facts.rootfs.all_names(inode.0, inode.1);
            let goes = |owner: usize| self.is_unneeded(owner) || self.removed.get(owner) == Some(&true);
            if names.all(|name| facts.owner(name).is_some_and(goes)) {
                items.push(item(&facts.classification, facts.rootfs, inode));
            }
        }
        items
    }

    /// Indexes of the drafts that remove the development packages of a manager.
    fn rests_on(&self, manager: &str, drafts: &[Draft]) -> Vec<usize> {
        let mut places = BTreeSet::new();
        for place in (0..self.removed.len()).filter(|place| self.removed.get(*place) == Some(&true)) {
            if self.package(place).is_none_or(|package| package.manager != manager) {
                continue;
            }
            for node in self.nodes(place).iter().filter(|node| !files::is_idle(&self.facts.path(**node))) {
                let inode = self.facts.node(*node).content();
                places.extend(inode.and_then(|inode| self.claims.safe.get(&inode)));
            }
        }
        let has_bytes = |place: &usize| {
            drafts.get(*place).is_some_and(|draft| draft.items.iter().any(|item| item.bytes > 0))
        };
        places.into_iter().filter(has_bytes).collect()
    }

    fn draft(
        &self,
        why: u8,
        manager: &str,
        places: &[usize],
        ways: &HashMap<usize, usize>,
        unsearched: Option<NodeId>,
    ) -> Draft {
        let verdict = if why == 0 { Verdict::Safe } else { Verdict::Unsure };
        let title = match why {
            0 => "",
            doubt::MODULES => ": interpreter modules",
            doubt::PROGRAMS => ": programs",
            doubt::DATA => ": data files",
            doubt::SUGGESTED => ", suggested by others",
            doubt::UNSEARCHED => ", not fully searched",
            doubt::OPENED => ": libraries of development packages",
            _ => ": shared dependencies",
        };
        let mut draft = Draft::new(&RULE, verdict, format!("{}{title}", RULE.title));
        draft.reason = format!(
            "{} installed as {} of build tools that other findings remove. No other package needs {}.",
            if places.len() == 1 {
                "1 package was".to_owned()
            } else {
                format!("{} packages were", places.len())
            },
            if places.len() == 1 { "a dependency" } else { "dependencies" },
            if places.len() == 1 { "it" } else { "them" },
        );
        draft.question = self.question(why, places, unsearched);
        let by_name = self.removed_names(manager);
        draft.proof.push(format!("removed with other findings: {}", list(&by_name.all)));
        draft.fix = fix(manager, &by_name.asked);
        if let Some(record) = places.iter().find_map(|place| self.package(*place)?.automatic) {
            draft.proof.push(format!("{record} {}", mark(manager)));
        }
        draft.proof.push("no remaining package depends on one of them, per the package database".to_owned());
        self.prove_unused(places, &mut draft);
        let bytes =
            |place: &usize| self.package(*place).and_then(|package| package.bytes).unwrap_or_default();
        let mut order = places.to_vec();
        order.sort_by_key(|place| (std::cmp::Reverse(bytes(place)), *place));
        draft.proof.extend(
            order
                .iter()
                .take(CHAINS)
                .map(|place| format!("{} ({})", self.chain(*place, ways), human(bytes(place)))),
        );
        let more = order.len().checked_sub(CHAINS).filter(|more| *more > 0);
        draft.proof.extend(more.map(|more| format!("and {more} more packages")));
        draft
    }

    /// Adds the proof that no remaining file loads or mentions the files.
    fn prove_unused(&self, places: &[usize], draft: &mut Draft) {
        let facts = self.facts;
        let inodes: HashSet<Inode> = places
            .iter()
            .flat_map(|place| self.nodes(*place))
            .filter_map(|node| facts.node(*node).content())
            .collect();
        let objects = inodes.iter().filter(|inode| facts.object_of(**inode).is_some()).count();
        if objects > 0 {
            draft.proof.push(format!(
                "0 of their {objects} programs and libraries are needed or opened by a remaining program or library"
            ));
        }
        draft.proof.push(
            "no remaining script uses one of their programs as interpreter, and neither the command nor a variable mentions one of their files".to_owned(),
        );
        draft.proof.push(common::searched(facts, "any of their libraries"));
        let known = facts.inventory.searched.known;
        if known > 0 {
            draft.proof.push(format!(
                "{} of Python packages in the catalog not searched: the catalog lists what they open",
                crate::base::text::counted(known, "source file")
            ));
        }
    }

    /// The chain from a package to the removed package that depends on it.
    fn chain(&self, place: usize, ways: &HashMap<usize, usize>) -> String {
        let mut names = vec![self.name(place).to_owned()];
        let mut at = place;
        while let Some(from) = ways.get(&at).copied().filter(|_| names.len() <= self.removed.len()) {
            at = from;
            names.push(self.name(at).to_owned());
        }
        if self.removed.get(at) == Some(&true) {
            return format!("{} (removed)", names.join(" ← "));
        }
        format!("{} (no installed package needs it)", names.join(" ← "))
    }

    fn question(&self, why: u8, places: &[usize], unsearched: Option<NodeId>) -> Option<String> {
        let of_kind = |kind: Kind| {
            let of_kind = places.iter().filter(|place| self.kind(**place) == kind);
            of_kind.map(|place| self.name(*place).to_owned()).collect::<Vec<_>>()
        };
        Some(match why {
            0 => return None,
            doubt::MODULES => {
                let modules = list(&of_kind(Kind::Modules));
                format!("Does the application load modules of {modules}, or run one of their programs?")
            }
            doubt::PROGRAMS => {
                let programs = list(&self.programs(places));
                format!("Does the application run one of these programs: {programs}?")
            }
            doubt::DATA => format!("Does the application read files of {}?", list(&of_kind(Kind::Data))),
            doubt::UNSEARCHED => match unsearched {
                Some(node) => {
                    let shown = self.facts.shown(node);
                    format!("Does {shown} or another program that was not searched open these libraries?")
                }
                None => "Do the programs that were not searched open these libraries?".to_owned(),
            },
            doubt::OPENED => {
                let libraries = list(&of_kind(Kind::Libraries));
                format!("Does a script or module load one of these libraries by its bare name: {libraries}?")
            }
            doubt::SUGGESTED => {
                let names: Vec<String> = places.iter().map(|place| self.name(*place).to_owned()).collect();
                format!("Does a package that suggests {} use it?", list(&names))
            }
            _ => {
                let names: Vec<String> = places.iter().map(|place| self.name(*place).to_owned()).collect();
                format!("Does the application use {} or a package that needs it?", list(&names))
            }
        })
    }

    /// The program names of packages.
    fn programs(&self, places: &[usize]) -> Vec<String> {
        let mut names = BTreeSet::new();
        for node in places.iter().flat_map(|place| self.nodes(*place)) {
            let path = self.facts.path(*node);
            if files::kind(&path, &self.search_path) == Kind::Programs {
                names.insert(crate::base::text::escape(crate::cuda::links::file_name(&path)));
            }
        }
        names.into_iter().collect()
    }

    fn removed_names(&self, manager: &str) -> RemovedNames {
        let places = (0..self.removed.len()).filter(|place| self.removed.get(*place) == Some(&true));
        let packages: Vec<&Package> =
            places.filter_map(|place| self.package(place)).filter(|one| one.manager == manager).collect();
        let names = |packages: &[&Package]| packages.iter().map(|one| one.name.clone()).collect::<Vec<_>>();
        let asked: Vec<&Package> = packages.iter().copied().filter(|one| one.automatic.is_none()).collect();
        RemovedNames { all: names(&packages), asked: names(&asked) }
    }
}

struct RemovedNames {
    all: Vec<String>,
    /// Packages that were installed by name.
    asked: Vec<String>,
}

/// The first names of a list and the number of the others.
fn list(names: &[String]) -> String {
    let more = names.len().checked_sub(NAMED).filter(|more| *more > 0);
    let more = more.map_or_else(String::new, |more| format!(" and {more} more"));
    format!("{}{more}", names.get(..NAMED).unwrap_or(names).join(", "))
}

/// The entry in the record, as the end of a statement.
fn mark(manager: &str) -> &'static str {
    match manager {
        "dpkg" => "marks them as installed automatically (Auto-Installed: 1)",
        "apk" => "lists none of them",
        _ => "records them as dependencies",
    }
}

fn fix(manager: &str, asked: &[String]) -> String {
    const MOST: usize = 20;
    if asked.is_empty() || asked.len() > MOST {
        return String::new();
    }
    let names = asked.join(" ");
    let command = match manager {
        "dpkg" => format!("apt-get purge -y --auto-remove {names}"),
        "rpm" => format!("dnf remove -y {names}"),
        _ => format!("apk del {names}"),
    };
    format!("Run `{command}` in the RUN that installs them, or install them in a build stage.")
}
