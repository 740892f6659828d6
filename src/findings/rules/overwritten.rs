//! Files shadowed by an upper layer.

use std::collections::BTreeMap;

use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Item, Rule, Severity, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "overwritten",
    title: "Overwritten and deleted files",
    category: Category::Overwritten,
    severity: Severity::Medium,
    fix: "Delete files in the instruction that creates them, or do not create them.",
    page: include_str!("../../../assets/manual/rules/overwritten.md"),
};

/// The layer with the bytes, and the one that shadows them; `None` within the base image, which cannot be changed from
/// here.
type Pair = Option<(u16, u16)>;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let base = facts.base_layers();
    let mut groups: BTreeMap<Pair, Vec<Item>> = BTreeMap::new();
    for hidden in facts.rootfs.hidden() {
        let item = item(&facts.classification, facts.rootfs, (hidden.layer, hidden.entry));
        let own = usize::from(hidden.by) >= base;
        groups.entry(own.then_some((hidden.layer, hidden.by))).or_default().push(item);
    }
    groups.into_iter().map(|(pair, items)| draft(facts, pair, items)).collect()
}

fn draft(facts: &Facts<'_>, pair: Pair, items: Vec<Item>) -> Draft {
    let base = facts.base_layers();
    let (title, reason, fix) = match pair {
        None => (
            "Files overwritten inside the base image".to_owned(),
            "Layers of the base image delete or replace these files of lower layers. Every pull downloads them."
                .to_owned(),
            "Use another base image: only its maintainer can merge the instructions."
                .to_owned(),
        ),
        Some((layer, by)) if layer == by => (
            format!("Layer {layer} contains paths twice"),
            "A later entry of the same layer replaces these files.".to_owned(),
            format!("Build layer {layer} with a builder that stores each path once."),
        ),
        Some((layer, by)) => (
            format!("Layer {by} overwrites files of layer {layer}"),
            format!("Layer {by} deletes or replaces these files of layer {layer}. Every pull downloads them."),
            if usize::from(layer) < base {
                format!(
                    "The instruction of layer {by} shadows files of the base image in layer {layer}: keep the base's files, or use a base image without them."
                )
            } else {
                format!(
                    "Merge the instructions of layers {layer} and {by}, or delete the files in the RUN of layer {layer}."
                )
            },
        ),
    };
    let mut draft = Draft::new(&RULE, Verdict::Safe, title);
    draft.reason = reason;
    draft.fix = fix;
    draft.proof.push("no path of the merged view leads to any of these files".to_owned());
    if let Some((_, by)) = pair {
        draft.proof.push(format!("layer {by} removed or replaced the last path to each of them"));
    }
    draft.items = items;
    draft
}
