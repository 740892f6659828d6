//! The verdict on build content.
//!
//! A file is needed when a reachable program loads it, or when an installed component reads it at run time. It is
//! unsure when something only mentions it. Otherwise it is safe, and the statements about these searches are its proof.

use std::collections::{BTreeMap, BTreeSet};

use super::super::common::path_in;
use super::Judged;
use super::evidence::{Agreement, Doubt, agreement};
use crate::cuda::Use;
use crate::cuda::catalog::{Evidence, PathScope};
use crate::cuda::links::{Object, ObjectId, RootKind, site_root};
use crate::findings::classification::{By, ClassifiedFile};
use crate::findings::demand::{self, Certainty};
use crate::findings::facts::Facts;
use crate::findings::value::{Category, User, Verdict};
use crate::rootfs::PathBuffer;

/// Maximum readers of one thing, and maximum chains from a library to its root, in a proof: an image may have
/// thousands, and a handful is proof enough.
pub(super) const MOST_READERS: usize = 16;

/// The reason for a verdict; files with the same reason form one finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum VerdictReason {
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

pub(super) fn verdict(facts: &Facts<'_>, because: &VerdictReason) -> Verdict {
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

/// The name under which a file is read, by the rules for its path and for the package that owns it.
pub(super) fn read_as<'f>(
    facts: &'f Facts<'_>,
    sorted: &ClassifiedFile<'f>,
) -> impl Iterator<Item = &'f str> {
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
pub(in super::super) fn is_loaded(facts: &Facts<'_>, object: &Object) -> bool {
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
pub(super) fn follow_programs(facts: &Facts<'_>, judged: &mut [Judged<'_>]) {
    let owner = |sorted: &ClassifiedFile<'_>| facts.owner(sorted.item.node?);
    let mut used: BTreeMap<usize, VerdictReason> = BTreeMap::new();
    for Judged { sorted, because, .. } in judged.iter() {
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
    for Judged { sorted, because, .. } in judged.iter_mut() {
        let is_beside = matches!(sorted.by, By::Package) && *because == VerdictReason::Free;
        if let Some(of_program) = owner(sorted).and_then(|package| used.get(&package))
            && is_beside
        {
            because.clone_from(of_program);
        }
    }
}

/// Libraries of a program whose users could not be searched need the same review as the program.
pub(super) fn follow_links(facts: &Facts<'_>, judged: &mut [Judged<'_>]) {
    let object = |sorted: &ClassifiedFile<'_>| facts.object_of((sorted.item.layer, sorted.item.entry));
    let is_asked = |because: &VerdictReason| *because == VerdictReason::NotSearchedFor;
    let mut asked: BTreeSet<ObjectId> = judged
        .iter()
        .filter(|judged| is_asked(&judged.because))
        .filter_map(|judged| object(judged.sorted).map(|(id, _)| id))
        .collect();
    let mut free: Vec<usize> =
        (0..judged.len()).filter(|place| judged[*place].because == VerdictReason::Free).collect();
    let mut before = 0;
    while asked.len() > before {
        before = asked.len();
        free.retain(|place| {
            let Judged { sorted, because, .. } = &mut judged[*place];
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
pub(super) fn reason_for(
    facts: &Facts<'_>,
    sorted: &ClassifiedFile<'_>,
    paths: &mut PathBuffer,
) -> Option<(VerdictReason, Option<ObjectId>)> {
    let mut worst: Option<(VerdictReason, Option<ObjectId>)> = None;
    for name in facts.classification.names(sorted) {
        let path = path_in(facts, &name.item, paths);
        let agreement = agreement(facts, name, &path);
        if agreement == Agreement::Denies {
            return None;
        }
        let other = because(facts, name, &path, agreement);
        let Some((reason, object)) = &mut worst else {
            worst = Some(other);
            continue;
        };
        let (was, is) = (verdict(facts, reason), verdict(facts, &other.0));
        match (&mut *reason, other) {
            _ if was > is => {}
            (reason, other) if is > was => (*reason, *object) = other,
            // Readers under all names are readers of the file.
            (VerdictReason::Read(readers), (VerdictReason::Read(more), _)) => {
                readers.extend(more);
                readers.sort_unstable();
                readers.dedup();
            }
            (VerdictReason::Read(_), _) => {}
            (reason, other) if matches!(other.0, VerdictReason::Read(_)) => (*reason, *object) = other,
            _ => {}
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
    let user = sorted.item.node.and_then(|node| facts.named.user(facts, node));
    if let Some(user) = user.clone().filter(|user| !matches!(user, User::File(_))) {
        return (VerdictReason::Named(user), None);
    }
    let copy = site_root(path).map(|(site, _)| site);
    let names = names(facts, sorted, path);
    let mut demands: Vec<u32> =
        names.iter().flat_map(|name| facts.demands.on(name, copy).take(MOST_READERS)).collect();
    demands.sort_unstable();
    demands.dedup();
    // That a file mentions it does not free it of its readers: a test of SciPy names the `libm.so` that linkers read.
    if let Some(user) = user.filter(|_| demands.is_empty()) {
        return (VerdictReason::Named(user), None);
    }
    if demands.is_empty() {
        return (without_readers(facts, sorted, path, agreement, &names), None);
    }
    (VerdictReason::Read(demands), None)
}

/// The names under which a file is read.
pub(super) fn names<'f>(facts: &'f Facts<'_>, sorted: &ClassifiedFile<'f>, path: &[u8]) -> BTreeSet<&'f str> {
    let heard = searched_terms(sorted, path);
    read_as(facts, sorted)
        .chain(tool_names(sorted, path))
        .chain(libraries(facts, sorted, path))
        .chain(heard.into_iter().flatten())
        .collect()
}

/// The reason if nothing is known to read a file.
pub(super) fn without_readers(
    facts: &Facts<'_>,
    sorted: &ClassifiedFile<'_>,
    path: &[u8],
    agreement: Agreement,
    names: &BTreeSet<&str>,
) -> VerdictReason {
    if let Agreement::Doubtful(doubt) = agreement {
        return VerdictReason::Doubtful(doubt);
    }
    let of_wheel = matches!(sorted.by, By::Path(rule) if rule.scope == PathScope::Python);
    if of_wheel && sorted.category == Category::Compilers {
        return VerdictReason::Tool;
    }
    // Files that are run or opened by name may be mentioned in files that were not searched.
    let object = facts.object_of((sorted.item.layer, sorted.item.entry));
    let by_name = matches!(sorted.category, Category::Compilers | Category::BuildTools)
        || object.is_some()
        || is_read_by_compilers(sorted) && facts.has_compiler;
    let searched = &facts.inventory.searched;
    let in_libraries = names.iter().any(|name| demand::is_not_searched_in_libraries(name));
    if facts.named.cut
        || (by_name && searched.programs_left_out > 0)
        || (in_libraries && searched.libraries_left_out > 0)
    {
        return VerdictReason::Unsearched;
    }
    if searched_terms(sorted, path).is_some_and(|heard| heard.is_empty()) {
        return VerdictReason::NotSearchedFor;
    }
    VerdictReason::Free
}

/// The names under which a compiler or build tool is read; empty if files are not searched for it. `None` for
/// files that are not started by name.
fn searched_terms(sorted: &ClassifiedFile<'_>, path: &[u8]) -> Option<BTreeSet<&'static str>> {
    let (folder, name) = path.split_at(path.iter().rposition(|byte| *byte == b'/')?);
    let name = str::from_utf8(&name[1..]).ok()?;
    let is_program = folder.ends_with(b"/bin") || folder.ends_with(b"/sbin");
    let is_tool = matches!(sorted.category, Category::Compilers | Category::BuildTools);
    // Programs with such names are parts of others.
    (is_tool && is_program && !name.starts_with('_')).then(|| demand::searched_terms(name))
}

/// Whether compilers and linkers read a file: what may run them unnoticed needs it, too.
pub(super) fn is_read_by_compilers(sorted: &ClassifiedFile<'_>) -> bool {
    matches!(sorted.category, Category::Headers | Category::StaticLibraries | Category::BuildMetadata)
}

/// The name of everything installed outside toolkits that compiling or linking at run time reads.
fn libraries(facts: &Facts<'_>, sorted: &ClassifiedFile<'_>, path: &[u8]) -> Option<&'static str> {
    (is_read_by_compilers(sorted) && facts.catalog.toolkit_root(path).is_none()).then_some("libraries")
}

/// Folders of data of autotools.
const AUTOTOOLS: [&[u8]; 4] =
    [b"/usr/share/autoconf/", b"/usr/share/automake-", b"/usr/share/libtool/", b"/usr/share/bison/"];

/// The name of a tool that the rules do not list as read.
fn tool_names(sorted: &ClassifiedFile<'_>, path: &[u8]) -> Option<&'static str> {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = demand::tool_name(str::from_utf8(name).unwrap_or_default());
    let is_test = matches!(sorted.by, By::Path(rule) if rule.evidence == Some(Evidence::Test));
    match (sorted.category, name) {
        (Category::DocsSamples, _) if is_test => None,
        (Category::DocsSamples, _) => Some("documentation"),
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
