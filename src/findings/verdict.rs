//! The verdict on files that look like content for building.
//!
//! A file is needed when something that runs loads it, or when something that is installed reads what it is at
//! run time. It is a question when something of the application only names it. It is safe when neither is so,
//! and the statements that say this are its proof.

use std::collections::{BTreeMap, BTreeSet};

use super::census::{By, Sorted};
use super::demand::{Certainty, Demand};
use super::evidence::{Agreement, Doubt, agreement};
use super::facts::Facts;
use super::finish::Draft;
use super::named::TOLD;
use super::rule::Rule;
use super::rules::of_file;
use super::value::{Category, Item, User, Verdict};
use crate::base::text::{elide_middle, escape, printable};
use crate::cuda::Use;
use crate::cuda::catalog::PathScope;
use crate::cuda::links::{Object, ObjectId, RootKind, site_root};

/// Readers of one thing that are told of, and chains from a library to what starts it: an image may have
/// thousands, and a handful is proof enough.
const MOST_READERS: usize = 16;

/// Python packages that are told of one by one; those beyond are told by the folder that holds them.
const MOST_PLACES: usize = 200;

/// Where files lie that are told of together.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    /// A CUDA toolkit, by its root.
    Toolkit(Vec<u8>),
    /// A Python package, by its folder.
    Python(Vec<u8>),
    /// All Python packages of a folder.
    Packages(Vec<u8>),
    /// Anywhere else.
    System,
}

/// Why a verdict is what it is; what is the same is told once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Because {
    /// No path leads to it.
    Hidden,
    /// Nobody loads or reads it.
    Free,
    /// Programs and libraries that run load it.
    Loaded,
    /// It is read at run time, or named, by these.
    Read(Vec<u32>),
    /// A setting or a file of the application names it.
    Named(User),
    /// Nobody names it, but not all that may start it could be searched.
    Unsearched,
    /// Its name is not among those that files are searched for.
    Unheard,
    /// A Python package brought a tool that nothing known reads.
    Tool,
    /// Nothing but its path says what it is.
    Doubtful(Doubt),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    rule: &'static str,
    category: Category,
    verdict: Verdict,
    place: Place,
    because: Because,
}

#[derive(Default)]
struct Group {
    items: Vec<Item>,
    loaded: Vec<ObjectId>,
    /// What the rules say that such files are read as.
    read_as: BTreeSet<String>,
    elf: usize,
}

/// Judges every file of the census that is content for building, and tells of those with one reason together.
pub(super) fn devel(facts: &Facts<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    let mut places: BTreeSet<Vec<u8>> = BTreeSet::new();
    let files = facts.census.files.iter().filter(|sorted| sorted.category.is_devel());
    let mut judged: Vec<(&Sorted<'_>, Because, Option<ObjectId>)> = files
        .filter_map(|sorted| because_of_all(facts, sorted).map(|(because, object)| (sorted, because, object)))
        .collect();
    follow_programs(facts, &mut judged);
    follow_links(facts, &mut judged);
    for (sorted, because, object) in judged {
        let path = path_of(facts, sorted);
        let mut place = place(facts, &path);
        if let Place::Python(folder) = &place
            && !places.contains(folder)
        {
            if places.len() < MOST_PLACES {
                places.insert(folder.clone());
            } else if let Some((site, _)) = site_root(&path) {
                place = Place::Packages(site.to_vec());
            }
        }
        if because == Because::Doubtful(Doubt::Test) {
            // Nearly every package has tests: one question for all of them.
            place = site_root(&path).map_or(Place::System, |(site, _)| Place::Packages(site.to_vec()));
        }
        let rule = of_file(sorted, &place);
        let verdict = verdict(facts, &because);
        let group = groups
            .entry(Key { rule: rule.id, category: sorted.category, verdict, place, because })
            .or_default();
        group.items.push(sorted.item);
        group.loaded.extend(object);
        group.elf += usize::from(facts.object_of((sorted.item.layer, sorted.item.entry)).is_some());
        for name in facts.census.names(sorted) {
            group.read_as.extend(read_as(facts, name).map(str::to_owned));
        }
    }
    groups.into_iter().filter_map(|(key, group)| draft(facts, key, group)).collect()
}

fn verdict(facts: &Facts<'_>, because: &Because) -> Verdict {
    match because {
        Because::Hidden | Because::Free => Verdict::Safe,
        Because::Loaded => Verdict::Needed,
        Because::Tool
        | Because::Unsearched
        | Because::Unheard
        | Because::Doubtful(_)
        | Because::Named(User::File(_)) => Verdict::Unsure,
        Because::Named(_) => Verdict::Needed,
        Because::Read(demands) => {
            let mut demands = demands.iter().filter_map(|place| facts.demands.get(*place));
            if demands.any(|demand| demand.certainty == Certainty::Known) {
                Verdict::Needed
            } else {
                Verdict::Unsure
            }
        }
    }
}

/// The path of a file: as a container sees it, or in its layer when it is hidden.
pub(super) fn path_of(facts: &Facts<'_>, sorted: &Sorted<'_>) -> Vec<u8> {
    match sorted.item.node {
        Some(node) => facts.path(node),
        None => facts.rootfs.layer(sorted.item.layer).path(sorted.item.entry),
    }
}

pub(super) fn place(facts: &Facts<'_>, path: &[u8]) -> Place {
    if let Some((site, rest)) = site_root(path) {
        let package = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
        return Place::Python([site, b"/", package].concat());
    }
    match facts.catalog.toolkit_root(path) {
        Some((root, _)) => Place::Toolkit(root.to_vec()),
        None => Place::System,
    }
}

/// What a file is read as, by the rules about its path and about the package that owns it.
fn read_as<'f>(facts: &'f Facts<'_>, sorted: &Sorted<'f>) -> impl Iterator<Item = &'f str> {
    let by_path = match sorted.by {
        By::Path(rule) => Some(rule),
        By::Package => None,
    };
    let owner = sorted.item.node.and_then(|node| facts.owner(node));
    let by_package = owner.and_then(|place| facts.devel_rule(place));
    let of_path = by_path.and_then(|rule| rule.read_as.as_deref());
    // What the path says is nearer: headers in the compiler's package are headers. That builds read static
    // libraries and metadata is no more than a habit; those of the C library are the compiler's.
    let is_exact = of_path.is_some_and(|name| name != "cmake");
    let of_package = by_package.and_then(|rule| rule.read_as.as_deref()).filter(|_| !is_exact);
    of_path.into_iter().chain(of_package)
}

/// Whether something that runs loads an object, other than that it can be started by its name.
pub(super) fn is_loaded(facts: &Facts<'_>, object: &Object) -> bool {
    match &object.root {
        Some(root) if root.kind == RootKind::Executable => is_loaded_by_others(facts, object),
        Some(_) => true,
        None => object.usage != Use::Unreferenced,
    }
}

fn is_loaded_by_others(facts: &Facts<'_>, object: &Object) -> bool {
    let links = &facts.inventory.links;
    let mut others = object.needed_by.iter().chain(&object.opened_by);
    others.any(|id| links.object(*id).usage != Use::Unreferenced)
}

/// What a package brings beside its programs, such as messages and modules of Perl, is used when one of them is.
fn follow_programs(facts: &Facts<'_>, judged: &mut [(&Sorted<'_>, Because, Option<ObjectId>)]) {
    let owner = |sorted: &Sorted<'_>| facts.owner(sorted.item.node?);
    let mut used: BTreeMap<usize, Because> = BTreeMap::new();
    for (sorted, because, _) in judged.iter() {
        if !matches!(because, Because::Read(_) | Because::Named(_) | Because::Unheard) {
            continue;
        }
        let Some(package) = owner(sorted) else { continue };
        let worst = used.entry(package).or_insert_with(|| because.clone());
        if verdict(facts, because) > verdict(facts, worst) {
            worst.clone_from(because);
        }
    }
    for (sorted, because, _) in judged.iter_mut() {
        let is_beside = matches!(sorted.by, By::Package) && *because == Because::Free;
        if let Some(of_program) = owner(sorted).and_then(|package| used.get(&package))
            && is_beside
        {
            because.clone_from(of_program);
        }
    }
}

/// The libraries of a program that is a question, because nobody who names it is heard, are the same question.
fn follow_links(facts: &Facts<'_>, judged: &mut [(&Sorted<'_>, Because, Option<ObjectId>)]) {
    let object = |sorted: &Sorted<'_>| facts.object_of((sorted.item.layer, sorted.item.entry));
    let is_asked = |because: &Because| *because == Because::Unheard;
    let mut asked: BTreeSet<ObjectId> = judged
        .iter()
        .filter(|(_, because, _)| is_asked(because))
        .filter_map(|(sorted, ..)| object(sorted).map(|(id, _)| id))
        .collect();
    let mut free: Vec<usize> = (0..judged.len()).filter(|place| judged[*place].1 == Because::Free).collect();
    let mut before = 0;
    while asked.len() > before {
        before = asked.len();
        free.retain(|place| {
            let (sorted, because, _) = &mut judged[*place];
            let Some((id, object)) = object(sorted) else { return false };
            let is_used = object.needed_by.iter().chain(&object.opened_by).any(|user| asked.contains(user));
            if is_used {
                *because = Because::Unheard;
                asked.insert(id);
            }
            !is_used
        });
    }
}

/// What speaks most against removing a file, of all its names. `None` when one of them is not that of content for
/// building.
fn because_of_all(facts: &Facts<'_>, sorted: &Sorted<'_>) -> Option<(Because, Option<ObjectId>)> {
    let mut worst: Option<(Because, Option<ObjectId>)> = None;
    for name in facts.census.names(sorted) {
        let path = path_of(facts, name);
        let agreement = agreement(facts, name, &path);
        if agreement == Agreement::Denies {
            return None;
        }
        let other = because(facts, name, &path, agreement);
        if worst.as_ref().is_none_or(|(worst, _)| verdict(facts, &other.0) > verdict(facts, worst)) {
            worst = Some(other);
        }
    }
    worst
}

fn because(
    facts: &Facts<'_>,
    sorted: &Sorted<'_>,
    path: &[u8],
    agreement: Agreement,
) -> (Because, Option<ObjectId>) {
    if sorted.item.node.is_none() {
        return (Because::Hidden, None);
    }
    let object = facts.object_of((sorted.item.layer, sorted.item.entry));
    // Extension modules of a test are roots only because they are there.
    let is_test = agreement == Agreement::Doubtful(Doubt::Test);
    if let Some((id, object)) = object
        && (if is_test { is_loaded_by_others(facts, object) } else { is_loaded(facts, object) })
    {
        return (Because::Loaded, Some(id));
    }
    if let Some(user) = sorted.item.node.and_then(|node| facts.named.user(facts, node)) {
        return (Because::Named(user), None);
    }
    let copy = site_root(path).map(|(site, _)| site);
    let heard = heard_as(sorted, path);
    let names = read_as(facts, sorted)
        .chain(tool_names(sorted, path))
        .chain(libraries(facts, sorted, path))
        .chain(heard.iter().flatten().copied());
    let names: BTreeSet<&str> = names.collect();
    let mut demands: Vec<u32> =
        names.iter().flat_map(|name| facts.demands.on(name, copy).take(MOST_READERS)).collect();
    demands.sort_unstable();
    demands.dedup();
    if !demands.is_empty() {
        return (Because::Read(demands), None);
    }
    if let Agreement::Doubtful(doubt) = agreement {
        return (Because::Doubtful(doubt), None);
    }
    let of_wheel = matches!(sorted.by, By::Path(rule) if rule.scope == PathScope::Python);
    if of_wheel && sorted.category == Category::Compilers {
        return (Because::Tool, None);
    }
    // What is started or opened by its name may be named where nobody looked.
    let by_name = matches!(sorted.category, Category::Compilers | Category::BuildTools) || object.is_some();
    let searched = &facts.inventory.searched;
    let in_libraries = names.iter().any(|name| super::demand::is_unheard_in_libraries(name));
    if facts.named.cut
        || (by_name && searched.programs_left_out > 0)
        || (in_libraries && searched.libraries_left_out > 0)
    {
        return (Because::Unsearched, None);
    }
    if heard.is_some_and(|heard| heard.is_empty()) && searched.files > 0 {
        return (Because::Unheard, None);
    }
    (Because::Free, None)
}

/// What a compiler or build tool is read as by its name; empty when files are not searched for that. `None` for what
/// nobody starts by its name.
fn heard_as(sorted: &Sorted<'_>, path: &[u8]) -> Option<BTreeSet<&'static str>> {
    let (folder, name) = path.split_at(path.iter().rposition(|byte| *byte == b'/')?);
    let name = str::from_utf8(&name[1..]).ok()?;
    let is_program = folder.ends_with(b"/bin") || folder.ends_with(b"/sbin");
    let is_tool = matches!(sorted.category, Category::Compilers | Category::BuildTools);
    // Programs with such names are parts of others.
    (is_tool && is_program && !name.starts_with('_')).then(|| super::demand::heard_as(name))
}

/// What whoever compiles or links at run time reads of all that is installed outside toolkits.
fn libraries(facts: &Facts<'_>, sorted: &Sorted<'_>, path: &[u8]) -> Option<&'static str> {
    let is_read =
        matches!(sorted.category, Category::Headers | Category::StaticLibraries | Category::BuildMetadata);
    (is_read && facts.catalog.toolkit_root(path).is_none()).then_some("libraries")
}

/// Folders of data of autotools.
const AUTOTOOLS: [&[u8]; 4] =
    [b"/usr/share/autoconf/", b"/usr/share/automake-", b"/usr/share/libtool/", b"/usr/share/bison/"];

/// What a tool is called where the rules do not say what it is read as.
fn tool_names(sorted: &Sorted<'_>, path: &[u8]) -> Option<&'static str> {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = super::demand::tool_name(str::from_utf8(name).unwrap_or_default());
    match (sorted.category, name) {
        (Category::Profilers, _) => Some("profiler"),
        (Category::Debuggers, _) => Some("debugger"),
        (Category::StaticLibraries, "libcudart_static.a" | "libculibos.a") => Some("cudart-static"),
        (Category::BuildTools, "make") => Some("make"),
        (Category::BuildTools, "cmake" | "ctest" | "cpack") => Some("cmake"),
        (Category::BuildTools, name) if name == "git" || name.starts_with("git-") => Some("git"),
        (Category::BuildTools, _) if path.windows(10).any(|part| part == b"/git-core/") => Some("git"),
        (Category::BuildTools, _) if AUTOTOOLS.iter().any(|folder| path.starts_with(folder)) => {
            Some("autotools")
        }
        _ => None,
    }
}

fn draft(facts: &Facts<'_>, key: Key, group: Group) -> Option<Draft> {
    let rule: &'static Rule = super::rule::rule(key.rule)?;
    let place = match &key.place {
        Place::Toolkit(root) => format!(" in the CUDA toolkit {}", escape(root)),
        Place::Python(folder) => format!(" in the Python package {}", escape(folder)),
        Place::Packages(site) => format!(" in the Python packages of {}", escape(site)),
        Place::System => " of the system".to_owned(),
    };
    let title = match (&key.because, &key.place) {
        (Because::Doubtful(Doubt::Test), Place::System) => "Tests of Python's standard library".to_owned(),
        (Because::Doubtful(Doubt::Test), _) => format!("Tests{place}"),
        _ => format!("{}{place}", rule.title),
    };
    let mut draft = Draft::new(rule, key.verdict, title);
    draft.category = key.category;
    draft.items = group.items;
    match key.because {
        Because::Hidden => {
            draft.title.push_str(", already hidden by a later layer");
            "A later layer deletes or replaces these files: no path of the container leads to them, and every pull still loads them."
                .clone_into(&mut draft.reason);
            draft.proof.push("no path of the merged view leads to any of these files".to_owned());
        }
        Because::Loaded => loaded(facts, &group.loaded, &mut draft),
        Because::Read(demands) => {
            let demands: Vec<&Demand> =
                demands.iter().filter_map(|place| facts.demands.get(*place)).collect();
            read(&demands, &mut draft);
        }
        Because::Named(user) => named(facts, user, &mut draft),
        Because::Unsearched => {
            "Nothing that is known uses these files. Not all programs of the image could be searched for their names."
                .clone_into(&mut draft.reason);
            draft.proof.push(super::rules::searched(facts, "them"));
            draft.question =
                Some("Do the programs that could not be searched start or open them?".to_owned());
        }
        Because::Unheard => {
            "Nothing that is known uses these programs. Files are not searched for their names."
                .clone_into(&mut draft.reason);
            let names = draft.items.iter().filter_map(|item| item.node).map(|node| facts.shown(node));
            let names: BTreeSet<String> = names.filter(|path| path.contains("bin/")).collect();
            let first = elide_middle(names.first().map_or("", String::as_str), TOLD);
            draft.question = Some(match names.len() {
                1 => format!("Does the service start {first}?"),
                count => format!("Does the service start {first} or another of these {count} programs?"),
            });
        }
        Because::Tool => {
            "A Python package brought these tools. No framework that is known to run them is installed."
                .clone_into(&mut draft.reason);
            let (Place::Python(folder) | Place::Packages(folder)) = &key.place else { return Some(draft) };
            let folder = escape(folder);
            draft.question = Some(format!("Does anything run the tools in {folder} when the service runs?"));
        }
        Because::Doubtful(doubt) => doubtful(facts, doubt, &mut draft),
        Because::Free => free(facts, &key.place, group.elf, &group.read_as, &mut draft),
    }
    Some(draft)
}

fn named(facts: &Facts<'_>, user: User, draft: &mut Draft) {
    let who = match &user {
        User::File(node) => facts.shown(*node),
        User::Setting(setting) => setting.clone(),
        User::Package(name, _) => name.clone(),
        User::Object(id) => facts.shown(facts.inventory.links.object(*id).node),
    };
    draft.reason = format!("{who} names what lies here.");
    draft.proof.push(format!("{who} names it"));
    if matches!(user, User::File(_)) {
        draft.question = Some(format!("Does {who} use it when the service runs?"));
    }
    draft.users.push(user);
}

fn loaded(facts: &Facts<'_>, objects: &[ObjectId], draft: &mut Draft) {
    let links = &facts.inventory.links;
    "Something that runs loads these libraries or programs.".clone_into(&mut draft.reason);
    for id in objects.iter().take(MOST_READERS) {
        let chain: Vec<String> =
            links.chain(*id).iter().map(|step| facts.shown(links.object(*step).node)).collect();
        let root = links.chain(*id).last().and_then(|root| links.object(*root).root.clone());
        let why = root.map_or_else(String::new, |root| format!(" ({})", printable(&root.why)));
        draft.proof.push(format!("{}{why}", chain.join(" ← ")));
        draft.users.extend(links.chain(*id).get(1).map(|user| User::Object(*user)));
    }
    if let Some(more) = objects.len().checked_sub(MOST_READERS).filter(|more| *more > 0) {
        draft.proof.push(format!("and {more} more of them in the same way"));
    }
}

fn read(demands: &[&Demand], draft: &mut Draft) {
    let certain = demands.iter().any(|demand| demand.certainty == Certainty::Known);
    let relevant = || demands.iter().filter(move |one| !certain || one.certainty == Certainty::Known);
    let mut sentences: Vec<String> = relevant().map(|one| format!("{} {}.", one.who, one.why)).collect();
    sentences.dedup();
    let more = sentences.len().saturating_sub(3);
    sentences.truncate(3);
    sentences.extend((more > 0).then(|| format!("And {more} more.")));
    draft.reason = sentences.join(" ");
    for demand in demands.iter().take(MOST_READERS) {
        draft.proof.push(format!("{} {}", demand.who, demand.why));
        draft.users.push(demand.user.clone());
    }
    draft.proof.dedup();
    if !certain && let Some(first) = demands.first() {
        draft.question =
            Some(format!("Does this happen when the service runs: {} {}?", first.who, first.why));
    }
}

/// Nothing but the path says what these files are.
fn doubtful(facts: &Facts<'_>, doubt: Doubt, draft: &mut Draft) {
    let first = draft.items.iter().filter_map(|item| item.node).map(|node| facts.shown(node)).min();
    let first = elide_middle(&first.unwrap_or_default(), TOLD);
    let count = draft.items.len();
    let these = if count == 1 { first } else { format!("{first} or another of these {count} files") };
    let (title, reason, question) = match doubt {
        Doubt::Unowned => (
            ", in no package",
            "No installed package lists these files: they were put there by hand.",
            format!("Does the service run {these}?"),
        ),
        Doubt::Foreign => (
            ", in packages that are not for building",
            "Installed packages list these files, and these packages are not there for building.",
            format!("Does one of these packages, or the service, run or read {these}?"),
        ),
        Doubt::Kind => (
            ", by path alone",
            "Only the folder says what these files are: their names or contents do not.",
            format!("Does the service run or read {these}?"),
        ),
        Doubt::Test => (
            "",
            "These files lie in folders of tests. Which modules import them was not computed.",
            format!("Does anything that runs import {these}, as packages do that use test.support?"),
        ),
        Doubt::PackageName => (
            ", by the name of their packages alone",
            "Only the names of their packages say that these files are for building.",
            format!("Does the service run or read {these}?"),
        ),
        Doubt::Dependent => (
            ", which installed packages depend on",
            "Packages that are not there for building depend on the packages that list these files.",
            format!("Does one of the packages that depend on them use {these}?"),
        ),
        Doubt::Folder => (
            ", in a folder that a setting names",
            "A setting of the image names a folder that holds these files.",
            format!("Does the service read {these}?"),
        ),
    };
    draft.title.push_str(title);
    reason.clone_into(&mut draft.reason);
    let statement = match doubt {
        Doubt::Unowned => "no package database of the image lists them".to_owned(),
        Doubt::Foreign => "the catalogue knows no rule by which their packages are for building".to_owned(),
        Doubt::Kind => "neither content, name nor owner agrees with the path".to_owned(),
        Doubt::Test => "installed packages or Python's own library hold them".to_owned(),
        Doubt::PackageName => "neither content nor path agrees with the names of their packages".to_owned(),
        Doubt::Dependent => depends(facts, &draft.items),
        Doubt::Folder => {
            let node = draft.items.iter().find_map(|item| item.node);
            let setting = node.and_then(|node| facts.named.folder(facts, node)).unwrap_or("a setting");
            format!("{setting} names a folder above them")
        }
    };
    draft.proof.push(statement);
    draft.question = Some(question);
}

/// Who depends on the packages that list these files.
fn depends(facts: &Facts<'_>, items: &[Item]) -> String {
    let owners: BTreeSet<usize> = items.iter().filter_map(|item| facts.owner(item.node?)).collect();
    let pair = |place: &usize| {
        let package = facts.inventory.packages.get(*place)?;
        Some(format!("{} depends on {}, maybe through others", facts.dependent(*place)?.name, package.name))
    };
    owners.iter().filter_map(pair).take(MOST_READERS).collect::<Vec<_>>().join("; ")
}

/// What was looked at and did not speak against taking the files away.
fn free(facts: &Facts<'_>, place: &Place, elf: usize, read_as: &BTreeSet<String>, draft: &mut Draft) {
    let inventory = facts.inventory;
    let used = inventory.links.objects.iter().filter(|object| object.usage != Use::Unreferenced).count();
    "Nothing that runs loads these files, and nothing that is installed is known to read them at run time."
        .clone_into(&mut draft.reason);
    if elf > 0 {
        draft.proof.push(format!(
            "none of the {elf} programs and libraries among them is needed, by the loader's rules, by any of the {used} that something reachable loads"
        ));
        draft.proof.push(
            "nothing that is reached opens them at run time, by the table of what libraries open".to_owned(),
        );
    } else {
        draft.proof.push(format!(
            "none of them is an ELF program or library: the {used} that something reachable loads cannot need them"
        ));
    }
    if !read_as.is_empty() {
        let names: Vec<&str> = read_as.iter().map(String::as_str).collect();
        let readers = readers(facts, &names);
        let frameworks: Vec<String> = inventory.frameworks.iter().map(|one| one.name.to_string()).collect();
        let installed = if frameworks.is_empty() {
            "none is installed".to_owned()
        } else {
            format!("installed: {}", frameworks.join(", "))
        };
        draft.proof.push(format!(
            "no installed framework reads them at run time; those that would: {readers}; {installed}"
        ));
    }
    if let Place::Toolkit(_) = place {
        for name in read_as {
            for copy in facts.demands.copies_of(name) {
                let copy = escape(copy);
                draft.proof.push(format!("whoever reads {name} in {copy} has a copy in a wheel there"));
            }
        }
    }
    draft.proof.push(super::rules::searched(facts, "them"));
}

/// Frameworks that would read one of these, by the catalogue.
fn readers(facts: &Facts<'_>, names: &[&str]) -> String {
    let reads = |rule: &&crate::cuda::catalog::Framework| {
        rule.reads_devel.iter().any(|read| names.contains(&read.as_str()))
    };
    let known: Vec<&str> =
        facts.catalog.frameworks().iter().filter(reads).map(|rule| rule.name.as_str()).collect();
    if known.is_empty() { "none is known".to_owned() } else { known.join(", ") }
}
