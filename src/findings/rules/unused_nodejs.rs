//! Node.js that nothing is known to start, and packages of npm where nothing is known to read them.

mod installed;
mod started;

use std::collections::BTreeSet;

use super::common;
use super::reached::{Mention, and_others, mentions};
use crate::base::size::exact;
use crate::base::text::{and_more, elide_middle};
use crate::cuda::{Inode, NODEJS};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::named::MAX_SHOWN_CHARS;
use crate::findings::value::{Category, Item, Rule, Severity, User, Verdict};
use crate::rootfs::NodeId;
use installed::{Installed, OTHERS};

pub(super) static RULE: Rule = Rule {
    id: "unused-nodejs",
    title: "Unused Node.js",
    category: Category::BuildTools,
    severity: Severity::Medium,
    fix: "Build the front end in a stage of its own, and copy its output.",
    page: include_str!("../../../assets/manual/rules/unused-nodejs.md"),
};

/// Maximum folders in a proof.
const SHOWN: usize = 100;
/// Maximum names in a title or question.
const NAMED: usize = 3;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let installed = Installed::of(facts);
    let packages = installed::node_modules(facts, &installed);
    if installed.is_none() && packages.is_empty() || started::is_started(facts, &installed, &packages) {
        return Vec::new();
    }
    // Other runtimes read the same packages.
    let others = facts.nodes_named(|name| OTHERS.contains(&name));
    let has_other = others.into_iter().any(|node| installed::is_binary(facts, node));
    let runtime = (!installed.is_none()).then(|| runtime(facts, &installed, has_other));
    let modules = (!packages.is_empty() && !has_other).then(|| modules(facts, &packages));
    [runtime, modules].into_iter().flatten().collect()
}

fn runtime(facts: &Facts<'_>, installed: &Installed, has_other: bool) -> Draft {
    let names = installed.names(facts);
    let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    let shown = format!("{}{}", shown.join(", "), and_more(names.len(), shown.len()));
    let mut draft = Draft::new(&RULE, Verdict::Unsure, format!("Node.js without a known use: {shown}"));
    // Who reads JavaScript is Node.js itself.
    let is_own = |(user, ..): &Mention<'_>| match user {
        User::File(node) => !has_other && is_of_nodejs(facts, *node),
        _ => false,
    };
    let mut readers = mentions(facts, &NODEJS);
    readers.retain(|reader| !is_own(reader));
    "As far as the image's command can be followed, it starts no Node.js program."
        .clone_into(&mut draft.reason);
    draft.question = Some(match readers.as_slice() {
        [] => "Does anything start Node.js at run time?".to_owned(),
        [(_, who, name), others @ ..] => {
            let who = elide_middle(who, MAX_SHOWN_CHARS);
            let also = and_others(others.len());
            format!("Does {who} start Node.js at run time, or does anything else? It names {name}{also}.")
        }
    });
    if readers.is_empty() {
        draft.proof.push(common::searched(facts, "a Node.js program"));
    }
    for (user, who, name) in readers {
        draft.proof.push(format!("{who} names {name}"));
        draft.users.push(user);
    }
    draft.proof.extend(common::not_searched(facts));
    draft.items = items(facts, &installed.files);
    if !has_other {
        draft.reading = sources(facts);
    }
    draft
}

/// Files that only Node.js reads, as far as they mention anything.
fn sources(facts: &Facts<'_>) -> Vec<NodeId> {
    let mentions = facts.inventory.mentions.iter().map(|mention| mention.node);
    mentions.filter(|node| is_javascript(facts, *node)).collect()
}

/// Whether a file is JavaScript or settings of npm. Packages in `node_modules` have scripts for shells and Python, too.
fn is_javascript(facts: &Facts<'_>, node: NodeId) -> bool {
    let name = facts.node(node).name();
    let is_one = SOURCES.contains(&common::extension(name)) || name == b"package.json";
    let script = || {
        let (layer, entry) = facts.node(node).content()?;
        facts.layer(layer)?.facts.script(entry)
    };
    is_one && script().is_none_or(|line| memchr::memmem::find(line, b"node").is_some())
}

/// Extensions of what Node.js runs.
const SOURCES: [&[u8]; 9] = [b"cjs", b"cts", b"js", b"jsx", b"mjs", b"mts", b"ts", b"tsx", b"vue"];

/// Whether Node.js alone reads a file: JavaScript, or any part of a package of npm.
pub(super) fn is_of_nodejs(facts: &Facts<'_>, node: NodeId) -> bool {
    let name = facts.node(node).name();
    SOURCES.contains(&common::extension(name))
        || name == b"package.json"
        || memchr::memmem::find(&facts.path(node), b"/node_modules/").is_some()
}

fn modules(facts: &Facts<'_>, folders: &[NodeId]) -> Draft {
    let shown: Vec<String> = folders.iter().take(NAMED).map(|folder| facts.shown(*folder)).collect();
    let shown = format!("{}{}", shown.join(", "), and_more(folders.len(), shown.len()));
    let title = format!("npm packages without a known use: {shown}");
    let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
    "As far as the image's command can be followed, it starts no Node.js program."
        .clone_into(&mut draft.reason);
    let named: Vec<NodeId> = readers_of_modules(facts);
    let who = match named.as_slice() {
        [] => String::new(),
        [first, others @ ..] => {
            let who = elide_middle(&facts.shown(*first), MAX_SHOWN_CHARS);
            format!(" {who} names node_modules{}.", and_others(others.len()))
        }
    };
    draft.question =
        Some(format!("Does the service read {shown} at run time, or send files of it to browsers?{who}"));
    if named.is_empty() {
        draft.proof.push(common::searched(facts, "node_modules"));
    }
    for node in named {
        draft.proof.push(format!("{} names node_modules", facts.shown(node)));
        draft.users.push(User::File(node));
    }
    "Install them in a build stage, and copy what the build makes of them.".clone_into(&mut draft.fix);
    let files: BTreeSet<NodeId> =
        folders.iter().flat_map(|folder| installed::below(facts, *folder)).collect();
    for folder in folders.iter().take(SHOWN) {
        let bytes = exact(facts.node(*folder).bytes());
        draft.proof.push(format!("{}: {bytes}", facts.shown(*folder)));
    }
    if let Some(more) = folders.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        draft.proof.push(format!("and {more} more"));
    }
    draft.items = items(facts, &files);
    draft
}

/// Files of the application that name `node_modules`, without what Node.js reads and lists of what to ignore.
fn readers_of_modules(facts: &Facts<'_>) -> Vec<NodeId> {
    let own = facts.inventory.mentions.iter().filter(|mention| {
        let name = facts.node(mention.node).name();
        mention.words.contains(&"node_modules")
            && !mention.of_package
            && !is_of_nodejs(facts, mention.node)
            && common::extension(name) != b"json"
            && !name.ends_with(b"ignore")
    });
    own.map(|mention| mention.node).collect()
}

fn items(facts: &Facts<'_>, files: &BTreeSet<NodeId>) -> Vec<Item> {
    let inodes: BTreeSet<Inode> = files.iter().filter_map(|file| facts.node(*file).content()).collect();
    inodes.into_iter().map(|inode| item(&facts.classification, facts.rootfs, inode)).collect()
}
