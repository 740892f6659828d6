//! Settings of the image: variables, preloaded libraries, the working directory, the user.

use std::collections::{BTreeMap, BTreeSet};

use super::said::Said;
use super::side::{Side, shown};
use super::sides::Both;
use crate::base::text::printable;
use crate::cuda::links::{RootKind, file_name};
use crate::rootfs::{NodeId, NodeKind};

/// Most variables, and parts of their values, that are checked; real images have some dozens.
const PARTS: usize = 4096;
/// Most names listed in one sentence.
const NAMES: usize = 24;

/// Variables with search folders: a missing folder is skipped.
const SEARCHED: [&str; 12] = [
    "PATH",
    "LD_LIBRARY_PATH",
    "LIBRARY_PATH",
    "MANPATH",
    "INFOPATH",
    "CPATH",
    "C_INCLUDE_PATH",
    "CPLUS_INCLUDE_PATH",
    "PKG_CONFIG_PATH",
    "CMAKE_PREFIX_PATH",
    "XDG_DATA_DIRS",
    "XDG_CONFIG_DIRS",
];

/// Compares variables of the new image with the files that they name, and with their previous values.
pub(super) fn environment(both: &Both<'_>, said: &mut Said) {
    let pairs = both.new.environment.iter().filter_map(|pair| pair.split_once('='));
    let parts = pairs.filter(|(name, _)| !SEARCHED.contains(name) && *name != "LD_PRELOAD");
    let parts =
        parts.flat_map(|(name, value)| value.split([':', ' ', '=', ',']).map(move |part| (name, part)));
    let mut known: BTreeMap<NodeId, bool> = BTreeMap::new();
    for (name, part) in parts.filter(|(_, part)| part.starts_with('/') && part.len() > 1).take(PARTS) {
        let Some(node) = both.old.find(part.as_bytes()) else { continue };
        if both.new.find(part.as_bytes()).is_some() {
            continue;
        }
        let (path, name) = (both.old.shown(node), printable(name));
        let old = both.old.node(node);
        let is_planned = *known.entry(node).or_insert_with(|| match old.content() {
            Some(inode) => both.is_planned(inode),
            None => both.lost_below(node).is_none(),
        });
        // Variables name the toolkit by habit, and its folder is part of the base image.
        let of_toolkit =
            both.input.catalog.toolkit_root(&old.path()).is_some() && old.kind() == NodeKind::Directory;
        if is_planned || of_toolkit {
            said.unproven.add(format!("ENV {name} refers to {path}, which is not in the new image"));
        } else {
            said.faults.add(format!("ENV {name} refers to {path}, which is left out"));
        }
    }
    changed(both, said);
}

/// Variables that are unset or changed. Their values may be secrets and are not shown.
fn changed(both: &Both<'_>, said: &mut Said) {
    let names: BTreeSet<&str> =
        both.old.environment.iter().filter_map(|pair| Some(pair.split_once('=')?.0)).collect();
    let (mut gone, mut other) = (Vec::new(), Vec::new());
    for name in names.into_iter().filter(|name| !is_note(name)) {
        match (both.old.variable(name), both.new.variable(name)) {
            (Some(_), None) => gone.push(printable(name)),
            (Some(was), Some(is)) if was != is => other.push(printable(name)),
            _ => {}
        }
    }
    for (list, what) in [(gone, "no longer set"), (other, "changed")] {
        if list.is_empty() {
            continue;
        }
        let more = list.len().saturating_sub(NAMES);
        let names = list.into_iter().take(NAMES).collect::<Vec<_>>().join(", ");
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        said.unproven.add(format!("environment variables {what}: {names}{more}"));
    }
}

/// Variables that only record what was installed, or that only builds read.
fn is_note(name: &str) -> bool {
    const NOTES: [&str; 6] =
        ["NVARCH", "CUDA_VERSION", "NCCL_VERSION", "NVIDIA_PRODUCT_NAME", "LIBRARY_PATH", "DEBIAN_FRONTEND"];
    NOTES.contains(&name) || ["NV_", "PIP_", "UV_"].iter().any(|start| name.starts_with(start))
}

/// Compares libraries preloaded into every process.
pub(super) fn preloads(both: &Both<'_>, said: &mut Said) {
    let before = preloaded(both, &both.old);
    for (name, found) in preloaded(both, &both.new) {
        if found {
            continue;
        }
        let shown = shown(&name);
        if before.contains(&(name.clone(), false)) {
            said.unproven
                .add(format!("LD_PRELOAD contains {shown}, which is already missing in the current image"));
        } else {
            said.faults.add(format!("LD_PRELOAD contains {shown}, which is not found"));
        }
    }
}

/// The preloaded libraries of a side, and whether each is found.
fn preloaded(both: &Both<'_>, side: &Side<'_>) -> BTreeSet<(Vec<u8>, bool)> {
    let variable = side.variable("LD_PRELOAD").unwrap_or_default().as_bytes().to_vec();
    let file = side.find_from(NodeId::ROOT, b"/etc/ld.so.preload").and_then(|node| {
        let (layer, entry) = side.node(node).content()?;
        both.layer(layer)?.facts.document(entry)?.bytes().ok()
    });
    let list = [variable, b" ".to_vec(), file.unwrap_or_default()].concat();
    let roots: Vec<NodeId> = side
        .inventory
        .links
        .objects
        .iter()
        .filter(|object| object.root.as_ref().is_some_and(|root| root.kind == RootKind::Preload))
        .map(|object| object.node)
        .collect();
    let names =
        list.split(|byte| byte.is_ascii_whitespace() || *byte == b':').filter(|name| !name.is_empty());
    names
        .take(PARTS)
        .map(|name| {
            let by_path = name.contains(&b'/').then(|| side.find(name)).flatten();
            let is_root = |node: &NodeId| {
                let inode = side.node(*node).content();
                let soname = inode.and_then(|inode| both.elf(inode)).and_then(|elf| elf.soname.as_deref());
                side.node(*node).name() == file_name(name) || soname == Some(name)
            };
            (name.to_vec(), by_path.is_some() || roots.iter().any(is_root))
        })
        .collect()
}

/// Checks the working directory if it contains files.
pub(super) fn working_dir(both: &Both<'_>, path: &str, said: &mut Said) {
    let Some(node) = both.old.find_from(NodeId::ROOT, path.as_bytes()) else { return };
    if both.new.find_from(NodeId::ROOT, path.as_bytes()).is_none() && both.old.node(node).files() > 0 {
        let path = both.old.shown(node);
        said.faults.add(format!("working directory {path} is left out"));
    }
}

/// Checks the user and group of the image, if given by name.
pub(super) fn user(both: &Both<'_>, user: &str, said: &mut Said) {
    let (name, group) = user.split_once(':').unwrap_or((user, ""));
    let is_named =
        |name: &str| !matches!(name, "" | "root") && !name.bytes().all(|byte| byte.is_ascii_digit());
    for (name, path) in [(name, "/etc/passwd"), (group, "/etc/group")] {
        if !is_named(name) {
            continue;
        }
        let (what, name) = (if path == "/etc/passwd" { "user" } else { "group" }, printable(name));
        let content = |side: &Side<'_>| {
            side.find_from(NodeId::ROOT, path.as_bytes()).and_then(|node| side.node(node).content())
        };
        match (content(&both.old), content(&both.new)) {
            (Some(_), None) => {
                said.faults.add(format!("the image runs as {what} {name}, but {path} is left out"));
            }
            (Some(was), Some(is)) if both.is_same(was, is) != Some(true) => said.unproven.add(format!(
                "the image runs as {what} {name}: unknown whether {name} is in the new image's {path}, which is a different file"
            )),
            (None, _) => said.unproven.add(format!("the image runs as {what} {name}, but the current image has no {path}")),
            _ => {}
        }
    }
}
