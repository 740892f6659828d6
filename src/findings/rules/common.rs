//! What several rules about files ask.

use crate::base::text::printable;
use crate::cuda::Use;
use crate::cuda::links::{ObjectId, RootKind};
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::value::{Item, User};
use crate::rootfs::NodeId;

/// How many statements of one kind a proof names before it counts the rest.
const NAMED: usize = 8;

/// The way from a file to the root that loads it, in a sentence.
pub(super) fn chain(facts: &Facts<'_>, id: ObjectId) -> String {
    let links = &facts.inventory.links;
    let steps = links.chain(id);
    let shown: Vec<String> = steps.iter().map(|step| facts.shown(links.object(*step).node)).collect();
    let root = steps.last().and_then(|root| links.object(*root).root.as_ref());
    let why = root.map_or_else(String::new, |root| format!(" ({})", printable(&root.why)));
    format!("{}{why}", shown.join(" ← "))
}

/// Adds the way to each of these objects to the proof, and who loads it to the evidence.
pub(super) fn tell_chains(facts: &Facts<'_>, objects: &[ObjectId], draft: &mut Draft) {
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

/// Whether something that runs loads an object, other than the objects of its own kind: it is started by the
/// image itself, or a used object that is not `inside` needs or opens it.
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

/// The path of a file: as a container sees it, or in its layer when it is hidden.
pub(super) fn path_of(facts: &Facts<'_>, item: &Item) -> Vec<u8> {
    match item.node {
        Some(node) => facts.path(node),
        None => facts.rootfs.layer(item.layer).path(item.entry),
    }
}

/// The last part of a path.
pub(super) fn name_of(path: &[u8]) -> &[u8] {
    path.rsplit(|byte| *byte == b'/').next().unwrap_or_default()
}

/// What follows the last point of a name; empty when there is none.
pub(in crate::findings) fn extension(name: &[u8]) -> &[u8] {
    match name.iter().rposition(|byte| *byte == b'.') {
        Some(at) => name.get(at + 1..).unwrap_or_default(),
        None => b"",
    }
}

/// Whether a path holds a text.
pub(super) fn holds(path: &[u8], part: &[u8]) -> bool {
    memchr::memmem::find(path, part).is_some()
}

/// A file beside another one.
pub(super) fn beside(facts: &Facts<'_>, node: NodeId, name: &[u8]) -> bool {
    facts.paths.child(facts.paths.parent(node), name).is_some()
}

/// That no path leads to files.
pub(super) fn tell_hidden(draft: &mut Draft) {
    draft.title.push_str(", already hidden by a later layer");
    "A later layer deletes or replaces these files: no path of the container leads to them, and every pull still loads them.".clone_into(&mut draft.reason);
    draft.proof.push("no path of the merged view leads to any of these files".to_owned());
}

/// What was looked at for names, as a statement about `what`.
pub(in crate::findings) fn searched(facts: &Facts<'_>, what: &str) -> String {
    let searched = &facts.inventory.searched;
    match (searched.files, searched.left_out) {
        (0, 0) => format!("the image has no files of an application that could be searched for {what}"),
        (files, 0) => format!("none of {files} files of the application names {what}"),
        (files, left_out) => {
            format!(
                "none of {files} files of the application names {what}; {left_out} more could not be searched"
            )
        }
    }
}
