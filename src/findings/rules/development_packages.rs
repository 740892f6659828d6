//! Packages of npm and pip that a project declares for its development only.

mod started;

use hashbrown::HashSet;

use super::common;
use super::pip_files::files_of_pip;
use crate::base::text::{and_more, printable};
use crate::cuda::catalog::normalized_python_name;
use crate::cuda::{DevelopmentList, DevelopmentPackages, NpmPackage};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, Verdict};
use crate::rootfs::NodeId;

pub(super) static RULE: Rule = Rule {
    id: "development-packages",
    title: "Development packages",
    category: Category::BuildTools,
    severity: Severity::Medium,
    fix: "Install without the packages for development.",
    page: include_str!("../../../assets/manual/rules/development-packages.md"),
};

/// Maximum packages in a title, and in a question.
const TITLED: usize = 3;
const ASKED: usize = 6;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    facts.inventory.development.iter().filter_map(|found| draft(facts, found)).collect()
}

/// A package with its files.
struct Contents {
    name: String,
    version: String,
    /// Whether the project itself names it.
    is_declared: bool,
    files: Vec<NodeId>,
    bytes: u64,
}

impl Contents {
    fn new(facts: &Facts<'_>, (name, version): (&str, &str), is_declared: bool, files: Vec<NodeId>) -> Self {
        let bytes = files.iter().map(|file| facts.node(*file).bytes()).sum();
        Self { name: printable(name), version: printable(version), is_declared, files, bytes }
    }
}

fn draft(facts: &Facts<'_>, found: &DevelopmentPackages) -> Option<Draft> {
    let mut packages = match &found.packages {
        DevelopmentList::Npm(list) => of_npm(facts, found, list),
        DevelopmentList::Pip(list) => of_pip(facts, found, list),
    };
    keep_linked(facts, &mut packages);
    packages.retain(|package| !package.files.is_empty());
    // What the project names itself is what its readers know.
    packages.sort_by(|a, b| {
        let order = |one: &Contents| (!one.is_declared, std::cmp::Reverse(one.bytes));
        order(a).cmp(&order(b)).then_with(|| a.name.cmp(&b.name))
    });
    let listed = |most: usize| {
        let names: Vec<&str> = packages.iter().take(most).map(|one| one.name.as_str()).collect();
        format!("{}{}", names.join(", "), and_more(packages.len(), names.len()))
    };
    if packages.is_empty() {
        return None;
    }
    let mut draft = Draft::new(&RULE, Verdict::Unsure, format!("Development packages: {}", listed(TITLED)));
    let declared_in: Vec<String> = found.declared_in.iter().map(|node| facts.shown(*node)).collect();
    let (shown, count) = (declared_in.iter().take(TITLED), declared_in.len());
    let shown: Vec<&str> = shown.map(String::as_str).collect();
    let declared_in = format!("{}{}", shown.join(", "), and_more(count, shown.len()));
    draft.reason = match found.packages {
        DevelopmentList::Npm(_) => {
            format!("npm installed these packages for development only, as {declared_in} records.")
        }
        DevelopmentList::Pip(_) => format!(
            "{declared_in} declares these packages for development, and no other installed package requires them."
        ),
    };
    draft.question = Some(format!("Does the service need {} at run time?", listed(ASKED)));
    if let Some((package, why)) = started::started(facts, found, &packages) {
        draft.verdict = Verdict::Needed;
        draft.title = format!("Development packages, in use: {}", listed(TITLED));
        draft.reason = format!("{why} {package}, a package for development.");
        draft.question = None;
    }
    let statement = |one: &Contents| format!("{} {}: {} files", one.name, one.version, one.files.len());
    draft.proof = packages.iter().map(statement).collect();
    draft.subjects = packages.iter().map(|one| one.name.clone()).collect();
    draft.fix = fix(facts, found);
    let inodes = packages.iter().flat_map(|one| &one.files).filter_map(|file| facts.node(*file).content());
    draft.items = inodes.map(|inode| item(&facts.classification, facts.rootfs, inode)).collect();
    Some(draft)
}

fn of_npm(facts: &Facts<'_>, found: &DevelopmentPackages, list: &[NpmPackage]) -> Vec<Contents> {
    let contents = |package: &NpmPackage| {
        let is_declared = found.declared.contains(&package.name);
        Contents::new(facts, (&package.name, &package.version), is_declared, package.files(facts.rootfs))
    };
    list.iter().map(contents).collect()
}

/// Leaves out files that have a name elsewhere, outside of the caches of package managers.
fn keep_linked(facts: &Facts<'_>, packages: &mut [Contents]) {
    let all: HashSet<NodeId> = packages.iter().flat_map(|package| package.files.iter().copied()).collect();
    let mut walker = facts.catalog.walker();
    let mut is_elsewhere = |name: NodeId| {
        if all.contains(&name) {
            return false;
        }
        let rule = walker.path(&facts.path(name)).devel;
        rule.is_none_or(|rule| rule.category != Category::PackageCaches.as_str())
    };
    for package in packages {
        let (before, rootfs) = (package.files.len(), facts.rootfs);
        package.files.retain(|file| {
            let content = facts.node(*file).content().filter(|_| facts.node(*file).has_other_names());
            content.is_none_or(|(layer, entry)| {
                !rootfs.names(layer, entry).iter().any(|name| is_elsewhere(*name))
            })
        });
        if package.files.len() < before {
            package.bytes = package.files.iter().map(|file| facts.node(*file).bytes()).sum();
        }
    }
}

fn of_pip(facts: &Facts<'_>, found: &DevelopmentPackages, list: &[usize]) -> Vec<Contents> {
    let contents = |(place, files): (usize, Vec<NodeId>)| {
        let package = facts.inventory.packages.get(place)?;
        let is_declared = found.declared.contains(&normalized_python_name(&package.name));
        Some(Contents::new(facts, (&package.name, &package.version), is_declared, files))
    };
    files_of_pip(facts, list).into_iter().filter_map(contents).collect()
}

/// The command that installs a project without the packages.
fn fix(facts: &Facts<'_>, found: &DevelopmentPackages) -> String {
    if matches!(found.packages, DevelopmentList::Npm(_)) {
        return "Install with npm ci --omit=dev; where the build needs them, run npm prune --omit=dev after it."
            .to_owned();
    }
    let has = |name: &[u8]| found.declared_in.iter().any(|node| common::beside(facts, *node, name));
    let command = if has(b"uv.lock") {
        "uv sync --no-dev"
    } else if has(b"poetry.lock") {
        "poetry install --only main"
    } else if has(b"pdm.lock") {
        "pdm sync --prod"
    } else {
        return RULE.fix.to_owned();
    };
    format!("Install with {command}.")
}
