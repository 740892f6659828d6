//! Packages that only removed packages need.

mod draft;
mod files;
mod graph;
mod opened;
mod removal;
mod uses;

use hashbrown::{HashMap, HashSet};

use crate::cuda::{Inode, Package};
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, Verdict};
use crate::rootfs::{NodeId, NodeKind};
use graph::Graph;
use removal::Removal;
use uses::Finder;

pub(super) static RULE: Rule = Rule {
    id: "orphaned-packages",
    title: "Packages only needed by removed packages",
    category: Category::BuildTools,
    severity: Severity::Medium,
    fix: "Purge build tools and their dependencies in the RUN that installs them, or install them in a build stage.",
    page: include_str!("../../../assets/manual/rules/orphaned-packages.md"),
};

/// Maximum rounds in which users are followed to what they need; real images take two or three.
const ROUNDS: usize = 100;

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
    let removal = Removal { facts, graph, claims, files, removed, unneeded, search_path };
    let doubts = removal.doubts(unsearched, &found.list);
    removal.drafts(&doubts, found.unsearched, drafts)
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
            && packages.get(owner).is_some_and(Package::is_of_system)
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
    let is_listed = |package: &Package| package.is_of_system() && package.files.is_some();
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
