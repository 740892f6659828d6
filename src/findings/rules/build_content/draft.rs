//! Title, reason, question and proof of a finding about build content.

use std::collections::BTreeSet;

use super::super::common::{self, searched};
use super::evidence::Doubt;
use super::verdict::{MOST_READERS, ReadName, VerdictReason};
use super::{FindingLocation, Group, Key};
use crate::base::text::{elide_middle, escape};
use crate::cuda::Use;
use crate::findings::demand::{self, Certainty, Demand};
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::named::MAX_SHOWN_CHARS;
use crate::findings::value::{Item, User};

pub(super) fn draft(facts: &Facts<'_>, key: Key, group: Group) -> Draft {
    let rule = key.rule;
    let place = match &key.place {
        FindingLocation::Toolkit(root) => format!(" in the CUDA toolkit {}", escape(root)),
        FindingLocation::Python(folder) => format!(" in the Python package {}", escape(folder)),
        FindingLocation::Packages(site) => format!(" in the Python packages of {}", escape(site)),
        FindingLocation::System => String::new(),
    };
    let title = match (&key.because, &key.place) {
        (VerdictReason::Doubtful(Doubt::Test), FindingLocation::System) => {
            "Python standard library tests".to_owned()
        }
        (VerdictReason::Doubtful(Doubt::Test), _) => format!("Tests{place}"),
        (_, FindingLocation::System) => format!("System {}", rule.title.to_lowercase()),
        _ => format!("{}{place}", rule.title),
    };
    let mut draft = Draft::new(rule, key.verdict, title);
    draft.category = key.category;
    draft.items = group.items;
    match key.because {
        VerdictReason::Hidden => common::describe_shadowed(&mut draft),
        VerdictReason::Loaded => {
            "Reachable programs load these files.".clone_into(&mut draft.reason);
            let links = &facts.inventory.links;
            for id in group.loaded.iter().take(MOST_READERS) {
                draft.proof.push(common::chain(facts, *id));
                draft.users.extend(links.chain(*id).get(1).map(|user| User::Object(*user)));
            }
            if let Some(more) = group.loaded.len().checked_sub(MOST_READERS).filter(|more| *more > 0) {
                draft.proof.push(format!("and {more} more chains"));
            }
        }
        VerdictReason::Read(demands) => {
            let readers = (!group.is_doubtful).then(|| all_readers(facts, &group.read_names, &demands));
            read(facts, &demands, readers.flatten(), &mut draft);
        }
        VerdictReason::Named(user) => named(facts, user, &mut draft),
        VerdictReason::Unsearched => {
            "No known user, but not all programs of the image could be searched for their names."
                .clone_into(&mut draft.reason);
            draft.proof.push(searched(facts, "them"));
            common::ask_unsearched(facts, "run or open these files", &mut draft);
        }
        VerdictReason::NotSearchedFor => {
            "No known user. Files are not searched for these program names.".clone_into(&mut draft.reason);
            let names = draft.items.iter().filter_map(|item| item.node).map(|node| facts.shown(node));
            let names: BTreeSet<String> = names.filter(|path| path.contains("bin/")).collect();
            let first = elide_middle(names.first().map_or("", String::as_str), MAX_SHOWN_CHARS);
            draft.question = Some(match names.len() {
                1 => format!("Does the service start {first}?"),
                count => format!("Does the service start {first} or another of these {count} programs?"),
            });
        }
        VerdictReason::Tool => {
            "A Python package contains these tools. No framework known to run them is installed."
                .clone_into(&mut draft.reason);
            let (FindingLocation::Python(folder) | FindingLocation::Packages(folder)) = &key.place else {
                return draft;
            };
            let folder = escape(folder);
            draft.question = Some(format!("Does anything run the tools in {folder} at run time?"));
        }
        VerdictReason::Doubtful(doubt) => doubtful(facts, doubt, &mut draft),
        VerdictReason::Free => free(facts, &key.place, group.elf, &group.read_as, &mut draft),
    }
    draft
}

fn named(facts: &Facts<'_>, user: User, draft: &mut Draft) {
    let who = match &user {
        User::File(node) => facts.shown(*node),
        User::Setting(setting) => setting.clone(),
        User::Package(name, _) => name.clone(),
        User::Object(id) => facts.shown(facts.inventory.links.object(*id).node),
    };
    draft.reason = format!("Mentioned by {who}.");
    draft.proof.push(format!("{who} mentions them"));
    if matches!(user, User::File(_)) {
        draft.question = Some(format!("Does {who} use them at run time?"));
    }
    draft.users.push(user);
}

/// All readers of files that are read under these names, if they are known: the reasons name some of them.
fn all_readers<'f>(
    facts: &'f Facts<'_>,
    names: &BTreeSet<ReadName>,
    some: &[u32],
) -> Option<Vec<&'f Demand>> {
    let mut places = BTreeSet::new();
    for (name, copy) in names {
        let of_name: Vec<u32> = facts.demands.on(name, copy.as_deref()).collect();
        if of_name.len() >= demand::MOST {
            return None;
        }
        places.extend(of_name);
    }
    // Files beside a program have its readers, under names of its own.
    let is_all = some.iter().all(|place| places.contains(place));
    is_all.then(|| places.iter().filter_map(|place| facts.demands.get(*place)).collect())
}

/// `readers` are all that the question is about, if it is about nothing else.
fn read(facts: &Facts<'_>, named: &[u32], readers: Option<Vec<&Demand>>, draft: &mut Draft) {
    let named: Vec<&Demand> = named.iter().filter_map(|place| facts.demands.get(*place)).collect();
    let certain = named.iter().any(|demand| demand.certainty == Certainty::Known);
    let readers = readers.filter(|_| !certain);
    let mut shown = readers.clone().unwrap_or(named);
    shown.retain(|one| !certain || one.certainty == Certainty::Known);
    let mut seen = BTreeSet::new();
    shown.retain(|one| seen.insert((&one.user, &one.why)));
    let mut sentences: Vec<String> =
        shown.iter().take(3).map(|one| format!("{} {}.", one.who, one.why)).collect();
    let more = |named: usize| match shown.len().saturating_sub(named) {
        0 => String::new(),
        more => format!(" And {more} more."),
    };
    let first = sentences.first().cloned().unwrap_or_default();
    let rest = more(sentences.len());
    if let Some(last) = sentences.last_mut() {
        last.push_str(&rest);
    }
    draft.reason = sentences.join(" ");
    let most = if readers.is_some() { shown.len() } else { MOST_READERS };
    for demand in shown.iter().take(most) {
        draft.proof.push(format!("{} {}", demand.who, demand.why));
        draft.users.push(demand.user.clone());
    }
    if certain {
        return;
    }
    draft.question = Some(match (&readers, shown.len()) {
        (None, _) => format!("Are these files used at run time? {first}"),
        (Some(_), 1) => format!("Does this need the files at run time? {first}"),
        (Some(_), _) => format!("Does one of these need the files at run time? {first}{}", more(1)),
    });
    draft.readers.extend(readers.iter().flatten().map(|one| (one.user.clone(), one.why.clone())));
}

/// Files that only their path classifies.
fn doubtful(facts: &Facts<'_>, doubt: Doubt, draft: &mut Draft) {
    let first = draft.items.iter().filter_map(|item| item.node).map(|node| facts.shown(node)).min();
    let first = elide_middle(&first.unwrap_or_default(), MAX_SHOWN_CHARS);
    let count = draft.items.len();
    let these = if count == 1 { first } else { format!("{first} or any other of these {count} files") };
    let (title, reason, question) = match doubt {
        Doubt::Unowned => (
            ", not owned by a package",
            "No installed package owns these files: they were added outside package managers.",
            format!("Does the service run {these}?"),
        ),
        Doubt::Foreign => (
            ", owned by non-development packages",
            "Installed packages own these files, and they are not development packages.",
            format!("Does one of these packages, or the service, run or read {these}?"),
        ),
        Doubt::Kind => (
            ", by path only",
            "Only the path suggests what these files are: their names and contents do not.",
            format!("Does the service run or read {these}?"),
        ),
        Doubt::Test => (
            "",
            "These files are in test folders. Which modules import them is unknown.",
            format!("Does the service import {these}? Users of test.support do."),
        ),
        Doubt::PackageName => (
            ", by package name only",
            "Only the names of their packages suggest development files.",
            format!("Does the service run or read {these}?"),
        ),
        Doubt::Dependent => (
            ", required by installed packages",
            "Packages that are not development packages depend on the packages that own these files.",
            format!("Does one of the dependent packages use {these}?"),
        ),
        Doubt::Folder => (
            ", in a configured folder",
            "A setting of the image names a folder that contains these files.",
            format!("Does the service read {these}?"),
        ),
    };
    draft.title.push_str(title);
    reason.clone_into(&mut draft.reason);
    let statement = match doubt {
        Doubt::Unowned => "no package database lists them".to_owned(),
        Doubt::Foreign => "the catalog does not list their packages as development packages".to_owned(),
        Doubt::Kind => "neither content, name nor owner confirms the path".to_owned(),
        Doubt::Test => "they belong to installed packages or Python's standard library".to_owned(),
        Doubt::PackageName => "neither content nor path confirms the names of their packages".to_owned(),
        Doubt::Dependent => depends(facts, &draft.items),
        Doubt::Folder => {
            let node = draft.items.iter().find_map(|item| item.node);
            let setting = node.and_then(|node| facts.named.folder(facts, node)).unwrap_or("a setting");
            format!("{setting} names a parent folder")
        }
    };
    draft.proof.push(statement);
    draft.question = Some(question);
}

/// The dependents of the packages that own these files.
fn depends(facts: &Facts<'_>, items: &[Item]) -> String {
    let owners: BTreeSet<usize> = items.iter().filter_map(|item| facts.owner(item.node?)).collect();
    let pair = |place: &usize| {
        let package = facts.inventory.packages.get(*place)?;
        Some(format!("{} depends on {}, directly or indirectly", facts.dependent(*place)?.name, package.name))
    };
    owners.iter().filter_map(pair).take(MOST_READERS).collect::<Vec<_>>().join("; ")
}

/// Adds the searches that found no user.
fn free(
    facts: &Facts<'_>,
    place: &FindingLocation,
    elf: usize,
    read_as: &BTreeSet<String>,
    draft: &mut Draft,
) {
    let inventory = facts.inventory;
    let used = inventory.links.objects.iter().filter(|object| object.usage != Use::Unreferenced).count();
    "Unreferenced: no reachable program loads these files, and no installed component is known to read them at run time."
        .clone_into(&mut draft.reason);
    if elf > 0 {
        draft.proof.push(format!(
            "0 of their {elf} programs and libraries are needed by the {used} reachable programs and libraries (NEEDED, resolved as ld.so does)"
        ));
        draft
            .proof
            .push("no reachable library opens them at run time, per the catalog's dlopen table".to_owned());
    } else {
        draft.proof.push(format!(
            "0 ELF programs or libraries among them: the {used} reachable programs and libraries cannot load them"
        ));
    }
    if !read_as.is_empty() {
        let names: Vec<&str> = read_as.iter().map(String::as_str).collect();
        let readers = readers(facts, &names);
        let frameworks: Vec<String> = inventory.frameworks.iter().map(|one| one.name.to_string()).collect();
        let installed = if frameworks.is_empty() {
            "none installed".to_owned()
        } else {
            format!("installed: {}", frameworks.join(", "))
        };
        draft.proof.push(format!(
            "no installed framework reads them at run time; known readers: {readers}; {installed}"
        ));
    }
    if let FindingLocation::Toolkit(_) = place {
        for name in read_as {
            for copy in facts.demands.copies_of(name) {
                let copy = escape(copy);
                draft.proof.push(format!("readers of {name} in {copy} use the copy in that folder's wheel"));
            }
        }
    }
    draft.proof.push(searched(facts, "them"));
}

/// Frameworks that read one of these names, per the catalogue.
fn readers(facts: &Facts<'_>, names: &[&str]) -> String {
    let reads = |rule: &&crate::cuda::catalog::Framework| {
        rule.reads_devel.iter().any(|read| names.contains(&read.as_str()))
    };
    let known: Vec<&str> =
        facts.catalog.frameworks().iter().filter(reads).map(|rule| rule.name.as_str()).collect();
    if known.is_empty() { "none".to_owned() } else { known.join(", ") }
}
