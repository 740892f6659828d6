//! What is there more than once.

use std::collections::BTreeSet;

use super::libraries::LibraryItem;
use super::{Places, words};
use crate::base::text::{escape, printable};
use crate::compare::Change;
use crate::cuda::{Duplicate, Identical, Inventory, Supplier};
use crate::gui::models::grouped::{GroupedRows, RowGroup};
use crate::rootfs::{NodeId, Rootfs};

/// How many of those who load a copy are named.
const NAMED: usize = 3;

/// Copies of one thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DuplicateItem {
    /// The soname, or the name of a file.
    pub title: String,
    /// Whether the copies are libraries of one name; else files of one content.
    pub soname: bool,
    /// Whether all have the same bytes; `None` when that was not compared.
    pub identical: Option<bool>,
    /// Bytes that could go.
    pub gain: u64,
    /// The copies.
    pub copies: Vec<CopyItem>,
}

/// One of several copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyItem {
    /// The library, in the model; `None` for other files.
    pub library: Option<usize>,
    /// Absolute path, safe to show.
    pub path: String,
    /// Absolute path, any bytes.
    pub raw: Vec<u8>,
    /// Who brought it, where that is known.
    pub supplier: Option<Supplier>,
    /// The layer that contains it.
    pub layer: u16,
    /// Its bytes.
    pub bytes: u64,
    /// Who loads it, in words; `None` where that is no question.
    pub loaded_by: Option<String>,
}

impl DuplicateItem {
    /// Whether the copies are the same, in words.
    pub fn match_label(&self) -> &'static str {
        match self.identical {
            Some(true) => "identical",
            Some(false) => "different",
            None => Change::Unknown.label(),
        }
    }
}

/// A row of the list that others may belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DuplicateGroup {
    /// The head of what follows.
    Head(&'static str),
    /// Copies of one thing, by its place.
    Copies(usize),
}

impl RowGroup for DuplicateGroup {
    type Key = Self;

    fn key(&self) -> Self {
        *self
    }
}

/// The rows of the list: of a copy, of what it is one, and which.
pub type DuplicateRows = GroupedRows<DuplicateGroup, (usize, usize)>;

impl DuplicateRows {
    /// Makes the rows, without the copies of what is folded.
    pub fn new(
        items: &[DuplicateItem],
        folded: &BTreeSet<DuplicateGroup>,
        fits: impl Fn(&DuplicateItem) -> bool,
    ) -> Self {
        let mut shown = Self::default();
        let mut last = None;
        for (place, item) in items.iter().enumerate().filter(|(_, item)| fits(item)) {
            if last != Some(item.soname) {
                last = Some(item.soname);
                let head = if item.soname { "Same soname" } else { "Other identical large files" };
                shown.push(DuplicateGroup::Head(head), folded, []);
            }
            let copies = (0..item.copies.len()).map(|copy| (place, copy));
            shown.push(DuplicateGroup::Copies(place), folded, copies);
        }
        shown
    }
}

pub(super) fn all(
    inventory: &Inventory,
    rootfs: &Rootfs,
    libraries: &[LibraryItem],
    places: &Places,
) -> Vec<DuplicateItem> {
    let by_name =
        inventory.duplicates.iter().map(|duplicate| of_name(inventory, rootfs, libraries, duplicate));
    let mut items: Vec<DuplicateItem> = by_name.collect();
    let told: Vec<BTreeSet<NodeId>> = inventory
        .duplicates
        .iter()
        .map(|duplicate| {
            let found = duplicate.libraries.iter().filter_map(|place| inventory.libraries.get(*place));
            found.map(|library| library.node).collect()
        })
        .collect();
    for identical in &inventory.identical {
        // Libraries with the same name are not listed twice.
        let nodes: BTreeSet<NodeId> = identical.nodes.iter().copied().collect();
        if !told.iter().any(|told| nodes.is_subset(told)) {
            items.push(of_content(rootfs, libraries, places, identical));
        }
    }
    items
}

fn of_name(
    inventory: &Inventory,
    rootfs: &Rootfs,
    libraries: &[LibraryItem],
    duplicate: &Duplicate,
) -> DuplicateItem {
    let copies = duplicate.libraries.iter().filter_map(|place| {
        let item = libraries.get(*place)?;
        let pick = duplicate.picks.iter().find(|pick| pick.library == *place);
        let loaders = pick.map_or(&[][..], |pick| pick.loaded_by.as_slice());
        let mut names: Vec<String> =
            loaders.iter().take(NAMED).map(|id| words::object_name(&inventory.links, rootfs, *id)).collect();
        if loaders.len() > NAMED {
            names.push(format!("{} more", loaders.len() - NAMED));
        }
        let names = if names.is_empty() { "not loaded".to_owned() } else { names.join(", ") };
        Some(copy(Some(*place), item, Some(names)))
    });
    DuplicateItem {
        title: printable(&duplicate.soname),
        soname: true,
        identical: duplicate.identical,
        gain: duplicate.reclaimable_bytes,
        copies: copies.collect(),
    }
}

fn copy(library: Option<usize>, item: &LibraryItem, loaded_by: Option<String>) -> CopyItem {
    CopyItem {
        library,
        path: item.path.clone(),
        raw: item.raw.clone(),
        supplier: Some(item.supplier),
        layer: item.layer,
        bytes: item.bytes,
        loaded_by,
    }
}

fn of_content(
    rootfs: &Rootfs,
    libraries: &[LibraryItem],
    places: &Places,
    identical: &Identical,
) -> DuplicateItem {
    let copies: Vec<CopyItem> = identical
        .nodes
        .iter()
        .map(|id| {
            let place = places.nodes.get(id).copied();
            if let Some(item) = place.and_then(|place| libraries.get(place)) {
                return copy(place, item, None);
            }
            let node = rootfs.node(*id);
            let raw = node.path();
            CopyItem {
                library: None,
                path: escape(&raw),
                raw,
                supplier: None,
                layer: node.content().map_or(node.layer(), |(layer, _)| layer),
                bytes: identical.bytes,
                loaded_by: None,
            }
        })
        .collect();
    let title = identical.nodes.first().map_or_else(String::new, |id| words::file_name(rootfs, *id));
    let more = (copies.len() as u64).saturating_sub(1);
    DuplicateItem {
        title,
        soname: false,
        identical: Some(true),
        gain: identical.bytes.saturating_mul(more),
        copies,
    }
}
