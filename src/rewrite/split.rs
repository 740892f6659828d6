//! Smaller images from the same instructions: on another base if nothing is compiled, else in two stages.
//!
//! The unit is the instruction. Each instruction of the final stage is repeated, trimmed, moved into a build stage, or
//! replaced by a `COPY` of the folder that it created. This follows from what it does and from which of its layers the
//! image needs at run time.

mod archives;
mod bases;
mod builds;
mod caches;
mod calls;
mod context;
mod effects;
mod from;
mod keep;
mod lines;
mod operands;
mod owners;
mod packages;
mod roots;
mod runs;
mod shell;
mod sources;
mod stage;
mod stages;
mod state;
mod steps;
mod swap;
mod tools;
mod words;

use super::draft::Draft;
use super::input::Input;
use super::recipe::{Origin, Recipe};
use super::tidy::{self, TidyContext, View};
use crate::base::convert::layer16;
use crate::cuda::Flavor;
use crate::formats::dockerfile::{Instruction, Keyword};
use crate::jobs::{map_all, workers};
use crate::rootfs::NodeKind;
use bases::{Base, bases};
use context::SplitContext;
use keep::{FileDisposition, Keep};
use stage::Final;
pub(super) use state::source_of;
use steps::Steps;

/// Bytes for which no instruction, package or stage is added: a change must be worth its review.
const LITTLE: u64 = 10 << 20;

/// Drafts of a smaller image; none when the image needs none. Reasons against a draft are added to `notes`, and to
/// `needed` packages with their layers that the image uses and no instruction names: they came as recommendations.
pub(super) fn drafts(
    input: &Input<'_>,
    recipe: &Recipe,
    notes: &mut Vec<String>,
    needed: &mut Vec<(String, u16)>,
) -> Vec<Draft> {
    let Some(stage) = Final::of(recipe) else { return Vec::new() };
    let told = recipe.base_layers.or_else(|| input.inventory.base.as_ref().map(|base| base.layers));
    let Some(base_layers) = told.filter(|layers| (1..input.layers.len()).contains(layers)) else {
        notes.push(
            "No smaller base image proposed: base image unknown, not recorded in the history.".to_owned(),
        );
        return Vec::new();
    };
    if !input.complete {
        notes.push("No smaller base image proposed: part of the image could not be read.".to_owned());
        return Vec::new();
    }
    let name = match &recipe.origin {
        Origin::Given(name) => name.as_str(),
        Origin::Reconstructed => "Dockerfile",
    };
    let waste = tidy::waste(input);
    let look = View::new(input);
    let tidying = TidyContext::new(&recipe.file, name, &recipe.ties, &waste, &look);
    let mut context = SplitContext::new(input, recipe, &stage, layer16(base_layers));
    let steps = Steps::of(&stage, recipe, &tidying, &context);
    context.archives = archives::packages(&context, &steps);
    let all = bases(&context, &stage.base);
    let compiles = steps.list.iter().any(|step| step.compiles);
    let sources = sources::build_only(&context, &steps);
    let asked = packages::asked(&context, &steps, compiles);
    context.opened = asked.opened.iter().copied().collect();
    context.tools = tools::of_instructions(&context, &steps, &asked, compiles);
    let dropped = asked.dropped.iter().filter_map(|name| context.by_name.get(name.as_str()));
    let all_asked: Vec<usize> = asked.kept.iter().chain(dropped).copied().collect();
    let stay = asked.stay();
    let mut candidates: Vec<(&Base, &[usize])> = all.iter().map(|base| (base, stay.as_slice())).collect();
    // The current base once more, with all that the instructions ask for.
    candidates.extend(all.iter().find(|base| base.own).map(|own| (own, all_asked.as_slice())));
    let mut keeps = map_all(candidates, workers(), |(base, wanted)| {
        let keep = Keep::of(&context, base, wanted, &sources);
        match packages::collections(&keep, &asked, wanted) {
            collections if collections.is_empty() => keep,
            collections => Keep::of(&context, base, &[wanted, &collections].concat(), &sources),
        }
    });
    if let Some(own) = keeps.pop_if(|_| all.iter().any(|base| base.own)) {
        let missing = packages::added(&own, &all_asked);
        let layer = |name: &String| {
            context.by_name.get(name.as_str()).map(|place| input.inventory.packages[*place].layer)
        };
        needed.extend(missing.into_iter().filter_map(|name| layer(&name).map(|layer| (name, layer))));
    }
    if !compiles {
        for keep in &mut keeps {
            keep.keep_installed(swap::staying(keep, &steps, &asked));
        }
    }
    keeps.retain(|keep| can_start_from(keep) && takes_something_away(keep));
    let tidied = if compiles { tidy::Tidied::default() } else { tidy::of_file(&tidying) };
    let make = |id: &'static str, keep: &Keep<'_, '_>| {
        let asked = asked.with_needed(keep);
        if compiles {
            stages::draft(id, input, &stage, &steps, keep, &asked)
        } else if !keep.base.own && is_shared(&stage) {
            None
        } else {
            swap::draft(id, &stage, &steps, keep, &asked, &tidied)
        }
    };
    let mut drafts = Vec::new();
    for (id, keep) in chosen(&keeps, compiles) {
        drafts.extend(make(id, keep));
    }
    drafts
}

/// Whether other stages begin from the same image, directly or by stages between: they may build on it.
fn is_shared(stage: &Final<'_>) -> bool {
    let instructions = &stage.file.instructions;
    let froms = instructions.iter().enumerate().filter(|(_, one)| one.keyword == Keyword::From);
    let begins = |one: &Instruction| one.words.first().map(|word| word.text.to_ascii_lowercase());
    let named = |one: &Instruction| match one.words.as_slice() {
        [_, word, name] if word.text.eq_ignore_ascii_case("as") => Some(name.text.to_ascii_lowercase()),
        _ => None,
    };
    // Stages on the base, and those of them that the final one begins from.
    let mut below: Vec<(usize, Option<String>)> = Vec::new();
    for (at, from) in froms {
        let on_base = at == stage.base_from
            || begins(from).is_some_and(|name| below.iter().any(|(_, known)| known.as_ref() == Some(&name)));
        if on_base {
            below.push((at, named(from)));
        }
    }
    let mut chain = vec![stage.from];
    while let Some(from) = chain.last().and_then(|at| instructions.get(*at)) {
        let name = begins(from);
        match below.iter().find(|(_, known)| known.is_some() && *known == name) {
            Some((at, _)) if !chain.contains(at) => chain.push(*at),
            _ => break,
        }
    }
    below.iter().any(|(at, _)| *at != stage.base_from && !chain.contains(at))
}

/// The bases worth a proposal: NVIDIA's smallest flavor, or the current base; and another one that saves much more.
fn chosen<'k, 'w, 'a>(keeps: &'k [Keep<'w, 'a>], compiles: bool) -> Vec<(&'static str, &'k Keep<'w, 'a>)> {
    let by_size = |fits: &dyn Fn(&Base) -> bool| {
        keeps.iter().filter(|keep| fits(keep.base)).min_by_key(|keep| size(keep))
    };
    let id = |name: &'static str, staged: &'static str| if compiles { staged } else { name };
    let flavored = by_size(&|base| !base.own && base.flavor != Flavor::None);
    let plain = by_size(&|base| !base.own && base.flavor == Flavor::None);
    let own = by_size(&|base| base.own);
    let mut chosen: Vec<(&'static str, &Keep<'_, '_>)> = Vec::new();
    if let Some(keep) = flavored {
        chosen.push((id("base", "stages"), keep));
    }
    if let Some(keep) = plain
        && chosen
            .first()
            .is_none_or(|(_, first)| size(keep).saturating_mul(10) < size(first).saturating_mul(9))
    {
        chosen.push((id("distribution", "stages-distribution"), keep));
    }
    if let Some(keep) = own.filter(|_| chosen.is_empty()) {
        chosen.push((id("packages", "stages"), keep));
    }
    chosen
}

/// Whether the base is sufficient. The distribution's image has neither NVIDIA's repository nor its settings: it is
/// used only when nothing of the CUDA image is needed.
fn can_start_from(keep: &Keep<'_, '_>) -> bool {
    keep.base.own || keep.base.flavor != Flavor::None || !keep.copies_from_base()
}

fn takes_something_away(keep: &Keep<'_, '_>) -> bool {
    let context = keep.context;
    let nodes = context.rootfs.nodes().filter(|node| node.kind() == NodeKind::File);
    let gone = nodes.filter(|node| keep.fate(node.id()) == FileDisposition::Gone);
    let gone: u64 = gone.map(crate::rootfs::Node::bytes).sum();
    // An additional stage must save something.
    gone > 0 && gone.saturating_mul(200) >= context.input.merge.merged_bytes
}

/// Kept bytes of the merged view.
fn size(keep: &Keep<'_, '_>) -> u64 {
    let nodes = keep.context.rootfs.nodes().filter(|node| node.kind() == NodeKind::File);
    nodes.filter(|node| keep.fate(node.id()) != FileDisposition::Gone).map(crate::rootfs::Node::bytes).sum()
}
