//! Bytes that a layer holds and a later one hides.

use std::collections::BTreeMap;

use crate::findings::census::item;
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::rule::Rule;
use crate::findings::value::{Category, Item, Severity, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "overwritten",
    title: "Overwritten and deleted files",
    category: Category::Overwritten,
    severity: Severity::Medium,
    fix: "Delete files in the instruction that makes them, or do not make them.",
    finds: "Files that a layer holds and that no path of the container leads to, because a later layer deleted or replaced them.",
    matters: "A layer never changes: what a later one deletes is still downloaded and unpacked by everyone who pulls the image.",
    example: r"```dockerfile
RUN curl -O https://example.org/model.tar && tar xf model.tar
RUN rm model.tar
```",
    remedy: r"Make and delete in one instruction, or mount what is only needed for it:

```dockerfile
RUN curl -O https://example.org/model.tar && tar xf model.tar && rm model.tar
```

When the files come from the base image, only another base frees their bytes.",
    source: "OCI image specification, layer: whiteouts hide files of lower layers.",
};

/// The layer that holds the bytes, and the one that hides them; `None` for what happens within the base image,
/// which nobody who builds on it can change.
type Pair = Option<(u16, u16)>;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let base = facts.base_layers();
    let mut groups: BTreeMap<Pair, Vec<Item>> = BTreeMap::new();
    for hidden in facts.rootfs.hidden() {
        let item = item(&facts.census, facts.rootfs, (hidden.layer, hidden.entry));
        let own = usize::from(hidden.by) >= base;
        groups.entry(own.then_some((hidden.layer, hidden.by))).or_default().push(item);
    }
    groups.into_iter().map(|(pair, items)| draft(facts, pair, items)).collect()
}

fn draft(facts: &Facts<'_>, pair: Pair, items: Vec<Item>) -> Draft {
    let base = facts.base_layers();
    let (title, reason, fix) = match pair {
        None => (
            "The base image hides files of its own".to_owned(),
            "Layers of the base image delete or replace these files of layers below. Every pull still loads them."
                .to_owned(),
            "Only another base image is without them: whoever makes the base would have to merge its instructions."
                .to_owned(),
        ),
        Some((layer, by)) if layer == by => (
            format!("Layer {layer} holds files twice"),
            "A later entry of the same layer has taken the paths of these files.".to_owned(),
            format!("Make layer {layer} with a builder that stores each path once."),
        ),
        Some((layer, by)) => (
            format!("Layer {by} hides files of layer {layer}"),
            format!("Layer {by} deletes or replaces these files of layer {layer}. Every pull still loads them."),
            if usize::from(layer) < base {
                format!(
                    "The instruction that made layer {by} hides what the base image brought in layer {layer}: keep the base's files, or build on a base without them."
                )
            } else {
                format!(
                    "Merge the instructions that made layers {layer} and {by}, or delete the files in the RUN that made layer {layer}."
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
