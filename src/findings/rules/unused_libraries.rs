//! Unreferenced CUDA libraries.

mod judge;

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::{HashMap, HashSet};

use super::common;
use crate::base::convert::index32;
use crate::cuda::links::{ObjectId, Resolution};
use crate::cuda::{Library, Role, Supplier, Use};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Item, Rule, Severity, User, Verdict};
use crate::formats::glob::glob_match;
use crate::rootfs::NodeId;
use judge::{Judge, LibraryReason};

pub(super) static RULE: Rule = Rule {
    id: "unused-libraries",
    title: "Unreferenced libraries",
    category: Category::UnusedLibraries,
    severity: Severity::Medium,
    fix: "Install only the libraries that are loaded, such as libcublas-X-Y, on the base flavor; or copy them from a build stage.",
    page: include_str!("../../../assets/manual/rules/unused-libraries.md"),
};

/// Maximum files listed that need a library.
const MOST_NEEDERS: usize = 8;

#[derive(Default)]
struct Group {
    items: Vec<Item>,
    names: Vec<String>,
    users: Vec<User>,
}

/// `drafts` are those of other rules.
pub(super) fn find(facts: &Facts<'_>, drafts: &[Draft]) -> Vec<Draft> {
    let judge = Judge::new(facts);
    let mut groups: BTreeMap<(LibraryReason, Supplier), Group> = BTreeMap::new();
    let candidates = facts.inventory.libraries.iter().filter(|library| {
        library.role == Role::Runtime
            && library.hard_link_of.is_none()
            && &*library.component != "driver#"
            && !facts.is_of_every_flavor(library)
    });
    let mut judged: Vec<(&Library, LibraryReason, Option<User>)> = Vec::new();
    for library in candidates {
        let is_reached = facts.inventory.links.object(library.object).usage != Use::Unreferenced;
        let resource = judge::is_builder_resource(facts, library);
        if is_reached && !resource {
            continue;
        }
        if let Some((because, user)) = judge.judge(library) {
            judged.push((library, because, user));
        }
    }
    keep_needed(facts, drafts, &mut judged);
    follow(facts, &mut judged);
    for (library, because, user) in judged {
        let Some(inode) = facts.node(library.node).content() else { continue };
        let group = groups.entry((because, library.supplier)).or_default();
        group.items.push(item(&facts.classification, facts.rootfs, inode));
        group.names.push(library.soname.clone().unwrap_or_else(|| facts.shown(library.node)));
        group.users.extend(user);
    }
    groups.into_iter().map(|((because, supplier), group)| draft(facts, because, supplier, group)).collect()
}

/// A library is not free where a file needs it that stays: a plugin, of which nobody knows whether it is loaded, could not
/// be loaded without it.
fn keep_needed(facts: &Facts<'_>, drafts: &[Draft], judged: &mut [(&Library, LibraryReason, Option<User>)]) {
    let links = &facts.inventory.links;
    let removed = drafts.iter().filter(|draft| draft.verdict == Verdict::Safe).flat_map(|draft| &draft.items);
    let mut removed: HashSet<ObjectId> =
        removed.filter_map(|item| facts.classification.object_of((item.layer, item.entry))).collect();
    removed.extend(
        judged.iter().filter(|(_, because, _)| *because == LibraryReason::Free).map(|(one, ..)| one.object),
    );
    loop {
        let mut kept = Vec::new();
        for (library, because, user) in judged.iter_mut() {
            let needed_by = &links.object(library.object).needed_by;
            if *because == LibraryReason::Free
                && let Some(needer) = needed_by.iter().find(|needer| !removed.contains(*needer))
            {
                *because = LibraryReason::Needed;
                *user = Some(User::File(links.object(*needer).node));
                kept.push(library.object);
            }
        }
        if kept.is_empty() {
            return;
        }
        // What these need is needed by files that stay, too.
        for object in kept {
            removed.remove(&object);
        }
    }
}

/// What a library needs or opens is in question as it is itself: `libcublas.so.12`, which a script opens by its name, needs
/// `libcublasLt.so.12`.
fn follow(facts: &Facts<'_>, judged: &mut [(&Library, LibraryReason, Option<User>)]) {
    let links = &facts.inventory.links;
    let mut places: HashMap<ObjectId, Vec<usize>> = HashMap::new();
    for (place, (library, ..)) in judged.iter().enumerate() {
        places.entry(library.object).or_default().push(place);
    }
    let mut names = Names::default();
    for (library, ..) in judged.iter() {
        let name = String::from_utf8_lossy(facts.node(library.node).name()).into_owned();
        for name in library.soname.iter().cloned().chain([name]) {
            names.known.entry(name).or_default().push(library.object);
        }
    }
    let of_judged = judged.iter().filter(|(_, because, _)| *because != LibraryReason::Free);
    let mut starts: Vec<(LibraryReason, ObjectId, Option<User>)> =
        of_judged.map(|(library, because, user)| (*because, library.object, user.clone())).collect();
    // Libraries of others, such as OpenCV.
    for (place, object) in links.objects.iter().enumerate() {
        if object.usage == Use::Unreferenced
            && let Some(user) = facts.named.user(facts, object.node)
        {
            starts.push((LibraryReason::Named, ObjectId(index32(place)), Some(user)));
        }
    }
    // Mentions first: they are the best evidence.
    starts.sort();
    let mut seen: HashSet<ObjectId> = HashSet::new();
    for (because, start, user) in starts {
        let mut open = vec![start];
        while let Some(id) = open.pop() {
            let object = links.object(id);
            if !seen.insert(id) {
                continue;
            }
            for place in places.get(&id).into_iter().flatten() {
                let (_, reason, of) = &mut judged[*place];
                if reason.is_weaker_than(because) {
                    (*reason, *of) = (because, user.clone());
                }
            }
            let needs = object.needs.iter().flat_map(|need| &need.found);
            open.extend(needs.filter_map(|one| match one {
                Resolution::Found { object, .. } => Some(*object),
                _ => None,
            }));
            open.extend(names.opened(facts, object.node));
        }
    }
}

/// Libraries by file name and soname, and the names that were looked up: each once, since thousands of copies of a library
/// open the same ones.
#[derive(Default)]
struct Names {
    known: HashMap<String, Vec<ObjectId>>,
    tried: HashSet<String>,
}

impl Names {
    /// The libraries that a library opens by name, per the catalog. What nothing reaches has no process in which the names
    /// could be resolved: every library of that name counts.
    fn opened(&mut self, facts: &Facts<'_>, opener: NodeId) -> Vec<ObjectId> {
        let opener = facts.node(opener).name();
        let mut found = Vec::new();
        for name in facts.catalog.opens_of(opener).flat_map(|rule| rule.names_for(opener)) {
            if !self.tried.insert(name.clone()) {
                continue;
            }
            if name.contains('*') {
                let fits = |known: &String| glob_match(name.as_bytes(), known.as_bytes());
                found.extend(self.known.iter().filter(|(known, _)| fits(known)).flat_map(|(_, ids)| ids));
            } else {
                found.extend(self.known.get(&name).into_iter().flatten());
            }
        }
        found
    }
}

fn draft(facts: &Facts<'_>, because: LibraryReason, supplier: Supplier, mut group: Group) -> Draft {
    let whose = match supplier {
        Supplier::Wheel => "libraries from wheels",
        Supplier::Conda => "libraries from conda packages",
        Supplier::Toolkit => "CUDA libraries",
        Supplier::Distro => "distribution CUDA libraries",
        Supplier::Application => "application libraries",
    };
    let verdict = if because == LibraryReason::Free { Verdict::Safe } else { Verdict::Unsure };
    let mut draft = Draft::new(&RULE, verdict, format!("Unreferenced {whose}{}", because.title()));
    because.reason().clone_into(&mut draft.reason);
    draft.question = because.question().map(str::to_owned);
    group.names.sort_unstable();
    group.names.dedup();
    draft.proof.push(format!("libraries: {}", group.names.join(", ")));
    if because == LibraryReason::Needed {
        let needers = group.users.iter().filter_map(|user| match user {
            User::File(node) => Some(facts.shown(*node)),
            _ => None,
        });
        let needers: BTreeSet<String> = needers.collect();
        draft
            .proof
            .extend(needers.iter().take(MOST_NEEDERS).map(|needer| format!("{needer} needs one of them")));
        if needers.len() > MOST_NEEDERS {
            draft.proof.push(format!("{} more files need one of them", needers.len() - MOST_NEEDERS));
        }
    }
    if because == LibraryReason::Unsearched {
        common::ask_unsearched(facts, "open them", &mut draft);
    }
    if because != LibraryReason::BuilderResource {
        let used =
            facts.inventory.links.objects.iter().filter(|object| object.usage != Use::Unreferenced).count();
        draft.proof.push(format!("unreferenced: none of the {used} reachable programs and libraries needs one of them (NEEDED, resolved as ld.so does)"));
        draft
            .proof
            .push("no reachable library opens them at run time, per the catalog's dlopen table".to_owned());
    }
    if because == LibraryReason::Free {
        draft.proof.push(common::searched(facts, "any of them"));
        draft
            .proof
            .push("no installed component is known to compile programs against them at run time".to_owned());
    }
    draft.subjects = group.names;
    draft.items = group.items;
    draft.users = group.users;
    draft
}
