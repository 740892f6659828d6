//! Settings of the image: variables, preloaded libraries, the working directory, the user.

use std::collections::{BTreeMap, BTreeSet};

use super::image_pair::ImagePair;
use super::notes::ProofNotes;
use super::side::{Side, shown};
use crate::base::text::printable;
use crate::cuda::links::{RootKind, file_name};
use crate::rootfs::{NodeId, NodeKind};

/// Maximum variables, and parts of their values, that are checked; real images have some dozens.
const PARTS: usize = 4096;
/// Maximum names listed in one sentence.
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
pub(super) fn environment(pair: &ImagePair<'_>, notes: &mut ProofNotes) {
    let pairs = pair.new.environment.iter().filter_map(|pair| pair.split_once('='));
    let parts = pairs.filter(|(name, _)| !SEARCHED.contains(name) && *name != "LD_PRELOAD");
    let parts =
        parts.flat_map(|(name, value)| value.split([':', ' ', '=', ',']).map(move |part| (name, part)));
    let mut known: BTreeMap<NodeId, bool> = BTreeMap::new();
    for (name, part) in parts.filter(|(_, part)| part.starts_with('/') && part.len() > 1).take(PARTS) {
        let Some(node) = pair.old.find(part.as_bytes()) else { continue };
        if pair.new.find(part.as_bytes()).is_some() {
            continue;
        }
        let (path, name) = (pair.old.shown(node), printable(name));
        let old = pair.old.node(node);
        let is_planned = *known.entry(node).or_insert_with(|| match old.content() {
            Some(inode) => pair.is_planned(inode),
            None => pair.lost_below(node).is_none(),
        });
        // Variables name the toolkit by habit, and its folder is part of the base image.
        let of_toolkit =
            pair.input.catalog.toolkit_root(&old.path()).is_some() && old.kind() == NodeKind::Directory;
        if is_planned || of_toolkit {
            notes.unproven.add(format!("ENV {name} refers to {path}, which is not in the new image"));
        } else {
            notes.faults.add(format!("ENV {name} refers to {path}, which is left out"));
        }
    }
    changed(pair, notes);
}

/// Variables that are unset or changed. Their values may be secrets and are not shown.
fn changed(pair: &ImagePair<'_>, notes: &mut ProofNotes) {
    let names: BTreeSet<&str> =
        pair.old.environment.iter().filter_map(|pair| Some(pair.split_once('=')?.0)).collect();
    let (mut gone, mut other) = (Vec::new(), Vec::new());
    for name in names.into_iter().filter(|name| !is_note(name)) {
        match (pair.old.variable(name), pair.new.variable(name)) {
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
        notes.unproven.add(format!("environment variables {what}: {names}{more}"));
    }
}

/// Variables that only record what was installed, or that only builds read.
fn is_note(name: &str) -> bool {
    const NOTES: [&str; 6] =
        ["NVARCH", "CUDA_VERSION", "NCCL_VERSION", "NVIDIA_PRODUCT_NAME", "LIBRARY_PATH", "DEBIAN_FRONTEND"];
    NOTES.contains(&name) || ["NV_", "PIP_", "UV_"].iter().any(|start| name.starts_with(start))
}

/// Compares libraries preloaded into every process.
pub(super) fn preloads(pair: &ImagePair<'_>, notes: &mut ProofNotes) {
    let before = preloaded(pair, &pair.old);
    for (name, found) in preloaded(pair, &pair.new) {
        if found {
            continue;
        }
        let shown = shown(&name);
        if before.contains(&(name.clone(), false)) {
            notes
                .unproven
                .add(format!("LD_PRELOAD contains {shown}, which is already missing in the current image"));
        } else {
            notes.faults.add(format!("LD_PRELOAD contains {shown}, which is not found"));
        }
    }
}

/// The preloaded libraries of a side, and whether each is found.
fn preloaded(pair: &ImagePair<'_>, side: &Side<'_>) -> BTreeSet<(Vec<u8>, bool)> {
    let variable = side.variable("LD_PRELOAD").unwrap_or_default().as_bytes().to_vec();
    let file = side.find_from(NodeId::ROOT, b"/etc/ld.so.preload").and_then(|node| {
        let (layer, entry) = side.node(node).content()?;
        pair.layer(layer)?.facts.document(entry)?.bytes().ok()
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
                let soname = inode.and_then(|inode| pair.elf(inode)).and_then(|elf| elf.soname.as_deref());
                side.node(*node).name() == file_name(name) || soname == Some(name)
            };
            (name.to_vec(), by_path.is_some() || roots.iter().any(is_root))
        })
        .collect()
}

/// Checks the working directory if it contains files.
pub(super) fn working_dir(pair: &ImagePair<'_>, path: &str, notes: &mut ProofNotes) {
    let Some(node) = pair.old.find_from(NodeId::ROOT, path.as_bytes()) else { return };
    if pair.new.find_from(NodeId::ROOT, path.as_bytes()).is_none() && pair.old.node(node).files() > 0 {
        let path = pair.old.shown(node);
        notes.faults.add(format!("working directory {path} is left out"));
    }
}

/// Checks the user and group of the image, if given by name.
pub(super) fn user(pair: &ImagePair<'_>, user: &str, notes: &mut ProofNotes) {
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
        match (content(&pair.old), content(&pair.new)) {
            (Some(_), None) => {
                notes.faults.add(format!("the image runs as {what} {name}, but {path} is left out"));
            }
            (Some(was), Some(is)) if pair.is_same(was, is) != Some(true) => notes.unproven.add(format!(
                "the image runs as {what} {name}: unknown whether {name} is in the new image's {path}, which is a different file"
            )),
            (None, _) => notes.unproven.add(format!("the image runs as {what} {name}, but the current image has no {path}")),
            _ => {}
        }
    }
}
