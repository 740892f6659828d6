//! The rules about build content: what they find follows from path, content and owner. They are evaluated together,
//! and files with the same reason form one finding.

mod draft;
mod evidence;
mod readers;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use super::common::path_in;
use crate::cuda::catalog::Evidence;
use crate::cuda::links::{ObjectId, file_name, folder_of, site_root};
use crate::findings::classification::{By, ClassifiedFile};
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Item, Rule, Severity, User, Verdict};
use crate::jobs::map_stretches;
use crate::rootfs::{NodeId, PathBuffer};
use evidence::Doubt;
use readers::Asked;
pub(super) use verdict::is_loaded;
use verdict::{MOST_READERS, VerdictReason, follow_links, follow_programs, read_as, reason_for, verdict};

pub(super) static STUBS: Rule = Rule {
    id: "stubs",
    title: "Stub libraries",
    category: Category::Stubs,
    severity: Severity::Low,
    fix: "Keep them in a build stage: link with -L, and never copy them.",
    page: include_str!("../../../assets/manual/rules/stubs.md"),
};

pub(super) static STATIC_LIBRARIES: Rule = Rule {
    id: "static-libraries",
    title: "Static libraries",
    category: Category::StaticLibraries,
    severity: Severity::Medium,
    fix: "Keep them in a build stage, or use a base image without them.",
    page: include_str!("../../../assets/manual/rules/static-libraries.md"),
};

pub(super) static HEADERS: Rule = Rule {
    id: "headers",
    title: "Headers",
    category: Category::Headers,
    severity: Severity::Low,
    fix: "Keep them in a build stage, or use a base image without them.",
    page: include_str!("../../../assets/manual/rules/headers.md"),
};

pub(super) static PYTHON_BUILD_LEFTOVERS: Rule = Rule {
    id: "python-build-leftovers",
    title: "Headers and static libraries in Python packages",
    category: Category::Headers,
    severity: Severity::Low,
    fix: "Delete them in the RUN instruction that installs the package.",
    page: include_str!("../../../assets/manual/rules/python-build-leftovers.md"),
};

pub(super) static PROFILERS: Rule = Rule {
    id: "profilers",
    title: "Profilers",
    category: Category::Profilers,
    severity: Severity::Medium,
    fix: "Profile in a separate image, or with the tools of the host.",
    page: include_str!("../../../assets/manual/rules/profilers.md"),
};

pub(super) static DEBUGGERS: Rule = Rule {
    id: "debuggers",
    title: "Debuggers",
    category: Category::Debuggers,
    severity: Severity::Low,
    fix: "Keep them in a build stage, or debug in a separate image.",
    page: include_str!("../../../assets/manual/rules/debuggers.md"),
};

pub(super) static COMPILERS: Rule = Rule {
    id: "compilers",
    title: "Compilers",
    category: Category::Compilers,
    severity: Severity::Medium,
    fix: "Keep them in a build stage, or use a base image without them.",
    page: include_str!("../../../assets/manual/rules/compilers.md"),
};

pub(super) static BUILD_METADATA: Rule = Rule {
    id: "build-metadata",
    title: "Build metadata",
    category: Category::BuildMetadata,
    severity: Severity::Low,
    fix: "Keep these files in a build stage.",
    page: include_str!("../../../assets/manual/rules/build-metadata.md"),
};

pub(super) static DOCS_SAMPLES: Rule = Rule {
    id: "docs-samples",
    title: "Documentation and samples",
    category: Category::DocsSamples,
    severity: Severity::Low,
    fix: "Exclude them when packages are installed.",
    page: include_str!("../../../assets/manual/rules/docs-samples.md"),
};

pub(super) static PYTHON_TESTS: Rule = Rule {
    id: "python-tests",
    title: "Python tests",
    category: Category::DocsSamples,
    severity: Severity::Low,
    fix: "Delete them in the RUN instruction that installs the package.",
    page: include_str!("../../../assets/manual/rules/python-tests.md"),
};

pub(super) static BUILD_TOOLS: Rule = Rule {
    id: "build-tools",
    title: "Build tools",
    category: Category::BuildTools,
    severity: Severity::Medium,
    fix: "Keep them in a build stage, or install and purge them in one RUN.",
    page: include_str!("../../../assets/manual/rules/build-tools.md"),
};

/// The build content rule for a classified file.
fn of_file(file: &ClassifiedFile<'_>, place: &FindingLocation) -> &'static Rule {
    if matches!(file.by, By::Path(rule) if rule.evidence == Some(Evidence::Test)) {
        return &PYTHON_TESTS;
    }
    match (file.category, place) {
        (
            Category::Headers | Category::StaticLibraries,
            FindingLocation::Python(_) | FindingLocation::Packages(_),
        ) => &PYTHON_BUILD_LEFTOVERS,
        (Category::Stubs, _) => &STUBS,
        (Category::StaticLibraries, _) => &STATIC_LIBRARIES,
        (Category::Headers, _) => &HEADERS,
        (Category::Profilers, _) => &PROFILERS,
        (Category::Debuggers, _) => &DEBUGGERS,
        (Category::Compilers, _) => &COMPILERS,
        (Category::BuildMetadata, _) => &BUILD_METADATA,
        (Category::DocsSamples, _) => &DOCS_SAMPLES,
        _ => &BUILD_TOOLS,
    }
}

/// Maximum Python packages with a finding of their own; the others form one finding per site-packages folder.
const MOST_PLACES: usize = 200;

/// The location of files that form one finding.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FindingLocation {
    /// A CUDA toolkit, by its root folder.
    Toolkit(Vec<u8>),
    /// A Python package, by its folder.
    Python(Vec<u8>),
    /// All Python packages of a site-packages folder.
    Packages(Vec<u8>),
    /// Anywhere else.
    System,
}

impl FindingLocation {
    /// All packages of the folder that a package is in; anything else is the system.
    fn of_all_packages(self) -> Self {
        match self {
            Self::Python(package) => Self::Packages(folder_of(&package).to_vec()),
            Self::Packages(_) => self,
            Self::Toolkit(_) | Self::System => Self::System,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    rule: &'static Rule,
    category: Category,
    verdict: Verdict,
    place: FindingLocation,
    because: VerdictReason,
    /// Whether compilers of the system come with the files: who compiles needs these, and those of other libraries perhaps.
    of_compilers: bool,
    /// Whether a question is about the files themselves, too, not only about who may need them.
    is_doubtful: bool,
}

#[derive(Default)]
struct Group<'f> {
    items: Vec<Item>,
    loaded: Vec<ObjectId>,
    /// Names under which the rules list such files as read at run time.
    read_as: BTreeSet<String>,
    elf: usize,
    /// Files that mention one of them, although others read it.
    named: BTreeSet<NodeId>,
    /// What a question about who may need them depends on.
    asked: Asked<'f>,
}

impl Group<'_> {
    fn join(&mut self, other: Self) {
        self.items.extend(other.items);
        self.loaded.extend(other.loaded);
        self.read_as.extend(other.read_as);
        self.elf += other.elf;
        self.named.extend(other.named);
        self.asked.extend(other.asked);
    }
}

/// A file of build content.
struct Judged<'f> {
    sorted: &'f ClassifiedFile<'f>,
    because: VerdictReason,
    /// The object that is loaded.
    object: Option<ObjectId>,
    place: FindingLocation,
}

/// Files that one thread judges at least.
const STRETCH: usize = 512;

/// Judges all build content, and groups files with the same reason.
pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<Key, Group<'_>> = BTreeMap::new();
    let mut places: BTreeSet<Vec<u8>> = BTreeSet::new();
    let files = facts.classification.files.iter().filter(|sorted| sorted.category.is_devel());
    let files: Vec<&ClassifiedFile<'_>> = files.collect();
    let mut judged = map_stretches(&files, STRETCH, |files| {
        let mut paths = PathBuffer::default();
        files.iter().filter_map(|sorted| judge(facts, sorted, &mut paths)).collect()
    });
    follow_programs(facts, &mut judged);
    follow_links(facts, &mut judged);
    let is_open = |at: &usize| is_about_readers(facts, &judged[*at].because);
    let open: Vec<usize> = (0..judged.len()).filter(is_open).collect();
    let asked = map_stretches(&open, STRETCH, |open| {
        let mut paths = PathBuffer::default();
        let of = |at: &usize| {
            let file = &judged[*at];
            Asked::of(facts, of_file(file.sorted, &file.place), file.sorted, &mut paths)
        };
        open.iter().map(of).collect()
    });
    let mut asked = open.into_iter().zip(asked).peekable();
    for (at, Judged { sorted, because, object, mut place }) in judged.into_iter().enumerate() {
        let asked = asked.next_if(|(open, _)| *open == at).map(|(_, asked)| asked);
        if let FindingLocation::Python(folder) = &place
            && !places.contains(folder)
        {
            if places.len() < MOST_PLACES {
                places.insert(folder.clone());
            } else {
                place = place.of_all_packages();
            }
        }
        if because == VerdictReason::Doubtful(Doubt::Test) {
            // Nearly every package has tests: one question for all of them.
            place = place.of_all_packages();
        }
        let rule = of_file(sorted, &place);
        let verdict = verdict(facts, &because);
        let is_doubtful = matches!(asked, Some(None));
        let named = match sorted.item.node.and_then(|node| facts.named.user(facts, node)) {
            Some(User::File(node)) if matches!(because, VerdictReason::Read(_)) => Some(node),
            _ => None,
        };
        let of_compilers = verdict == Verdict::Unsure
            && place == FindingLocation::System
            && matches!(sorted.category, Category::Headers | Category::StaticLibraries)
            && is_of_compilers(facts, sorted.item.node);
        let key = Key { rule, category: sorted.category, verdict, place, because, of_compilers, is_doubtful };
        let group = groups.entry(key).or_default();
        group.items.push(sorted.item);
        if let Some(asked) = asked.flatten() {
            group.asked.extend(asked);
        }
        group.loaded.extend(object);
        if group.named.len() < MOST_READERS {
            group.named.extend(named);
        }
        group.elf += usize::from(facts.object_of((sorted.item.layer, sorted.item.entry)).is_some());
        for name in facts.classification.names(sorted) {
            group.read_as.extend(read_as(facts, name).map(str::to_owned));
        }
    }
    join_small(&mut groups);
    let mut names: BTreeMap<&[u8], usize> = BTreeMap::new();
    for folder in &places {
        *names.entry(file_name(folder)).or_default() += 1;
    }
    let is_unique = |folder: &[u8]| names.get(file_name(folder)) == Some(&1);
    let mut drafts: Vec<Draft> =
        groups.into_iter().map(|(key, group)| draft::draft(facts, key, group, &is_unique)).collect();
    draft::tell_apart(facts, &mut drafts);
    drafts
}

/// What small groups that are joined have in common.
type Kind = (&'static str, Category, FindingLocation, bool);

/// Joins small groups in question with a far larger one of the same kind whose readers include all of theirs: a no to
/// the larger one answers them, too.
fn join_small(groups: &mut BTreeMap<Key, Group<'_>>) {
    const SMALL: u64 = 1 << 20;
    const RATIO: u64 = 10;
    let bytes = |group: &Group<'_>| group.items.iter().map(|item| item.bytes).sum::<u64>();
    let demands = |key: &Key| match &key.because {
        VerdictReason::Read(demands) if key.verdict == Verdict::Unsure && !key.is_doubtful => {
            Some(demands.iter().copied().collect::<BTreeSet<u32>>())
        }
        _ => None,
    };
    let mut kinds: BTreeMap<Kind, Vec<(u64, BTreeSet<u32>, Key)>> = BTreeMap::new();
    for (key, group) in groups.iter() {
        if let Some(demands) = demands(key) {
            let kind = (key.rule.id, key.category, key.place.clone(), key.of_compilers);
            kinds.entry(kind).or_default().push((bytes(group), demands, key.clone()));
        }
    }
    for mut same in kinds.into_values() {
        same.sort_by_key(|(bytes, ..)| std::cmp::Reverse(*bytes));
        for (own, readers, key) in same.iter().filter(|(own, ..)| *own < SMALL) {
            let includes = |(all, others, key): &&(u64, BTreeSet<u32>, Key)| {
                *all >= own.saturating_mul(RATIO).max(1)
                    && readers.is_subset(others)
                    && groups.contains_key(key)
            };
            let Some((.., larger)) = same.iter().find(includes) else { continue };
            if let Some(small) = groups.remove(key)
                && let Some(group) = groups.get_mut(larger)
            {
                group.join(small);
            }
        }
    }
}

fn is_of_compilers(facts: &Facts<'_>, node: Option<NodeId>) -> bool {
    let owner = node.and_then(|node| facts.owner(node));
    let package = owner.and_then(|place| facts.inventory.packages.get(place));
    package
        .is_some_and(|package| package.is_of_system() && crate::cuda::catalog::is_of_compilers(&package.name))
}

/// Whether a question for this reason is about who may need the files.
fn is_about_readers(facts: &Facts<'_>, because: &VerdictReason) -> bool {
    let is_one = matches!(
        because,
        VerdictReason::Read(_) | VerdictReason::Unsearched | VerdictReason::Doubtful(Doubt::Dependent)
    );
    is_one && verdict(facts, because) == Verdict::Unsure
}

/// `None` if it is not build content.
fn judge<'f>(
    facts: &Facts<'f>,
    sorted: &'f ClassifiedFile<'f>,
    paths: &mut PathBuffer,
) -> Option<Judged<'f>> {
    let (because, object) = reason_for(facts, sorted, paths)?;
    Some(Judged { sorted, because, object, place: place(facts, &path_in(facts, &sorted.item, paths)) })
}

fn place(facts: &Facts<'_>, path: &[u8]) -> FindingLocation {
    if let Some((site, rest)) = site_root(path) {
        let package = rest.split(|byte| *byte == b'/').next().unwrap_or_default();
        return FindingLocation::Python([site, b"/", package].concat());
    }
    match facts.catalog.toolkit_root(path) {
        Some((root, _)) => FindingLocation::Toolkit(root.to_vec()),
        None => FindingLocation::System,
    }
}
