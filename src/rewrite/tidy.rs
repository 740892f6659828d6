//! Cleans up instructions and keeps the stages.

mod apt;
mod caches;
mod call;
mod context;
mod hints;
mod merge;
mod owners;
pub(super) mod style;
mod view;
mod work;

use super::draft::Draft;
use super::input::Input;
use super::recipe::{Origin, Recipe};
use super::select::Selection;
use super::value::{Applicability, Edit, Hint, StageSize};
use crate::formats::dockerfile::{Dockerfile, Span};
use crate::layer::EntryId;
use std::collections::BTreeSet;
use work::Work;

pub(super) use call::{Call, TAKES_VALUE};
pub(super) use context::{Run, TidyContext};
pub(super) use view::{View, entries, waste};

/// Clean-ups of instructions that stay in place, for a planner that changes more than these.
#[derive(Debug, Default)]
pub(super) struct Tidied {
    pub(super) edits: Vec<Edit>,
    /// Files of layers that the image lacks afterwards.
    pub(super) gone: BTreeSet<(u16, EntryId)>,
    pub(super) assumed: Vec<String>,
    pub(super) hints: Vec<Hint>,
}

impl Tidied {
    /// The clean-ups within a part of the file.
    pub(super) fn within(&self, span: &Span) -> impl Iterator<Item = &Edit> {
        self.edits.iter().filter(move |edit| span.start <= edit.at.start && edit.at.end <= span.end)
    }
}

/// Clean-ups of a file that keeps its stages.
pub(super) fn of_file(context: &TidyContext<'_>) -> Tidied {
    let work = tidy(context, &[]);
    Tidied { edits: work.edits, gone: work.gone, assumed: work.assumed, hints: work.hints }
}

/// Clean-ups of the instructions from a place on, each on its own: without edits of earlier instructions.
pub(super) fn of_tail(context: &TidyContext<'_>, from: usize) -> Tidied {
    let mut work = Work::new(context);
    caches::keep_none(&mut work);
    caches::remove(&mut work);
    let start = context.instruction(from).map_or(usize::MAX, |one| one.span.start);
    let layers: Vec<u16> =
        (from..context.file.instructions.len()).flat_map(|place| context.layers(place)).copied().collect();
    work.edits.retain(|edit| edit.at.start >= start);
    work.gone.retain(|(layer, _)| layers.contains(layer));
    hints::hidden(&mut work);
    // Files excluded from the context are in no stage.
    hints::ignore(&mut work);
    Tidied { edits: work.edits, gone: work.gone, assumed: work.assumed, hints: work.hints }
}

/// A draft that keeps base and stages; `None` when there is nothing to clean up. `needed` are packages with their
/// layers that the image uses and no instruction names.
pub(super) fn draft(input: &Input<'_>, recipe: &Recipe, needed: &[(String, u16)]) -> Option<Draft> {
    let name = match &recipe.origin {
        Origin::Given(name) => name.as_str(),
        Origin::Reconstructed => "Dockerfile",
    };
    let waste = waste(input);
    let look = View::new(input);
    let context = TidyContext::new(&recipe.file, name, &recipe.ties, &waste, &look);
    let work = tidy(&context, needed);
    if work.edits.is_empty() && work.hints.is_empty() {
        return None;
    }
    let mut selection = Selection::all(&entries(input));
    selection.leave_out(&input.merge.rootfs, &work.gone);
    let config = input.image.run_config();
    Some(Draft {
        id: "tidy",
        title: "Clean up instructions, keep the stages".to_owned(),
        applicability: work.edits.iter().map(|edit| edit.applicability).max().unwrap_or(Applicability::Safe),
        base_image: base(&recipe.file),
        selection,
        stored_again: 0,
        environment: config.and_then(|config| config.env().clone()).unwrap_or_default(),
        entrypoint: config.and_then(|config| config.entrypoint().clone()),
        stages: earlier_stages(&recipe.file),
        kept: Vec::new(),
        assumed: work.assumed,
        manual_steps: Vec::new(),
        hints: work.hints,
        edits: work.edits,
    })
}

/// All clean-ups. Owners first, since they make whole instructions superfluous; caches after merging, since a later
/// `RUN` may already remove them.
fn tidy<'a>(context: &'a TidyContext<'a>, needed: &[(String, u16)]) -> Work<'a> {
    let mut work = Work::new(context);
    owners::give_to_copies(&mut work);
    merge::merge(&mut work);
    caches::keep_none(&mut work);
    caches::remove(&mut work);
    apt::leave_out_recommended(&mut work, needed);
    hints::hidden(&mut work);
    hints::ignore(&mut work);
    work
}

/// The base image of the final stage.
fn base(file: &Dockerfile) -> Option<String> {
    let stages = file.stages();
    let mut stage = stages.last()?;
    // Stages only start from earlier ones.
    while let Some(parent) = stage.parent {
        stage = stages.get(parent)?;
    }
    Some(stage.base.clone())
}

pub(super) fn earlier_stages(file: &Dockerfile) -> Vec<StageSize> {
    let mut stages = file.stages();
    stages.pop();
    let size = |stage: crate::formats::dockerfile::Stage| StageSize {
        name: stage.name.unwrap_or_default(),
        base: stage.base,
        merged_bytes: None,
    };
    stages.into_iter().map(size).collect()
}

#[cfg(test)]
mod tests;
