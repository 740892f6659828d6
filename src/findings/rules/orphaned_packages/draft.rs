//! Findings about packages that are no longer needed.

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};

use super::super::common;
use super::RULE;
use super::files::{self, Kind};
use super::removal::{Removal, doubt};
use crate::base::size::human;
use crate::base::text::and_more;
use crate::cuda::{Inode, Package};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::value::{Item, Verdict};
use crate::rootfs::{NodeId, NodeKind};

/// Maximum dependency chains in a proof.
const CHAINS: usize = 150;
/// Maximum names in a list.
const NAMED: usize = 12;

impl Removal<'_, '_> {
    /// The findings, by reason for a question and package manager.
    pub(super) fn drafts(
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
    format!("{}{}", names.get(..NAMED).unwrap_or(names).join(", "), and_more(names.len(), NAMED))
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
