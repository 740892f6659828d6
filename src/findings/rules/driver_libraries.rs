//! Driver files, which the host supplies.

use hashbrown::HashSet;

use super::common;
use crate::base::convert::{index32, layer16};
use crate::cuda::Inode;
use crate::cuda::links::{ObjectId, Resolution};
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Item, Rule, Severity, Verdict};
use crate::layer::DirId;
use crate::rootfs::{Node, NodeId, NodeKind};

pub(super) static RULE: Rule = Rule {
    id: "driver-libraries",
    title: "Driver libraries",
    category: Category::DriverLibraries,
    severity: Severity::High,
    fix: "Install cuda-libraries-X-Y instead of cuda or cuda-runtime-X-Y, and no driver package: the container toolkit mounts the host driver.",
    page: include_str!("../../../assets/manual/rules/driver-libraries.md"),
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let nodes = candidates(facts);
    let nodes = nodes.iter().map(|node| facts.node(*node));
    let nodes = nodes.filter(|node| node.kind() == NodeKind::File && is_of_driver(facts, *node));
    let mut inodes: Vec<Inode> = nodes.filter_map(Node::content).collect();
    inodes.sort_unstable();
    inodes.dedup();
    let set: HashSet<Inode> = inodes.iter().copied().collect();
    let inside = |id: ObjectId| {
        let inode = facts.node(facts.inventory.links.object(id).node).content();
        inode.is_some_and(|inode| set.contains(&inode))
    };
    let (mut loaded, mut free): (Vec<Item>, Vec<Item>) = (Vec::new(), Vec::new());
    let mut named = Vec::new();
    let mut objects = Vec::new();
    for inode in inodes {
        let item = item(&facts.classification, facts.rootfs, inode);
        let object = facts.object_of(inode).map(|(id, _)| id);
        let user = item.node.and_then(|node| facts.named.user(facts, node));
        match object.filter(|id| common::is_loaded_from_outside(facts, *id, &inside)) {
            Some(id) => {
                loaded.push(item);
                objects.push(id);
            }
            None if user.is_some() => {
                loaded.push(item);
                named.extend(user);
            }
            None => free.push(item),
        }
    }
    follow(facts, &objects, &mut loaded, &mut free);
    let mut drafts = Vec::new();
    if !free.is_empty() {
        drafts.push(unused(free));
    }
    if !loaded.is_empty() {
        let mut draft = used(facts, &objects, loaded);
        draft.users.extend(named);
        drafts.push(draft);
    }
    drafts
}

/// Moves to the loaded files what they load, by link or by name.
fn follow(facts: &Facts<'_>, objects: &[ObjectId], loaded: &mut Vec<Item>, free: &mut Vec<Item>) {
    /// What libcuda opens by name.
    const OF_CUDA: [&[u8]; 5] = [
        b"libcudadebugger.",
        b"libnvidia-gpucomp.",
        b"libnvidia-nvvm",
        b"libnvidia-pkcs11",
        b"libnvidia-ptxjitcompiler.",
    ];
    let links = &facts.inventory.links;
    let object_of = |item: &Item| facts.object_of((item.layer, item.entry)).map(|(id, _)| id);
    let candidates: HashSet<ObjectId> = free.iter().filter_map(object_of).collect();
    let name = |id: ObjectId| facts.node(links.object(id).node).name();
    let of_cuda: Vec<ObjectId> = candidates
        .iter()
        .copied()
        .filter(|id| OF_CUDA.iter().any(|start| name(*id).starts_with(start)))
        .collect();
    let mut open = objects.to_vec();
    let mut moved: HashSet<ObjectId> = HashSet::new();
    while let Some(id) = open.pop() {
        let object = links.object(id);
        let found = object.needs.iter().flat_map(|need| &need.found);
        let found = found.chain(object.opens.iter().map(|open| &open.found)).filter_map(|one| match one {
            Resolution::Found { object, .. } => Some(*object),
            _ => None,
        });
        let by_name = if name(id).starts_with(b"libcuda.so") { of_cuda.as_slice() } else { &[] };
        let reached = found.chain(by_name.iter().copied()).filter(|id| candidates.contains(id));
        open.extend(reached.filter(|id| moved.insert(*id)));
    }
    loaded.extend(free.extract_if(.., |item| object_of(item).is_some_and(|id| moved.contains(&id))));
}

fn unused(items: Vec<Item>) -> Draft {
    let mut draft = Draft::new(&RULE, Verdict::Safe, "Driver libraries, never loaded".to_owned());
    draft.severity = Some(Severity::High);
    "The container toolkit mounts the host driver into the container. Nothing in the image loads these copies.".clone_into(&mut draft.reason);
    draft.proof = vec![
        "their names or packages belong to the driver, which libnvidia-container mounts from the host"
            .to_owned(),
        "no reachable program or library outside the driver needs or opens them".to_owned(),
        "none of them is in a compat or stubs folder".to_owned(),
    ];
    draft.items = items;
    draft
}

fn used(facts: &Facts<'_>, objects: &[ObjectId], items: Vec<Item>) -> Draft {
    let mut draft =
        Draft::new(&RULE, Verdict::Unsure, "Driver libraries, loaded by reachable programs".to_owned());
    draft.severity = Some(Severity::High);
    let who = if objects.is_empty() {
        "Driver libraries, mentioned in the image".clone_into(&mut draft.title);
        "A file or setting of the image names these copies, which are used"
    } else {
        "Reachable programs load these copies"
    };
    draft.reason = format!(
        "{who} unless the host driver is mounted over them. A driver that does not match the host's kernel module fails."
    );
    draft.question = Some(
        "Is this image started without the NVIDIA container toolkit, which mounts the host driver?"
            .to_owned(),
    );
    common::add_chains(facts, objects, &mut draft);
    draft.items = items;
    draft
}

/// Paths whose names or packages belong to the driver; a path may occur twice.
fn candidates(facts: &Facts<'_>) -> Vec<NodeId> {
    let programs = facts.catalog.host_libraries().iter().flat_map(|host| &host.programs);
    let programs: HashSet<&[u8]> = programs.map(String::as_bytes).collect();
    let mut first = [false; 256];
    programs.iter().filter_map(|name| name.first()).for_each(|byte| first[usize::from(*byte)] = true);
    let is_program =
        |name: &[u8]| name.first().is_some_and(|byte| first[usize::from(*byte)]) && programs.contains(name);
    // Firmware names are generic: they count only in a folder named `firmware`.
    let has_firmware = (0..layer16(facts.input.layers.len()))
        .map(|layer| facts.rootfs.layer(layer))
        .any(|index| (0..index32(index.dir_count())).any(|dir| index.dir_name(DirId(dir)) == b"firmware"));
    let mut nodes = facts.nodes_named(|name| {
        is_module(name)
            || (has_firmware && is_firmware(name))
            || is_program(name)
            || facts.catalog.is_driver(name)
    });
    if (0..facts.inventory.packages.len()).any(|place| facts.is_of_driver(place)) {
        let all = facts.rootfs.nodes().map(Node::id);
        nodes.extend(all.filter(|id| facts.owner(*id).is_some_and(|place| facts.is_of_driver(place))));
    }
    nodes
}

fn is_module(name: &[u8]) -> bool {
    name.starts_with(b"nvidia") && common::holds(name, b".ko")
}

fn is_firmware(name: &[u8]) -> bool {
    name.ends_with(b".bin") || name.windows(3).any(|part| part == b"gsp")
}

fn is_program(facts: &Facts<'_>, name: &[u8]) -> bool {
    let programs = facts.catalog.host_libraries().iter().flat_map(|host| &host.programs);
    programs.into_iter().any(|one| one.as_bytes() == name)
}

/// Whether a file of the merged view belongs to the driver: by its name, its package or its folder.
fn is_of_driver(facts: &Facts<'_>, node: Node<'_>) -> bool {
    let name = node.name();
    let by_name = facts.catalog.is_driver(name);
    let by_owner = facts.owner(node.id()).is_some_and(|place| facts.is_of_driver(place));
    let (is_module, is_firmware, is_program) = (is_module(name), is_firmware(name), is_program(facts, name));
    if !(by_name || by_owner || is_module || is_firmware || is_program) {
        return false;
    }
    let path = node.path();
    let elsewhere = [&b"/compat/"[..], b"/stubs/", b"/usr/share/doc/"];
    if elsewhere.iter().any(|part| common::holds(&path, part)) {
        return false;
    }
    let is_elf = || {
        node.content().is_some_and(|inode| facts.object_of(inode).is_some() || facts.binary(inode).is_some())
    };
    // Images committed while a driver was mounted keep empty files in its place.
    let is_left = || node.bytes() == 0 && common::holds(name, b".so.");
    by_owner
        || (by_name && (is_elf() || is_left()))
        || (is_module && common::holds(&path, b"/lib/modules/"))
        || (is_firmware && common::holds(&path, b"/lib/firmware/nvidia/"))
        || (is_program && is_elf() && common::holds(&path, b"/bin/"))
}
