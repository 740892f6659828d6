//! Totals of a folder: by layer, owner and finding.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Serialize;

use super::path::PathName;
use crate::analysis::Analysis;
use crate::cuda::Inode;
use crate::rootfs::{Node, NodeId, NodeKind, Rootfs};

/// Largest files that are listed, and packages.
const MOST: usize = 20;

/// What is in a folder.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyFolder {
    /// By layer of the bytes, bottom first; `name` is the number of the layer.
    pub layers: Vec<WhyShare>,
    /// By owning package as `manager:name`, most bytes first; an empty name for files without an owner.
    pub owners: Vec<WhyShare>,
    /// Number of owners that are not listed.
    pub more_owners: u64,
    /// The largest files, each inode once.
    pub largest: Vec<WhyFile>,
}

/// A part of a folder.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyShare {
    /// What it belongs to.
    pub name: String,
    /// Files, each inode once.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A file of a folder.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
pub struct WhyFile {
    /// The file.
    pub path: PathName,
    /// Its bytes.
    pub bytes: u64,
}

/// All nodes at or below a node.
pub(super) fn below(rootfs: &Rootfs, node: NodeId) -> BTreeSet<NodeId> {
    let mut all = BTreeSet::new();
    let mut open = vec![node];
    while let Some(id) = open.pop() {
        all.insert(id);
        open.extend(rootfs.node(id).children().map(Node::id));
    }
    all
}

pub(super) fn folder(analysis: &Analysis, rootfs: &Rootfs, nodes: &BTreeSet<NodeId>) -> WhyFolder {
    let inventory = analysis.inventory.as_deref();
    let mut seen: BTreeSet<Inode> = BTreeSet::new();
    let mut layers: BTreeMap<u16, (u64, u64)> = BTreeMap::new();
    let mut owners: BTreeMap<Option<usize>, (u64, u64)> = BTreeMap::new();
    let mut files: Vec<(u64, NodeId)> = Vec::new();
    for id in nodes {
        let node = rootfs.node(*id);
        let Some(inode) = node.content().filter(|inode| node.kind() == NodeKind::File && seen.insert(*inode))
        else {
            continue;
        };
        let bytes = node.size_of(inode);
        files.push((bytes, *id));
        let add = |sum: &mut (u64, u64)| *sum = (sum.0 + 1, sum.1.saturating_add(bytes));
        add(layers.entry(inode.0).or_default());
        add(owners.entry(inventory.and_then(|found| found.owners.of(*id))).or_default());
    }
    files.sort_unstable_by_key(|(bytes, id)| (std::cmp::Reverse(*bytes), *id));
    let share = |name: String, (files, bytes): (u64, u64)| WhyShare { name, files, bytes };
    let owner = |place: Option<usize>| {
        let package = place.and_then(|place| inventory?.packages.get(place));
        package.map_or_else(String::new, |package| format!("{}:{}", package.manager, package.name))
    };
    let mut owners: Vec<WhyShare> = owners.into_iter().map(|(place, sum)| share(owner(place), sum)).collect();
    owners.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
    let more_owners = owners.len().saturating_sub(MOST) as u64;
    owners.truncate(MOST);
    let largest = files.iter().take(MOST).filter(|(bytes, _)| *bytes > 0);
    WhyFolder {
        layers: layers.into_iter().map(|(layer, sum)| share(layer.to_string(), sum)).collect(),
        owners,
        more_owners,
        largest: largest
            .map(|(bytes, id)| WhyFile { path: PathName(rootfs.node(*id).path()), bytes: *bytes })
            .collect(),
    }
}
