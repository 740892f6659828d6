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

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let mut groups: BTreeMap<(u16, u16), Vec<Item>> = BTreeMap::new();
    for hidden in facts.rootfs.hidden() {
        let item = item(&facts.census, facts.rootfs, (hidden.layer, hidden.entry));
        groups.entry((hidden.layer, hidden.by)).or_default().push(item);
    }
    groups.into_iter().map(|((layer, by), items)| draft(facts, layer, by, items)).collect()
}

fn draft(facts: &Facts<'_>, layer: u16, by: u16, items: Vec<Item>) -> Draft {
    let title = if layer == by {
        format!("Layer {layer} holds files twice")
    } else {
        format!("Layer {by} hides files of layer {layer}")
    };
    let mut draft = Draft::new(&RULE, Verdict::Safe, title);
    draft.reason = if layer == by {
        "A later entry of the same layer has taken the paths of these files.".to_owned()
    } else {
        format!("Layer {by} deletes or replaces these files of layer {layer}. Every pull still loads them.")
    };
    draft.proof = vec![
        "no path of the merged view leads to any of these files".to_owned(),
        format!("layer {by} removed or replaced the last path to each of them"),
    ];
    draft.fix = if layer == by {
        format!("Make layer {layer} with a builder that stores each path once.")
    } else if usize::from(layer) < facts.base_layers() && usize::from(by) >= facts.base_layers() {
        format!(
            "The instruction that made layer {by} hides what the base image brought in layer {layer}: keep the base's files, or build on a base without them."
        )
    } else {
        format!(
            "Merge the instructions that made layers {layer} and {by}, or delete the files in the RUN that made layer {layer}."
        )
    };
    draft.items = items;
    draft
}
