//! Files of Python packages.

use std::collections::BTreeMap;

use hashbrown::HashMap;

use crate::findings::facts::Facts;
use crate::rootfs::{NodeId, NodeKind};

/// By package, an index in the inventory: the files that it lists, and the bytecode of those, which not every installer
/// lists.
pub(super) fn files_of_pip(facts: &Facts<'_>, list: &[usize]) -> BTreeMap<usize, Vec<NodeId>> {
    let mut files: BTreeMap<usize, Vec<NodeId>> = list.iter().map(|place| (*place, Vec::new())).collect();
    let mut bytecode: HashMap<NodeId, HashMap<&[u8], Vec<NodeId>>> = HashMap::new();
    for node in facts.rootfs.nodes() {
        let id = node.id();
        let Some(own) = facts.owner(id).and_then(|owner| files.get_mut(&owner)) else { continue };
        if facts.inventory.owners.is_shared(id) || node.kind() != NodeKind::File {
            continue;
        }
        own.push(id);
        let Some(stem) = node.name().strip_suffix(b".py") else { continue };
        let Some(cache) = facts.paths.child(node.parent().id(), b"__pycache__") else { continue };
        let files = bytecode.entry(cache).or_insert_with(|| bytecode_in(facts, cache));
        own.extend(files.get(stem).into_iter().flatten());
    }
    files
}

/// The bytecode in a folder `__pycache__` that no package lists, by the name of its module.
fn bytecode_in<'a>(facts: &Facts<'a>, cache: NodeId) -> HashMap<&'a [u8], Vec<NodeId>> {
    let mut by_module: HashMap<&[u8], Vec<NodeId>> = HashMap::new();
    for file in facts.node(cache).children().filter(|file| facts.owner(file.id()).is_none()) {
        if let Some(end) = memchr::memmem::find(file.name(), b".cpython-") {
            by_module.entry(&file.name()[..end]).or_default().push(file.id());
        }
    }
    by_module
}
