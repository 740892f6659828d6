//! The image that results from a draft: its merged view, and whether everything in it resolves.
//!
//! The draft is not trusted. It keeps entries of layers; their merged view and its inventory are compared with those of
//! the current image: everything that resolves today must resolve afterwards.

mod command;
mod files;
mod image_pair;
mod judged;
mod links;
mod notes;
mod packages;
mod settings;
mod side;
mod sizes;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use self::image_pair::ImagePair;
use self::notes::ProofNotes;
use self::side::Side;
use super::draft::Draft;
use super::edit::{apply, unified};
use super::input::Input;
use super::recipe::Recipe;
use super::value::{Applicability, Closure, Predicted, Proposal, Removed, StageSize};
use crate::base::Limits;
use crate::base::redact;
use crate::base::text::sentence;
use crate::cuda::{self, inventory};
use crate::formats::dockerfile::parse;
use crate::layer::{IndexBuilder, LayerIndex};
use crate::rootfs::merge_kept;
use crate::source::Image;

/// Computes the view, checks its closure and predicts sizes; `None` for a draft without an edit.
pub(super) fn prove(input: &Input<'_>, recipe: &Recipe, draft: Draft) -> Option<Proposal> {
    let before = recipe.file.text();
    let (dockerfile, mut reasons, overlapping) = apply(before, &draft.edits);
    // Several edits of one line for one reason.
    reasons.dedup_by(|next, one| next == one && next.bytes.is_none());
    if reasons.is_empty() {
        return None;
    }
    let diff = unified("Dockerfile", before, &dockerfile);
    let mut proven = check(input, &draft);
    if !overlapping.is_empty() {
        let text = format!("{} overlapping edits of the Dockerfile were not applied", overlapping.len());
        proven.closure.unproven.insert(0, text);
        proven.applicability = Applicability::Manual;
    }
    let parsed = parse(dockerfile.as_bytes());
    if let Err(error) = &parsed {
        // It could not be built.
        proven.closure.faults.insert(0, format!("the proposed Dockerfile does not parse: {error}"));
        proven.closure.resolved = false;
        proven.applicability = Applicability::Manual;
    }
    let last = parsed.ok().and_then(|file| file.stages().pop());
    let (name, base) = last.map(|stage| (stage.name.unwrap_or_default(), stage.base)).unwrap_or_default();
    let mut stages = draft.stages;
    stages.push(StageSize {
        name,
        base: draft.base_image.clone().unwrap_or(base),
        merged_bytes: input.complete.then_some(proven.merged_bytes),
    });
    let mut kept = draft.kept;
    kept.extend(proven.kept);
    for list in [&mut kept, &mut proven.closure.faults, &mut proven.closure.unproven] {
        for text in list.iter_mut() {
            if text.contains("://") && !input.show_secrets {
                *text = redact::instruction(text);
            }
            *text = sentence(text);
        }
    }
    Some(Proposal {
        id: draft.id.to_owned(),
        title: draft.title,
        applicability: proven.applicability,
        base_image: draft.base_image,
        dockerfile,
        diff,
        reasons,
        predicted: Predicted {
            merged_bytes: proven.merged_bytes,
            content_bytes: proven.content_bytes,
            saved_bytes: proven.saved_bytes,
            stages,
        },
        kept,
        removed: proven.removed,
        closure: proven.closure,
        hints: draft.hints,
    })
}

/// The checked image of a draft.
#[derive(Debug)]
struct Proven {
    applicability: Applicability,
    merged_bytes: u64,
    content_bytes: u64,
    saved_bytes: u64,
    kept: Vec<String>,
    removed: Vec<Removed>,
    closure: Closure,
}

fn check(input: &Input<'_>, draft: &Draft) -> Proven {
    // As in the merged view of the image, a layer that could not be read has an empty index.
    let indexes: Vec<Arc<LayerIndex>> = input
        .layers
        .iter()
        .map(|layer| match layer {
            Some(read) => Arc::clone(&read.index),
            None => Arc::new(IndexBuilder::new(&Limits::default()).finish()),
        })
        .collect();
    let view = merge_kept(&indexes, &|layer, entry| draft.selection.has(layer, entry));
    let image = configured(input.image, draft);
    let (found, _) = inventory(
        &cuda::Input {
            image: &image,
            layers: input.layers,
            merge: &view,
            bodies: input.bodies,
            catalog: input.catalog,
        },
        0,
    );
    let config = input.image.run_config();
    let environment = input.image.environment();
    let working_dir = config.and_then(|config| config.working_dir().as_deref()).unwrap_or_default();
    let old = Side::new(&input.merge.rootfs, input.inventory, environment, working_dir.as_bytes());
    let new = Side::new(&view.rootfs, &found, &draft.environment, working_dir.as_bytes());
    let pair = ImagePair::new(input, old, new);

    let mut notes = ProofNotes::default();
    draft.manual_steps.iter().chain(&draft.assumed).for_each(|text| notes.unproven.add(text.clone()));
    let cmd = config.and_then(|config| config.cmd().as_deref()).unwrap_or_default();
    let entrypoint = draft.entrypoint.as_deref().unwrap_or_default();
    let started = command::command(&pair, entrypoint, cmd, &mut notes);
    if !working_dir.is_empty() {
        settings::working_dir(&pair, working_dir, &mut notes);
    }
    if let Some(user) = config.and_then(|config| config.user().as_deref()) {
        settings::user(&pair, user, &mut notes);
    }
    settings::environment(&pair, &mut notes);
    settings::preloads(&pair, &mut notes);
    let links = links::follow(&pair, &mut notes);
    packages::packages(&pair, &started, &mut notes);
    let kept = judged::findings(&pair, &mut notes);
    judged::mentions(&pair, &mut notes);
    files::files(&pair, &draft.selection, &mut notes);
    let dlopen_known = searched(&pair, &mut notes);

    let (all, content_bytes) = sizes::content(&input.merge.rootfs, input.layers.len(), &draft.selection);
    let content_bytes = content_bytes.saturating_add(draft.stored_again);
    let applicability = applicability(draft, &notes, dlopen_known);
    Proven {
        applicability,
        merged_bytes: view.merged_bytes,
        content_bytes,
        saved_bytes: all.saturating_sub(content_bytes),
        kept: kept.into_iter().filter(|line| !draft.kept.contains(line)).collect(),
        removed: sizes::removed(&pair),
        closure: Closure {
            resolved: notes.faults.is_empty(),
            dlopen_known,
            faults: notes.faults.finish(),
            unproven: notes.unproven.finish(),
            objects: found.links.objects.len(),
            links,
        },
    }
}

/// The image with the settings of a draft.
fn configured(image: &Image, draft: &Draft) -> Image {
    let mut image = image.clone();
    let mut all = image.config.take().unwrap_or_default();
    let mut config = all.config().clone().unwrap_or_default();
    config.set_env(Some(draft.environment.clone()));
    config.set_entrypoint(draft.entrypoint.clone());
    all.set_config(Some(config));
    image.config = Some(all);
    image
}

/// Whether everything that may open files by name was searched. Files of the new view are files of the image: one of
/// the two searches is enough.
fn searched(pair: &ImagePair<'_>, notes: &mut ProofNotes) -> bool {
    let left_out = |side: &Side<'_>| side.inventory.searched.programs_left_out;
    let left_out = left_out(&pair.old).min(left_out(&pair.new));
    if !pair.input.complete {
        notes
            .unproven
            .add("parts of the image could not be read: their files and dependencies are unknown".to_owned());
    }
    if left_out > 0 {
        notes.unproven.add(format!(
            "{left_out} application programs could not be searched for names of the files they open"
        ));
    }
    if pair.new.inventory.links.objects.is_empty() {
        notes.unproven.add("the new image has no program and no library: nothing was checked".to_owned());
    }
    pair.input.complete && left_out == 0
}

/// The applicability of the draft after the proof.
fn applicability(draft: &Draft, notes: &ProofNotes, dlopen_known: bool) -> Applicability {
    let proven = if !notes.faults.is_empty() || !draft.manual_steps.is_empty() {
        Applicability::Manual
    } else if !notes.unproven.is_empty() || !dlopen_known {
        Applicability::Review
    } else {
        Applicability::Safe
    };
    let edits = draft.edits.iter().map(|edit| edit.applicability);
    edits.chain([draft.applicability, proven]).max().unwrap_or(proven)
}
