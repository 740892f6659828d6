//! Helpers shared by several rules about files.

use std::borrow::Cow;

use crate::base::text::printable;
use crate::cuda::Use;
use crate::cuda::links::{ObjectId, RootKind};
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Item, User};
use crate::rootfs::{NodeId, PathBuffer};

/// Maximum statements of one kind in a proof; the rest is counted.
const NAMED: usize = 8;

/// The chain from a file to the root that loads it, as a statement.
pub(super) fn chain(facts: &Facts<'_>, id: ObjectId) -> String {
    let links = &facts.inventory.links;
    let steps = links.chain(id);
    let shown: Vec<String> = steps.iter().map(|step| facts.shown(links.object(*step).node)).collect();
    let root = steps.last().and_then(|root| links.object(*root).root.as_ref());
    let why = root.map_or_else(String::new, |root| format!(" ({})", printable(&root.why)));
    format!("{}{why}", shown.join(" ← "))
}

/// Adds the chain of each object to the proof, and its direct user to the evidence.
pub(super) fn add_chains(facts: &Facts<'_>, objects: &[ObjectId], draft: &mut Draft) {
    for id in objects.iter().take(NAMED) {
        draft.proof.push(chain(facts, *id));
    }
    if let Some(more) = objects.len().checked_sub(NAMED).filter(|more| *more > 0) {
        draft.proof.push(format!("and {more} more"));
    }
    let links = &facts.inventory.links;
    draft
        .users
        .extend(objects.iter().filter_map(|id| links.chain(*id).get(1).map(|user| User::Object(*user))));
}

/// Whether an object is loaded from outside its own kind: the image itself starts it, or a used object that is not
/// `inside` needs or opens it.
pub(super) fn is_loaded_from_outside(
    facts: &Facts<'_>,
    id: ObjectId,
    inside: &dyn Fn(ObjectId) -> bool,
) -> bool {
    let links = &facts.inventory.links;
    let object = links.object(id);
    let is_started = object
        .root
        .as_ref()
        .is_some_and(|root| matches!(root.kind, RootKind::Entrypoint | RootKind::Preload));
    let mut users = object.needed_by.iter().chain(&object.opened_by);
    is_started || users.any(|user| !inside(*user) && links.object(*user).usage != Use::Unreferenced)
}

/// The path of a file: as a container sees it, or in its layer when shadowed.
pub(super) fn path_of(facts: &Facts<'_>, item: &Item) -> Vec<u8> {
    match item.node {
        Some(node) => facts.path(node),
        None => facts.rootfs.layer(item.layer).path(item.entry),
    }
}

/// As [`path_of`], for many files one after the other.
pub(super) fn path_in<'b>(facts: &Facts<'_>, item: &Item, paths: &'b mut PathBuffer) -> Cow<'b, [u8]> {
    match item.node {
        Some(node) => Cow::Borrowed(paths.of(facts.rootfs.node(node))),
        None => Cow::Owned(path_of(facts, item)),
    }
}

/// The last part of a path.
pub(super) fn name_of(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// The extension of a name; empty when there is none.
pub(in crate::findings) fn extension(name: &[u8]) -> &[u8] {
    match name.iter().rposition(|byte| *byte == b'.') {
        Some(at) => name.get(at + 1..).unwrap_or_default(),
        None => b"",
    }
}

/// Whether a path contains a text.
pub(super) fn holds(path: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(path, part).is_some()
}

/// Whether a file exists next to another one.
pub(super) fn beside(facts: &Facts<'_>, node: NodeId, name: &[u8]) -> bool {
    facts.paths.child(facts.paths.parent(node), name).is_some()
}

/// Title, reason and proof for files that no path leads to.
pub(super) fn describe_shadowed(draft: &mut Draft) {
    draft.title.push_str(", already shadowed by an upper layer");
    "An upper layer deletes or replaces these files. No path in a container leads to them, but every pull downloads them.".clone_into(&mut draft.reason);
    draft.proof.push("no path of the merged view leads to any of these files".to_owned());
}

/// A subject as it stands within a sentence: `a Python package`.
pub(super) fn within_sentence(who: &str) -> String {
    who.strip_prefix("A ").map_or_else(|| who.to_owned(), |rest| format!("a {rest}"))
}

/// What was not searched, as the subject of a sentence; `None` if it has no name.
pub(super) fn unsearched(facts: &Facts<'_>) -> Option<String> {
    let searched = &facts.inventory.searched;
    let first = facts.shown(*searched.programs.iter().chain(&searched.libraries).next()?);
    Some(match searched.programs_left_out + searched.libraries_left_out {
        1 => first,
        count => format!("{first} or another of the {count} files that were not searched"),
    })
}

/// What was not searched, as a statement.
pub(super) fn not_searched(facts: &Facts<'_>) -> Option<String> {
    let searched = &facts.inventory.searched;
    let named: Vec<String> =
        searched.programs.iter().chain(&searched.libraries).map(|node| facts.shown(*node)).collect();
    let count = searched.programs_left_out + searched.libraries_left_out;
    let more = count.saturating_sub(named.len() as u64);
    let and_more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| format!("not searched for all names: {}{and_more}", named.join(", ")))
}

/// Adds what was not searched to the proof of a finding, and asks whether it does `what`.
pub(super) fn ask_unsearched(facts: &Facts<'_>, what: &str, draft: &mut Draft) {
    draft.proof.extend(not_searched(facts));
    draft.question = Some(match unsearched(facts) {
        None => format!("Do the programs that were not searched {what}?"),
        Some(subject) => format!("Does {subject} {what}?"),
    });
}

/// The result of the search for mentions, as a statement about `what`.
pub(super) fn searched(facts: &Facts<'_>, what: &str) -> String {
    let searched = &facts.inventory.searched;
    match (searched.files, searched.left_out) {
        (0, 0) => format!("no application files to search for {what}"),
        (files, 0) => format!("0 of {files} application files mention {what}"),
        (files, left_out) => {
            format!("0 of {files} application files mention {what}; {left_out} more could not be searched")
        }
    }
}
