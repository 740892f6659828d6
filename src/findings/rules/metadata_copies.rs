//! Files copied to an upper layer because their mode, owner or time changed.

use std::collections::BTreeMap;

use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Item, Rule, Severity, Verdict};
use crate::formats::compression::Compression;
use crate::layer::EntryId;
use crate::rootfs::copies;
use crate::source::Blob;

pub(super) static RULE: Rule = Rule {
    id: "metadata-copies",
    title: "Files copied by chmod, chown or touch",
    category: Category::Overwritten,
    severity: Severity::Medium,
    fix: "Set owner and mode when you add the files: COPY --chown and --chmod, or in the same RUN.",
    page: include_str!("../../../assets/manual/rules/metadata-copies.md"),
};

/// Whether a pair has the same content; `None` when unknown.
fn is_same(facts: &Facts<'_>, one: (u16, EntryId), other: (u16, EntryId)) -> Option<bool> {
    if let (Some(one), Some(other)) = (facts.hash(one), facts.hash(other)) {
        return Some(one == other);
    }
    // The second pass hashes files whose samples are equal: where it can read, no hash means different content.
    let told_apart =
        is_readable(facts, one.0) && is_readable(facts, other.0) && facts.inventory.waits_for.is_none();
    told_apart.then_some(false)
}

/// Whether the second pass can read files of a layer.
fn is_readable(facts: &Facts<'_>, layer: u16) -> bool {
    let blob = facts.input.image.layers.get(usize::from(layer)).map(|layer| &layer.blob);
    let plain = facts.layer(layer).is_some_and(|read| read.compression == Some(Compression::None));
    matches!(blob, Some(Blob::Section(_))) && plain
}

/// The metadata that differs between two entries.
fn changes(facts: &Facts<'_>, one: (u16, EntryId), other: (u16, EntryId)) -> Vec<&'static str> {
    let (old, new) = (facts.rootfs.layer(one.0), facts.rootfs.layer(other.0));
    let mut changes = Vec::new();
    if old.mode(one.1) != new.mode(other.1) {
        changes.push("mode");
    }
    if old.owner(one.1) != new.owner(other.1) {
        changes.push("owner");
    }
    if old.mtime(one.1) != new.mtime(other.1) {
        changes.push("time");
    }
    changes
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<(u16, u16, Vec<&'static str>), Vec<Item>> = BTreeMap::new();
    for (hidden, by) in copies(facts.rootfs) {
        if is_same(facts, hidden, by) == Some(true) {
            let key = (hidden.0, by.0, changes(facts, hidden, by));
            groups.entry(key).or_default().push(item(&facts.classification, facts.rootfs, hidden));
        }
    }
    groups.into_iter().map(|((layer, by, changes), items)| draft(layer, by, &changes, items)).collect()
}

fn draft(layer: u16, by: u16, changes: &[&str], items: Vec<Item>) -> Draft {
    let name = |change: &&str| match *change {
        "mode" => "permissions (chmod)",
        "owner" => "ownership (chown)",
        _ => "timestamps",
    };
    let names: Vec<&str> = changes.iter().map(name).collect();
    let what = names.join(", ");
    let title = if changes.is_empty() {
        format!("Layer {by} stores unchanged files of layer {layer} again")
    } else {
        format!("Layer {by} copies files from layer {layer} to change {what}")
    };
    let mut draft = Draft::new(&RULE, Verdict::Safe, title);
    draft.reason = if changes.is_empty() {
        format!("Content, owner, mode and time are the same in layers {layer} and {by}.")
    } else {
        format!("The content of these files is the same in layer {by} as in layer {layer}. Changed: {what}.")
    };
    draft.proof = vec![
        format!("each file and its copy in layer {by} have the same BLAKE3 hash over all bytes"),
        "no path of the merged view leads to the lower copies".to_owned(),
    ];
    draft.fix = match changes {
        [] => format!(
            "Do not rewrite the files in layer {by} (for example in a package trigger or with cp), or merge the two instructions."
        ),
        ["time"] => format!(
            "Merge the instructions of layers {layer} and {by}, or do not write the files again in layer {by}: package upgrades, cp and touch do."
        ),
        _ => format!(
            "Set owner and mode in the instruction that created layer {layer} (COPY --chown, --chmod, or the same RUN), not in that of layer {by}."
        ),
    };
    draft.items = items;
    draft
}

/// By layer: of the bytes that it shadows, those whose new content is the same. `None` while some pair of files of one
/// size has not been compared.
pub(in crate::findings) fn metadata_only(facts: &Facts<'_>) -> Vec<Option<u64>> {
    let mut sums = vec![Some(0_u64); facts.input.layers.len()];
    for (hidden, by) in copies(facts.rootfs) {
        let Some(sum) = sums.get_mut(usize::from(by.0)) else { continue };
        match is_same(facts, hidden, by) {
            Some(true) => {
                *sum = sum.map(|sum| sum.saturating_add(facts.rootfs.layer(hidden.0).size(hidden.1)));
            }
            Some(false) => {}
            None => *sum = None,
        }
    }
    sums
}
