//! Assignment of files to packages.

use hashbrown::{HashMap, HashSet};

use super::super::context::{Inode, InventoryContext};
use super::{Owners, PackageDraft, rank};
use crate::base::convert::{index32, layer16};
use crate::layer::EntryKind;
use crate::rootfs::{NodeId, NodeKind};

/// Assigns each file its package, and sets bytes and file count of each package.
pub(super) fn own(context: &InventoryContext<'_>, found: &mut [PackageDraft]) -> Owners {
    let mut claims: Vec<Option<Vec<NodeId>>> = Vec::with_capacity(found.len());
    // By node: the last list with it, counted from 1. Removes duplicate paths within a list.
    let mut named = vec![0_u32; context.rootfs.len()];
    for (list, one) in (1..).zip(found.iter_mut()) {
        let mut files = one.files.take();
        if let Some(files) = &mut files {
            files.retain(|id| std::mem::replace(&mut named[id.0 as usize], list) != list);
        }
        claims.push(files);
    }
    let replaced = replaced(context, found, &claims);
    let mut by_node = vec![0_u32; context.rootfs.len()];
    let mut shared = HashSet::new();
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|place| (rank(&found[*place].package), *place));
    for place in order {
        let Some(claims) = &claims[place] else { continue };
        let (mut bytes, mut count) = (0_u64, 0_u64);
        let mut seen: HashSet<Inode> = HashSet::new();
        let is_replaced = |id: NodeId| !replaced.is_empty() && replaced.contains(&(place, id));
        for id in claims.iter().copied().filter(|id| !is_replaced(*id)) {
            let node = context.node(id);
            let owner = &mut by_node[id.0 as usize];
            if *owner == 0 {
                *owner = index32(place + 1);
            } else if found[place].package.manager == "pip"
                && found[*owner as usize - 1].package.manager == "pip"
            {
                shared.insert(id);
            }
            if let (NodeKind::File, Some(inode)) = (node.kind(), node.content()) {
                count += 1;
                if !node.has_other_names() || seen.insert(inode) {
                    bytes += context.size(inode);
                }
            }
        }
        found[place].package.bytes = Some(bytes);
        found[place].package.files = Some(count);
    }
    Owners { by_node, shared }
}

/// A file in a higher layer than every database with its package, so possibly not the package's own.
struct Suspect {
    place: usize,
    size: u64,
    /// The highest layer with a database that contains the package; the package's files are not in higher
    /// layers.
    database: u16,
    /// Whether the highest layer up to `database` with this path has a file of this size; `None` if no layer
    /// has the path.
    before: Option<bool>,
}

/// Files that replace those of a package: their layer is above every layer whose database contains the
/// package, and their size differs from the installed file. A copy with another owner or mode has the same
/// size and remains the package's.
fn replaced(
    context: &InventoryContext<'_>,
    found: &[PackageDraft],
    claims: &[Option<Vec<NodeId>>],
) -> HashSet<(usize, NodeId)> {
    let mut suspects: HashMap<NodeId, Vec<Suspect>> = HashMap::new();
    let mut names: HashSet<&[u8]> = HashSet::new();
    for (place, (one, nodes)) in found.iter().zip(claims).enumerate() {
        for id in nodes.iter().flatten() {
            let node = context.node(*id);
            let Some(inode) = node.content().filter(|_| node.kind() == NodeKind::File) else { continue };
            if inode.0 > one.last_layer {
                let (size, database) = (context.size(inode), one.last_layer);
                names.insert(node.name());
                suspects.entry(*id).or_default().push(Suspect { place, size, database, before: None });
            }
        }
    }
    if suspects.is_empty() {
        return HashSet::new();
    }
    for number in 0..layer16(context.input.layers.len()) {
        let layer = context.rootfs.layer(number);
        let mut folder = None;
        // Folders are looked up only for entries with the name of a suspect.
        for entry in layer.entries().filter(|entry| names.contains(layer.name(*entry))) {
            let kind = layer.kind(entry);
            if matches!(kind, EntryKind::Whiteout | EntryKind::Opaque | EntryKind::Directory) {
                continue;
            }
            let dir = layer.dir(entry);
            let node = match folder {
                Some((known, node)) if known == dir => node,
                _ => {
                    let path = layer.dir_path(dir);
                    let node = context.paths.lookup(if path.is_empty() { b"/" } else { &path });
                    folder = Some((dir, node));
                    node
                }
            };
            let node = node.and_then(|node| context.paths.child(node, layer.name(entry)));
            for suspect in node.and_then(|node| suspects.get_mut(&node)).into_iter().flatten() {
                if number <= suspect.database {
                    // The size of a hard link is unknown: the file remains the package's.
                    let same = kind == EntryKind::File && layer.size(entry) == suspect.size;
                    suspect.before = Some(same || kind == EntryKind::HardLink);
                }
            }
        }
    }
    let mut replaced = HashSet::new();
    for id in claims.iter().flatten().flatten() {
        let of_node = suspects.remove(id).into_iter().flatten();
        replaced.extend(of_node.filter(|one| one.before == Some(false)).map(|one| (one.place, *id)));
    }
    replaced
}
