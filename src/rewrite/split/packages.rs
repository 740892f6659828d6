//! The system packages that a smaller stage installs, and their names.

use std::collections::BTreeSet;

use hashbrown::{HashMap, HashSet};

use super::LITTLE;
use super::context::SplitContext;
use super::keep::Keep;
use super::shell::{Work, is_package_word};
use super::steps::{Kind, Step, Steps};
use crate::cuda::links::{ObjectId, Paths};
use crate::formats::packages::dpkg::{DIVERSIONS, Diversions};
use crate::rewrite::input::Input;
use crate::rewrite::tidy::Call;
use crate::rootfs::{Node, NodeId};

/// Maximum packages compared with each other to find the few to name.
const MOST_COMPARED: usize = 60;

/// Packages that only install Python packages: a stage that copies the results does not need them.
const OF_PYTHON: [&str; 6] = ["pip", "venv", "setuptools", "wheel", "virtualenv", "pipx"];

/// Named packages that stay, by their indexes in the inventory, and names of those that do not.
#[derive(Clone)]
pub(super) struct PackageSelection {
    pub(super) kept: Vec<usize>,
    pub(super) dropped: BTreeSet<String>,
    /// Packages to install although the instruction that installs them stays in the build stage.
    pub(super) apart: Vec<usize>,
    /// Packages with libraries of dropped ones that a program may open by name.
    pub(super) opened: Vec<usize>,
    /// Packages with interpreters that came with dropped ones for developing in their language.
    pub(super) interpreters: Vec<usize>,
}

impl PackageSelection {
    /// With the packages that the stage installs anyway, although only a build seemed to need them.
    pub(super) fn with_needed(&self, keep: &Keep<'_, '_>) -> Self {
        let mut all = self.clone();
        for place in &keep.installed {
            if all.dropped.remove(&keep.context.input.inventory.packages[*place].name) {
                all.kept.push(*place);
            }
        }
        all.kept.sort_unstable();
        all.kept.dedup();
        all
    }

    /// All packages that stay.
    pub(super) fn stay(&self) -> Vec<usize> {
        self.kept.iter().chain(&self.apart).chain(&self.opened).chain(&self.interpreters).copied().collect()
    }

    /// Why the stage has interpreters that no instruction names.
    pub(super) fn assumption_of_interpreters(&self, context: &SplitContext<'_>) -> Option<String> {
        let packages = &context.input.inventory.packages;
        let unnamed = self.interpreters.iter().filter(|place| !self.kept.contains(place));
        let names: Vec<&str> = unnamed.map(|place| packages[*place].name.as_str()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "Came with packages for development that are left out, and may be run by name: {}.",
                names.join(", ")
            )
        })
    }

    /// Why the stage has packages that no file is known to need.
    pub(super) fn assumption(&self, context: &SplitContext<'_>) -> Option<String> {
        let names: Vec<&str> =
            self.opened.iter().map(|place| context.input.inventory.packages[*place].name.as_str()).collect();
        let it = if names.len() == 1 { "its library" } else { "their libraries" };
        (!names.is_empty()).then(|| {
            format!(
                "No program is linked with {it}, but the build asks for the headers, so a Python package may open {it} by \
                 name: {}.",
                names.join(", ")
            )
        })
    }
}

/// Splits the packages that instructions name into kept and dropped ones. With `copies` the stage copies its
/// language packages from another one, and needs no installer for them.
pub(super) fn asked(context: &SplitContext<'_>, steps: &Steps<'_, '_>, copies: bool) -> PackageSelection {
    let programs = steps.programs();
    let calls = !copies && steps.calls_builders(context);
    // Where nothing is built, a compiler is installed to be run, unless it is proven that nothing runs it.
    let open: HashSet<NodeId> = if copies || steps.list.iter().any(Step::makes) {
        HashSet::new()
    } else {
        context.open.iter().flat_map(|finding| &finding.items).filter_map(|item| item.node).collect()
    };
    let may_be_run = |place: usize| {
        let all = if open.is_empty() { BTreeSet::new() } else { context.with_dependencies([place]) };
        let files = all.iter().filter_map(|place| context.files_of.get(place)).flatten();
        files.clone().any(|node| open.contains(node))
    };
    let mut asked = PackageSelection {
        kept: Vec::new(),
        dropped: BTreeSet::new(),
        apart: Vec::new(),
        opened: Vec::new(),
        interpreters: Vec::new(),
    };
    for (step, name) in steps.asked() {
        let opaque = steps.is_opaque(step);
        // It cannot be divided, so the final stage has none of it.
        if copies && opaque && steps.list[step].compiles {
            if let Some(place) = context.by_name.get(name.as_str()) {
                if !is_kept(context, *place, &programs, copies) {
                    asked.dropped.insert(name);
                } else if !asked.apart.contains(place) {
                    asked.apart.push(*place);
                }
            }
            continue;
        }
        match context.by_name.get(name.as_str()) {
            Some(place)
                if opaque
                    || calls && context.is_builders(&name)
                    || may_be_run(*place)
                    || is_kept(context, *place, &programs, copies) =>
            {
                if !asked.kept.contains(place) {
                    asked.kept.push(*place);
                }
            }
            // Removed again, or a name for several packages: repeated as written.
            None if opaque || !context.is_builders(&name) => {}
            _ => {
                asked.dropped.insert(name);
            }
        }
    }
    // An instruction that is repeated as a whole installs all of its packages.
    for (at, step) in steps.list.iter().enumerate() {
        if (step.installs() || steps.installs_archives(at)) && !step.compiles && steps.is_opaque(at) {
            let packages = context.input.inventory.packages.iter().enumerate();
            let brought = packages
                .filter(|(_, package)| step.layers.contains(&package.layer) && package.root.is_none());
            asked.kept.extend(brought.map(|(place, _)| place));
        }
    }
    asked.kept.sort_unstable();
    asked.kept.dedup();
    asked.opened = opened(context, &asked.dropped);
    asked.interpreters = interpreters(context, &asked.dropped);
    asked
}

/// The packages with the interpreter of a language, which a dropped package for developing in it brought, such as
/// `openjdk-17-jre-headless` with `openjdk-17-jdk-headless`: scripts run it by name, unseen. Who runs Debian's Python and
/// Perl is known.
fn interpreters(context: &SplitContext<'_>, dropped: &BTreeSet<String>) -> Vec<usize> {
    const PROGRAMS: [&[u8]; 8] = [b"Rscript", b"erl", b"guile", b"java", b"lua", b"php", b"ruby", b"tclsh"];
    let packages = &context.input.inventory.packages;
    let is_program = |node: &NodeId| {
        let node = context.rootfs.node(*node);
        let version =
            node.name().iter().rev().take_while(|byte| byte.is_ascii_digit() || **byte == b'.').count();
        let name = &node.name()[..node.name().len() - version];
        node.parent().name() == b"bin" && PROGRAMS.contains(&name.strip_suffix(b"-").unwrap_or(name))
    };
    let has_one = |place: usize| context.files_of.get(&place).into_iter().flatten().any(is_program);
    let places = dropped.iter().filter_map(|name| context.by_name.get(name.as_str()).copied());
    let mut open: Vec<usize> = places.filter(|place| context.is_builders(&packages[*place].name)).collect();
    let mut seen: BTreeSet<usize> = open.iter().copied().collect();
    let mut found = BTreeSet::new();
    while let Some(at) = open.pop() {
        for other in context.depends(at).iter().copied() {
            if !seen.insert(other) {
                continue;
            }
            if context.is_builders(&packages[other].name) || context.files_of.get(&other).is_none() {
                open.push(other);
            } else if has_one(other) {
                found.insert(other);
            }
        }
    }
    found.into_iter().collect()
}

/// The packages with the libraries of dropped development packages that no program is linked with. Wand and `WeasyPrint`
/// look for such libraries when they are imported, under names that they put together.
fn opened(context: &SplitContext<'_>, dropped: &BTreeSet<String>) -> Vec<usize> {
    let inventory = context.input.inventory;
    if !inventory.packages.iter().any(|package| package.root.is_some() && !package.is_in_debians_folder()) {
        return Vec::new();
    }
    let source = |place: usize| {
        let package = &inventory.packages[place];
        package.source.as_deref().unwrap_or(&package.name)
    };
    let mentions = inventory.mentions.iter().flat_map(|mention| &mention.libraries);
    let named: HashSet<&[u8]> = mentions.map(String::as_bytes).collect();
    let is_named = |package: &usize| {
        let mut files = context.files_of.get(package).into_iter().flatten();
        files.any(|node| named.contains(context.rootfs.node(*node).name()))
    };
    let mut known: HashMap<usize, bool> = HashMap::new();
    let mut found = BTreeSet::new();
    for name in dropped.iter().filter(|name| name.ends_with("-dev") && context.is_builders(name)) {
        let Some(place) = context.by_name.get(name.as_str()).copied() else { continue };
        let mut candidates = Vec::new();
        let (mut open, mut seen) = (vec![place], BTreeSet::from([place]));
        while let Some(at) = open.pop() {
            let same = context.depends(at).iter().copied().filter(|other| source(*other) == source(place));
            for other in same.filter(|other| seen.insert(*other)).collect::<Vec<_>>() {
                open.push(other);
                // Who opens libraries of CUDA is known.
                let is_runtime =
                    !context.is_builders(&inventory.packages[other].name) && !context.is_cuda(other);
                let is_free = || has_libraries_without_users(context, other, &source);
                if is_runtime && *known.entry(other).or_insert_with(is_free) {
                    candidates.push(other);
                }
            }
        }
        // Where files name one of them, it is installed for these, and the others are not what was meant.
        if !candidates.iter().any(is_named) {
            found.extend(candidates);
        }
    }
    found.into_iter().collect()
}

/// Whether the loader looks into a folder without being told: `/usr/lib`, `/lib/x86_64-linux-gnu`.
pub(super) fn is_searched(folder: Node<'_>) -> bool {
    let is_of_machine = memchr::memmem::find(folder.name(), b"-linux-").is_some();
    let lib = if is_of_machine { folder.parent() } else { folder };
    let above = lib.parent();
    let is_top = above.id() == NodeId::ROOT || above.name() == b"usr" && above.parent().id() == NodeId::ROOT;
    is_top && matches!(lib.name(), b"lib" | b"lib32" | b"lib64")
}

/// Whether a package has libraries where the loader looks for them, and no program or library of packages from other
/// sources needs one of them.
fn has_libraries_without_users<'s>(
    context: &SplitContext<'_>,
    package: usize,
    source: &dyn Fn(usize) -> &'s str,
) -> bool {
    let links = &context.input.inventory.links;
    let is_searched = |node: &&NodeId| is_searched(context.rootfs.node(**node).parent());
    let nodes = context.files_of.get(&package).into_iter().flatten().filter(is_searched);
    let inodes = nodes.filter_map(|node| context.rootfs.node(*node).content());
    let objects: Vec<_> = inodes.filter_map(|inode| context.objects.get(&inode)).collect();
    let is_apart = |user: &ObjectId| {
        let owner = context.system_owner(links.object(*user).node);
        owner.is_none_or(|owner| source(owner) != source(package))
    };
    let users = objects.iter().flat_map(|id| {
        let object = links.object(**id);
        object.needed_by.iter().chain(&object.opened_by)
    });
    !objects.is_empty() && !users.copied().any(|user| is_apart(&user))
}

fn is_kept(context: &SplitContext<'_>, place: usize, programs: &BTreeSet<&str>, copies: bool) -> bool {
    if context.is_built_for(place) {
        return true;
    }
    let package = &context.input.inventory.packages[place];
    let name = package.name.as_str();
    if copies && name.starts_with("python3") && OF_PYTHON.iter().any(|end| name.ends_with(end)) {
        return false;
    }
    // Programs that remaining instructions call; pip runs git to clone repositories.
    if !copies && (programs.contains(name) || name == "git" && context.installs_from_repositories()) {
        return true;
    }
    if context.is_builders(name) {
        return false;
    }
    let (built, all) = context.share(place, &context.built);
    // Dropped if at least half of its bytes is build content of the plan or of open questions.
    built == 0 || built * 2 < all
}

/// The assumption for `--no-install-recommends` options that are added: the packages of the image that are
/// then no longer installed. `None` if no instruction gets the option.
pub(super) fn without_recommended(
    steps: &Steps<'_, '_>,
    keep: &Keep<'_, '_>,
    asked: &PackageSelection,
) -> Option<String> {
    const NAMED: usize = 10;
    let context = keep.context;
    let decides = |text: &str| text.to_ascii_lowercase().contains("install-recommends");
    let gets = |at: &usize| {
        let Some(Kind::Run(works)) = steps.list.get(*at).map(|step| &step.kind) else { return false };
        let Some(run) = steps.run(*at).filter(|_| !steps.is_opaque(*at)) else { return false };
        run.commands.iter().zip(works).filter(|(_, work)| **work == Work::Install).any(|(command, _)| {
            Call::of(command).is_some_and(|call| {
                matches!(call.program, "apt-get" | "apt")
                    && !call.words.iter().any(|word| decides(&word.text))
            })
        })
    };
    let layers: Vec<u16> =
        (0..steps.list.len()).filter(gets).flat_map(|at| &steps.list[at].layers).copied().collect();
    let is_added = (0..steps.list.len()).any(|at| gets(&at));
    let dropped = asked.dropped.iter().filter_map(|name| context.by_name.get(name.as_str()).copied());
    let asked: BTreeSet<usize> = asked.kept.iter().chain(&keep.installed).copied().chain(dropped).collect();
    let known = context.with_dependencies(asked);
    let of_base = context.packages_of_base();
    // One of the base that an upgrade replaced was not installed with others.
    let is_gone = |(place, package): &(usize, &crate::cuda::Package)| {
        package.manager == "dpkg"
            && !known.contains(place)
            && layers.contains(&package.layer)
            && !of_base.contains(&package.name)
    };
    let packages = context.input.inventory.packages.iter().enumerate();
    let gone: Vec<&str> = packages.filter(is_gone).map(|(_, package)| package.name.as_str()).collect();
    is_added.then(|| match gone.as_slice() {
        [] => "--no-install-recommends is added; this image has no package that was installed only because another one recommends it.".to_owned(),
        names => {
            let more = names.len().saturating_sub(NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let names = names[..names.len().min(NAMED)].join(", ");
            format!("--no-install-recommends is added; nothing is known to need these packages, which were installed only because others recommend them: {names}{more}.")
        }
    })
}

/// Names of additional packages to install: files that stay need them, and no other package depends on them.
pub(super) fn added(keep: &Keep<'_, '_>, kept: &[usize]) -> Vec<String> {
    let context = keep.context;
    let brought = context.with_dependencies(kept.iter().copied());
    let few = keep.named.len() <= MOST_COMPARED;
    // Whoever removes a package that perhaps nothing opens must not remove what files need.
    let is_compared = |place: &&usize| few && !context.opened.contains(place);
    let closures: Vec<(usize, BTreeSet<usize>)> = (keep.named.iter().filter(is_compared))
        .map(|place| (*place, context.with_dependencies([*place])))
        .collect();
    let closure = |place: usize| closures.iter().find(|(known, _)| *known == place).map(|(_, all)| all);
    let comes_with = |place: usize| {
        closures.iter().any(|(other, all)| {
            *other != place && all.contains(&place) && !closure(place).is_some_and(|own| own.contains(other))
        })
    };
    let mut added = Vec::new();
    for place in &keep.named {
        let package = &context.input.inventory.packages[*place];
        let is_there =
            brought.contains(place) || package.layer < keep.base.layers || keep.base.packages.contains(place);
        if !is_there && !comes_with(*place) && is_package_word(&package.name) {
            added.push(package.name.clone());
        }
    }
    added.sort_unstable();
    added
}

/// Dropped packages to name all the same, since nearly all that they depend on stays: `r-base-dev`, which has no files of
/// its own, instead of the compiler and ten libraries that a question keeps; `libtool-bin` instead of `libtool`.
pub(super) fn collections(keep: &Keep<'_, '_>, asked: &PackageSelection, wanted: &[usize]) -> Vec<usize> {
    let context = keep.context;
    let added: BTreeSet<usize> =
        added(keep, wanted).iter().filter_map(|name| context.by_name.get(name.as_str()).copied()).collect();
    let is_there = |place: &usize| {
        keep.installed.contains(place)
            || keep.base.packages.contains(place)
            || context.input.inventory.packages[*place].layer < keep.base.layers
    };
    let is_one = |place: &usize| {
        let all = context.with_dependencies([*place]);
        let beside = all.iter().filter(|one| !is_there(one));
        let bytes: u64 = beside.map(|one| context.share(*one, &context.built).1).sum();
        let mut files = context.files_of.get(place).into_iter().flatten();
        let is_list = files.all(|node| context.rootfs.node(*node).path().starts_with(b"/usr/share/"));
        let of_builds = |one: &usize| context.is_builders(&context.input.inventory.packages[*one].name);
        let replaced: Vec<&usize> = all.intersection(&added).collect();
        (is_list && replaced.len() > 1 || replaced.into_iter().any(of_builds)) && bytes <= LITTLE
    };
    if added.is_empty() {
        return Vec::new();
    }
    let dropped = asked.dropped.iter().filter_map(|name| context.by_name.get(name.as_str()).copied());
    dropped.filter(|place| !is_there(place)).filter(is_one).collect()
}

/// Files that instructions diverted.
pub(super) fn diverted(input: &Input<'_>) -> HashSet<NodeId> {
    let rootfs = &input.merge.rootfs;
    let paths = Paths::new(rootfs);
    let read = || {
        let (layer, entry) = rootfs.node(paths.entry_at(DIVERSIONS)?).content()?;
        let layer = input.layers.get(usize::from(layer))?.as_deref()?;
        Diversions::read(&layer.facts.document(entry)?.bytes().ok()?)
    };
    let diversions = read().unwrap_or_default();
    diversions.local().filter_map(|path| paths.entry_at(path)).collect()
}
