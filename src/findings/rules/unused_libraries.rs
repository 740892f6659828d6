//! Unreferenced CUDA libraries.

mod judge;

use std::collections::BTreeMap;

use super::common;
use crate::cuda::{Role, Supplier, Use};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Item, Rule, Severity, User, Verdict};
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
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let judge = Judge::new(facts);
    let mut groups: BTreeMap<(LibraryReason, Supplier), Group> = BTreeMap::new();
    let candidates = facts.inventory.libraries.iter().filter(|library| {
        library.role == Role::Runtime
            && library.hard_link_of.is_none()
            && &*library.component != "driver#"
            && !facts.is_of_every_flavor(library)
    });
    for library in candidates {
        let is_reached = facts.inventory.links.object(library.object).usage != Use::Unreferenced;
        let resource = judge::is_builder_resource(facts, library);
        if is_reached && !resource {
            continue;
        }
        let Some(inode) = facts.node(library.node).content() else { continue };
        let Some((because, user)) = judge.judge(library) else { continue };
        let group = groups.entry((because, library.supplier)).or_default();
        group.items.push(item(&facts.classification, facts.rootfs, inode));
        group.names.push(library.soname.clone().unwrap_or_else(|| facts.shown(library.node)));
        group.users.extend(user);
    }
    groups.into_iter().map(|((because, supplier), group)| draft(facts, because, supplier, group)).collect()
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
