//! Libraries that programs need and that are not found.

use std::collections::BTreeMap;

use super::common;
use crate::base::text::{and_more, printable};
use crate::cuda::Use;
use crate::cuda::links::{Need, ObjectId, RootKind};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Rule, Severity, User, Verdict};
use crate::formats::binary::FileFacts;

pub(super) static RULE: Rule = Rule {
    id: "missing-libraries",
    title: "Missing libraries",
    category: Category::Configuration,
    severity: Severity::High,
    fix: "Install the packages that contain them, or copy them into the final stage.",
    page: include_str!("../../../assets/manual/rules/missing-libraries.md"),
};

/// Maximum statements in one finding; a broken image may lack thousands of names.
const MAX_SHOWN: usize = 100;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let links = &facts.inventory.links;
    let firmly = links.firmly_used();
    let mut groups: BTreeMap<Severity, Vec<(String, ObjectId)>> = BTreeMap::new();
    let own = own_machine(facts);
    for id in links.ids() {
        let object = links.object(id);
        if is_foreign(facts, id, own) {
            continue;
        }
        let used = object.usage != Use::Unreferenced || object.root.is_some();
        if !used || !object.needs.iter().any(Need::is_missing) {
            continue;
        }
        let root = links.chain(id).last().and_then(|root| links.object(*root).root.as_ref());
        let firm = firmly.get(id.0 as usize).copied().unwrap_or(false);
        let severity = match root.map(|root| root.kind) {
            Some(RootKind::Entrypoint | RootKind::Preload) if firm => Severity::High,
            Some(RootKind::Extension) if firm => Severity::Medium,
            _ => Severity::Low,
        };
        for need in object.needs.iter().filter(|need| need.is_missing()) {
            groups.entry(severity).or_default().push((printable(&need.name), id));
        }
    }
    groups.into_iter().map(|(severity, missing)| draft(facts, severity, missing)).collect()
}

fn machine(facts: &Facts<'_>, id: ObjectId) -> Option<u16> {
    let inode = facts.node(facts.inventory.links.object(id).node).content()?;
    match facts.binary(inode)? {
        FileFacts::Elf(elf) => Some(elf.machine),
        _ => None,
    }
}

/// The machine of most programs and libraries.
fn own_machine(facts: &Facts<'_>) -> Option<u16> {
    let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
    for machine in facts.inventory.links.ids().filter_map(|id| machine(facts, id)) {
        *counts.entry(machine).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, count)| *count).map(|(machine, _)| machine)
}

/// Whether a file is for another machine or another C library: packages of npm bring variants for all.
fn is_foreign(facts: &Facts<'_>, id: ObjectId, own: Option<u16>) -> bool {
    let object = facts.inventory.links.object(id);
    let of_musl = |need: &Need| need.is_missing() && need.name.starts_with("libc.musl-");
    object.needs.iter().any(of_musl) || machine(facts, id).is_some_and(|machine| own != Some(machine))
}

fn draft(facts: &Facts<'_>, severity: Severity, mut missing: Vec<(String, ObjectId)>) -> Draft {
    let links = &facts.inventory.links;
    missing.sort();
    let mut names: Vec<String> = missing.iter().map(|(name, _)| name.clone()).collect();
    names.dedup();
    let who = match severity {
        Severity::High => "the entrypoint",
        Severity::Medium => "extension modules",
        _ => "other programs and libraries",
    };
    let title = match &names[..] {
        [one] => format!("{one} is missing for {who}"),
        several => format!("{} libraries are missing for {who}", several.len()),
    };
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    draft.severity = Some(severity);
    let few: Vec<&str> = names.iter().take(3).map(String::as_str).collect();
    let more = and_more(names.len(), 3);
    draft.reason = format!(
        "Not found: {}{more}. {}",
        few.join(", "),
        match severity {
            Severity::High => "The service does not start.",
            Severity::Medium => "Importing the modules fails.",
            _ => "The programs do not start, or the libraries are optional for their openers.",
        },
    );
    for (name, id) in missing.iter().take(MAX_SHOWN) {
        draft.proof.push(format!("{name}, needed by {}", common::chain(facts, *id)));
    }
    if let Some(more) = missing.len().checked_sub(MAX_SHOWN).filter(|more| *more > 0) {
        draft.proof.push(format!("and {more} more"));
    }
    for (_, id) in &missing {
        draft.users.push(User::Object(*id));
        let inode = facts.node(links.object(*id).node).content();
        draft.items.extend(inode.map(|inode| item(&facts.classification, facts.rootfs, inode)));
    }
    draft.question = Some(format!("Is {} mounted or added when the container starts?", few.join(" or ")));
    draft.subjects = names;
    draft
}
