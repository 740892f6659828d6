//! Two stages out of one: what is built in the first, and a small final one that copies what runs.

mod bases;
mod effects;
mod keep;
mod packages;
mod stage;
mod state;
mod text;
mod trees;
mod words;
mod world;

use super::draft::Draft;
use super::propose::Input;
use super::recipe::Recipe;
use crate::base::convert::layer16;
use crate::cuda::Flavor;
use crate::rootfs::NodeKind;
use bases::bases;
use keep::{Fate, Keep};
use stage::Final;
use world::World;

/// Drafts with a smaller final stage; none when the image needs none. `notes` gets what stands in the way.
pub(super) fn drafts(input: &Input<'_>, recipe: &Recipe, notes: &mut Vec<String>) -> Vec<Draft> {
    let Some(stage) = Final::of(recipe) else { return Vec::new() };
    let told = recipe.base_layers.or_else(|| input.inventory.base.as_ref().map(|base| base.layers));
    let Some(base_layers) = told.filter(|layers| (1..input.layers.len()).contains(layers)) else {
        notes.push(
            "No second stage is proposed: which layers come with the base image and which with the Dockerfile is not known."
                .to_owned(),
        );
        return Vec::new();
    };
    if !input.complete {
        notes.push(
            "No second stage is proposed: a part of the image could not be read, and what it needs is not known."
                .to_owned(),
        );
        return Vec::new();
    }
    let effects = effects::effects(&stage);
    let world = World::new(input, recipe, &effects, layer16(base_layers));
    let wanted = packages::wanted(&world, &effects);
    let all = bases(&world, &stage.base);
    let places: Vec<usize> = wanted.iter().filter_map(|one| one.place).collect();
    let keeps: Vec<Keep<'_, '_>> = all
        .iter()
        .map(|base| Keep::of(&world, base, &places))
        .filter(|keep| can_start_from(keep) && takes_something_away(keep))
        .collect();
    let smallest = keeps.iter().min_by_key(|keep| size(keep));
    // Without picking single files out of the base of today: the flavour that brings all of them.
    let flavoured = keeps
        .iter()
        .filter(|keep| matches!(keep.base.flavor, Flavor::Base | Flavor::Runtime) && !keep.copies_libraries())
        .min_by_key(|keep| size(keep));
    let mut drafts = Vec::new();
    if let Some(keep) = smallest {
        drafts.push(text::draft("minimal", input, &stage, keep, &effects, &wanted));
    }
    if let (Some(keep), Some(smallest)) = (flavoured, smallest)
        && !std::ptr::eq(keep, smallest)
    {
        drafts.push(text::draft("runtime", input, &stage, keep, &effects, &wanted));
    }
    drafts
}

/// The distribution's own image has no repository of NVIDIA's and none of its settings: it does when nothing of
/// the CUDA image is needed.
fn can_start_from(keep: &Keep<'_, '_>) -> bool {
    keep.base.own || keep.base.flavor != Flavor::None || !keep.copies_from_base()
}

fn takes_something_away(keep: &Keep<'_, '_>) -> bool {
    let world = keep.world;
    let nodes = world.rootfs.nodes().filter(|node| node.kind() == NodeKind::File);
    let gone = nodes.filter(|node| keep.fate(node.id()) == Fate::Gone);
    let gone: u64 = gone.map(crate::rootfs::Node::bytes).sum();
    // A stage more for next to nothing helps nobody.
    gone > 0 && gone.saturating_mul(200) >= world.input.merge.merged_bytes
}

/// Bytes of the merged view that are kept.
fn size(keep: &Keep<'_, '_>) -> u64 {
    let nodes = keep.world.rootfs.nodes().filter(|node| node.kind() == NodeKind::File);
    nodes.filter(|node| keep.fate(node.id()) != Fate::Gone).map(crate::rootfs::Node::bytes).sum()
}
