//! Parts of the driver, which the host supplies.

use std::collections::HashSet;

use super::common;
use crate::cuda::Inode;
use crate::cuda::links::ObjectId;
use crate::findings::census::item;
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::rule::Rule;
use crate::findings::value::{Category, Item, Severity, Verdict};
use crate::rootfs::{Node, NodeKind};

pub(super) static RULE: Rule = Rule {
    id: "driver-libraries",
    title: "Parts of the driver",
    category: Category::DriverLibraries,
    severity: Severity::High,
    fix: "Install cuda-libraries-X-Y in place of cuda or cuda-runtime-X-Y, and no driver package: the container toolkit brings the host's driver.",
    finds: "Parts of NVIDIA's driver in the image: libcuda, libnvidia-ml and their like outside the folders `compat` and `stubs`, files of driver packages, kernel modules and firmware.",
    matters: "The driver must fit the kernel module of the host, so the container toolkit puts the host's libraries into every container. A second copy in the image is loaded in its place or beside it: `nvidia-smi` says `Driver/library version mismatch`, or CUDA fails with error 803.",
    example: r"```dockerfile
RUN apt-get update && apt-get install -y cuda-runtime-12-4
```",
    remedy: r"```dockerfile
RUN apt-get update && apt-get install -y --no-install-recommends cuda-libraries-12-4
```

`cuda-runtime-12-4` and `cuda` pull the driver in, `cuda-libraries-12-4` does not. Libraries in `compat` are another matter: they are the forward-compatibility driver, and stay.",
    source: "libnvidia-container, src/nvc_info.c: what is mounted from the host; packages of the CUDA repository.",
};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let nodes =
        facts.rootfs.nodes().filter(|node| node.kind() == NodeKind::File && is_of_driver(facts, *node));
    let mut inodes: Vec<Inode> = nodes.filter_map(Node::content).collect();
    inodes.sort_unstable();
    inodes.dedup();
    let set: HashSet<Inode> = inodes.iter().copied().collect();
    let inside = |id: ObjectId| {
        let inode = facts.node(facts.inventory.links.object(id).node).content();
        inode.is_some_and(|inode| set.contains(&inode))
    };
    let (mut loaded, mut free): (Vec<Item>, Vec<Item>) = (Vec::new(), Vec::new());
    let mut objects = Vec::new();
    for inode in inodes {
        let item = item(&facts.census, facts.rootfs, inode);
        let object = facts.object_of(inode).map(|(id, _)| id);
        match object.filter(|id| common::is_loaded_from_outside(facts, *id, &inside)) {
            Some(id) => {
                loaded.push(item);
                objects.push(id);
            }
            None => free.push(item),
        }
    }
    let mut drafts = Vec::new();
    if !free.is_empty() {
        drafts.push(unused(free));
    }
    if !loaded.is_empty() {
        drafts.push(used(facts, &objects, loaded));
    }
    drafts
}

fn unused(items: Vec<Item>) -> Draft {
    let mut draft = Draft::new(&RULE, Verdict::Safe, "Parts of the driver that nothing loads".to_owned());
    draft.severity = Some(Severity::High);
    "The host supplies the driver: the container toolkit mounts its libraries and programs into the container. Nothing in the image loads these copies.".clone_into(&mut draft.reason);
    draft.proof = vec![
        "their names, or the packages that own them, are those of the driver, which libnvidia-container mounts from the host".to_owned(),
        "none of them is needed or opened, by the loader's rules, by anything that runs, other parts of the driver aside".to_owned(),
        "none of them lies in a folder compat or stubs".to_owned(),
    ];
    draft.items = items;
    draft
}

fn used(facts: &Facts<'_>, objects: &[ObjectId], items: Vec<Item>) -> Draft {
    let mut draft =
        Draft::new(&RULE, Verdict::Unsure, "Parts of the driver that the loader takes".to_owned());
    draft.severity = Some(Severity::High);
    "Something that runs loads these copies, unless the host's driver is mounted over them. A driver that does not fit the host's kernel module fails.".clone_into(&mut draft.reason);
    draft.question = Some("Does the container toolkit put the host's driver into every container that is started from this image?".to_owned());
    common::tell_chains(facts, objects, &mut draft);
    draft.items = items;
    draft
}

/// Whether a file of the merged view is a part of the driver: by its name, its package, or its folder.
fn is_of_driver(facts: &Facts<'_>, node: Node<'_>) -> bool {
    let name = node.name();
    let by_name = facts.catalog.is_driver(name);
    let by_owner =
        facts.owner(node.id()).and_then(|place| facts.inventory.packages.get(place)).is_some_and(|package| {
            !matches!(package.manager, "pip" | "conda")
                && facts.catalog.is_driver_package(package.manager, &package.name).is_some()
        });
    let is_module = name.starts_with(b"nvidia") && common::holds(name, b".ko");
    let is_firmware = name.ends_with(b".bin") || common::holds(name, b"gsp");
    let is_program = facts
        .catalog
        .host_libraries()
        .iter()
        .any(|host| host.programs.iter().any(|one| one.as_bytes() == name));
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
    // Containers that were saved while a driver was mounted keep empty files in its place.
    let is_left = || node.bytes() == 0 && common::holds(name, b".so.");
    by_owner
        || (by_name && (is_elf() || is_left()))
        || (is_module && common::holds(&path, b"/lib/modules/"))
        || (is_firmware && common::holds(&path, b"/lib/firmware/nvidia/"))
        || (is_program && is_elf() && common::holds(&path, b"/bin/"))
}
