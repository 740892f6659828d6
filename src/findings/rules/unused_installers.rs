//! Package managers of Python that nothing is known to start.

use std::collections::{BTreeMap, BTreeSet};

use super::common;
use super::pip_files::files_of_pip;
use super::reached::{Reached, and_others, mentions};
use crate::base::text::{and_more, counted, elide_middle, printable};
use crate::cuda::PackageManagers;
use crate::cuda::catalog::normalized_python_name;
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::named::MAX_SHOWN_CHARS;
use crate::findings::value::{Category, Rule, Severity, Verdict};
use crate::formats::binary::FileFacts;
use crate::rootfs::{NodeId, NodeKind};

pub(super) static RULE: Rule = Rule {
    id: "unused-installers",
    title: "Unused package managers",
    category: Category::BuildTools,
    severity: Severity::Medium,
    fix: "Install the packages in a build stage, and copy the environment.",
    page: include_str!("../../../assets/manual/rules/unused-installers.md"),
};

/// Programs of packages whose programs have other names than they.
const PROGRAMS: [(&str, &[&str]); 2] = [("pip-tools", &["pip-compile", "pip-sync"]), ("uv", &["uv", "uvx"])];
/// Maximum packages in a proof.
const SHOWN: usize = 100;
/// Maximum packages in a question.
const NAMED: usize = 4;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let binaries = binaries(facts);
    if binaries.is_empty() && facts.inventory.managers.is_empty() {
        return Vec::new();
    }
    let Some(reached) = Reached::of(facts) else { return Vec::new() };
    let is_reached = |programs: &[&str]| programs.iter().any(|program| reached.contains(program));
    let all: Vec<usize> =
        facts.inventory.managers.iter().flat_map(|one| one.packages.iter().copied()).collect();
    let files = if all.is_empty() { BTreeMap::new() } else { files_of_pip(facts, &all) };
    let mut drafts = Vec::new();
    for found in &facts.inventory.managers {
        let names: Vec<String> = found.managers.iter().map(|place| name_of(facts, *place)).collect();
        let programs: Vec<&str> = names.iter().flat_map(|name| programs(name)).collect();
        if !is_reached(&programs) {
            drafts.push(of_pip(facts, found, (&names, &programs), &files));
        }
    }
    if !binaries.is_empty() && !is_reached(PROGRAMS[1].1) {
        let title = "uv without a known use".to_owned();
        let mut draft = draft(facts, title, "uv", PROGRAMS[1].1, None);
        "Install the packages in a build stage, or mount uv: RUN --mount=from=ghcr.io/astral-sh/uv,source=/uv,target=/bin/uv."
            .clone_into(&mut draft.fix);
        let inodes = binaries.iter().filter_map(|node| facts.node(*node).content());
        draft.items = inodes.map(|inode| item(&facts.classification, facts.rootfs, inode)).collect();
        drafts.push(draft);
    }
    drafts
}

fn name_of(facts: &Facts<'_>, place: usize) -> String {
    facts
        .inventory
        .packages
        .get(place)
        .map(|package| normalized_python_name(&package.name))
        .unwrap_or_default()
}

/// The programs of a package manager.
fn programs(name: &str) -> Vec<&str> {
    let known = PROGRAMS.iter().find(|(package, _)| *package == name);
    known.map_or_else(|| vec![name], |(_, programs)| programs.to_vec())
}

/// uv as its image has it: programs in no package.
fn binaries(facts: &Facts<'_>) -> Vec<NodeId> {
    let is_one = |node: &NodeId| {
        let file = facts.node(*node);
        let is_binary =
            || file.content().is_some_and(|inode| matches!(facts.binary(inode), Some(FileFacts::Elf(_))));
        file.kind() == NodeKind::File && facts.owner(*node).is_none() && is_binary()
    };
    facts.nodes_named(|name| matches!(name, b"uv" | b"uvx")).into_iter().filter(is_one).collect()
}

fn of_pip(
    facts: &Facts<'_>,
    found: &PackageManagers,
    (names, programs): (&[String], &[&str]),
    files: &BTreeMap<usize, Vec<NodeId>>,
) -> Draft {
    let managers = printable(&names.join(", "));
    let others: Vec<String> = found
        .packages
        .iter()
        .filter(|place| !found.managers.contains(place))
        .map(|place| printable(&name_of(facts, *place)))
        .collect();
    let with = match others.len() {
        0 => String::new(),
        1 => format!(", with {}", others[0]),
        count => {
            let require = if names.len() == 1 { "it requires" } else { "they require" };
            format!(", with {} that only {require}", counted(count, "package"))
        }
    };
    let shown = others.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let imports = format!("import {shown}{}", and_more(others.len(), NAMED));
    let title = format!("{managers} without a known use{with}");
    let mut draft = draft(facts, title, &managers, programs, (!others.is_empty()).then_some(imports));
    let files: BTreeSet<NodeId> =
        found.packages.iter().filter_map(|place| files.get(place)).flatten().copied().collect();
    let inodes = files.iter().filter_map(|file| facts.node(*file).content());
    draft.items = inodes.map(|inode| item(&facts.classification, facts.rootfs, inode)).collect();
    if !others.is_empty() {
        let shown = others.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(", ");
        let more = and_more(others.len(), SHOWN);
        draft.proof.push(format!("no other installed package requires {shown}{more}"));
    }
    draft
}

/// `imports` is what else the service may do with the packages.
fn draft(
    facts: &Facts<'_>,
    title: String,
    managers: &str,
    programs: &[&str],
    imports: Option<String>,
) -> Draft {
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    let readers = mentions(facts, programs);
    draft.reason = format!("As far as the image's command can be followed, it starts none of {managers}.");
    let or = imports.map_or_else(String::new, |imports| format!(", or {imports}"));
    draft.question = Some(match readers.as_slice() {
        [] => format!("Does the service start {managers} at run time{or}?"),
        [(_, who, program), others @ ..] => {
            let who = elide_middle(who, MAX_SHOWN_CHARS);
            let also = and_others(others.len());
            format!("Does the service start {managers} at run time{or}? {who} names {program}{also}.")
        }
    });
    if readers.is_empty() {
        draft.proof.push(common::searched(facts, managers));
    }
    for (user, who, program) in readers {
        draft.proof.push(format!("{who} names {program}"));
        draft.users.push(user);
    }
    draft.proof.extend(common::not_searched(facts));
    draft
}
