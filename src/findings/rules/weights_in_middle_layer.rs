//! Model weights with other layers above them.

use std::collections::BTreeMap;

use crate::base::size::human;
use crate::findings::census::item;
use crate::findings::facts::Facts;
use crate::findings::finish::Draft;
use crate::findings::rule::Rule;
use crate::findings::value::{Category, Item, Severity, Verdict};

pub(super) static RULE: Rule = Rule {
    id: "weights-in-middle-layer",
    title: "Model weights below other layers",
    category: Category::Weights,
    severity: Severity::Low,
    fix: "Put the weights into a layer of their own at the end (COPY --link), or onto a volume.",
    finds: "Model weights in a layer that has others with content above it.",
    matters: "A step is built anew when anything before it changes, and with it all that follow. Weights in the middle travel again when a step below them changes, and a new model rebuilds and sends all layers above.",
    example: r"```dockerfile
COPY model.safetensors /models/
RUN pip install -r requirements.txt
COPY app /app
```",
    remedy: r"```dockerfile
RUN pip install -r requirements.txt
COPY app /app
COPY --link model.safetensors /models/
```

`COPY --link` makes a layer that does not depend on those below, so that it is neither built nor sent again when they change. Weights on a volume or in a bucket are not pulled with the image at all. Where the model changes less often than the rest, a layer below is right: then keep it, below everything that changes.",
    source: "Dockerfile reference, COPY --link; Docker, build cache invalidation; OCI image specification, layers.",
};

/// Less is sent again without anybody noticing.
const LITTLE: u64 = 1 << 20;

/// Weights of this size decide how long a push takes.
const MUCH: u64 = 1 << 30;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Draft> {
    let layers = facts.input.layers;
    let has_content =
        |place: usize| layers[place].as_ref().is_some_and(|read| read.index.counts().content_bytes > 0);
    let Some(last) = (0..layers.len()).rev().find(|place| has_content(*place)) else { return Vec::new() };
    let mut by_layer: BTreeMap<u16, Vec<Item>> = BTreeMap::new();
    for weight in &facts.inventory.weights {
        // What packages bring belongs to them.
        if facts.owner(weight.node).is_some() {
            continue;
        }
        let Some(inode) = facts.node(weight.node).content() else { continue };
        if usize::from(inode.0) < last {
            by_layer.entry(inode.0).or_default().push(item(&facts.census, facts.rootfs, inode));
        }
    }
    let mut drafts = Vec::new();
    for (layer, items) in by_layer {
        let bytes = items.iter().fold(0_u64, |sum, item| sum.saturating_add(item.bytes));
        if bytes < LITTLE {
            continue;
        }
        let above = (usize::from(layer) + 1..=last).filter(|place| has_content(*place)).count();
        let (noun, verb) = if above == 1 { ("layer", "lies") } else { ("layers", "lie") };
        let title = format!("Model weights of {} in layer {layer}, below {above} {noun}", human(bytes));
        let mut draft = Draft::new(&RULE, Verdict::Unsure, title);
        draft.severity = Some(if bytes >= MUCH { Severity::Medium } else { Severity::Low });
        draft.reason = format!(
            "{above} {noun} with content {verb} above the weights: a change below layer {layer} sends the weights again, and a new model sends the layers above again."
        );
        draft.proof.push(format!("layer {layer} holds them, and the last layer with content is {last}"));
        draft.question =
            Some("Does the model change less often than all that lies above and below?".to_owned());
        draft.items = items;
        drafts.push(draft);
    }
    drafts
}
