//! The verdict on build content.
//!
//! A file is needed when a reachable program loads it, or when an installed component reads it at run time. It is
//! unsure when something only mentions it. Otherwise it is safe, and the statements about these searches are its proof.

use std::collections::{BTreeMap, BTreeSet};

use super::classification::{By, ClassifiedFile};
use super::demand::{Certainty, Demand};
use super::evidence::{Agreement, Doubt, agreement};
use super::facts::Facts;
use super::finish::Draft;
use super::named::MAX_SHOWN_CHARS;
use super::rule::Rule;
use super::rules::of_file;
use super::value::{Category, Item, User, Verdict};
use crate::base::text::{elide_middle, escape, printable};
use crate::cuda::Use;
use crate::cuda::catalog::PathScope;
use crate::cuda::links::{Object, ObjectId, RootKind, site_root};

/// Maximum readers of one thing, and maximum chains from a library to its root, in a proof: an image may have
/// thousands, and a handful is proof enough.
const MOST_READERS: usize = 16;

/// Maximum Python packages with a finding of their own; the others form one finding per site-packages folder.
const MOST_PLACES: usize = 200;

/// The location of files that form one finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FindingLocation {
    /// A CUDA toolkit, by its root folder.
    Toolkit(Vec<u8>),
    /// A Python package, by its folder.
    Python(Vec<u8>),
    /// All Python packages of a site-packages folder.
    Packages(Vec<u8>),
    /// Anywhere else.
    System,
}

/// The reason for a verdict; files with the same reason form one finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum VerdictReason {
    /// Shadowed: no path leads to it.
    Hidden,
    /// Nothing loads or reads it.
    Free,
    /// Reachable programs or libraries load it.
    Loaded,
    /// These read it at run time, or mention it.
    Read(Vec<u32>),
    /// A setting or an application file mentions it.
    Named(User),
    /// Nothing mentions it, but not all programs that may start it could be searched.
    Unsearched,
    /// Its name is not among those that files are searched for.
    NotSearchedFor,
    /// A tool in a Python package without a known user.
    Tool,
    /// Only its path matches.
    Doubtful(Doubt),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    rule: &'static str,
    category: Category,
    verdict: Verdict,
    place: FindingLocation,
    because: VerdictReason,
}

#[derive(Default)]
struct Group {
    items: Vec<Item>,
    loaded: Vec<ObjectId>,
    /// Names under which the rules list such files as read at run time.
    read_as: BTreeSet<String>,
    elf: usize,
}

/// Judges all build content, and groups files with the same reason.
pub(super) fn devel(facts: &Facts<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<Key, Group> = BTreeMap::new();
    let mut places: BTreeSet<Vec<u8>> = BTreeSet::new();
    let files = facts.classification.files.iter().filter(|sorted| sorted.category.is_devel());
    let mut judged: Vec<(&ClassifiedFile<'_>, VerdictReason, Option<ObjectId>)> = files
        .filter_map(|sorted| reason_for(facts, sorted).map(|(because, object)| (sorted, because, object)))
        .collect();
    follow_programs(facts, &mut judged);
    follow_links(facts, &mut judged);
    for (sorted, because, object) in judged {
        let path = path_of(facts, sorted);
        let mut place = place(facts, &path);
        if let FindingLocation::Python(folder) = &place
            && !places.contains(folder)
        {
            if places.len() < MOST_PLACES {
                places.insert(folder.clone());
            } else if let Some((site, _)) = site_root(&path) {
                place = FindingLocation::Packages(site.to_vec());
            }
        }
        if because == VerdictReason::Doubtful(Doubt::Test) {
            // Nearly every package has tests: one question for all of them.
            place = site_root(&path)
                .map_or(FindingLocation::System, |(site, _)| FindingLocation::Packages(site.to_vec()));
        }
        let rule = of_file(sorted, &place);
        let verdict = verdict(facts, &because);
        let group = groups
            .entry(Key { rule: rule.id, category: sorted.category, verdict, place, because })
            .or_default();
        group.items.push(sorted.item);
        group.loaded.extend(object);
        group.elf += usize::from(facts.object_of((sorted.item.layer, sorted.item.entry)).is_some());
        for name in facts.classification.names(sorted) {
            group.read_as.extend(read_as(facts, name).map(str::to_owned));
        }
    }
    groups.into_iter().filter_map(|(key, group)| draft(facts, key, group)).collect()
}

fn verdict(facts: &Facts<'_>, because: &VerdictReason) -> Verdict {
    match because {
        VerdictReason::Hidden | VerdictReason::Free => Verdict::Safe,
        VerdictReason::Loaded => Verdict::Needed,
        VerdictReason::Tool
        | VerdictReason::Unsearched
        | VerdictReason::NotSearchedFor
        | VerdictReason::Doubtful(_)
        | VerdictReason::Named(User::File(_)) => Verdict::Unsure,
        VerdictReason::Named(_) => Verdict::Needed,
        VerdictReason::Read(demands) => {
            let mut demands = demands.iter().filter_map(|place| facts.demands.get(*place));
            if demands.any(|demand| demand.certainty == Certainty::Known) {
                Verdict::Needed
            } else {
                Verdict::Unsure
            }
        }
    }
}

/// The path of a file: as a container sees it, or in its layer when shadowed.
pub(super) fn path_of(facts: &Facts<'_>, sorted: &ClassifiedFile<'_>) -> Vec<u8> {
    match sorted.item.node {
        Some(node) => facts.path(node),
        None => facts.rootfs.layer(sorted.item.layer).path(sorted.item.entry),
    }
}

pub(super) fn place(facts: &Facts<'_>, path: &[u8]) -> FindingLocation {
    if let Some((site, rest)) = site_root(path) {
        let package = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
        return FindingLocation::Python([site, b"/", package].concat());
    }
    match facts.catalog.toolkit_root(path) {
        Some((root, _)) => FindingLocation::Toolkit(root.to_vec()),
        None => FindingLocation::System,
    }
}

/// The name under which a file is read, by the rules for its path and for the package that owns it.
fn read_as<'f>(facts: &'f Facts<'_>, sorted: &ClassifiedFile<'f>) -> impl Iterator<Item = &'f str> {
    let by_path = match sorted.by {
        By::Path(rule) => Some(rule),
        By::Package => None,
    };
    let owner = sorted.item.node.and_then(|node| facts.owner(node));
    let by_package = owner.and_then(|place| facts.devel_rule(place));
    let of_path = by_path.and_then(|rule| rule.read_as.as_deref());
    // The path is more specific: headers in a compiler package are headers. That builds read static libraries and
    // metadata is only a default; those of the C library belong to the compiler.
    let is_exact = of_path.is_some_and(|name| name != "cmake");
    let of_package = by_package.and_then(|rule| rule.read_as.as_deref()).filter(|_| !is_exact);
    of_path.into_iter().chain(of_package)
}

/// Whether a used object loads this one, not only its own start by name.
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

/// Other files of a package, such as messages and Perl modules, are used when one of its programs is.
fn follow_programs(facts: &Facts<'_>, judged: &mut [(&ClassifiedFile<'_>, VerdictReason, Option<ObjectId>)]) {
    let owner = |sorted: &ClassifiedFile<'_>| facts.owner(sorted.item.node?);
    let mut used: BTreeMap<usize, VerdictReason> = BTreeMap::new();
    for (sorted, because, _) in judged.iter() {
        if !matches!(
            because,
            VerdictReason::Read(_) | VerdictReason::Named(_) | VerdictReason::NotSearchedFor
        ) {
            continue;
        }
        let Some(package) = owner(sorted) else { continue };
        let worst = used.entry(package).or_insert_with(|| because.clone());
        if verdict(facts, because) > verdict(facts, worst) {
            worst.clone_from(because);
        }
    }
    for (sorted, because, _) in judged.iter_mut() {
        let is_beside = matches!(sorted.by, By::Package) && *because == VerdictReason::Free;
        if let Some(of_program) = owner(sorted).and_then(|package| used.get(&package))
            && is_beside
        {
            because.clone_from(of_program);
        }
    }
}

/// Libraries of a program whose users could not be searched need the same review as the program.
fn follow_links(facts: &Facts<'_>, judged: &mut [(&ClassifiedFile<'_>, VerdictReason, Option<ObjectId>)]) {
    let object = |sorted: &ClassifiedFile<'_>| facts.object_of((sorted.item.layer, sorted.item.entry));
    let is_asked = |because: &VerdictReason| *because == VerdictReason::NotSearchedFor;
    let mut asked: BTreeSet<ObjectId> = judged
        .iter()
        .filter(|(_, because, _)| is_asked(because))
        .filter_map(|(sorted, ..)| object(sorted).map(|(id, _)| id))
        .collect();
    let mut free: Vec<usize> =
        (0..judged.len()).filter(|place| judged[*place].1 == VerdictReason::Free).collect();
    let mut before = 0;
    while asked.len() > before {
        before = asked.len();
        free.retain(|place| {
            let (sorted, because, _) = &mut judged[*place];
            let Some((id, object)) = object(sorted) else { return false };
            let is_used = object.needed_by.iter().chain(&object.opened_by).any(|user| asked.contains(user));
            if is_used {
                *because = VerdictReason::NotSearchedFor;
                asked.insert(id);
            }
            !is_used
        });
    }
}

/// The strongest reason to keep a file, over all of its names. `None` when one of the names is not that of build
/// content.
fn reason_for(facts: &Facts<'_>, sorted: &ClassifiedFile<'_>) -> Option<(VerdictReason, Option<ObjectId>)> {
    let mut worst: Option<(VerdictReason, Option<ObjectId>)> = None;
    for name in facts.classification.names(sorted) {
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
    sorted: &ClassifiedFile<'_>,
    path: &[u8],
    agreement: Agreement,
) -> (VerdictReason, Option<ObjectId>) {
    if sorted.item.node.is_none() {
        return (VerdictReason::Hidden, None);
    }
    let object = facts.object_of((sorted.item.layer, sorted.item.entry));
    // Extension modules in tests are roots only because they exist.
    let is_test = agreement == Agreement::Doubtful(Doubt::Test);
    if let Some((id, object)) = object
        && (if is_test { is_loaded_by_others(facts, object) } else { is_loaded(facts, object) })
    {
        return (VerdictReason::Loaded, Some(id));
    }
    if let Some(user) = sorted.item.node.and_then(|node| facts.named.user(facts, node)) {
        return (VerdictReason::Named(user), None);
    }
    let copy = site_root(path).map(|(site, _)| site);
    let heard = searched_terms(sorted, path);
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
        return (VerdictReason::Read(demands), None);
    }
    if let Agreement::Doubtful(doubt) = agreement {
        return (VerdictReason::Doubtful(doubt), None);
    }
    let of_wheel = matches!(sorted.by, By::Path(rule) if rule.scope == PathScope::Python);
    if of_wheel && sorted.category == Category::Compilers {
        return (VerdictReason::Tool, None);
    }
    // Files that are run or opened by name may be mentioned in files that were not searched.
    let by_name = matches!(sorted.category, Category::Compilers | Category::BuildTools) || object.is_some();
    let searched = &facts.inventory.searched;
    let in_libraries = names.iter().any(|name| super::demand::is_not_searched_in_libraries(name));
    if facts.named.cut
        || (by_name && searched.programs_left_out > 0)
        || (in_libraries && searched.libraries_left_out > 0)
    {
        return (VerdictReason::Unsearched, None);
    }
    if heard.is_some_and(|heard| heard.is_empty()) && searched.files > 0 {
        return (VerdictReason::NotSearchedFor, None);
    }
    (VerdictReason::Free, None)
}

/// The names under which a compiler or build tool is read; empty if files are not searched for it. `None` for
/// files that are not started by name.
fn searched_terms(sorted: &ClassifiedFile<'_>, path: &[u8]) -> Option<BTreeSet<&'static str>> {
    let (folder, name) = path.split_at(path.iter().rposition(|byte| *byte == b'/')?);
    let name = str::from_utf8(&name[1..]).ok()?;
    let is_program = folder.ends_with(b"/bin") || folder.ends_with(b"/sbin");
    let is_tool = matches!(sorted.category, Category::Compilers | Category::BuildTools);
    // Programs with such names are parts of others.
    (is_tool && is_program && !name.starts_with('_')).then(|| super::demand::searched_terms(name))
}

/// The name of everything installed outside toolkits that compiling or linking at run time reads.
fn libraries(facts: &Facts<'_>, sorted: &ClassifiedFile<'_>, path: &[u8]) -> Option<&'static str> {
    let is_read =
        matches!(sorted.category, Category::Headers | Category::StaticLibraries | Category::BuildMetadata);
    (is_read && facts.catalog.toolkit_root(path).is_none()).then_some("libraries")
}

/// Folders of data of autotools.
const AUTOTOOLS: [&[u8]; 4] =
    [b"/usr/share/autoconf/", b"/usr/share/automake-", b"/usr/share/libtool/", b"/usr/share/bison/"];

/// The name of a tool that the rules do not list as read.
fn tool_names(sorted: &ClassifiedFile<'_>, path: &[u8]) -> Option<&'static str> {
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
        VerdictReason::Hidden => {
            draft.title.push_str(", already shadowed by an upper layer");
            "An upper layer deletes or replaces these files. No path in a container leads to them, but every pull downloads them."
                .clone_into(&mut draft.reason);
            draft.proof.push("no path of the merged view leads to any of these files".to_owned());
        }
        VerdictReason::Loaded => loaded(facts, &group.loaded, &mut draft),
        VerdictReason::Read(demands) => {
            let demands: Vec<&Demand> =
                demands.iter().filter_map(|place| facts.demands.get(*place)).collect();
            read(&demands, &mut draft);
        }
        VerdictReason::Named(user) => named(facts, user, &mut draft),
        VerdictReason::Unsearched => {
            "No known user, but not all programs of the image could be searched for their names."
                .clone_into(&mut draft.reason);
            draft.proof.push(super::rules::searched(facts, "them"));
            draft.question =
                Some("Do the programs that were not searched run or open these files?".to_owned());
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
                return Some(draft);
            };
            let folder = escape(folder);
            draft.question = Some(format!("Does anything run the tools in {folder} at run time?"));
        }
        VerdictReason::Doubtful(doubt) => doubtful(facts, doubt, &mut draft),
        VerdictReason::Free => free(facts, &key.place, group.elf, &group.read_as, &mut draft),
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
    draft.reason = format!("Mentioned by {who}.");
    draft.proof.push(format!("{who} mentions them"));
    if matches!(user, User::File(_)) {
        draft.question = Some(format!("Does {who} use them at run time?"));
    }
    draft.users.push(user);
}

fn loaded(facts: &Facts<'_>, objects: &[ObjectId], draft: &mut Draft) {
    let links = &facts.inventory.links;
    "Reachable programs load these files.".clone_into(&mut draft.reason);
    for id in objects.iter().take(MOST_READERS) {
        let chain: Vec<String> =
            links.chain(*id).iter().map(|step| facts.shown(links.object(*step).node)).collect();
        let root = links.chain(*id).last().and_then(|root| links.object(*root).root.clone());
        let why = root.map_or_else(String::new, |root| format!(" ({})", printable(&root.why)));
        draft.proof.push(format!("{}{why}", chain.join(" ← ")));
        draft.users.extend(links.chain(*id).get(1).map(|user| User::Object(*user)));
    }
    if let Some(more) = objects.len().checked_sub(MOST_READERS).filter(|more| *more > 0) {
        draft.proof.push(format!("and {more} more chains"));
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
        draft.question = Some(format!("Are these files used at run time? {} {}.", first.who, first.why));
    }
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
    draft.proof.push(super::rules::searched(facts, "them"));
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
