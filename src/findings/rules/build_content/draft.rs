//! Title, reason, question and proof of a finding about build content.

use std::collections::{BTreeMap, BTreeSet};

use super::super::common::{self, searched};
use super::evidence::Doubt;
use super::readers::{Group as ReaderGroup, Reader, each_once, groups};
use super::verdict::{MOST_READERS, VerdictReason};
use super::{FindingLocation, Group, HEADERS, Key, PYTHON_BUILD_LEFTOVERS, STATIC_LIBRARIES};
use crate::base::size::grouped;
use crate::base::text::{counted, elide_middle, escape};
use crate::cuda::Use;
use crate::cuda::links::file_name;
use crate::findings::demand::{Certainty, Demand};
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::named::MAX_SHOWN_CHARS;
use crate::findings::value::{Category, Item, User, Verdict};
use crate::rootfs::NodeId;

/// Title of the tests that come with Python itself.
const STANDARD_TESTS: &str = "Python standard library tests";

/// `is_unique` tells whether no other folder of a Python package has its name.
pub(super) fn draft(
    facts: &Facts<'_>,
    key: Key,
    group: Group<'_>,
    is_unique: &dyn Fn(&[u8]) -> bool,
) -> Draft {
    let rule = key.rule;
    let place = match &key.place {
        FindingLocation::Toolkit(root) => format!(" in the CUDA toolkit {}", escape(root)),
        FindingLocation::Python(folder) => {
            let name = if is_unique(folder) { file_name(folder) } else { folder };
            format!(" in the Python package {}", escape(name))
        }
        FindingLocation::Packages(site) => format!(" in the Python packages of {}", escape(site)),
        FindingLocation::System => String::new(),
    };
    let title = match (&key.because, &key.place) {
        (VerdictReason::Doubtful(Doubt::Test), FindingLocation::System) => STANDARD_TESTS.to_owned(),
        (VerdictReason::Doubtful(Doubt::Test), _) => format!("Tests{place}"),
        (_, FindingLocation::System) if key.of_compilers => {
            format!("System {} of compilers and the C library", rule.title.to_lowercase())
        }
        (_, FindingLocation::System) => format!("System {}", rule.title.to_lowercase()),
        (_, FindingLocation::Toolkit(_)) => format!("{}{place}", rule.title),
        _ if rule == &PYTHON_BUILD_LEFTOVERS => {
            let kind = if key.category == Category::Headers { &HEADERS } else { &STATIC_LIBRARIES };
            format!("{}{place}", kind.title)
        }
        _ => format!("{}{place}", rule.title),
    };
    let mut draft = Draft::new(rule, key.verdict, title);
    draft.category = key.category;
    draft.items = group.items;
    let some: &[u32] = if let VerdictReason::Read(demands) = &key.because { demands } else { &[] };
    let readers = (draft.verdict == Verdict::Unsure && !key.is_doubtful)
        .then(|| group.asked.readers(facts, some))
        .flatten();
    let list = readers.as_ref().map(|readers| readers.list.as_slice());
    draft.readers.extend(readers.iter().flat_map(|readers| readers.keys.iter().cloned()));
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
            read(facts, &demands, list, &mut draft);
            also_named(facts, &group.named, &mut draft);
        }
        VerdictReason::Named(user) => named(facts, user, &mut draft),
        VerdictReason::Unsearched => {
            "No known user, but not all programs of the image could be searched for their names."
                .clone_into(&mut draft.reason);
            draft.proof.push(searched(facts, "them"));
            common::ask_unsearched(facts, "run or open these files", &mut draft);
            match list {
                // Under another name of the files.
                Some(list) if list.len() > 1 => read(facts, &[], Some(list), &mut draft),
                None => {
                    let who = common::unsearched(facts)
                        .unwrap_or_else(|| "a program that was not searched".to_owned());
                    draft.question =
                        Some(format!("Does the service run or open these files, or does {who}?"));
                }
                Some(_) => {}
            }
        }
        VerdictReason::NotSearchedFor => {
            "No known user. Files are not searched for these program names.".clone_into(&mut draft.reason);
            let names = draft.items.iter().filter_map(|item| item.node).map(|node| facts.shown(node));
            let names: BTreeSet<String> = names.filter(|path| path.contains("bin/")).collect();
            let first = elide_middle(names.first().map_or("", String::as_str), MAX_SHOWN_CHARS);
            draft.question = Some(match names.len() {
                0 => format!("Does the service run or read {}?", these(facts, &draft.items)),
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
        VerdictReason::Doubtful(doubt) => doubtful(facts, doubt, list, &mut draft),
        VerdictReason::Free => free(facts, &key.place, group.elf, &group.read_as, &mut draft),
    }
    draft
}

/// Adds to each title that several findings of one verdict have the system packages with most of their bytes.
pub(super) fn tell_apart(facts: &Facts<'_>, drafts: &mut [Draft]) {
    let mut counts: BTreeMap<(Verdict, String), usize> = BTreeMap::new();
    for draft in drafts.iter() {
        *counts.entry((draft.verdict, draft.title.clone())).or_default() += 1;
    }
    for draft in drafts {
        if counts.get(&(draft.verdict, draft.title.clone())).is_some_and(|count| *count > 1) {
            let packages = packages_of(facts, &draft.items);
            if !packages.is_empty() {
                draft.title = format!("{}: {}", draft.title, packages.join(", "));
            }
        }
    }
}

/// Up to two system packages with most bytes of these files.
fn packages_of<'f>(facts: &'f Facts<'_>, items: &[Item]) -> Vec<&'f str> {
    let inventory = facts.inventory;
    let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
    for item in items {
        let owner = item.node.and_then(|node| inventory.owners.of(node));
        let package = owner.and_then(|owner| inventory.packages.get(owner));
        // Titles name the folders of other packages.
        if let Some(package) = package.filter(|package| package.is_of_system()) {
            *bytes.entry(&package.name).or_default() += item.bytes;
        }
    }
    let mut largest: Vec<(&str, u64)> = bytes.into_iter().collect();
    largest.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    largest.into_iter().take(2).map(|(name, _)| name).collect()
}

fn named(facts: &Facts<'_>, user: User, draft: &mut Draft) {
    let who = match &user {
        User::File(node) => facts.shown(*node),
        User::Setting(setting) => setting.clone(),
        User::Package(name, _) => name.clone(),
        User::Object(id) => facts.shown(facts.inventory.links.object(*id).node),
    };
    draft.reason = format!("Mentioned by {who}.");
    draft.proof.push(format!("{who} mentions these files"));
    if matches!(user, User::File(_)) {
        draft.question = Some(format!("Does {who} use these files at run time?"));
    }
    draft.users.push(user);
}

/// Adds the files that mention files which others read.
fn also_named(facts: &Facts<'_>, named: &BTreeSet<NodeId>, draft: &mut Draft) {
    for node in named {
        let statement = format!("{} mentions them", facts.shown(*node));
        if let Some(question) = &mut draft.question {
            *question = format!("{question} {statement}.");
        }
        draft.proof.push(statement);
        draft.users.push(User::File(*node));
    }
}

/// Maximum statements about readers in a reason.
const SENTENCES: usize = 3;

/// `readers` are all that the question is about, if it is about nothing else.
fn read(facts: &Facts<'_>, named: &[u32], readers: Option<&[Reader]>, draft: &mut Draft) {
    let named: Vec<&Demand> = named.iter().filter_map(|place| facts.demands.get(*place)).collect();
    let certain = named.iter().any(|demand| demand.certainty == Certainty::Known);
    let named = named.into_iter().filter(|one| !certain || one.certainty == Certainty::Known);
    let shown = readers.map_or_else(|| each_once(named.map(Reader::of)), <[Reader]>::to_vec);
    let groups = groups(facts, &shown);
    let sentences: Vec<String> =
        groups.iter().take(SENTENCES).map(|one| format!("{}.", one.statement())).collect();
    draft.reason = format!("{}{}", sentences.join(" "), also(groups.get(SENTENCES..).unwrap_or_default()));
    let most = if readers.is_some() { shown.len() } else { MOST_READERS };
    for one in shown.iter().take(most) {
        draft.proof.push(one.statement());
        draft.users.extend(one.user.clone());
    }
    if certain {
        return;
    }
    let first = sentences.first().cloned().unwrap_or_default();
    draft.question = Some(match (readers, groups.as_slice()) {
        (None, _) => format!("Are these files used at run time? {first}"),
        (Some(_), [one]) => {
            format!(
                "Does {} need these files at run time? It {}.",
                common::within_sentence(&one.who),
                one.why
            )
        }
        (Some(_), all) => {
            let others = also(all.get(1..).unwrap_or_default());
            format!("Does one of these need the files at run time? {first}{others}")
        }
    });
    if shown.iter().any(|one| one.user.is_none()) {
        draft.proof.extend(common::not_searched(facts));
    }
}

/// Names those whose statements are left out: ` Also: triton 3.5.1, sympy.`
fn also(others: &[ReaderGroup]) -> String {
    const NAMED: usize = 4;
    let names: Vec<String> = others.iter().take(NAMED).map(|one| common::within_sentence(&one.who)).collect();
    match others.len().saturating_sub(NAMED) {
        _ if names.is_empty() => String::new(),
        0 => format!(" Also: {}.", names.join(", ")),
        more => format!(" Also: {} and {more} more.", names.join(", ")),
    }
}

/// Files that only their path classifies.
fn doubtful(facts: &Facts<'_>, doubt: Doubt, readers: Option<&[Reader]>, draft: &mut Draft) {
    let these = these(facts, &draft.items);
    let (title, reason, question, statement) = match doubt {
        Doubt::Unowned => (
            ", not owned by a package",
            "No installed package owns these files: they were added outside package managers.",
            format!("Does the service run {these}?"),
            "no package database lists them",
        ),
        Doubt::Foreign => (
            ", owned by non-development packages",
            "Installed packages own these files, and they are not development packages.",
            format!("Does one of these packages, or the service, run or read {these}?"),
            "the catalog does not list their packages as development packages",
        ),
        Doubt::Kind => (
            ", by path only",
            "Only the path suggests what these files are: their names and contents do not.",
            format!("Does the service run or read {these}?"),
            "neither content, name nor owner confirms the path",
        ),
        Doubt::Test => (
            "",
            "These files are in test folders. Which modules import them is unknown.",
            match tests_of(facts, &draft.items) {
                _ if draft.title == STANDARD_TESTS => {
                    "Does the service import the tests of Python's standard library?".to_owned()
                }
                Some(tests) => format!("Does the service import {tests}?"),
                None => format!("Does the service import {these}?"),
            },
            "they belong to installed packages or Python's standard library",
        ),
        Doubt::PackageName => (
            ", by package name only",
            "Only the names of their packages suggest development files.",
            format!("Does the service run or read {these}?"),
            "neither content nor path confirms the names of their packages",
        ),
        Doubt::Folder => {
            let node = draft.items.iter().find_map(|item| item.node);
            let setting = node.and_then(|node| facts.named.folder(facts, node)).unwrap_or("a setting");
            draft.proof.push(format!("{setting} names a parent folder"));
            (
                ", in a configured folder",
                "A setting of the image names a folder that contains these files.",
                format!("Does the service read {these}?"),
                "",
            )
        }
        Doubt::Dependent => return dependent(facts, readers, draft),
    };
    draft.title.push_str(title);
    reason.clone_into(&mut draft.reason);
    draft.proof.extend(Some(statement).filter(|statement| !statement.is_empty()).map(str::to_owned));
    draft.question = Some(question);
}

/// The first of these files, and how many others there are.
fn these(facts: &Facts<'_>, items: &[Item]) -> String {
    let first = items.iter().filter_map(|item| item.node).map(|node| facts.shown(node)).min();
    let first = elide_middle(&first.unwrap_or_default(), MAX_SHOWN_CHARS);
    match items.len() {
        1 => first,
        2 => format!("{first} or the other file"),
        count => format!("{first} or any of the other {} files", grouped(count as u64 - 1)),
    }
}

/// The packages to which these tests belong, those with most bytes first. `None` if none is known.
fn tests_of(facts: &Facts<'_>, items: &[Item]) -> Option<String> {
    const NAMED: usize = 3;
    let mut bytes: BTreeMap<&str, u64> = BTreeMap::new();
    let mut unowned = 0;
    for item in items {
        let owner = item.node.and_then(|node| facts.owner(node));
        unowned += u64::from(owner.is_none());
        if let Some(package) = owner.and_then(|owner| facts.inventory.packages.get(owner)) {
            *bytes.entry(package.name.as_str()).or_default() += item.bytes;
        }
    }
    let mut largest: Vec<(&str, u64)> = bytes.into_iter().collect();
    largest.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
    let names: Vec<&str> = largest.iter().take(NAMED).map(|(name, _)| *name).collect();
    let more = largest.len() - names.len();
    let tests = match (names.as_slice(), more) {
        ([], _) => return None,
        ([one], _) => format!("the tests of {one}"),
        ([first, last], _) => format!("the tests of {first} or {last}"),
        (_, 0) => format!("the tests of {}, {} or {}", names[0], names[1], names[2]),
        (_, more) => {
            format!("the tests of {} or of {}", names.join(", "), counted(more as u64, "other package"))
        }
    };
    Some(match unowned {
        0 => tests,
        count => format!("{tests}, or {} of no package", counted(count, "file")),
    })
}

/// Files of packages on which others depend; `readers` are all that may need them, if nothing else is in doubt.
fn dependent(facts: &Facts<'_>, readers: Option<&[Reader]>, draft: &mut Draft) {
    draft.title.push_str(", required by installed packages");
    let owners: BTreeSet<usize> = draft.items.iter().filter_map(|item| facts.owner(item.node?)).collect();
    let all = facts.dependents(owners.iter().copied());
    if readers.is_some() {
        read(facts, &[], readers, draft);
    } else {
        "Packages that are not development packages depend on the packages that own these files."
            .clone_into(&mut draft.reason);
        let some = all.iter().take(MOST_READERS).map(|one| Reader::of_package(one).statement());
        draft.proof.extend(some);
        let these = these(facts, &draft.items);
        draft.question =
            Some(format!("Does one of the dependent packages, or the service, run or read {these}?"));
    }
    // What other build packages bring.
    let direct: BTreeSet<&str> = all.iter().map(|one| one.on.name.as_str()).collect();
    let names = owners.iter().filter_map(|place| Some(facts.inventory.packages.get(*place)?.name.as_str()));
    let indirect: Vec<&str> = names.filter(|name| !direct.contains(name)).collect();
    if !indirect.is_empty() {
        let shown = &indirect[..indirect.len().min(MOST_READERS)];
        let and_more = match indirect.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        draft.proof.push(format!("that requires {}{and_more}, directly or indirectly", shown.join(", ")));
    }
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
    if let [first, ..] = facts.demands.tests() {
        let (first, count) = (facts.shown(*first), facts.demands.tests().len());
        draft.proof.push(format!(
            "nothing in the image runs the tests of its Python packages: test files that name build tools are no users ({first}, {count} in all)"
        ));
    }
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
