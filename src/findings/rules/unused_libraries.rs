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

#[derive(Default)]
struct Group {
    items: Vec<Item>,
    names: Vec<String>,
    users: Vec<User>,
    objects: Vec<ObjectId>,
}

/// `drafts` are those of other rules.
pub(super) fn find(facts: &Facts<'_>, drafts: &[Draft]) -> Vec<Draft> {
    let judge = Judge::new(facts);
    let mut groups: BTreeMap<(LibraryReason, Supplier, BTreeSet<usize>), Group> = BTreeMap::new();
    let candidates = facts.inventory.libraries.iter().filter(|library| {
        library.role == Role::Runtime
            && library.hard_link_of.is_none()
            && &*library.component != "driver#"
            && !facts.is_of_every_flavor(library)
    });
    let mut judged: Vec<Judged<'_>> = Vec::new();
    for library in candidates {
        let is_reached = facts.inventory.links.object(library.object).usage != Use::Unreferenced;
        let resource = judge::is_builder_resource(facts, library);
        if is_reached && !resource {
            continue;
        }
        if let Some((because, user)) = judge.judge(library) {
            judged.push(Judged { library, because, user });
        }
    }
    follow(facts, &mut judged);
    let resting = leave_needed(facts, drafts, &mut judged);
    for Judged { library, because, user } in judged {
        let Some(inode) = facts.node(library.node).content() else { continue };
        let on = resting.get(&library.object).cloned().unwrap_or_default();
        let group = groups.entry((because, library.supplier, on)).or_default();
        group.objects.push(library.object);
        group.items.push(item(&facts.classification, facts.rootfs, inode));
        group.names.push(library.soname.clone().unwrap_or_else(|| facts.shown(library.node)));
        group.users.extend(user);
    }
    let all: Vec<_> = groups.into_iter().collect();
    let mut places: HashMap<ObjectId, usize> = HashMap::new();
    for (place, (_, group)) in all.iter().enumerate() {
        places.extend(group.objects.iter().map(|object| (*object, place)));
    }
    let mut found: Vec<Draft> = Vec::with_capacity(all.len());
    let mut rests: Vec<Vec<usize>> = Vec::with_capacity(all.len());
    for (place, ((.., on), group)) in all.iter().enumerate() {
        // A group that libraries of another group need can go only with that one.
        let users = group.objects.iter().flat_map(|object| &facts.inventory.links.object(*object).needed_by);
        let of_others = users.filter_map(|user| places.get(user));
        let of_others = of_others.filter(|other| **other != place).map(|other| drafts.len() + other);
        rests.push(on.iter().copied().chain(of_others).collect::<BTreeSet<usize>>().into_iter().collect());
    }
    for (((because, supplier, _), group), rests_on) in all.into_iter().zip(rests) {
        found.push(Draft { rests_on, ..draft(facts, because, supplier, group) });
    }
    found
}

/// An unreferenced library, why it can go or not, and who may use it.
struct Judged<'a> {
    library: &'a Library,
    because: LibraryReason,
    user: Option<User>,
}

impl Judged<'_> {
    fn is_free(&self) -> bool {
        self.because == LibraryReason::Free
    }
}

/// By library: the drafts whose files need it, directly or through others.
type Resting = HashMap<ObjectId, BTreeSet<usize>>;

/// Leaves out libraries that a file needs which stays: a plugin, of which nobody knows whether it is loaded, could not be
/// loaded without them. Returns the drafts whose files need the others: they can go only with these.
fn leave_needed(facts: &Facts<'_>, drafts: &[Draft], judged: &mut Vec<Judged<'_>>) -> Resting {
    let links = &facts.inventory.links;
    let mut places: HashMap<ObjectId, usize> = HashMap::new();
    for (place, draft) in drafts.iter().enumerate().filter(|(_, draft)| draft.verdict != Verdict::Needed) {
        let object = |item: &Item| facts.classification.object_of((item.layer, item.entry));
        places.extend(draft.items.iter().filter_map(object).map(|object| (object, place)));
    }
    let free: HashSet<ObjectId> =
        judged.iter().filter(|one| one.is_free()).map(|one| one.library.object).collect();
    let mut resting: Resting = judged.iter().map(|one| (one.library.object, BTreeSet::new())).collect();
    let needs = |object: ObjectId| {
        let found = links.object(object).needs.iter().flat_map(|need| &need.found);
        found.filter_map(|one| match one {
            Resolution::Found { object, .. } => Some(*object),
            _ => None,
        })
    };
    let needed_by = |object: ObjectId| links.object(object).needed_by.iter();
    // What is safe to remove cannot wait for an answer about something that needs it.
    let is_safe = |user: &ObjectId| match places.get(user) {
        Some(place) => drafts[*place].verdict == Verdict::Safe,
        None => free.contains(user),
    };
    let goes = |user: &ObjectId| places.contains_key(user) || resting.contains_key(user);
    let stays = |object: ObjectId, user: &ObjectId| {
        if free.contains(&object) { !is_safe(user) } else { !goes(user) }
    };
    let is_needed = |object: &ObjectId| needed_by(*object).any(|user| stays(*object, user));
    let mut open: Vec<ObjectId> = resting.keys().copied().filter(is_needed).collect();
    while let Some(object) = open.pop() {
        // What it needs is needed by a file that stays, too.
        if resting.remove(&object).is_some() {
            open.extend(needs(object));
        }
    }
    judged.retain(|one| resting.contains_key(&one.library.object));
    for (object, on) in &mut resting {
        on.extend(needed_by(*object).filter_map(|user| places.get(user)));
    }
    open.extend(resting.iter().filter(|(_, on)| !on.is_empty()).map(|(object, _)| *object));
    while let Some(object) = open.pop() {
        let Some(on) = resting.get(&object).cloned() else { continue };
        for needed in needs(object) {
            if let Some(own) = resting.get_mut(&needed)
                && !on.is_subset(own)
            {
                own.extend(&on);
                open.push(needed);
            }
        }
    }
    resting
}

/// What a library needs or opens is in question as it is itself: `libcublas.so.12`, which a script opens by its name, needs
/// `libcublasLt.so.12`.
fn follow(facts: &Facts<'_>, judged: &mut [Judged<'_>]) {
    let links = &facts.inventory.links;
    let mut places: HashMap<ObjectId, Vec<usize>> = HashMap::new();
    for (place, Judged { library, .. }) in judged.iter().enumerate() {
        places.entry(library.object).or_default().push(place);
    }
    let mut names = Names::default();
    for Judged { library, .. } in judged.iter() {
        let name = String::from_utf8_lossy(facts.node(library.node).name()).into_owned();
        for name in library.soname.iter().cloned().chain([name]) {
            names.known.entry(name).or_default().push(library.object);
        }
    }
    let of_judged = judged.iter().filter(|one| !one.is_free());
    let mut starts: Vec<(LibraryReason, ObjectId, Option<User>)> =
        of_judged.map(|one| (one.because, one.library.object, one.user.clone())).collect();
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
                let one = &mut judged[*place];
                if one.because.is_weaker_than(because) {
                    (one.because, one.user) = (because, user.clone());
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
