//! Unreferenced copies of libraries of which another copy for the same CUDA is loaded.

use std::collections::{BTreeMap, BTreeSet};

use super::super::common;
use super::RULE;
use crate::cuda::links::{ObjectId, site_root};
use crate::cuda::{Duplicate, Library, Supplier, Use};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Item, User, Verdict};

/// The reason for a verdict; copies with the same reason form one finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CopyReason {
    /// Nothing outside the folder of the loaded copy needs it.
    Free,
    /// Another copy of the same supplier is loaded.
    SameSupplier,
    /// Something outside needs its name, which currently resolves to the other copy.
    AlsoOutside,
    /// Something mentions it.
    Named,
    /// A wheel or conda package installed it and records it.
    Recorded,
    /// Added outside package managers.
    ByHand,
    /// Python packages load it, unless the process has already loaded their own copy.
    Displaced,
}

#[derive(Default)]
struct Group {
    items: Vec<Item>,
    proof: Vec<String>,
    users: Vec<User>,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<(CopyReason, Supplier), Group> = BTreeMap::new();
    for duplicate in &facts.inventory.duplicates {
        for place in &duplicate.libraries {
            let Some((copy, picked)) = spare(facts, duplicate, *place) else { continue };
            let Some(inode) = facts.node(copy.node).content() else { continue };
            let (because, user) = because(facts, duplicate, copy, picked);
            let group = groups.entry((because, copy.supplier)).or_default();
            group.items.push(item(&facts.classification, facts.rootfs, inode));
            group.proof.push(statement(facts, duplicate, copy, picked));
            group.users.extend(user);
            group.users.push(User::Object(picked.object));
        }
    }
    let drafts =
        groups.into_iter().map(|((because, supplier), group)| draft(facts, because, supplier, group));
    drafts.chain(displaced(facts)).collect()
}

/// Libraries that Python packages load unless the process has already loaded their own copies.
fn displaced(facts: &Facts<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<Supplier, (Group, BTreeSet<&str>)> = BTreeMap::new();
    for one in &facts.inventory.displaced {
        let libraries = &facts.inventory.libraries;
        let copy = libraries.get(one.library).filter(|copy| !facts.is_of_every_flavor(copy));
        let Some(copy) = copy else { continue };
        let Some(inode) = facts.node(copy.node).content() else { continue };
        let (group, loaders) = groups.entry(copy.supplier).or_default();
        group.items.push(item(&facts.classification, facts.rootfs, inode));
        loaders.extend(one.loaders.iter().map(String::as_str));
        let chain = common::chain(facts, copy.object);
        group.proof.push(match one.by.and_then(|place| libraries.get(place)) {
            Some(by) => {
                let how = one.loaders.join(" or ");
                format!("{chain}; {} is loaded instead by {how}", facts.shown(by.node))
            }
            None => format!("{chain}: no other user"),
        });
        group.users.extend(one.by.and_then(|place| libraries.get(place)).map(|by| User::Object(by.object)));
    }
    let drafts = groups.into_iter().map(|(supplier, (mut group, loaders))| {
        let calls: Vec<&str> =
            loaders.iter().filter_map(|call| call.strip_suffix("()")?.rsplit('.').next()).collect();
        for mention in &facts.inventory.mentions {
            if let Some(call) = calls.iter().find(|call| mention.words.contains(call)) {
                group.proof.insert(0, format!("{} mentions {call}", facts.shown(mention.node)));
                group.users.push(User::File(mention.node));
            }
        }
        let mut draft = draft(facts, CopyReason::Displaced, supplier, group);
        let from = if supplier == Supplier::Toolkit { "the toolkit" } else { "the system" };
        let loaders: Vec<&str> = loaders.into_iter().collect();
        let without = loaders.join(" or ");
        draft.question = Some(format!("Does the service load them from {from}, without {without} first?"));
        draft
    });
    drafts.collect()
}

/// An unreferenced copy, and the loaded one for the same CUDA.
fn spare<'f>(facts: &Facts<'f>, duplicate: &Duplicate, place: usize) -> Option<(&'f Library, &'f Library)> {
    let libraries: &'f [Library] = &facts.inventory.libraries;
    let copy = libraries.get(place)?;
    let is_reached = facts.inventory.links.object(copy.object).usage != Use::Unreferenced;
    let major = |library: &Library| library.cuda_major.as_ref().map(|(major, _)| *major);
    let stands_in = |other: &&Library| {
        let (one, other) = (major(copy), major(other));
        one.is_none() || other.is_none() || one == other
    };
    let mut picked = duplicate.picks.iter().filter_map(|pick| libraries.get(pick.library));
    if is_reached || facts.is_of_every_flavor(copy) { None } else { Some((copy, picked.find(stands_in)?)) }
}

fn because(
    facts: &Facts<'_>,
    duplicate: &Duplicate,
    copy: &Library,
    picked: &Library,
) -> (CopyReason, Option<User>) {
    if let Some(user) = named(facts, duplicate, copy) {
        return (CopyReason::Named, Some(user));
    }
    match copy.supplier {
        Supplier::Wheel | Supplier::Conda => return (CopyReason::Recorded, None),
        Supplier::Application => return (CopyReason::ByHand, None),
        Supplier::Toolkit | Supplier::Distro => {}
    }
    let picked_path = facts.path(picked.node);
    let Some((site, _)) = site_root(&picked_path) else {
        let same = picked.supplier == copy.supplier;
        return (if same { CopyReason::SameSupplier } else { CopyReason::AlsoOutside }, None);
    };
    match asks_outside(facts, &duplicate.soname, site) {
        Some(id) => (CopyReason::AlsoOutside, Some(User::Object(id))),
        None => (CopyReason::Free, None),
    }
}

/// The mention of a library: by its path, soname or file name.
fn named(facts: &Facts<'_>, duplicate: &Duplicate, copy: &Library) -> Option<User> {
    facts.named.user(facts, copy.node).or_else(|| facts.named.library(duplicate.soname.as_bytes()))
}

/// A used object outside a site-packages folder that needs or opens a library of this name.
fn asks_outside(facts: &Facts<'_>, soname: &str, site: &[u8]) -> Option<ObjectId> {
    let links = &facts.inventory.links;
    links.ids().find(|id| {
        let object = links.object(*id);
        let asks = || {
            object.needs.iter().any(|need| need.name == soname)
                || object.opens.iter().any(|open| {
                    open.name == soname
                        || crate::formats::glob::glob_match(open.name.as_bytes(), soname.as_bytes())
                })
        };
        object.usage != Use::Unreferenced && asks() && {
            let path = facts.path(object.node);
            !path.strip_prefix(site).is_some_and(|rest| rest.starts_with(b"/"))
        }
    })
}

fn statement(facts: &Facts<'_>, duplicate: &Duplicate, copy: &Library, picked: &Library) -> String {
    let same = match duplicate.identical {
        Some(true) => "identical",
        Some(false) => "different content",
        None => "not compared",
    };
    let (copy, chain) = (facts.shown(copy.node), common::chain(facts, picked.object));
    format!("{}: {copy} is unreferenced ({same}); resolves to {chain}", duplicate.soname)
}

fn draft(facts: &Facts<'_>, because: CopyReason, supplier: Supplier, group: Group) -> Draft {
    let whose = match supplier {
        Supplier::Wheel => "Wheel libraries",
        Supplier::Conda => "Conda libraries",
        Supplier::Toolkit => "CUDA libraries",
        Supplier::Distro => "Distribution libraries",
        Supplier::Application => "Application libraries",
    };
    let free = matches!(because, CopyReason::Free | CopyReason::SameSupplier);
    let verdict = if free { Verdict::Safe } else { Verdict::Unsure };
    let beside = if matches!(because, CopyReason::Displaced | CopyReason::Free) {
        "Python wheels"
    } else {
        "loaded copies elsewhere"
    };
    let mut draft = Draft::new(&RULE, verdict, format!("{whose} duplicated by {beside}"));
    draft.proof = group.proof;
    let (reason, question) = match because {
        CopyReason::Free | CopyReason::SameSupplier => (
            "Never loaded: each name resolves to another copy for the same CUDA, and this copy is unreferenced.",
            None,
        ),
        CopyReason::AlsoOutside => (
            "Each name resolves to another copy. A program outside that copy's folder needs the name too, and would load this copy if the search path changed.",
            Some("Is the container also started in a way that loads these copies?"),
        ),
        CopyReason::Named => (
            "Each name resolves to another copy, but a file or a setting mentions these copies.",
            Some("Does it open these copies?"),
        ),
        CopyReason::Recorded => (
            "Each name resolves to another copy. An installed package owns these copies and records them.",
            Some("Does anything need the packages that own these copies?"),
        ),
        CopyReason::ByHand => (
            "Each name resolves to another copy. These copies were added outside package managers.",
            Some("Does anything open these copies by path?"),
        ),
        CopyReason::Displaced => (
            "Only Python packages load these libraries. The first library of a name serves the whole process: if the packages' own copies are loaded first, these copies are not loaded.",
            None,
        ),
    };
    reason.clone_into(&mut draft.reason);
    draft.question = question.map(str::to_owned);
    if because == CopyReason::Free {
        draft.proof.push("no reachable program outside the site-packages folder of the loaded copy needs or opens these names".to_owned());
    }
    if free {
        draft.proof.push(common::searched(facts, "any of them"));
        draft.title.push_str(match (because, supplier) {
            (CopyReason::Free, Supplier::Toolkit) => " (toolkit copy never loaded)",
            (CopyReason::Free, _) => " (distribution copy never loaded)",
            _ => " (copy never loaded)",
        });
    }
    draft.items = group.items;
    draft.users = group.users;
    draft
}
