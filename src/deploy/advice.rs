//! Changes that make a cold start shorter, each with its gain by the model.

use super::estimate::{Model, Scenario};
use super::layers::{Layers, StoredLayer};
use super::model::Seconds;
use crate::analysis::Analysis;
use crate::base::size::human;
use crate::cuda::Class;
use crate::formats::compression::Compression;

/// A change, and what it saves.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Stable id, such as `zstd`.
    pub id: &'static str,
    /// What to do, an imperative.
    pub title: String,
    /// Why and how, in sentences.
    pub text: String,
    /// Seconds that it saves; negative where it is slower.
    pub saves: Seconds,
    /// Whether it saves time in the middle of the interval.
    pub recommended: bool,
}

/// What advice follows from.
pub(super) struct Context<'a> {
    pub(super) analysis: &'a Analysis,
    pub(super) layers: &'a Layers,
    pub(super) model: &'a Model<'a>,
    /// Number of base layers, if others lie above.
    pub(super) base: Option<usize>,
    pub(super) scenarios: &'a [Scenario],
}

/// A layer above this share of all compressed bytes is worth splitting.
const GIANT: f64 = 0.4;
/// Smaller layers are not worth splitting: 256 MB.
const SPLIT_BYTES: f64 = 256e6;
/// Savings below this are not mentioned, in seconds.
const LEAST: f64 = 0.1;
/// Content that changes with each build of an application is at most this large; more is installed by it: 64 MiB.
const SOURCE_BYTES: u64 = 64 << 20;

/// All advice, in a fixed order.
pub(super) fn list(context: &Context<'_>) -> Vec<Advice> {
    let pull = context.scenarios.iter().find(|one| one.name == "pull").and_then(|one| one.before);
    let Some(pull) = pull else { return Vec::new() };
    let pulls = context.scenarios.first().is_some_and(|first| first.name == "pull");
    let mut list = Vec::new();
    // A platform with a store of its own does not unpack layers.
    if pulls {
        list.extend(zstd(context, &pull));
        list.extend(split(context, &pull));
        list.extend(order(context));
        list.extend(base(context, &pull));
        list.extend(lazy(context, &pull));
    }
    list.extend(warm(context));
    list
}

fn zstd(context: &Context<'_>, pull: &Seconds) -> Option<Advice> {
    let layers = &context.layers.list;
    let gzip: f64 =
        layers.iter().filter(|layer| layer.codec == Compression::Gzip).map(|one| one.uncompressed).sum();
    if gzip <= 0.0 {
        return None;
    }
    let recompressed: Vec<StoredLayer> =
        layers.iter().map(|layer| layer.with_zstd(context.model.rates)).collect();
    let text = "zstd decompresses faster than gzip on one core, and layers are unpacked one after another. Requires \
                containerd 1.5 or Docker 23 on the node. cutaway slim --compression zstd writes it, or docker buildx \
                build --output type=image,compression=zstd,force-compression=true.";
    advice("zstd", "Compress layers with zstd", text, pull.saved(&context.model.pulled(&recompressed)?))
}

fn split(context: &Context<'_>, pull: &Seconds) -> Option<Advice> {
    let layers = &context.layers.list;
    let middle = |layer: &StoredLayer| f64::midpoint(layer.compressed.low, layer.compressed.high);
    let all: f64 = layers.iter().map(middle).sum();
    let (number, giant) =
        layers.iter().enumerate().max_by(|one, other| middle(one.1).total_cmp(&middle(other.1)))?;
    if middle(giant) < SPLIT_BYTES || middle(giant) < all * GIANT {
        return None;
    }
    let parts = usize::try_from(context.model.rates.node.slots).unwrap_or(1).max(2);
    let mut split = layers.clone();
    split.splice(number..=number, std::iter::repeat_n(giant.split(parts), parts));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bytes of a layer, positive")]
    let bytes = middle(giant) as u64;
    let text = format!(
        "Layer {number} has {} of compressed content. One connection downloads it, and nothing above it is unpacked \
         before it has arrived. Install its contents by several instructions: {parts} layers download at the same time.",
        human(bytes)
    );
    advice("split-layer", "Split the largest layer", &text, pull.saved(&context.model.pulled(&split)?))
}

/// Application files below large layers: each build transfers the layers above them again.
fn order(context: &Context<'_>) -> Option<Advice> {
    let classes = &context.analysis.inventory.as_deref()?.classes.layers;
    let first = context.base.unwrap_or(0);
    let of = |number: usize, class: Class| {
        classes.get(number).and_then(|layer| layer.get(&class)).copied().unwrap_or(0)
    };
    let heavy = |number: usize| {
        of(number, Class::Framework) + of(number, Class::Weights) + of(number, Class::CudaRuntime)
    };
    // A layer of application files, and nothing that is installed.
    let is_source = |number: &usize| {
        let own = of(*number, Class::Application);
        own > 0 && own <= SOURCE_BYTES && heavy(*number) <= own
    };
    let lowest = (first..context.layers.list.len()).find(is_source)?;
    let above = lowest + 1..context.layers.list.len();
    let moved: Vec<usize> = above.filter(|number| heavy(*number) > SOURCE_BYTES).collect();
    if moved.is_empty() {
        return None;
    }
    let layers = &context.layers.list;
    let now = context.model.pulled(layers.get(lowest..)?)?;
    let rest: Vec<StoredLayer> = layers
        .iter()
        .enumerate()
        .skip(lowest)
        .filter(|(number, _)| !moved.contains(number))
        .map(|(_, layer)| *layer)
        .collect();
    let numbers: Vec<String> = moved.iter().map(ToString::to_string).collect();
    let text = format!(
        "Layer {lowest} has application files and lies below layer {}. A new build changes it and everything above it, \
         so that nodes with the previous image pull all of it again. Copy the application last.",
        numbers.join(", ")
    );
    advice(
        "layer-order",
        "Put layers that rarely change below the application (saves at each update)",
        &text,
        now.saved(&context.model.pulled(&rest)?),
    )
}

fn base(context: &Context<'_>, pull: &Seconds) -> Option<Advice> {
    let held = context.scenarios.iter().find(|one| one.name == "pull-base-held")?.before?;
    let reference = context.analysis.inventory.as_deref()?.base.as_ref()?.reference.clone();
    let text = format!(
        "Use one base image for all images of a node{}, or pull it in advance (a DaemonSet, a node image). This holds only \
         while the layers of the base stay byte for byte: cutaway slim --keep-base.",
        reference.map_or_else(String::new, |name| format!(", here {name}"))
    );
    advice("share-base", "Keep the base image on the node", &text, pull.saved(&held))
}

fn lazy(context: &Context<'_>, pull: &Seconds) -> Vec<Advice> {
    let of = |scenario: &Scenario| {
        let format = scenario.name.strip_prefix("lazy-")?;
        let lazy = scenario.before?;
        let (id, name) = match format {
            "estargz" => ("lazy-estargz", "eStargz"),
            "soci" => ("lazy-soci", "SOCI"),
            _ => return None,
        };
        let share = read_share(context)?;
        let text = format!(
            "Start-up reads about {share:.0} % of the image. Lazy loading fetches these bytes in small requests and moves the \
             rest to later: above some 30 % it takes longer in total. Libraries of CUDA are large and are read at start.",
        );
        advice(id, &format!("Load the image lazily with {name}"), &text, pull.saved(&lazy))
    };
    context.scenarios.iter().filter_map(of).collect()
}

/// Percent of the tar bytes that start-up reads, in the middle.
fn read_share(context: &Context<'_>) -> Option<f64> {
    let whole: f64 = context.layers.list.iter().map(|layer| layer.uncompressed).sum();
    let read = context.model.read?.size(context.model.rates, super::rates::End::Middle).bytes;
    (whole > 0.0).then(|| (read / whole * 100.0).min(100.0))
}

fn warm(context: &Context<'_>) -> Option<Advice> {
    let first = context.scenarios.first()?.before?;
    let text = "A running instance has no cold start. It costs the machine while it is idle; it removes the whole \
                duration from the first request, while a smaller image shortens it on every new node.";
    advice("warm-instance", "Keep an instance warm", text, first)
}

fn advice(id: &'static str, title: &str, text: &str, saves: Seconds) -> Option<Advice> {
    let matters = saves.low.abs().max(saves.high.abs()) >= LEAST;
    matters.then(|| Advice {
        id,
        title: title.to_owned(),
        text: text.to_owned(),
        saves,
        recommended: saves.middle >= LEAST,
    })
}
