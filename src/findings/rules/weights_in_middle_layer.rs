//! Model weights below other layers.

use std::collections::BTreeMap;

use crate::base::size::human;
use crate::findings::classification::item;
use crate::findings::draft::Draft;
use crate::findings::facts::Facts;
use crate::findings::value::{Category, Item, Rule, Severity, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "weights-in-middle-layer",
    title: "Model weights below other layers",
    category: Category::Weights,
    severity: Severity::Low,
    fix: "Add the weights in a separate last layer (COPY --link), or use a volume.",
    page: include_str!("../../../assets/manual/rules/weights-in-middle-layer.md"),
};

/// Below this, pushing again does not matter.
const LITTLE: u64 = 1 << 20;

/// Weights of this size dominate the push time.
const MUCH: u64 = 1 << 30;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let layers = facts.input.layers;
    let has_content =
        |place: usize| layers[place].as_ref().is_some_and(|read| read.index.counts().content_bytes > 0);
    let Some(last) = (0..layers.len()).rev().find(|place| has_content(*place)) else { return Vec::new() };
    let mut by_layer: BTreeMap<u16, Vec<Item>> = BTreeMap::new();
    for weight in &facts.inventory.weights {
        // Weights owned by a package belong to it.
        if facts.owner(weight.node).is_some() {
            continue;
        }
        let Some(inode) = facts.node(weight.node).content() else { continue };
        if usize::from(inode.0) < last {
            by_layer.entry(inode.0).or_default().push(item(&facts.classification, facts.rootfs, inode));
        }
    }
    let mut drafts = Vec::new();
    for (layer, items) in by_layer {
        let bytes = items.iter().fold(0_u64, |sum, item| sum.saturating_add(item.bytes));
        if bytes < LITTLE {
            continue;
        }
        let above = (usize::from(layer) + 1..=last).filter(|place| has_content(*place)).count();
        let (noun, verb) = if above == 1 { ("layer", "is") } else { ("layers", "are") };
        let title = format!("{} of model weights in layer {layer}, below {above} {noun}", human(bytes));
        let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
        draft.severity = Some(if bytes >= MUCH { Severity::Medium } else { Severity::Low });
        draft.reason = format!(
            "{above} content {noun} {verb} above the weights: a change below layer {layer} pushes the weights again, and a new model pushes the layers above again."
        );
        draft.proof.push(format!("layer {layer} contains them; the last content layer is {last}"));
        draft.question =
            Some("Does the model change less often than everything below and above it?".to_owned());
        draft.items = items;
        drafts.push(draft);
    }
    drafts
}
