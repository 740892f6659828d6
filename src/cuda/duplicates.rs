//! Duplicates in the image: libraries with the same soname, and large files with identical content.

mod displaced;

use std::collections::{BTreeMap, BTreeSet};

use hashbrown::HashMap;

use super::catalog::{LibraryName, split_library_name};
use super::classes::is_framework_component;
use super::context::{Inode, InventoryContext};
use super::links::{Links, ObjectId};
use super::value::{Displaced, Duplicate, Identical, Library, Pick, Role, Use};
use crate::base::text::escape;
use crate::layer::{COMPARED_BYTES, ContentHash, is_compared};
use crate::rootfs::NodeId;

/// Groups of libraries with the same soname. Stubs, forward-compatibility drivers and files for other
/// architectures are excluded: they are not interchangeable.
pub(super) fn libraries(
    context: &InventoryContext<'_>,
    libraries: &[Library],
    links: &Links,
) -> (Vec<Duplicate>, Vec<Displaced>) {
    let mut groups: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (place, library) in libraries.iter().enumerate() {
        let Some(name) = loaded_name(context, library) else { continue };
        if library.role == Role::Runtime && library.foreign.is_none() && library.hard_link_of.is_none() {
            groups.entry(name).or_default().push(place);
        }
    }
    groups.retain(|_, members| members.len() > 1);
    let displaced = displaced::find(libraries, links, &groups);
    let mut found: Vec<Duplicate> = groups
        .into_iter()
        .map(|(soname, members)| group(context, libraries, links, &displaced, &soname, members))
        .collect();
    found.sort_by_key(|duplicate| std::cmp::Reverse(duplicate.reclaimable_bytes));
    (found, displaced)
}

/// The name under which the loader knows a library: its soname, otherwise the file name. Without a soname,
/// framework libraries and names without `lib` are excluded: equal file names are different modules.
fn loaded_name(context: &InventoryContext<'_>, library: &Library) -> Option<String> {
    if let Some(soname) = &library.soname {
        return Some(without_hash(soname));
    }
    let name = context.node(library.node).name();
    let known = !is_framework_component(&library.component) && name.starts_with(b"lib");
    known.then(|| escape(name))
}

/// Whether one copy can replace the other: some sonames are equal for several CUDA major versions.
fn stands_in(one: &Library, other: &Library) -> bool {
    match (&one.cuda_major, &other.cuda_major) {
        (Some((one, _)), Some((other, _))) => one == other,
        _ => true,
    }
}

/// Removes auditwheel's hash from a soname: `libcudart-d0da41ae.so.11.0` is `libcudart.so.11.0`.
fn without_hash(soname: &str) -> String {
    match split_library_name(soname.as_bytes()) {
        Some(LibraryName { stem, hash: Some(_), suffix, .. }) => {
            format!("{}.so.{}", String::from_utf8_lossy(stem), String::from_utf8_lossy(suffix))
        }
        _ => soname.to_owned(),
    }
}

fn group(
    context: &InventoryContext<'_>,
    libraries: &[Library],
    links: &Links,
    displaced: &[Displaced],
    soname: &str,
    members: Vec<usize>,
) -> Duplicate {
    let picks: Vec<Pick> = members
        .iter()
        .map(|place| {
            let object = links.object(libraries[*place].object);
            // Unreferenced libraries do not count as loaders: those of an unused toolkit need each other.
            let runs = |id: &ObjectId| links.object(*id).usage != Use::Unreferenced;
            let loaded_by: BTreeSet<ObjectId> =
                object.needed_by.iter().chain(&object.opened_by).copied().filter(runs).collect();
            Pick { library: *place, loaded_by: loaded_by.into_iter().collect() }
        })
        .filter(|pick| !pick.loaded_by.is_empty())
        .collect();
    // A copy without users may be reachable without being a resolution target.
    let is_reached = |place: usize| links.object(libraries[place].object).usage != Use::Unreferenced;
    let is_spare = |place: usize| {
        !is_reached(place) && picks.iter().any(|pick| stands_in(&libraries[place], &libraries[pick.library]))
    };
    let is_displaced = |place: usize| displaced.iter().any(|one| one.library == place);
    let spare = members.iter().filter(|place| is_spare(**place) || is_displaced(**place));
    let reclaimable_bytes = spare.map(|place| libraries[*place].bytes).sum();
    let inodes: Vec<Inode> =
        members.iter().filter_map(|place| context.node(libraries[*place].node).content()).collect();
    Duplicate {
        soname: soname.to_owned(),
        identical: are_identical(context, &inodes),
        libraries: members,
        reclaimable_bytes,
        picks,
    }
}

/// Whether files have identical content; `None` if unknown. Different sizes are sufficient for `false`; equal
/// sizes prove nothing.
fn are_identical(context: &InventoryContext<'_>, inodes: &[Inode]) -> Option<bool> {
    let sizes: BTreeSet<u64> = inodes.iter().map(|inode| context.size(*inode)).collect();
    if sizes.len() > 1 {
        return Some(false);
    }
    let hashes: Vec<Option<&ContentHash>> = inodes.iter().map(|inode| context.hash(*inode)).collect();
    let known: BTreeSet<&ContentHash> = hashes.iter().flatten().copied().collect();
    match known.len() {
        0 | 1 if hashes.contains(&None) => None,
        1 => Some(true),
        0 => None,
        _ => Some(false),
    }
}

/// Large files of the merged view with identical content, the largest saving first.
pub(super) fn identical(context: &InventoryContext<'_>, compared: &[(Inode, NodeId)]) -> Vec<Identical> {
    let mut groups: HashMap<(u64, ContentHash), BTreeMap<Inode, Vec<NodeId>>> = HashMap::new();
    for (inode, node) in compared.iter().filter(|(inode, _)| context.size(*inode) >= COMPARED_BYTES) {
        if let Some(hash) = context.hash(*inode) {
            groups.entry((context.size(*inode), *hash)).or_default().entry(*inode).or_default().push(*node);
        }
    }
    let mut found: Vec<Identical> = Vec::new();
    #[allow(clippy::iter_over_hash_type, reason = "sorted below by what does not depend on the order")]
    for inodes in groups.into_values().filter(|inodes| inodes.len() > 1) {
        let bytes = inodes.keys().next().map_or(0, |inode| context.size(*inode));
        let first = |names: Vec<NodeId>| names.into_iter().min_by_key(|node| context.path(*node));
        let mut nodes: Vec<NodeId> = inodes.into_values().filter_map(first).collect();
        nodes.sort_by_cached_key(|node| context.path(*node));
        found.push(Identical { nodes, bytes });
    }
    found.sort_by_cached_key(|same| {
        let gain = same.bytes.saturating_mul(same.nodes.len() as u64 - 1);
        (std::cmp::Reverse(gain), context.path(same.nodes[0]))
    });
    found
}

/// Files of the merged view to compare, with their inode.
pub(super) fn compared_files(context: &InventoryContext<'_>) -> Vec<(Inode, NodeId)> {
    context
        .files(|inode, named| named.library || context.size(inode) >= COMPARED_BYTES)
        .filter(|(inode, node)| {
            let size = context.size(*inode);
            size >= COMPARED_BYTES || (context.is_named_library(*node) && is_compared(node.name(), size))
        })
        .map(|(inode, node)| (inode, node.id()))
        .collect()
}

/// Unhashed files with the size of another file, which must be read for comparison. Files of equal size are
/// adjacent, the largest first.
pub(super) fn unproven(context: &InventoryContext<'_>, compared: &[(Inode, NodeId)]) -> Vec<Inode> {
    let mut by_size: BTreeMap<u64, BTreeSet<Inode>> = BTreeMap::new();
    for (inode, _) in compared {
        by_size.entry(context.size(*inode)).or_default().insert(*inode);
    }
    by_size
        .into_values()
        .rev()
        .filter(|inodes| inodes.len() > 1)
        .flatten()
        .filter(|inode| context.hash(*inode).is_none())
        .collect()
}
